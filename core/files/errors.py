"""Why a file is refused.

One class per answer that a caller can give, with a sentence that names the cause.
"""

from __future__ import annotations


class FileRefused(ValueError):
    """File refused"""

    hint: str
    """One sentence that names the cause or the limit; safe to show to the user."""

    def __init__(self, hint: str) -> None:
        super().__init__(hint)
        self.hint = hint

    @property
    def message(self) -> str:
        """The short name of the refusal."""
        return (type(self).__doc__ or "").strip()


class InvalidFormat(FileRefused):
    """Invalid file format"""


class NoTable(InvalidFormat):
    """Invalid file format"""  # text that no delimiter parts into columns: a letter rather than data


class FileTooLarge(FileRefused):
    """File too large"""


class TooManySheets(FileRefused):
    """Too many sheets"""


class ParseFailed(FileRefused):
    """Parse error"""

    is_ambiguous = False
    """Whether programs would read different things in the file, rather than none."""

    @classmethod
    def ambiguous(cls, hint: str) -> ParseFailed:
        """Return the refusal of a file in which programs read different things.

        (No class of its own: a child's refusals are known by name.)
        """
        refusal = cls(hint)
        refusal.is_ambiguous = True
        return refusal
