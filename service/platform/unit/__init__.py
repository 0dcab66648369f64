"""A unit of work: its tenant, its transaction, its blobs, its pages of lists."""
