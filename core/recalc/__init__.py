"""Workbooks that calculate: regions of like formulas, their order, and edits.

In: a workbook. Out: a `Book` with values, and what was recalculated. Start with `book` and `engine`. The graph's
nodes are regions: spans of cells that share a relative formula.

- Calculating asks for values instead of sorting first. A formula that meets a waiting cell queues behind it; one that
  meets itself is a cycle. Of an argument that a function reads in part (VLOOKUP's table) only the cells that it reads
  are asked for.
- An edit marks what reads it, through indexes of rectangles, and only that is calculated again.
- `iteration` repeats the cells of cycles in Excel's order where the file iterates. `data_tables` tries inputs in the
  book itself. `precision` rounds what is written where the file calculates as displayed.
- `blank` calculates formulas that came without values, before the columns are stored.
- `apply` writes a formula as a column: names become cells of the row, and the formula one region over all rows.
- `saving` writes changed cells into a copy of the file.
"""
