"""Waiting: reads that are answered when the record that they are of changes its state."""
