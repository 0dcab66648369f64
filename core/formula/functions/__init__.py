"""The catalogue of functions, and their bodies."""
