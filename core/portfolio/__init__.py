"""Loans under standard names, read from whatever file a trustee sends.

In: a workbook, arrays, a frame or stored loans. Out: a `Portfolio`. `read` is the front door. Most programs call
`cushion.Portfolio.from_workbook`. Six rooms, each of which imports only those above it in this list:

- `model`: what a portfolio is: fields, facts, ratings, notes, warnings.
- `cells`: what a cell means, and a column of cells as values.
- `sheets`: where loans stand in a sheet: header, roles of columns, rows.
- `pages`: what other sheets say of the loans: joins, currencies, printed figures.
- `mapping`: mappings that people write, and the reader that applies them.
- `assemble`: the walk from a workbook to a `Portfolio`, and the other ways to one.

`sheets.locate.locate` matches each sheet to a mapping once. It gives a `LocatedBook`, whose `LocatedTable` record has
the table, its header with evidence, its last row and its unit. The later steps read the record and look for no header
again. `LoanReader` types the columns, `join_pages` adds what the pages say, `read_report` reads the figures, `assemble`
makes the portfolio.
"""

from core.portfolio.assemble.portfolio import Portfolio, read

__all__ = ["Portfolio", "read"]
