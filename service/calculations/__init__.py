"""Formulas over HTTP: evaluated one by one or in batches, checked, listed, translated."""
