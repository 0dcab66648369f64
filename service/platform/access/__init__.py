"""Who may do what, and how often: callers, tokens, the gate, limits, repetitions."""
