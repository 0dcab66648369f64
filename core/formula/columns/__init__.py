"""The same trees over whole columns."""
