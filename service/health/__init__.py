"""Health: whether the service lives, is ready, and how deep its queues are."""
