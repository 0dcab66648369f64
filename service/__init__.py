"""The service: an HTTP API, its workers and the `cushion` command over the calculation core."""
