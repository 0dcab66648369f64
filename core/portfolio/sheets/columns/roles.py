"""Give each column the role that words, cells and other columns say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

import numpy as np

from core.grid.sheet import Sheet
from core.portfolio.sheets.columns import content, unnamed
from core.portfolio.sheets.columns.content import MOST, Features
from core.portfolio.sheets.columns.evidence import RoleEvidence
from core.portfolio.sheets.columns.relations import Bonus, relations
from core.portfolio.sheets.columns.vocabulary import Heading, heading, is_sink, words

THRESHOLD: Final = 3.0
"""Weight from which a column has a role."""

THRESHOLD_WITHOUT_HEADING: Final = unnamed.THRESHOLD
"""The same of a column whose heading has no known word: its cells must say all."""

SURE: Final = 5.0
"""Weight of a heading's words from which its cells are only asked whether they can be meant."""

SURE_LEAD: Final = 2.0
"""Lead over the next role that goes with it."""

OF_ALIAS: Final = 12.0
"""Weight of a heading that the mapping itself lists."""

WEAK_WORDS: Final = 4.0
"""Weight of its words below which a listed heading says little (Rate, Name, Balance): its cells decide with it."""

OF_WEAK_ALIAS: Final = 4.0

SPEAKS_AGAINST: Final = -3.0
"""Weight of words from which a listed heading is not what it is listed for."""

SECOND_SHARE: Final = 0.97
SECOND_LOSS: Final = 0.6
"""What a second column of a role counts: it takes its next role only where that comes near."""

OF_ANOTHER_TIME: Final = -4.0
"""Weight against every field from which a column is not what its cells may be: last month's rating is a rating."""

OF_LIST_MIN: Final = 0.15
"""Share of industries that only one agency's list has, from which they are by that list."""

_ASKED: Final = frozenset(("asset_type",))
"""Roles whose words are so common that cells are always asked: a type of position, of trade, of rate."""

_INDUSTRIES: Final = frozenset(("industry_a", "industry_b", "industry_c"))

RIVALS_MAX: Final = 6
"""Roles of a column that are weighed against its cells."""

COLUMNS_MAX: Final = 400
"""Columns of a table that are weighed."""

WITHOUT_WORDS: Final = (
    "cusip", "isin", "loanx_id", "asset_id", "borrower_name", "facility_name", "par_value", "market_value", "price",
    "spread", "floor", "all_in_rate", "base_rate_level", "base_rate", "coupon_type", "maturity_date", "country",
    "currency", "industry_a", "industry_b", "lien_type", "asset_type", "rating_a", "rating_b", "payment_frequency",
)  # fmt: skip
"""Roles that a column without a known heading may have by its cells: those that were read right in nine cases of ten,
or in most, where headings were taken away; ratings of S&P and Fitch are not told apart, other flags never."""

_NO_PRIOR: Final = -2.0
"""Prior of a role without a heading that the table of words says nothing of, where its cells are no sure sign."""

_SURE_BY_CELLS: Final = frozenset(
    ("cusip", "isin", "loanx_id", "borrower_name", "facility_name", "base_rate", "coupon_type", "maturity_date",
     "country", "currency", "industry_a", "industry_b", "lien_type", "asset_type", "rating_a", "rating_b",
     "payment_frequency", "all_in_rate")
)  # fmt: skip


SAYS_LITTLE: Final = 1.0
"""Weight of a heading such as "Amount", below which cells tell of par as below an unknown one."""

_LETTERS: Final = {"M": "Moody's Rating", "S": "S&P Rating", "F": "Fitch Rating"}
"""Letters that stand for agencies beside each other."""

TITLE_ROWS: Final = 12
TITLE_COLUMNS: Final = 6
"""Cells above a header in which the day of the report is looked for."""


@dataclass(slots=True)
class HeadedColumns:
    """The headings of a table, and the roles that its columns get."""

    sheet: Sheet
    first: int
    """First row below the header, 0-based."""
    texts: Mapping[int, str]
    """Column -> its own heading."""
    groups: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Column -> the words of the header's upper rows over it."""
    fixed: frozenset[int] = frozenset()
    """Columns whose headings a mapping of one's own names: nobody asks what their cells say."""
    _features: dict[int, Features] = field(default_factory=dict)
    _headings: dict[int, Heading] = field(default_factory=dict)

    def features(self, column: int) -> Features:
        """Return what the cells of a column are; looked at once."""
        known = self._features.get(column)
        if known is None:
            stored = self.sheet.columns[column]
            known = content.features(self.sheet, stored, self.first, self.sheet.row_count)
            self._features[column] = known
        return known

    def as_of(self) -> float | None:
        """Return the report's day as a serial, to the month; None without one.

        It is the first date above the header, or one that each row has.
        """
        return next(self._dates_above(), None) or next(self._constant_dates(), None)

    def _dates_above(self) -> Iterator[float]:
        for row in range(max(0, self.first - TITLE_ROWS), self.first):
            for column in range(min(self.sheet.column_count, TITLE_COLUMNS)):
                value = self.sheet.value(row, column)
                if isinstance(value, str) and (day := content.day_in(value)):
                    yield day

    def _constant_dates(self) -> Iterator[float]:
        for column in list(self.texts)[:COLUMNS_MAX]:
            stored = self.sheet.columns[column]
            if stored is None or not content.is_of_other_type(stored, self.first, "par_value"):
                continue
            days = self.features(column).days
            if len(days := days[~np.isnan(days)]) and float(days.max() - days.min()) < 1.0:
                yield float(days[0])

    def heading(self, column: int) -> Heading:
        """Return what the heading of a column says."""
        known = self._headings.get(column)
        if known is None:
            text = self.texts.get(column, "")
            if text.strip().upper() in _LETTERS:
                text = self._name_of_letter(text, column)
            known = self._headings[column] = heading(text, self.groups.get(column, ()))
        return known

    def _name_of_letter(self, text: str, column: int) -> str:
        """Return what M, S or F is short for, where another of them is a heading.

        Not above cells of another kind, such as spreads below S and floors below F.
        """
        letters = {own.strip().upper() for own in self.texts.values()} & _LETTERS.keys()
        is_other = content.is_of_other_type(self.sheet.columns[column], self.first, "currency")
        return _LETTERS[text.strip().upper()] if len(letters) > 1 and not is_other else text


def judge(
    columns: HeadedColumns, known: Mapping[int, str], places: Iterable[int], *, thorough: bool = False
) -> dict[int, RoleEvidence]:
    """Return the roles of some columns.

    Args:
        known: column -> the role that an exact heading of the mapping gives; such a column keeps it unless its cells
            cannot be meant.
        places: the columns to judge, those of `known` among them.
        thorough: weigh the cells of all columns, those of sure headings too: to show what speaks for each.
    """
    scores: dict[int, dict[str, RoleEvidence]] = {}
    for column in list(places)[:COLUMNS_MAX]:
        if column in known:
            scores[column] = _judge_listed(columns, column, known[column], thorough=thorough)
        else:
            scores[column] = _weigh_roles(columns, column, thorough=thorough)
    blank = [column for column in scores if not columns.texts.get(column, "").strip() and column not in known]
    if blank:
        unnamed.add(scores, columns.features, blank, columns.as_of())
    _relate(columns, scores)
    by_column = _assign(scores)
    for column, evidence in by_column.items():
        if evidence.role in _INDUSTRIES and evidence.words > 0 and not columns.heading(column).names_agency:
            of_sp = columns.features(column).share("industry_b") >= OF_LIST_MIN
            by_column[column] = replace(evidence, role="industry_b" if of_sp and column not in known else "industry")
        elif evidence.role.startswith("watch_") and column not in known and not columns.heading(column).names_agency:
            by_column[column] = replace(evidence, role="x_flag")  # a list of the manager's own
    _name_facilities(columns, by_column)
    return by_column


def _name_facilities(columns: HeadedColumns, by_column: dict[int, RoleEvidence]) -> None:
    """Take kinds for facilities' names where the cells are and no column has them.

    "Type of Investment" over "Term Loan B-2" and "2021 Incremental Term Loan".
    """
    if any(role_evidence.role in _NAMES_OF_FACILITIES for role_evidence in by_column.values()):
        return
    for column, evidence in sorted(by_column.items(), key=lambda pair: pair[1].role != "asset_type"):
        is_lien = columns.heading(column).weights.get("lien_type", 0.0) >= WEAK_WORDS
        if evidence.role not in _KINDS or column in columns.fixed or is_lien:
            continue
        features = columns.features(column)
        is_kind = features.share("type") + features.share("lien alone") >= MOST
        if features.filled >= content.ROWS_FOR_ROLE and features.share("facility") >= MOST and not is_kind:
            reason = f"{features.share('facility'):.0%} of its texts are names of facilities"
            by_column[column] = replace(evidence, role="facility_name", reasons=(*evidence.reasons, reason))
            return


_KINDS: Final = frozenset(("asset_type", "lien_type"))
_NAMES_OF_FACILITIES: Final = frozenset(("facility_name", "description"))


def _judge_listed(columns: HeadedColumns, column: int, role: str, *, thorough: bool) -> dict[str, RoleEvidence]:
    """Return the role of a listed heading, unless its cells are of another type."""
    if column in columns.fixed:
        return {role: _of_alias(role)}
    if content.is_of_other_type(columns.sheet.columns[column], columns.first, role):
        return _weigh_roles(columns, column, thorough=thorough)
    if role in _BY_SIZE or role in _IDS:
        role = _role_by_cells(role, columns, column)
    elif columns.heading(column).weights.get(role, 0.0) < WEAK_WORDS:
        return _weak(columns, column, role)
    if not thorough:
        return {role: _of_alias(role)}
    cells, reason = content.evidence(role, columns.features(column))
    reasons = ("a heading of the mapping", *((reason,) if reason else ()))
    return {role: RoleEvidence(role, OF_ALIAS, max(0.0, cells), reasons=reasons)}


@cache
def _of_alias(role: str) -> RoleEvidence:
    """Return what a listed heading says that nobody doubts."""
    return RoleEvidence(role, OF_ALIAS, 0.0, reasons=("a heading of the mapping",))


_BY_SIZE: Final = ("price", "market_value")
_IDS: Final = ("cusip", "isin", "loanx_id", "asset_id")
_MARK_OF_ID: Final = {"cusip": "cusip", "isin": "isin", "loanx_id": "loanx"}


def _role_by_cells(role: str, columns: HeadedColumns, column: int) -> str:
    """Return which of a heading's roles the cells are: price, amount, identifier."""
    weights = columns.heading(column).weights
    if role in _IDS and role != "asset_id" and weights.get("asset_id", 0.0) <= weights.get(role, 0.0):
        return role
    features = columns.features(column)
    if role in _BY_SIZE:
        if not len(features.sizes):
            return role
        return "market_value" if features.middle >= content.AMOUNT_MIN else "price"
    shares = {kind: features.share(mark) for kind, mark in _MARK_OF_ID.items()}
    best = max(shares, key=lambda share: shares[share])
    return (
        best
        if shares[best] >= content.MOST
        else "asset_id"
        if features.filled and shares.get(role, 0.0) < 0.2
        else role
    )


def _weak(columns: HeadedColumns, column: int, role: str) -> dict[str, RoleEvidence]:
    """Return what a general heading is listed for, and what its cells may be.

    Words of a group over it may speak against what it is listed for: "S&P" below "Country Rating".
    """
    if columns.heading(column).weights.get(role, 0.0) <= SPEAKS_AGAINST:
        return _weigh_roles(columns, column, thorough=True)
    features, words = columns.features(column), columns.heading(column)
    roles, _ = _rivals(words, features)
    roles = {name: weight for name, weight in roles.items() if not is_sink(name)}
    roles[role] = OF_WEAK_ALIAS
    evidence_list = [
        _evidence(name, weight, *content.evidence(name, features), THRESHOLD) for name, weight in roles.items()
    ]
    return {evidence.role: evidence for evidence in evidence_list if evidence.score > 0}


def _weigh_roles(columns: HeadedColumns, column: int, *, thorough: bool) -> dict[str, RoleEvidence]:
    """Return role -> what heading and cells say, above the threshold."""
    words = columns.heading(column)
    by_words = _by_words(words)
    if words.known and _is_sure(by_words) and by_words[0][1] not in _ASKED and not thorough:
        role = by_words[0][1]
        if role == "asset_id" and (kind := _role_by_cells(role, columns, column)) != role:
            return {kind: _evidence(kind, by_words[0][0], 0.0, "its cells are of that kind", THRESHOLD)}
        if not content.is_of_other_type(columns.sheet.columns[column], columns.first, role):
            return {role: _evidence(role, weight, 0.0, "", THRESHOLD) for weight, role in by_words[:3]}
    features = columns.features(column)
    if not words.known and features.filled < content.ROWS_FOR_ROLE:
        return {}
    roles, threshold = _rivals(words, features)
    evidence_list = [
        _evidence(role, weight, *content.evidence(role, features), threshold)
        for role, weight in roles.items()
        if weight >= threshold or not content.is_flag(role) or content.has_own_words(role, features)
    ]
    return {evidence.role: evidence for evidence in evidence_list if evidence.score > 0}


def _by_words(words: Heading) -> list[tuple[float, str]]:
    """Return the roles that a heading speaks for, the best first."""
    return sorted(((weight, role) for role, weight in words.weights.items() if weight > 0), reverse=True)


def _is_sure(by_words: list[tuple[float, str]]) -> bool:
    if not by_words:
        return False
    (weight, _), *rest = by_words
    return weight >= SURE and (not rest or weight - rest[0][0] >= SURE_LEAD)


def _rivals(heading_words: Heading, features: Features) -> tuple[dict[str, float], float]:
    """Return the roles to weigh for a column, and the threshold to reach."""
    roles = {role: weight for weight, role in _by_words(heading_words)[:RIVALS_MAX]}
    if heading_words.against <= OF_ANOTHER_TIME:
        return roles, THRESHOLD
    if max(roles.values(), default=0.0) < SAYS_LITTLE and next(iter(roles), "") == "par_value":
        return {"par_value": words().priors.get("par_value", _NO_PRIOR)}, THRESHOLD_WITHOUT_HEADING
    if roles:
        if features.filled:  # words that fit no field well stand over cells that are plainly one
            roles |= {
                role: heading_words.weights.get(role, 0.0) - 1.0
                for role in _SURE_BY_CELLS - roles.keys()
                if heading_words.weights.get(role, 0.0) > -1.0
            }
        return roles, THRESHOLD
    priors = words().priors
    roles = {
        role: priors.get(role, 0.0 if role in _SURE_BY_CELLS else _NO_PRIOR)
        for role in WITHOUT_WORDS
        if heading_words.weights.get(role, 0.0) >= 0
    }
    return roles, THRESHOLD_WITHOUT_HEADING


def _evidence(role: str, weight: float, cells: float, reason: str, threshold: float) -> RoleEvidence:
    """Return what speaks for a role, less the threshold that it must reach."""
    reasons = (f"its heading counts {weight:.1f}",) if weight > 0 else ()
    return RoleEvidence(role, weight - threshold, cells, reasons=(*reasons, *((reason,) if reason else ())))


def _relate(columns: HeadedColumns, scores: dict[int, dict[str, RoleEvidence]]) -> None:
    """Add relations between columns of figures, where headings are not sure."""
    open_columns = [column for column, roles in scores.items() if len(roles) > 1]
    if not open_columns:
        return
    likely = {column: frozenset(roles) for column, roles in scores.items()}
    numeric = {
        column: columns.features(column).numbers
        for column, roles in likely.items()
        if roles & _OF_FIGURES and columns.features(column).number > 0.5
    }
    if len(numeric) < 3 or not any(column in numeric for column in open_columns):
        return
    height = min(len(figures) for figures in numeric.values())
    bonus: Bonus = relations({column: figures[:height] for column, figures in numeric.items()}, likely)
    for (column, role), (weight, reason) in bonus.items():
        before = scores[column].get(role)
        if before is not None:
            scores[column][role] = replace(before, relations=weight, reasons=(*before.reasons, reason))


_OF_FIGURES: Final = frozenset(
    ("par_value", "commitment", "unfunded", "market_value", "par_settled", "cost_amount", "price", "purchase_price",
     "spread", "all_in_rate", "base_rate_level", "floor")
)  # fmt: skip


def _assign(scores: dict[int, dict[str, RoleEvidence]]) -> dict[int, RoleEvidence]:
    """Assign the most certain pair first: one role a column, one column a role.

    A second column of a role keeps it as a candidate: which of them counts is decided where their values are known.
    """
    pairs = sorted(
        (-evidence.score, column, role) for column, roles in scores.items() for role, evidence in roles.items()
    )  # of equals the first by name: borrowers before facilities, Moody's before S&P before Fitch
    by_column: dict[int, RoleEvidence] = {}
    first: dict[str, tuple[int, float]] = {}
    for negative, column, role in pairs:
        score = -negative
        if column in by_column or score <= 0:
            continue
        first_column = first.get(role)
        if first_column is not None and not is_sink(role):
            rest = _next(scores[column], role, first)
            if rest is not None and rest.score >= SECOND_SHARE * score - SECOND_LOSS:
                continue  # it is better in its next role than as a second one of this
        by_column[column] = _with_margin(scores[column], role)
        first.setdefault(role, (column, score))
    return by_column


def _next(roles: dict[str, RoleEvidence], role: str, first: Mapping[str, object]) -> RoleEvidence | None:
    """Return the best other role of a column that is free, or that many have."""
    candidates = [
        evidence
        for name, evidence in roles.items()
        if name != role and (is_sink(name) or name not in first) and evidence.score > 0
    ]
    return max(candidates, key=lambda evidence: evidence.score, default=None)


def _with_margin(roles: dict[str, RoleEvidence], role: str) -> RoleEvidence:
    """Return a column's role with the next one and the lead over it."""
    evidence = roles[role]
    rest = [other_role for name, other_role in roles.items() if name != role and other_role.score > 0]
    runner_up = max(rest, key=lambda rival: rival.score, default=None)
    if runner_up is None:
        return evidence
    return replace(evidence, runner_up=runner_up.role, margin=evidence.score - runner_up.score)
