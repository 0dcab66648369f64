"""Read the other pages of a report: facts, joins, currencies, days.

In: the located table and the pages beside it. Out: columns joined to the loans, and facts. `match` and `join` pair
rows by identifier, then by borrower and facility. `report` cuts pages into tables and lines and makes facts of them:
words propose what a line is, and sums decide. There `adding` finds the totals of a page, `identities` which figures
make a numerator, and `calculations` what follows for the deal. `printed` and `families` set totals beside the loans:
CCC behind masks, obligors of one parent. `sheet_kinds` says what each sheet is.
"""
