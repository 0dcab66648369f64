"""The ground that every area of the service stands on; it knows no area."""
