"""Why a column of a sheet has its role: heading, cells and other columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

AMBIGUOUS_MARGIN: Final = 1.0
"""Lead over the runner-up below which a column could as well be the other."""


@dataclass(frozen=True, slots=True)
class RoleEvidence:
    """The role of one column, and what speaks for it, in weights of words.tsv.

    4 to 7 names a field.
    """

    role: str
    """A role of words.tsv (par_value, rating_issuer_a, x_amount ...); "" where none was found."""
    words: float = 0.0
    """Weight of the heading's words for the role."""
    content: float = 0.0
    """Weight of the column's cells for it."""
    relations: float = 0.0
    """Weight of other columns for it: par x price, base + spread, a printed total."""
    runner_up: str = ""
    """The role that comes next; "" where none comes near."""
    margin: float = 99.0
    """Lead over the runner-up, or over another column for the same role."""
    reasons: tuple[str, ...] = ()
    """What was found, for a reader: "heading names par", "9 of 10 cells are CUSIPs"."""

    @property
    def score(self) -> float:
        """Return all that speaks for the role."""
        return self.words + self.content + self.relations

    @property
    def is_ambiguous(self) -> bool:
        """Return whether another role, or another column, could as well be meant."""
        return bool(self.role) and self.margin < AMBIGUOUS_MARGIN
