"""Questions in plain English over portfolios and their runs.

In: a question and subjects. Out: an answer whose figures are computed, or a refusal with questions that work. Nothing
is guessed: each phrase is used once, and what is left over and no filler makes the question unread.

Start with `tokens` (words, numbers with units, days), `vocabulary` (rows of words) and `query` (the question as
data). `named` finds names of the data in a question. An answer's figure is made together with the text that prints
it. A new synonym is a word in a table.
"""
