"""A tree becomes a program of steps, which runs for one value."""
