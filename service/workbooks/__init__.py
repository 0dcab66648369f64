"""Workbooks: spreadsheets parsed into stored columns, read, recalculated.

An upload is probed at once in bounded memory and time, then parsed by a worker in a confined child. A file that kills
its parser costs an error state, never the worker. Recalculation is such a job too: new columns and the state `ready`
are one commit. Columns are content-addressed, so a reader of the old ones reads on.
"""
