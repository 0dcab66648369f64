"""Reports printed to PDF by two programs, and how much of them is read.

`sheets` makes the printed rows of a generated report: each cell with its text, its value at the printed precision and
its number format. `libreoffice` and `drawn` (reportlab) print them; both give the page of each row. `compare` sets what
is read beside the rows, `figures` the compliance results beside those of a workbook with the printed values.
`variants` draws program, paper and habits of a seed. `python -m tests.printed_pdf` prints the shares.
"""
