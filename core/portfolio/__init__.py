"""Loans under standard names, read from whatever file a trustee sends: `read` is the front door."""

from core.portfolio.assemble.portfolio import Portfolio, read

__all__ = ["Portfolio", "read"]
