"""MCP: the door that agents come in by."""

VERSION = "0.1.0"
"""What `initialize` tells clients; the project's own version."""
