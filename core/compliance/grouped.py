"""The doubts of many results, grouped by kind, with the names of all tests that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from core.compliance.result import DoubtCode, TestResult


class DoubtKind(NamedTuple):
    """A kind of doubt."""

    heading: str
    meaning: str


KINDS: Final[dict[DoubtCode, DoubtKind]] = {
    "differs": DoubtKind("differs from the trustee", "the trustee has another figure or status"),
    "doubtful_par": DoubtKind(
        "par is doubtful", "the loans' par is not the one that makes the printed amount of collateral"
    ),
    "doubtful_cash": DoubtKind(
        "cash is doubtful",
        "no page says the principal cash, or par and cash do not make the amount of collateral that the file prints",
    ),
    "doubtful_denominator": DoubtKind(
        "the denominator is doubtful",
        "the file divides by another amount, or prints another amount of collateral than par and cash make",
    ),
    "conflict": DoubtKind(
        "the file says two things", "two pages, or two lines, say different things of what the figure reads"
    ),
    "left_out": DoubtKind("left out", "loans, rows or amounts are not counted"),
    "masked_inputs": DoubtKind("masked", "what the figure reads is known to the trustee and not shown"),
    "blank_inputs": DoubtKind(
        "blank", "what the figure reads is blank, or cannot be read; with the share of par where it is known"
    ),
    "ambiguous_column": DoubtKind(
        "a column may mean something else",
        "a column could be another field's, stands in for another, or may be in another unit",
    ),
    "implausible": DoubtKind("implausible", "what the figure reads is hardly so"),
    "joined_by_name": DoubtKind("joined by a name", "rows or obligors belong together by a name alone"),
    "estimate": DoubtKind("estimated", "a part of the figure is an estimate"),
    "stand_in": DoubtKind(
        "stands in", "something else stands in for what is not given: a day, a definition, a page, a limit"
    ),
}
"""Every kind of doubt, those first that say most of a figure."""


class DoubtGroup(NamedTuple):
    """One doubt, and the tests whose figures it is about."""

    code: DoubtCode
    heading: str
    message: str
    names: list[str]
    """All of them, in the order of the results."""

    @property
    def text(self) -> str:
        """The names, then what is doubted of them."""
        return f"{', '.join(self.names)}: {self.message}"


def doubt_groups(results: Iterable[TestResult]) -> Iterator[DoubtGroup]:
    """Yield the doubts of all results by kind, each message once; none is left out."""
    names: dict[DoubtCode, dict[str, list[str]]] = {code: {} for code in KINDS}
    for result in results:
        for doubt in result.doubt:
            some = names[doubt.code].setdefault(doubt.message, [])
            if result.test_name not in some:
                some.append(result.test_name)
    for code, messages in names.items():
        for message, some in messages.items():
            yield DoubtGroup(code, KINDS[code].heading, message, some)
