"""Documents that jobs make: bytes with a name and a type, kept until they expire. Lent to other areas; no routes."""
