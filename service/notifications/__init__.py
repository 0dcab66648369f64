"""Notifications: what a user of the application is told by it."""
