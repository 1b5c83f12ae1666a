"""Take over the data of the original Node server."""
