"""The batch command: many deals, from any place, on any number of machines.

`command` reads the options, `sources` finds the files, `plan` makes a `MonthTask` of each month, `engines` runs
`work.run_month` on all of them, and `collect` writes the table, the page and the counters.

A task stages its files, asks a confined child (`child`), and puts the rows and files into the place of the results
(`places`) under a key that follows from the bytes and the terms. A task whose key is there already is done.
"""
