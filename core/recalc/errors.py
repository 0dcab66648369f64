"""Why a book refuses an edit or a question."""

from __future__ import annotations


class BookError(ValueError):
    """A book cannot do what was asked; the message says why."""


class UnknownSheet(BookError):
    """The book has no sheet of that name."""


class BadReference(BookError):
    """Not a cell or a column in A1 notation."""


class BadValue(BookError):
    """No value that a cell can hold."""


class PartOfArray(BookError):
    """One cell of an array formula's range cannot be changed alone."""


class NotSaved(BookError):
    """The book cannot be saved under that name, or not at all."""
