"""Why each test moved between two files of a deal.

The change split into parts that add up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from core.portfolio.model.portfolio import Amortization, Names, codes_among, extended
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
Pairs = tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]
"""Rows of the earlier file, and the row of the later one that is the same loan as each."""

_PAR: Final = frozenset(("par_value", "unfunded"))
_PRICES: Final = frozenset(("price", "purchase_price"))
_RATES: Final = frozenset(("spread", "floor", "all_in_rate", "base_rate", "base_rate_level", "is_fixed"))
_KINDS: Final = ("numbers", "names", "flags", "ranks")
_BLANKS: Final[dict[str, Any]] = {"numbers": np.float64(np.nan), "names": np.int32(-1)}
"""By kind of column; those of flags, ranks and liens are 0."""
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
    is_largest_enough: bool = False,
    pairs: Pairs | None = None,
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
        is_largest_enough: whether loans are tried only for parts that move some test most; the other parts have none.
        pairs: rows of both files that are one loan, where a reconciliation of the two has told already.

    Raises:
        ReconcileError: more loans than a reconciliation takes.
    """
    if definition is not None:
        before, after = with_stated(before, definition), with_stated(after, definition)
    mix = _Mix(before, after, pairs)
    first, last = run(before), run(after)
    steps = list(mix.steps())
    states = [mix.start, *(state for _, state, _ in steps)]
    figures = [_figures(first), *(_figures(run(mix.portfolio(state))) for state in states[1:]), _figures(last)]
    tried = _largest_parts(figures) if is_largest_enough else frozenset(PARTS)
    effects = [
        _effects(mix, state, part, mix.heaviest(rows, loans_tried), run, before_part) if part in tried else {}
        for state, before_part, (part, _, rows) in zip(states, figures, steps, strict=False)
    ]
    names = {result.test_id: result.test_name for results in (first, last) for result in (*results, *results.skipped)}
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
    parts = [Part(part, change, loans) for (part, change), loans in zip(_changes(figures), [*movers, []], strict=True)]
    return Movement(test_id=test_id, test_name=name, before=first, after=last, change=last - first, parts=parts)


def _changes(figures: Sequence[float | None]) -> list[tuple[PartName, float]]:
    """Return what each part does to a test.

    Args:
        figures: the test's before the parts, and after each of them.
    """
    changes, known = list[tuple[PartName, float]](), figures[0] or 0.0
    for part, figure in zip(PARTS, figures[1:], strict=True):
        now = known if figure is None else figure  # a step that cannot be measured leaves its change to the next one
        changes.append((part, now - known))
        known = now
    return changes


def _largest_parts(figures: Sequence[Mapping[str, float]]) -> frozenset[PartName]:
    """Return the parts that move some test most."""
    ids = figures[0].keys() & figures[-1].keys()
    changes = (_changes([figure.get(test_id) for figure in figures]) for test_id in ids)
    largest = (max(each, key=lambda pair: abs(pair[1])) for each in changes)
    return frozenset(part for part, change in largest if change)


def _effects(
    mix: _Mix, state: _State, part: PartName, rows: list[int], run: Run, figures: Mapping[str, float]
) -> dict[str, list[Mover]]:
    """Return the loans that move each test most, by applying the changes of one loan alone to what stands before the
    part."""
    moved: dict[str, list[Mover]] = {}
    base = mix.portfolio(state)
    for row in rows:
        alone = _figures(run(mix.with_loan(base, state, part, row)))
        for test_id, figure in alone.items():
            effect = figure - figures[test_id] if test_id in figures else 0.0
            if effect:
                moved.setdefault(test_id, []).append(Mover(*mix.named(row), effect))
    return {
        test_id: sorted(loans, key=lambda loan: -abs(loan.effect))[:LOANS_SHOWN] for test_id, loans in moved.items()
    }


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of both portfolios, None for one that does not have it."""

    earlier: NDArray[Any] | None
    later: NDArray[Any] | None
    blank: Any
    values: Sequence[str] = ()
    """What the codes of a text column stand for."""

    def of_earlier(self, rows: _RowPick) -> NDArray[Any]:
        return rows.take(self.earlier, self.blank)

    def of_later(self, rows: _RowPick) -> NDArray[Any]:
        return rows.take(self.later, self.blank)


ROWS_OF_STRETCH: Final = 1_000
"""Rows that follow each other, on average, from which copying stretches of a column is faster than picking rows."""


@dataclass(frozen=True, slots=True)
class _RowPick:
    """Rows that are taken of many columns, the row -1 as a blank.

    Where they follow each other they are copied as stretches.
    """

    rows: Rows
    blanks: Rows
    stretches: list[slice]
    """Empty where there are too many to be worth it."""

    @classmethod
    def of(cls, rows: Rows) -> _RowPick:
        blanks, rows = np.flatnonzero(rows < 0), np.maximum(rows, 0)
        if len(rows) < ROWS_OF_STRETCH:
            return cls(rows, blanks, [])
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
        if len(starts) > 1 + len(rows) // ROWS_OF_STRETCH:
            return cls(rows, blanks, [])
        first, counts = rows[starts], np.diff(starts, append=len(rows))
        return cls(rows, blanks, [slice(*pair) for pair in zip(first.tolist(), (first + counts).tolist(), strict=True)])

    def take(self, column: NDArray[Any] | None, blank: Any) -> NDArray[Any]:
        """Return the values of the rows, blanks without the column.

        They are a view of the column where that is enough.
        """
        if column is None or not len(column):
            return np.full(len(self.rows), blank)
        if not self.stretches:
            values = column[self.rows]
        elif len(self.stretches) == 1:
            values = column[self.stretches[0]]
        else:
            values = np.concatenate([column[stretch] for stretch in self.stretches])
        return _with_values(values, self.blanks, blank)


def _with_values(values: NDArray[Any], places: Rows, others: Any) -> NDArray[Any]:
    """Return the values with others in some places; a view stays as it is."""
    if len(places):
        values = values if values.base is None else values.copy()
        values[places] = others
    return values


@dataclass(frozen=True, slots=True)
class _Sources:
    """Which rows of the two files the loans of a state have some fields from."""

    most_are_later: bool
    most: _RowPick
    """The rows of the file that most loans have them from; any row for the loans of `few`."""
    few: Rows
    """The loans that have them from the other file, and its rows."""
    few_rows: _RowPick

    @classmethod
    def of(cls, is_later: Mask, earlier: Rows, later: Rows) -> _Sources:
        most_are_later = 2 * int(np.count_nonzero(is_later)) > len(is_later)
        most, rest = (later, earlier) if most_are_later else (earlier, later)
        few = np.flatnonzero(is_later != most_are_later)
        return cls(most_are_later, _RowPick.of(most), few, _RowPick.of(rest[few]))

    def take(self, column: _Column) -> NDArray[Any]:
        most, rest = (column.later, column.earlier)[:: 1 if self.most_are_later else -1]
        return _with_values(self.most.take(most, column.blank), self.few, self.few_rows.take(rest, column.blank))


class _Mix:
    """The loans of two portfolios on one list.

    Those of the earlier one, then those that are new.
    """

    def __init__(self, before: Portfolio, after: Portfolio, pairs: Pairs | None = None) -> None:
        self._before, self._after = self.sides = before, after
        theirs, ours = pairs or reconcile(before, after, ("missing_loan",)).pairs
        of_after = np.full(before.row_count, -1, np.int64)
        of_after[theirs] = ours
        is_new = np.ones(after.row_count, np.bool_)
        is_new[ours] = False
        new = np.flatnonzero(is_new)
        self._row_before = np.concatenate((np.arange(before.row_count), np.full(len(new), -1, np.int64)))
        self._row_after = np.concatenate((of_after, new))
        self._columns: dict[tuple[str, str], _Column] = {}
        self._mixed: dict[tuple[str, str], tuple[Mask, Mask | None, NDArray[Any]]] = {}
        self._sources_known: dict[PartName, tuple[Mask, Mask | None, _Sources]] = {}
        self._of_before, self._of_after = _RowPick.of(self._row_before), _RowPick.of(self._row_after)
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
        for kind, targets in _columns(*self.sides).items():
            for target in targets:
                if _part_of(target) == part:
                    earlier, later = self._sides(kind, target)
                    differs |= (earlier != later) & ~(_is_nan(earlier) & _is_nan(later))
        return np.flatnonzero(both & differs)

    def heaviest(self, rows: Rows, most: int) -> list[int]:
        """Those of the loans with the most par on either day, as many as are tried."""
        count = max(LOANS_SHOWN, min(most, ROWS_TRIED_MAX // max(1, len(self.is_new))))
        earlier, later = (np.abs(np.nan_to_num(side[rows])) for side in self._sides("numbers", "par_value"))
        par = -np.maximum(earlier, later)
        if len(par) > count:
            largest = np.flatnonzero(par <= np.partition(par, count - 1)[count - 1])
            rows, par = rows[largest], par[largest]
        return [int(row) for row in rows[np.argsort(par, kind="stable")[:count]]]

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

    def _column(self, kind: str, target: str) -> _Column:
        """Return a column of both portfolios, texts as codes into one list."""
        if (kind, target) not in self._columns:
            earlier, later = (_column(side, kind, target) for side in (self._before, self._after))
            blank: Any = _BLANKS.get(kind, np.uint8(0))
            values: Sequence[str] = ()
            if kind == "names":
                strings, others = (side.names[target].values if target in side.names else () for side in self.sides)
                table = np.append(codes_among(others, strings), np.int32(-1))
                new = np.flatnonzero(table[:-1] < 0)
                table[new] = len(strings) + np.arange(len(new))
                later = None if later is None else table[later]
                values = extended(strings, [others[int(code)] for code in new])
            self._columns[kind, target] = _Column(earlier, later, blank, values)
        return self._columns[kind, target]

    def _sides(self, kind: str, target: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a column of both portfolios for every loan of the list.

        Blank where one does not have it.
        """
        column = self._column(kind, target)
        return column.of_earlier(self._of_before), column.of_later(self._of_after)

    def portfolio(self, state: _State) -> Portfolio:
        """Return the loans of a state with the earlier file's notes, accounts and published tests.

        A column that the file which a class of fields comes from does not have is not there.
        """
        kept = np.flatnonzero(state.kept)
        columns: dict[str, dict[str, Any]] = {"numbers": {}, "names": {}, "flags": {}, "ranks": {}, "lien": {}}
        for kind, targets in _columns(*self.sides).items():
            for target in targets:
                applied = state.applied.get(_part_of(target))
                main = self._after if applied is not None and applied.all() else self._before
                if _column(main, kind, target) is not None:
                    columns[kind][target] = self._named(kind, target, self._mix(kind, target, state))
        applied = state.applied.get("other_fields", np.zeros(len(self.is_new), np.bool_))
        first, last = self.sides if applied.all() else self.sides[::-1]
        return Portfolio(
            len(kept),
            columns["numbers"],
            columns["names"],
            columns["flags"],
            columns["ranks"],
            columns["lien"].get("lien_type"),
            self._before.tranches,
            replace(self._before.deal, as_of=last.deal.as_of),
            self._amortization(state),
            self._before.sheet_name,
            source_cells=self._before.source_cells,
            notes=Notes(stated=first.notes.stated | last.notes.stated),
            facts=self._before.facts,
            interpretation=self._before.interpretation,
            own_dates=self._before.own_dates | self._after.own_dates,
        )

    def with_loan(self, base: Portfolio, state: _State, part: PartName, row: int) -> Portfolio:
        """Return the loans of a state, a part applied to the one that it changes."""
        after = self.with_rows(state, part, np.array([row]))
        if len(self.is_new) == 1:  # what is applied to it is applied to all
            return self.portfolio(after)
        place, at = int(np.count_nonzero(state.kept[:row])), _RowPick.of(self._row_after[[row]])

        def edited(kind: str, target: str, values: Any) -> Any:
            codes = values.codes if isinstance(values, Names) else values
            if part == "removed":
                codes = np.delete(codes, place)
            elif part == "added":
                codes = np.insert(codes, place, self._column(kind, target).of_later(at)[0])
            elif part == _part_of(target):
                codes = codes.copy()
                codes[place] = self._column(kind, target).of_later(at)[0]
            return self._named(kind, target, codes)

        columns: dict[str, Any] = {
            kind: {target: edited(kind, target, values) for target, values in getattr(base, kind).items()}
            for kind in _KINDS
        }
        return replace(
            base,
            row_count=int(np.count_nonzero(after.kept)),
            lien=None if base.lien is None else edited("lien", "lien_type", base.lien),
            amortization=self._amortization(after),
            **columns,
        )

    def _mix(self, kind: str, target: str, state: _State) -> NDArray[Any]:
        """Return a column of the loans of a state, the one before where neither changed."""
        part = _part_of(target)
        applied = state.applied.get(part)
        known = self._mixed.get((kind, target))
        if known is None or known[0] is not state.kept or known[1] is not applied:
            values = self._sources(part, state).take(self._column(kind, target))
            self._mixed[kind, target] = known = state.kept, applied, values
        return known[2]

    def _sources(self, part: PartName, state: _State) -> _Sources:
        """Return where the fields of a class come from in a state, the one before where nothing changed."""
        applied = state.applied.get(part)
        known = self._sources_known.get(part)
        if known is None or known[0] is not state.kept or known[1] is not applied:
            is_later = self._is_later(applied)[state.kept]
            rows = self._row_before[state.kept], self._row_after[state.kept]
            self._sources_known[part] = known = state.kept, applied, _Sources.of(is_later, *rows)
        return known[2]

    def _named(self, kind: str, target: str, values: NDArray[Any]) -> Any:
        return Names(values, self._column(kind, target).values) if kind == "names" else values

    def _is_later(self, applied: Mask | None) -> Mask:
        """Return which loans a class of fields has from the later file."""
        return self.is_new if applied is None else self.is_new | (applied & ~self.is_gone)

    def _amortization(self, state: _State) -> Amortization | None:
        """Return the scheduled payments of the loans, each from the file that its other fields come from."""
        if all(side.amortization is None for side in self.sides):
            return None
        applied = state.applied.get("other_fields")
        is_later = self.is_new if applied is None else self.is_new | applied
        kept = np.flatnonzero(state.kept)
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
        kind: sorted({target for portfolio in portfolios for target in getattr(portfolio, kind)}) for kind in _KINDS
    }
    return by_kind | {"lien": ["lien_type"] if any(portfolio.lien is not None for portfolio in portfolios) else []}


def _column(portfolio: Portfolio, kind: str, target: str) -> NDArray[Any] | None:
    if kind == "lien":
        return portfolio.lien
    column = getattr(portfolio, kind).get(target)
    return column.codes if isinstance(column, Names) else column


def _is_nan(values: NDArray[Any]) -> Mask:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
