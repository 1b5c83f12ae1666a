"""Save the whole database to one file while it is in use, and put such a file back."""
