"""Loans under standard names: fields, header detection, mapping, ratings, the portfolio."""
