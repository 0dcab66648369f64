"""Scenarios: trades that are tried on a workbook's portfolio."""
