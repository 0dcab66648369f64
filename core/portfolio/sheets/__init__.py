"""Where the loans stand in a sheet: the header above them, and where they end.

In: a workbook and a mapping. Out: a `LocatedBook` (`locate`, `located`). A heading is evidence and not a key
(`columns`):

- `vocabulary` sums the weights of its words from `words.tsv` for each role.
- `content` samples cells where words leave a column open, and vetoes what they cannot be.
- `relations` finds par x price, base + spread, par + unfunded.
- `roles` gives the surest pair of column and role first, and keeps the runner-up with its lead.

A role then feeds what its usual heading feeds (`aliases`), so the order of a mapping's headings still decides. Roles
that are no fields (`x_date`, `x_amount`) keep other columns off the fields. A lead below 1 is the warning
`ambiguous_column`. `rows` says which rows are loans; three blank rows end a table (`below`).
"""
