"""Activity: what happened in a tenant, told to its members."""
