"""Dead letters: background work that failed for good, looked at, given back, resolved or discarded."""
