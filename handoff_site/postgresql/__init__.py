"""Django's PostgreSQL backend with limits on what a call waits for."""
