"""MCP's own conformance suite and the Inspector, run against a served site: `make conformance`."""
