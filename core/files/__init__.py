"""Spreadsheet files in and out: the only reading and writing of files in core.

In: bytes, a path or a folder. Out: a `Workbook` of sheets as columns (`read`), or a file from columns (`write`).
Start with `kinds` (what a file is, by its content; its name only admits it), then `read`.

- .xlsx and delimited text are one pass of a Cython scanner (`_cells.pyx`) straight into columns. SpreadsheetML and
  .ods are read by expat, pages by lxml; `cells` makes columns of what they give. calamine reads .xls and .xlsb,
  `biff` the errors in .xls.
- `pdf` finds the tables that a PDF prints (PDFium's characters, by a Cython loop) and names page and line of each row.
- `probe` looks at a file in bounded memory and time before anything is parsed. `confined` reads it in a child.
- A text field becomes a number only if it looks like no identifier, date or footnote. Where figures prove a decimal
  comma and none proves a point, grouped numbers, percentages and brackets are numbers too.
- Several files make one workbook of values, since a formula means something in its own file only.
- `pivots` keeps where each row and column of a pivot table stands. If its parts cannot be read, nothing is known of
  the workbook's pivot tables, and formulas that ask keep their values.
- Files encrypted with Excel's own password are decrypted in memory (`encrypted`).
- `write`: `xlsx` decides what a file consists of, `_xlsx.pyx` makes the XML in a buffer of fixed size, `formulas`
  plans each formula. Rows become a `Sheet` first, ten thousand at a time, so there is one writer. `patched` saves a
  book into a copy of its file and rewrites only the cells that differ.
- Delimited text and JSON are written in pieces of 64 KB. A text that a spreadsheet would calculate gets an
  apostrophe, whichever program may open it; the five delimiters are no operators of formulas.
"""
