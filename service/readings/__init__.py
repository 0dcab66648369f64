"""How a workbook is read: its loans, and what another mapping would change.

Its paths begin with `/api/v1/workbooks`, and it needs areas above that one.
"""
