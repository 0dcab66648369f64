"""Jobs: what a worker does, will do, or has done for the tenant."""
