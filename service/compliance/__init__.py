"""Compliance: suites run on workbooks, their results, thresholds."""
