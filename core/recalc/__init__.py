"""Workbooks that calculate: regions of like formulas, their order, and only what an edit touches."""
