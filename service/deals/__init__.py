"""Deals: what ties the files, the rules and the months of one contract together.

The record, its definition with versions, the files of a month as one workbook, history, tie-out and movements. A
deal's mapping and stream count for a workbook that names none.
"""
