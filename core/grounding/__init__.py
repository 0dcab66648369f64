"""Texts of strangers against facts: figures and claims checked, markup removed.

In: an English text and facts. Out: the text's sentences, each supported or marked. It knows neither language models
nor portfolios. Start with `check`.

- `figures` reads figures (digits of any script, words, scales, currencies, units, days), each with all that it may
  mean. A figure may be rounded as it is written, by at most a twentieth, and may not be more exact than its fact.
- `claims` reads what a sentence asserts by rows of words: a status, a direction, a rating and its change, a currency.
  Each claim needs a fact that makes the same claim of the same subject. A claim of possibility supports only
  possibility.
- Figures in the question count for nothing, since a question may suggest wrong ones.
- `clean` removes what makes a text more than text, until nothing changes: one round may uncover the next.

Every sentence of the built-in analyst is supported by its own figures. Of figures that are changed in them, at least
97 in 100 are marked; the others meet another fact by chance.
"""
