"""The groups of the `cushion` command."""
