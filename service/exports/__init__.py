"""Exports: a workbook as .xlsx, .csv, .json or .pdf, with what it takes to tell later whether it was changed."""
