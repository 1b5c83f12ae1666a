"""SQLite for many processes at once: everyone who waits to write gets a turn."""
