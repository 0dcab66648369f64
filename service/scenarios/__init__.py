"""Scenarios: trades that are tried on a workbook's portfolio.

No state can survive a crash wrongly: a scenario is `completed` where it has a result, `calculating` while somebody
holds its advisory lock, else a `draft`. A simulation is one transaction with that lock. A draft holds its workbook by
a foreign key.
"""
