"""Jobs: what a worker does, is about to do, or has done for the tenant."""
