"""The formula builder: formulas drawn as graphs, their versions, and applying one to a column of a workbook."""
