"""The doubts of many results, grouped by kind, with the names of all tests that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from core.compliance.result import DoubtCode, TestResult

HEADINGS: Final[dict[DoubtCode, str]] = {
    "differs": "differs from the trustee",
    "doubtful_par": "par is doubtful",
    "doubtful_cash": "cash is doubtful",
    "doubtful_denominator": "the denominator is doubtful",
    "conflict": "the file says two things",
    "left_out": "left out",
    "masked_inputs": "masked",
    "blank_inputs": "blank",
    "ambiguous_column": "a column may mean something else",
    "implausible": "implausible",
    "joined_by_name": "joined by a name",
    "estimate": "estimated",
    "stand_in": "stands in",
}
"""Every kind of doubt in words, those first that say most of a figure."""


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
    """The doubts of all results by kind, each message once; none is left out."""
    names: dict[DoubtCode, dict[str, list[str]]] = {code: {} for code in HEADINGS}
    for result in results:
        for doubt in result.doubt:
            some = names[doubt.code].setdefault(doubt.message, [])
            if result.test_name not in some:
                some.append(result.test_name)
    for code, messages in names.items():
        for message, some in messages.items():
            yield DoubtGroup(code, HEADINGS[code], message, some)
