"""The pages beside a report's loans: notes, accounts, published tests, dates."""
