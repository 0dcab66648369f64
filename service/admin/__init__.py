"""Administration: the tenant, its users, its API keys."""
