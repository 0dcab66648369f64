"""What each column of a table is, what else it could be, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypedDict

from core.grid.address import column_name
from core.grid.sheet import Sheet
from core.portfolio.cells import text_cells
from core.portfolio.mapping.detected import ColumnEvidence, PageColumn, PageColumns, Value
from core.portfolio.sheets.columns import content
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.roles import OF_ALIAS, THRESHOLD, HeadedColumns
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.headings.sides import has_cells
from core.portfolio.sheets.located import LocatedTable

ALIAS_WEIGHT: Final = OF_ALIAS
"""Weight of a heading that is one of a field's own names, in a mapping that is not of loans."""

MARGIN_MAX: Final = 50.0
"""Lead from which on nothing comes near: no two readings of one heading lie so far apart."""

RIVALS_MAX: Final = 4
"""Roles of a heading's words that are weighed beside the one that the column has."""

REASONS_MAX: Final = 10
"""Reasons that are shown of one column."""

TEXT_LENGTH_MAX: Final = 80
"""Characters of a text that is shown."""

GAVE_WAY: Final = {
    "blank": "it has no value",
    "constant": "it says the same on every row, as a column about the deal does",
    "earlier": "it is of an earlier day than another one",
    "sparse": "it has a value on few of the rows on which another one has",
}
"""Why a column gave way to another one of its field."""


def show_value(value: Value) -> str:
    """Return a value as one short line."""
    text = text_cells.plain(value) if isinstance(value, float) else "" if value is None else str(value)
    text = " ".join(text[: 4 * TEXT_LENGTH_MAX].split())
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[: TEXT_LENGTH_MAX - 3]}..."


class RoleWeights(TypedDict):
    """The members of a `ColumnRole`."""

    role: str
    runner_up: str
    margin: float | None
    is_ambiguous: bool
    evidence: ColumnEvidence


class Roles:
    """The roles of the columns under one header.

    Args:
        feeds: target -> the column that feeds it; those that come first in the header's own order without one.
    """

    def __init__(self, sheet: Sheet, header_match: HeaderMatch, feeds: dict[str, int] | None = None) -> None:
        self._header = header_match
        self._columns = HeadedColumns(sheet, header_match.row + 1, header_match.texts)
        feeds = {target: places[0] for target, places in header_match.columns.items()} if feeds is None else feeds
        self._fed: dict[int, list[str]] = {}
        """Column -> the targets that it feeds."""
        for target, column in feeds.items():
            self._fed.setdefault(column, []).append(target)
        self._named: dict[int, list[str]] = {}
        """Column -> the targets that its heading names."""
        for target, column in header_match.preferences:
            self._named.setdefault(column, []).append(target)

    def targets_of(self, column: int) -> tuple[str, ...]:
        """Return the targets that a column feeds."""
        return tuple(self._fed.get(column, ()))

    def of(self, column: int) -> RoleWeights:
        """Return the role of a column as it was weighed, else by its heading's field."""
        evidence = self._header.evidence.get(column)
        return self._by_name(column) if evidence is None else _role_weights(self._complete(column, evidence))

    def _complete(self, column: int, evidence: RoleEvidence) -> RoleEvidence:
        """Add what a column's cells say, and the next role by its heading.

        The reader looks at neither where a heading is sure.
        """
        cells, runner_up, margin = evidence.content, evidence.runner_up, evidence.margin
        reasons = evidence.reasons
        features = self._columns.features(column)
        if not cells:
            cells, reason = content.evidence(evidence.role, features)
            reasons = (*reasons, reason) if reason else reasons
        if not runner_up:
            weights = self._columns.heading(column).weights
            by_words = sorted(((weight, role) for role, weight in weights.items() if weight > 0), reverse=True)
            rivals = [
                (weight - THRESHOLD + content.evidence(role, features)[0], role)
                for weight, role in by_words[:RIVALS_MAX]
                if role != evidence.role
            ]
            score, role = max(rivals, default=(0.0, ""))
            if score > 0:
                runner_up, margin = role, evidence.words + cells + evidence.relations - score
        return replace(evidence, content=cells, runner_up=runner_up, margin=margin, reasons=reasons)

    def _by_name(self, column: int) -> RoleWeights:
        """Return the role by the heading alone: the field fed, then others it may name."""
        named = list(dict.fromkeys((*self._fed.get(column, ()), *self._named.get(column, ()))))
        if not named:
            return RoleWeights(role="", runner_up="", margin=None, is_ambiguous=False, evidence=ColumnEvidence())
        others = [target for target in named if target not in self._fed.get(column, named[:1])]
        reasons = [f"the heading is a name of {named[0]}"]
        if why := GAVE_WAY.get(self._header.demoted.get(column, "")):
            reasons.append(why)
        return RoleWeights(
            role=named[0],
            runner_up=others[0] if others else "",
            margin=None,
            is_ambiguous=False,
            evidence=ColumnEvidence(ALIAS_WEIGHT, reasons=tuple(reasons)),
        )


def _role_weights(evidence: RoleEvidence) -> RoleWeights:
    is_far = evidence.margin >= MARGIN_MAX or not evidence.role
    reasons = tuple(show_value(reason) for reason in evidence.reasons[:REASONS_MAX])
    return RoleWeights(
        role=evidence.role,
        runner_up=evidence.runner_up,
        margin=None if is_far else round(evidence.margin, 2),
        is_ambiguous=evidence.is_ambiguous,
        evidence=ColumnEvidence(
            round(evidence.words, 2), round(evidence.content, 2), round(evidence.relations, 2), reasons
        ),
    )


def page_columns(pages: Sequence[LocatedTable]) -> Iterator[PageColumns]:
    """Yield the columns of each page with a heading, or that feed something."""
    for page in pages:
        header_match = page.header
        roles = Roles(page.sheet, header_match)
        named = header.names(page.sheet, header_match)
        columns = tuple(
            PageColumn(column_name(column), show_value(name), roles.targets_of(column), **roles.of(column))
            for column, name in enumerate(named)
            if roles.targets_of(column) or has_cells(page.sheet.columns[column], header_match.top)
        )
        yield PageColumns(
            page.sheet.name, show_value(page.title), tuple(range(header_match.top + 1, header_match.row + 2)), columns
        )
