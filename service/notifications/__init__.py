"""Notifications: what a user reads inside the application."""
