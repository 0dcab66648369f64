"""The compliance tests.

Suites as rows, measures, compiled kernels, and the run of a suite over a portfolio.
"""
