"""What is behind a figure: its parts, which add up to the numerator.

In: a run's evidence and a test. Out: loans, cash, haircuts, accounts or industries with their share of the sum.
`catalogue` says how each measure comes apart, `breakup` gives its parts, `parts` adds them up. A loan's part of a sum
is the same pass over that loan alone, so no rule is written twice.
"""
