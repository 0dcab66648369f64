"""Make portfolios: the front door of workbooks, of columns and of stored loans.

`portfolio` and `read` take a workbook through `locate`, `LoanReader`, `join_pages` and `read_report`. `columns` takes
arrays. `stored` opens and writes the loans of a tape, about 340 bytes a loan. `plausibility` adds the warnings about
figures that look wrong. `source_row` leads from a loan back to its row.
"""
