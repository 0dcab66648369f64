"""How a workbook is read: its loans as a table, and what another mapping would change."""
