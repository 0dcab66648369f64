"""Loans of a Parquet file, or of a folder of them, that need not fit in memory.

In: the file's row groups under standard names. Out: the sums of all loans, to which `core.compliance.run` puts its
tests as to those of a portfolio in memory.
"""
