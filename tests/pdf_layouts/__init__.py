"""Documents set as funds and trustees set them, drawn from seeds, each with the truth of its tables.

In: a kind and a seed. Out: `Document`: the bytes of a PDF, and its tables as printed texts with page and lines.
Start with `truth` (the data), then `paper` (the drawing of tables), `schedule` and `monthly` (the two large kinds),
`score` (a workbook against the truth). `python -m tests.pdf_layouts` prints the share of cells that are read right.
"""
