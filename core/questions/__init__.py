"""Questions in plain English over portfolios and their runs.

In: a question and subjects. Out: an answer whose figures are computed, or a refusal with questions that work. Nothing
is guessed: a phrase that no rule takes refuses the question and is named.

A question's walk: `tokens` (words, numbers with units, days), `grammar/lexemes` (the longest phrases, by the rows of
`vocabulary` and by names of the data), `grammar/chart` (edges over phrases, by the rows of `grammar/phrases`),
`grammar/frames` (which kinds of phrases a kind of query takes), `query` (the question as data), `answers` (a file for
each kind). An answer's figure is made together with the text that prints it. A new synonym is a row in `words.tsv` or
`quantities.tsv`.
"""
