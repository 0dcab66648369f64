"""The built-in analyst: what a manager should know of a portfolio, in sentences.

In: a `Subject` (runs, months, loans, the newest comparison). Out: ranked insights for each kind of reader. Each has a
method, a confidence and figures that can be recomputed. No network, clock or chance: the same subjects give the same
insights. Start with `subject`, `insight` and `analyst.analyse`.

`study` works out once what runs, months and columns say. A finder (a module for each theme) reads it and writes a
finding: one sentence for everybody, one for each kind of reader. A sentence is a template that names its figures, and
a figure is made together with its recipe, so none can be printed without one. `ranking` has priority, confidence, and
who sees what in which order. Text from a cell is data: a name is one short line without markup before any sentence
has it.
"""
