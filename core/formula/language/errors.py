"""What can be wrong with a formula before or beyond its value.

Syntax, names, context, limits.
"""

from __future__ import annotations

from collections.abc import Sequence


class FormulaError(Exception):
    """Anything that keeps a formula from having a value."""

    def __init__(self, message: str, position: int | None = None, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        """0-based offset in the formula's text, the leading '=' included; None where it concerns the whole."""
        self.suggestions = tuple(suggestions)


class SyntaxFault(FormulaError):
    """The text is not a formula."""


class UnsupportedFunction(FormulaError):
    """The formula calls a function that the engine does not have."""

    def __init__(self, name: str, position: int | None = None, suggestions: Sequence[str] = ()) -> None:
        super().__init__(f"{name} is not supported", position, suggestions)
        self.name = name


class MissingContext(FormulaError):
    """Cells or names that the formula needs were not given."""

    def __init__(self, references: Sequence[str]) -> None:
        super().__init__(f"no value was given for {', '.join(references)}")
        self.references = tuple(references)


class LimitExceeded(FormulaError):
    """The evaluation would take more memory or time than it may."""


class ContextError(FormulaError):
    """A value or a key of the context is none that a cell can hold."""


class EvaluationError(FormulaError):
    """The value of the formula is an Excel error, and the caller wants that raised."""

    def __init__(self, error: str, expression: str, position: int) -> None:
        super().__init__(f"{error} in {expression}", position)
        self.error = error


class BodyFault(FormulaError):
    """A function broke down over arguments that it should have taken.

    The engine's fault, told as the formula's.
    """

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(f"{name} cannot be calculated with these arguments")
        self.name = name
        self.error = error
