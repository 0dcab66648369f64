"""Mappings that people write, the reader that applies them, and its explanation.

In: a `Mapping` and a `LocatedTable`. Out: typed loans, with warnings. `profiles` has the configuration, transforms
and rules; `sheet_columns` applies them once for each column, and `reader` makes loans of them; `normalise` does it for
a few plain rows. `detection` says what was decided and why (`detected` has the records); `cushion map` prints it, and
`GET .../detection` answers with it.
"""
