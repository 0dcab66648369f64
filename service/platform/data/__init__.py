"""Where things are stored: PostgreSQL, Redis, blobs, files on their way, the audit chain."""
