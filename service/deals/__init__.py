"""Deals: what ties the files, the rules and the months of one contract together."""
