"""Many deals at once: each month of a deal becomes rows of one table.

In: which files make a deal's month, and what is to be done with it. Out: `ResultRow`s (`table`), which `write` puts
into Parquet, CSV or JSON lines. Nothing here starts a process, opens a connection or asks for the time: a caller does.
"""
