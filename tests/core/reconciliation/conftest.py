"""The fixtures that the tests of this folder take."""

from tests.core.reconciliation.isolated import folder, generated_tape

__all__ = ["folder", "generated_tape"]
