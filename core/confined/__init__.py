"""Work in child processes with limits of memory and time: whatever goes wrong there cannot take the caller down.

`table` has a row for each kind of work; `run` starts a child and asks it; `child` is the program that it runs, behind
the walls of `sandbox`; `wire` is what the two say to each other.
"""
