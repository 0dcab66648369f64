"""Cells as functions read them: the place of a formula, and sums, counts and indexes over its ranges."""
