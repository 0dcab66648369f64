"""Mathematical and engineering functions."""
