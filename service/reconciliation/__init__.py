"""Reconciliation: trustees' tapes against workbooks, and the issues that come of it."""
