"""Personal data found and hidden, in a text and in a whole workbook.

In: a workbook and a `Policy` (mask, hash or remove). Out: a copy, and counts of what stood where. Start with `book`
and `kinds`. Each distinct text is looked at once. Patterns over all texts together (`sieve`) leave few of them, and
`find` reads those closely (shapes, check digits, words in front). `headings` then claims columns, and a column mostly
of one kind goes as a whole. Formulas that read what was taken out become values, and what these show of it goes too,
round after round.
"""
