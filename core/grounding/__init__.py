"""Texts that somebody else wrote, held against what is known: their figures checked, their markup taken away."""
