"""The fixtures that the tests of this folder take."""

from tests.core.reconciliation.isolated import folder, made

__all__ = ["folder", "made"]
