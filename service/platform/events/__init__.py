"""High-rate events: their stream, the numbers by which a lost one is seen, and what is told as a count."""
