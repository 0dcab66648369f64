"""The header of a sheet: which rows name columns, and what each column feeds.

In: a sheet and a mapping. Out: a `HeaderMatch` (`header.find`). `scan` joins the cells of rows to candidates, `matcher`
and `wording` read a heading, `feeds` decides which columns feed which targets.
"""
