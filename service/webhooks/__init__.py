"""Webhooks: addresses of a tenant that are told of its events."""
