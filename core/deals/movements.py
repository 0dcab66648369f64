"""Why each test moved between two files of a deal.

The change split into parts that add up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.compliance.result import Results, Skipped
from core.compliance.stated import with_stated
from core.definition.definition import Definition
from core.frames.figures import DECIMALS
from core.portfolio import Portfolio
from core.portfolio.model.notes import Notes
from core.portfolio.model.portfolio import Amortization, Names
from core.reconciliation import reconcile

PartName = Literal["added", "removed", "par", "ratings", "prices", "rates", "other_fields", "liabilities_and_cash"]

PARTS: Final[tuple[PartName, ...]] = (
    "added", "removed", "par", "ratings", "prices", "rates", "other_fields", "liabilities_and_cash"
)  # fmt: skip
"""In the order in which they are applied: loans that are new, loans that are gone, paydowns and draws, ratings and
watches, prices, spreads and coupons, every other field with the as-of day, the notes and accounts."""

LOANS_SHOWN: Final = 5
"""Loans of a part that are shown, those that weigh most first."""

LOANS_TRIED_MAX: Final = 40
"""Loans of a part whose change is applied alone, to see what it weighs; those of the most par first."""

ROWS_TRIED_MAX: Final = 2_000_000
"""Loans times loans tried, so that a large book costs seconds; at least `LOANS_SHOWN` are tried."""

Run = Callable[[Portfolio], Results]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

_PAR: Final = frozenset(("par_value", "unfunded"))
_PRICES: Final = frozenset(("price", "purchase_price"))
_RATES: Final = frozenset(("spread", "floor", "all_in_rate", "base_rate", "base_rate_level", "is_fixed"))
_RATING_MARKS: Final = ("rating", "facility_rating", "watch")


class Mover(msgspec.Struct, frozen=True):
    """A loan of a part, and what its change alone does to the test's figure."""

    name: str
    """Borrower, else facility or identifier."""
    identifier: str | None
    """CUSIP, else LoanX id, else ISIN. Null: none."""
    effect: float
    """What this loan's change alone does to the figure, in the test's unit."""


class Part(msgspec.Struct, frozen=True):
    """One class of changes. `change` is in the test's unit."""

    part: PartName
    """What changed: loans added or removed, par, ratings, prices, rates (spreads, coupons), other_fields (the day
    included), liabilities_and_cash."""
    change: float
    """What these changes do to the test's figure, in its unit."""
    loans: list[Mover]
    """The five loans that weigh most, the heaviest first."""


class Open(msgspec.Struct, frozen=True):
    """Why a test has no status on a day, and the ends of its figure where masked ratings leave it between two."""

    reason: str
    """Why there is no status on that day."""
    low: float | None = None
    high: float | None = None


class Movement(msgspec.Struct, frozen=True, kw_only=True):
    """One test on both days, in its unit.

    The parts add up to `change`, which is null where a day has no figure.

    Of a test that masked ratings leave open, the figure is the one that the definition takes them for.
    """

    test_id: str
    test_name: str
    before: float | None
    """Figure of the earlier workbook, in the test's unit. Null: none."""
    after: float | None
    """Figure of the later workbook, in the test's unit. Null: none."""
    change: float | None
    """By how much the figure moved, in the test's unit; the parts add up to it. Null: a day has no figure."""
    parts: list[Part]
    """What the change is made of, in the order in which changes were applied."""
    before_open: Open | None = None
    """Why the earlier day has no status. Null: it has one, or the test is not there."""
    after_open: Open | None = None
    """Why the later day has no status. Null: it has one, or the test is not there."""
    unit: str = ""
    """Unit of the figures, as the suite names it: percent (percent points), years, factor, score, amount or number.
    Empty: no day has a result."""
    decimals: int = DECIMALS
    """Decimals to show the figures with."""


@dataclass(frozen=True, slots=True)
class _State:
    """What of the later file is applied.

    For each class of fields the loans that have it, and which loans are there.
    """

    kept: Mask
    applied: dict[PartName, Mask] = field(default_factory=dict)


def movements(
    before: Portfolio,
    after: Portfolio,
    run: Run,
    *,
    definition: Definition | None = None,
    loans_tried: int = LOANS_TRIED_MAX,
) -> list[Movement]:
    """Split the change of every test that `run` measures on both portfolios.

    Loans are paired as a reconciliation pairs them. Each part is the difference of two full runs, one with one more
    class of changes applied, so the parts of a test add up to its change. A loan's own effect is that of a run with
    its change alone on top of the parts before; effects of loans need not add up to their part.

    Args:
        before: the earlier file's loans, notes and accounts; `after` the later one's.
        run: the tests of one portfolio, such as `run_suite` with a deal's definition and thresholds.
        definition: whose amounts and corrections hold for the files as they are, whatever is mixed of the two.
        loans_tried: loans of a part whose change is applied alone, those of the most par first.

    Raises:
        ReconcileError: more loans than a reconciliation takes.
    """
    if definition is not None:
        before, after = with_stated(before, definition), with_stated(after, definition)
    mix = _Mix(before, after)
    steps = list(mix.steps())
    first, last = run(before), run(after)
    figures = [_figures(first), *(_figures(run(mix.portfolio(state))) for _, state, _ in steps), _figures(last)]
    names = {result.test_id: result.test_name for results in (first, last) for result in (*results, *results.skipped)}
    effects = [
        _effects(mix, state_before, part, mix.heaviest(rows, loans_tried), run, earlier)
        for (part, _, rows), state_before, earlier in zip(
            steps, [mix.start, *(state for _, state, _ in steps)], figures, strict=False
        )
    ]
    opens = [{each.test_id: _open(each) for each in results.skipped} for results in (first, last)]
    forms = {each.test_id: (each.unit, each.decimals) for each in (*first, *last)}
    return [
        msgspec.structs.replace(
            _movement(
                test_id,
                name,
                [figure.get(test_id) for figure in figures],
                [effect.get(test_id, []) for effect in effects],
            ),
            before_open=opens[0].get(test_id),
            after_open=opens[1].get(test_id),
            unit=unit,
            decimals=decimals,
        )
        for test_id, name in names.items()
        for unit, decimals in [forms.get(test_id, ("", DECIMALS))]
    ]


def _open(skipped: Skipped) -> Open:
    low, high = (None if end is msgspec.UNSET else end for end in (skipped.low, skipped.high))
    return Open(skipped.reason, low, high)


def _figures(results: Results) -> dict[str, float]:
    return {
        result.test_id: result.current_value
        for result in (*results, *results.skipped)
        if not isinstance(result.current_value, msgspec.UnsetType)
    }


def _movement(test_id: str, name: str, figures: list[float | None], movers: list[list[Mover]]) -> Movement:
    first, last = figures[0], figures[-1]
    if first is None or last is None:
        return Movement(test_id=test_id, test_name=name, before=first, after=last, change=None, parts=[])
    parts, known = [], first
    for part, figure, loans in zip(PARTS, figures[1:], [*movers, []], strict=True):
        now = known if figure is None else figure  # a step that cannot be measured leaves its change to the next one
        parts.append(Part(part, now - known, loans))
        known = now
    return Movement(test_id=test_id, test_name=name, before=first, after=last, change=last - first, parts=parts)


def _effects(
    mix: _Mix, state: _State, part: PartName, rows: list[int], run: Run, figures: Mapping[str, float]
) -> dict[str, list[Mover]]:
    """Return the loans that move each test most, by applying the changes of one loan alone to what stands before the
    part."""
    moved: dict[str, list[Mover]] = {}
    for row in rows:
        alone = _figures(run(mix.portfolio(mix.with_rows(state, part, np.array([row])))))
        for test_id, figure in alone.items():
            effect = figure - figures[test_id] if test_id in figures else 0.0
            if effect:
                moved.setdefault(test_id, []).append(Mover(*mix.named(row), effect))
    return {
        test_id: sorted(loans, key=lambda loan: -abs(loan.effect))[:LOANS_SHOWN] for test_id, loans in moved.items()
    }


class _Mix:
    """The loans of two portfolios on one list.

    Those of the earlier one, then those that are new.
    """

    def __init__(self, before: Portfolio, after: Portfolio) -> None:
        self._before, self._after = before, after
        theirs, ours = reconcile(before, after, ("missing_loan",)).pairs
        of_after = np.full(before.row_count, -1, np.int64)
        of_after[theirs] = ours
        is_new = np.ones(after.row_count, np.bool_)
        is_new[ours] = False
        new = np.flatnonzero(is_new)
        self._row_before = np.concatenate((np.arange(before.row_count), np.full(len(new), -1, np.int64)))
        self._row_after = np.concatenate((of_after, new))
        self._names: dict[str, tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]] = {}
        self.is_new, self.is_gone = self._row_before < 0, self._row_after < 0
        self.start = _State(~self.is_new)

    # What is applied

    def steps(self) -> Iterable[tuple[PartName, _State, Rows]]:
        """Every part but the last, with what is applied after it and the loans that it changes."""
        state = self.start
        for part in PARTS[:-1]:
            rows = self._change(part)
            state = self.with_rows(state, part, rows)
            if part not in ("added", "removed"):  # every loan, so that columns that only one file has come and go
                state = replace(state, applied={**state.applied, part: np.ones(len(self.is_new), np.bool_)})
            yield part, state, rows

    def with_rows(self, state: _State, part: PartName, rows: Rows) -> _State:
        """Return the state with a part applied to these loans."""
        if part in ("added", "removed"):
            kept = state.kept.copy()
            kept[rows] = part == "added"
            return replace(state, kept=kept)
        applied = state.applied.get(part, np.zeros(len(self.is_new), np.bool_)).copy()
        applied[rows] = True
        return replace(state, applied={**state.applied, part: applied})

    def _change(self, part: PartName) -> Rows:
        """Return the loans that a part changes."""
        if part == "added":
            return np.flatnonzero(self.is_new)
        if part == "removed":
            return np.flatnonzero(self.is_gone)
        both = ~self.is_new & ~self.is_gone
        differs = np.zeros(len(both), np.bool_)
        for kind, targets in _columns(self._before, self._after).items():
            for target in targets:
                if _part_of(target) == part:
                    earlier, later = self._sides(kind, target)
                    differs |= (earlier != later) & ~(_is_nan(earlier) & _is_nan(later))
        return np.flatnonzero(both & differs)

    def heaviest(self, rows: Rows, most: int) -> list[int]:
        """Those of the loans with the most par on either day, as many as are tried."""
        count = max(LOANS_SHOWN, min(most, ROWS_TRIED_MAX // max(1, len(self.is_new))))
        earlier, later = (np.abs(np.nan_to_num(side[rows])) for side in self._sides("numbers", "par_value"))
        order = np.argsort(-np.maximum(earlier, later), kind="stable")
        return [int(row) for row in rows[order[:count]]]

    def named(self, row: int) -> tuple[str, str | None]:
        """Return the borrower of a loan and its identifier."""
        side, at = (
            (self._after, int(self._row_after[row])) if self.is_new[row] else (self._before, int(self._row_before[row]))
        )

        def identifier_text(target: str) -> str | None:
            names = side.names.get(target)
            return None if names is None or names.codes[at] < 0 else names.values[int(names.codes[at])]

        identifier = next((text for target in ("cusip", "loanx_id", "isin") if (text := identifier_text(target))), None)
        return identifier_text("borrower_name") or identifier_text(
            "facility_name"
        ) or identifier or f"loan {row + 1}", identifier

    # Columns of both sides

    def _sides(self, kind: str, target: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a column of both portfolios for every loan of the list.

        Blank where one does not have it.
        """
        if kind == "names":
            earlier, later, _ = self._shared_names(target)
        else:
            columns = (_column(side, kind, target) for side in (self._before, self._after))
            blank = np.nan if kind == "numbers" else np.uint8(0)
            earlier, later = (
                np.full(len(rows), blank) if column is None else _take(column, rows, blank)
                for column, rows in zip(columns, (self._row_before, self._row_after), strict=True)
            )
        return earlier, later

    def _shared_names(self, target: str) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]:
        """Return the codes of a text column of both portfolios, into one list of strings."""
        if target not in self._names:
            place: dict[str, int] = {}
            sides = []
            for side, rows in ((self._before, self._row_before), (self._after, self._row_after)):
                names = side.names.get(target)
                if names is None:
                    sides.append(np.full(len(rows), -1, np.int32))
                    continue
                table = np.array([*(place.setdefault(text, len(place)) for text in names.values), -1], np.int32)
                sides.append(_take(table[names.codes], rows, np.int32(-1)))
            self._names[target] = (sides[0], sides[1], tuple(place))
        return self._names[target]

    def portfolio(self, state: _State) -> Portfolio:
        """Return the loans of a state with the earlier file's notes, accounts and published tests.

        A column that the file which a class of fields comes from does not have is not there.
        """
        kept = np.flatnonzero(state.kept)
        columns: dict[str, dict[str, Any]] = {"numbers": {}, "names": {}, "flags": {}, "ranks": {}, "lien": {}}
        for kind, targets in _columns(self._before, self._after).items():
            for target in targets:
                applied = state.applied.get(_part_of(target))
                main = self._after if applied is not None and applied.all() else self._before
                if _column(main, kind, target) is None:
                    continue
                earlier, later = self._sides(kind, target)
                is_later = self.is_new if applied is None else self.is_new | (applied & ~self.is_gone)
                values = np.where(is_later, later, earlier)[kept]
                columns[kind][target] = Names(values, self._shared_names(target)[2]) if kind == "names" else values
        applied = state.applied.get("other_fields", np.zeros(len(self.is_new), np.bool_))
        first, last = (self._before, self._after) if applied.all() else (self._after, self._before)
        return Portfolio(
            len(kept),
            columns["numbers"],
            columns["names"],
            columns["flags"],
            columns["ranks"],
            columns["lien"].get("lien_type"),
            self._before.tranches,
            replace(self._before.deal, as_of=last.deal.as_of),
            self._amortization(kept, self.is_new | applied),
            self._before.sheet_name,
            source_cells=self._before.source_cells,
            notes=Notes(stated=first.notes.stated | last.notes.stated),
            facts=self._before.facts,
            interpretation=self._before.interpretation,
            own_dates=self._before.own_dates | self._after.own_dates,
        )

    def _amortization(self, kept: Rows, is_later: Mask) -> Amortization | None:
        """Return the scheduled payments of the loans, each from the file that its other fields come from."""
        place = np.full(len(is_later), -1, np.int64)
        place[kept] = np.arange(len(kept))
        row, days, amount = [], [], []
        for side, rows, wanted in (
            (self._before, self._row_before, ~is_later),
            (self._after, self._row_after, is_later),
        ):
            if side.amortization is None:
                continue
            of_side = np.full(side.row_count, -1, np.int64)
            of_side[rows[wanted & (rows >= 0)]] = place[wanted & (rows >= 0)]
            at = of_side[side.amortization.row]
            row.append(at[at >= 0])
            days.append(side.amortization.days[at >= 0])
            amount.append(side.amortization.amount[at >= 0])
        if not row:
            return None
        return Amortization(row=np.concatenate(row), days=np.concatenate(days), amount=np.concatenate(amount))


def _part_of(target: str) -> PartName:
    if target in _PAR:
        return "par"
    if target.startswith(_RATING_MARKS):
        return "ratings"
    if target in _PRICES:
        return "prices"
    return "rates" if target in _RATES else "other_fields"


def _columns(*portfolios: Portfolio) -> dict[str, list[str]]:
    """Return the columns of any of the portfolios by kind, in one order."""
    by_kind = {
        kind: sorted({target for portfolio in portfolios for target in getattr(portfolio, kind)})
        for kind in ("numbers", "names", "flags", "ranks")
    }
    return by_kind | {"lien": ["lien_type"] if any(portfolio.lien is not None for portfolio in portfolios) else []}


def _column(portfolio: Portfolio, kind: str, target: str) -> NDArray[Any] | None:
    if kind == "lien":
        return portfolio.lien
    column = getattr(portfolio, kind).get(target)
    return column.codes if isinstance(column, Names) else column


def _take(column: NDArray[Any], rows: Rows, blank: Any) -> NDArray[Any]:
    """Return the values of some rows; blank for the row -1."""
    return np.append(column, blank).astype(column.dtype)[rows]


def _is_nan(values: NDArray[Any]) -> Mask:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
