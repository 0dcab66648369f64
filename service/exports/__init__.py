"""Exports of a workbook, and whether an export was changed since.

An export takes the manifest of the columns, the newest full run and the mapping when it is asked for, so later
changes do not matter. A confined child writes the files and its progress; the worker looks twice a second. A
cancelled child is ended, and so is one whose files grow past the limit. One UPDATE decides who ends an export.

The child has keys for this one export alone, so a child that a workbook took over could sign nothing else. The key
that seals PDFs never enters a child. To verify, a first child reads what a file says of itself; the signature is
checked outside; a second child compares the cells.
"""
