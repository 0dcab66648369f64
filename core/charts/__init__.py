"""Charts as SVG from small tables.

In: rows of labels and numbers. Out: SVG text. Start with `charts` (the kinds); `drawing` makes the elements and
`palette` has the colours. Coordinates have two decimals, so the same table gives the same text. Each chart carries a
description for readers who cannot see it. A status is a word, a shape and a colour, and any one of them is enough.
"""
