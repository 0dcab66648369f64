"""A unit of work: its tenant, its transaction, its blobs, and the pages that it reads."""
