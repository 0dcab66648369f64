"""Loans under standard names from any trustee's file: `read` is the front door."""

from core.portfolio.assemble.portfolio import Portfolio, read

__all__ = ["Portfolio", "read"]
