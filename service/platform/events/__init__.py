"""High-rate events: their stream, numbers that show a lost one, counts of calls."""
