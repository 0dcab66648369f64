"""The `cushion` command: a module for each command, `cli` joins them.

`output` and `table` print, `refusal` words what is wrong, `limits` and `reading` open files in confined children.
Commands without a server need the library alone; the others say so where the extra `service` is missing.
"""
