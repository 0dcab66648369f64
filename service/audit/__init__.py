"""The audit log: read and exported."""
