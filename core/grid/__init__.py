"""Columns in memory: addresses, columns, sheets, and their bytes.

A column is a span: rows `start` to `stop` as kind tags, float64 numbers, int32 codes into the sheet's text, and
format indices. A sheet with cells A1 and XFD1000000 costs two slots. `codec` stores a sheet in the safetensors
layout, which is mapped, so a process that opens a workbook copies nothing. Start with `column` and `sheet`, then
`codec`.

Where more than 16 rows between two cells are blank, a column is cut into runs and the blanks are not stored. A stored
workbook is so at most 255 bytes and its text for each cell with content. A column of one run is a view of the file;
of several, its arrays are made on request. `calculation` keeps three settings of a file: iteration, data tables and
precision as displayed. `pivot` keeps pivot tables. Rows and columns are 0-based here, 1-based at the edge.
"""
