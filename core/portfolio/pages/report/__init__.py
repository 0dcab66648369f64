"""The pages of a report beside its loans: notes, accounts, published tests and dates, wherever they stand."""
