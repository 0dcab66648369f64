"""Read the other pages of a report: facts, joins, currencies, days."""
