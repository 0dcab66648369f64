"""The built-in analyst: what a manager should know of a portfolio, in plain sentences whose figures can be recomputed.

`subject` says what is looked at, `insight` what comes of it, `analyst.analyse` makes one from the other. No network, no
clock and no chance: the same subjects give the same insights.
"""
