"""The shares of a definition as one program of masks over the loans.

A share's formula is TRUE of a loan, not, or that cannot be told: two masks. Parts that several formulas have are one
mask. What compares a number with a line, or reads fields of few values, is a step of the program; any other part runs
down its columns beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import inf, nextafter
from sys import float_info
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compliance.masks import OPERATIONS, Program
from core.definition.formulas import Atom, Logic, NumberComparison, fields_of, share_of
from core.definition.terms import LOAN_FLAGS
from core.formula.columns import map_columns
from core.formula.ranges import Environment
from core.grid.address import column_name
from core.portfolio.cells.checkpoint import checkpoint

Bools = NDArray[np.bool_]

VALUES_MAX: Final = 1_024
"""Values of a field up to which the program for them is kept."""

CHARACTERS_MAX: Final = 65_536
"""Of the values of all fields, up to which it is kept: programs of 64 portfolios take some 16 MB of texts at most."""

PIECE_ROWS: Final = 32_768
"""Rows that a part of a formula takes at once."""

TRUTHS: Final = (False, True)
"""The values of a flag."""

_NO_BOUNDS: Final = (0.0, 0.0, 0.0, 1.0)
_LARGEST: Final = float_info.max


class Source(NamedTuple):
    """How a program reads a field: all but the column itself."""

    kind: str
    """d for numbers, i for codes of names, B for bytes."""
    shift: float = 0.0
    scale: float = 1.0
    values: tuple[Any, ...] = ()
    """Of a field of few values: those of the codes from `first` on; any other code is blank."""
    first: int = 0
    is_own: bool = False
    """Whether it is a field of the mapping's own, whose numbers may be infinite."""

    @property
    def is_plain(self) -> bool:
        """Whether the numbers are taken as they are."""
        return self.shift == 0.0 and self.scale == 1.0


class Missing(NamedTuple):
    """What a file lacks of a field."""

    columns: tuple[str, ...]


class ShareProgram(NamedTuple):
    """A program for portfolios with columns of certain kinds."""

    program: Program
    columns: tuple[str | tuple[Atom, bool], ...]
    """The field of each column; or (a part, whether it is what cannot be told of it)."""
    sums: Mapping[str, tuple[int, int | None] | Missing]
    """By formula the sums of its loans and of those of which it cannot be told; or what the file lacks."""


class SharePlan:
    """The formulas of some shares, and the fields that they read."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.parts = {text: share_of(text) for text in texts}
        self.reads = {text: tuple(sorted(fields_of(part))) for text, part in self.parts.items()}
        self.fields = tuple(sorted(frozenset().union(*self.reads.values())))

    def bind(self, sources: tuple[Source | Missing, ...]) -> ShareProgram:
        """Return the program for fields that are read so, in the order of `fields`."""
        values = [source.values for source in sources if isinstance(source, Source)]
        is_short = max(map(len, values), default=0) <= VALUES_MAX and _characters(values) <= CHARACTERS_MAX
        return _kept(self, sources) if is_short else _bound(self, sources)


def _characters(values: Iterable[tuple[Any, ...]]) -> int:
    return sum(len(each) for texts in values for each in texts if isinstance(each, str))


@lru_cache(maxsize=256)
def plan_of(texts: tuple[str, ...]) -> SharePlan:
    """Return the plan of some shares' formulas."""
    return SharePlan(texts)


def missing_of(fields: Sequence[str], sources: Mapping[str, Source | Missing]) -> Missing | None:
    """Return what a formula of these fields lacks; None for nothing.

    One flag of several is enough, the others are FALSE then.
    """
    flags = [field for field in fields if field in LOAN_FLAGS]
    lacks = {field: source.columns for field in fields if isinstance(source := sources[field], Missing)}
    if (others := lacks.get("is_discount")) is not None:
        return Missing(others)
    columns = [column for field, columns in lacks.items() if field not in flags for column in columns]
    if flags and all(field in lacks for field in flags):
        columns += flags
    return Missing(tuple(columns)) if columns else None


def _bound(plan: SharePlan, sources: tuple[Source | Missing, ...]) -> ShareProgram:
    by_field = dict(zip(plan.fields, sources, strict=True))
    writer = _Writer(by_field)
    sums: dict[str, tuple[int, int | None] | Missing] = {}
    for text, part in plan.parts.items():
        missing = missing_of(plan.reads[text], by_field)
        sums[text] = missing if missing is not None else writer.add(part)
    return ShareProgram(writer.program(), tuple(writer.columns), sums)


_kept: Final = lru_cache(maxsize=64)(_bound)


_SUM: Final = OPERATIONS["sum"]
_ON_MASKS: Final = frozenset(OPERATIONS[name] for name in ("both", "either", "without", "not", "sum"))


def _masks_read(step: tuple[Any, ...]) -> set[int]:
    """Return the masks that a step reads."""
    operation, _, a, b, *_ = step
    return {a, b} if operation in _ON_MASKS else set()


class _Writer:
    """Writes the steps of a program; what was written already is not written again."""

    def __init__(self, sources: Mapping[str, Source | Missing]) -> None:
        self._sources = {
            field: source if isinstance(source, Source) else Source("B", values=TRUTHS)
            for field, source in sources.items()
        }
        """A flag that the file lacks is FALSE in every loan."""
        self.columns: dict[str | tuple[Atom, bool], int] = {}
        self._kinds: list[str] = []
        self._masks: dict[Any, int] = {}
        self._steps: list[tuple[Any, ...]] = []
        self._sums: dict[int, int] = {}

    def program(self) -> Program:
        """Return the program of all that was written.

        It has a register for as many masks as are needed at once.
        """
        last_use = {mask: at for at, step in enumerate(self._steps) for mask in _masks_read(step)}
        used, free = 0, list[int]()
        registers: dict[int, int] = {}
        steps = []
        for at, step in enumerate(self._steps):
            operation, out, a, b, *rest = step
            reads = _masks_read(step)
            if reads:
                a, b = registers[a], registers[b]
            free += [registers[mask] for mask in reads if last_use[mask] == at]
            if operation != _SUM:
                registers[out] = free.pop() if free else used
                used = max(used, registers[out] + 1)
                out = registers[out]
            steps.append((operation, out, a, b, *rest))
        return Program(steps, "".join(self._kinds))

    def add(self, part: Logic | Atom) -> tuple[int, int | None]:
        """Write the sums of a share, and return their places."""
        true, unknown = self._truth(part)
        return self._sum(true), None if unknown is None else self._sum(unknown)

    def _sum(self, mask: int) -> int:
        if mask not in self._sums:
            self._sums[mask] = len(self._sums)
            self._steps.append((_SUM, self._sums[mask], mask, mask, _NO_BOUNDS, False, None))
        return self._sums[mask]

    def _step(
        self, operation: str, a: int, b: int = 0, bounds: Any = _NO_BOUNDS, flip: bool = False, table: Any = None
    ) -> int:
        step = (OPERATIONS[operation], a, b, bounds, flip, table)
        if step not in self._masks:
            self._masks[step] = len(self._masks)
            self._steps.append((step[0], self._masks[step], *step[1:]))
        return self._masks[step]

    def _column(self, name: str | tuple[Atom, bool], kind: str) -> int:
        if name not in self.columns:
            self.columns[name] = len(self._kinds)
            self._kinds.append(kind)
        return self.columns[name]

    # ---- logic of three values

    def _truth(self, part: Logic | Atom) -> tuple[int, int | None]:
        """Return masks of where a part is TRUE and where it is open; None for nowhere."""
        if isinstance(part, Atom):
            return self._atom(part)
        if part.operator == "NOT":
            true, unknown = self._truth(part.parts[0])
            return self._step("not", self._either(true, unknown), self._either(true, unknown)), unknown
        joins = "both" if part.operator == "AND" else "either"
        together, open_rows = self._truth(part.parts[0])
        for piece in part.parts[1:]:
            true, unknown = self._truth(piece)
            may = self._step(joins, self._either(true, unknown), self._either(together, open_rows))
            together = self._step(joins, together, true)
            open_rows = None if unknown is None and open_rows is None else self._step("without", may, together)
        return together, open_rows

    def _either(self, true: int, unknown: int | None) -> int:
        return true if unknown is None else self._step("either", true, unknown)

    # ---- atoms

    def _atom(self, atom: Atom) -> tuple[int, int | None]:
        sources = [self._sources[field] for field in atom.fields]
        if len(sources) == 1 and sources[0].values:
            return self._of_values(atom, sources[0])
        if atom.line is not None and all(source.kind == "d" for source in sources):
            masks = self._line(atom.line, sources) if atom.line.joins == "" else self._joined(atom.line, sources)
            if masks is not None:
                return masks
        if len(sources) == 2 and all(source.kind == "B" for source in sources):
            return self._of_pairs(atom, sources)
        return self._beforehand(atom)

    def _beforehand(self, atom: Atom) -> tuple[int, int | None]:
        true, unknown = (self._column((atom, is_unknown), "B") for is_unknown in (False, True))
        bounds = (1.0, 255.0, 0.0, 1.0)
        return self._step("bytes", true, bounds=bounds), self._step("bytes", unknown, bounds=bounds)

    def _line(self, line: NumberComparison, sources: Sequence[Source]) -> tuple[int, int | None] | None:
        (source,) = sources
        column = self._column(line.fields[0], "d")
        known = self._step("numbers", column, bounds=(-_LARGEST, _LARGEST, 0.0, 1.0))
        blank = self._step("not", known, known)
        if line.sign in ("ISBLANK", "ISNUMBER"):
            return None if source.is_own else (blank if line.sign == "ISBLANK" else known, None)
        bounds = (*_bounds_of(line), source.shift, source.scale)
        true = self._step("numbers" if source.is_plain else "scaled", column, bounds=bounds)
        return self._step("without", known, true) if line.sign == "<>" else true, blank

    def _joined(self, line: NumberComparison, sources: Sequence[Source]) -> tuple[int, int | None] | None:
        if not all(source.is_plain and not source.is_own for source in sources):
            return None
        first, second = (self._column(field, "d") for field in line.fields)
        joins = line.joins.encode()
        known = self._step("joined", first, second, bounds=(-_LARGEST, _LARGEST, 0.0, 1.0), table=joins)
        true = self._step("joined", first, second, bounds=(*_bounds_of(line), 0.0, 1.0), table=joins)
        unknown = self._step("not", known, known)
        return self._step("without", known, true) if line.sign == "<>" else true, unknown

    def _of_values(self, atom: Atom, source: Source) -> tuple[int, int | None]:
        true, unknown = truth_of_values(atom, source.values)
        column = self._column(atom.fields[0], source.kind)
        has_blanks = source.kind == "i" or source.first > 0
        is_open = unknown.any() if has_blanks else unknown[:-1].any()
        return self._codes(column, source, true), self._codes(column, source, unknown) if is_open else None

    def _codes(self, column: int, source: Source, by_value: Bools) -> int:
        """Write the mask of some values' codes; the last of `by_value` is a blank's."""
        if source.kind == "i":
            by_code, first = np.append(by_value[-1:], by_value[:-1]), -1
        else:
            by_code, first = by_byte(source, by_value), 0
        for flip in (False, True):
            places = np.flatnonzero(by_code != flip)
            if len(places) and places[-1] - places[0] + 1 == len(places):
                bounds = (float(places[0] + first), float(places[-1] + first), 0.0, 1.0)
                return self._step("codes" if source.kind == "i" else "bytes", column, bounds=bounds, flip=flip)
        table = (by_code * np.uint8(255)).tobytes()
        return self._step("code_table" if source.kind == "i" else "byte_table", column, table=table)

    def _of_pairs(self, atom: Atom, sources: Sequence[Source]) -> tuple[int, int | None]:
        counts = [len(source.values) + 1 for source in sources]
        places = np.divmod(np.arange(counts[0] * counts[1]), counts[1])
        columns = [
            column_of_values(source.values, own, fill=field in atom.blank_matters)
            for source, own, field in zip(sources, places, atom.fields, strict=True)
        ]
        true, unknown = truth_of_columns(atom, columns, len(places[0]))
        first, second = (self._column(field, "B") for field in atom.fields)
        by_bytes = np.ix_(*(by_byte(source, np.arange(count)) for source, count in zip(sources, counts, strict=True)))

        def mask(by_pair: Bools) -> int:
            table = by_pair.reshape(counts)[by_bytes] * np.uint8(255)
            return self._step("pair_table", first, second, table=table.tobytes())

        if unknown is None:
            return mask(true), None
        pairs: Bools = unknown.reshape(counts)
        of_first, of_second = np.all(pairs, axis=1, keepdims=True), np.all(pairs, axis=0, keepdims=True)
        if np.array_equal(pairs, of_first | of_second):  # a blank of either, as a rule
            blank = self._codes(first, sources[0], of_first.ravel())
            return mask(true), self._either(blank, self._codes(second, sources[1], of_second.ravel()))
        return mask(true), mask(unknown)


def by_byte(source: Source, by_value: NDArray[Any]) -> NDArray[Any]:
    """Return what each byte stands for, by what the values and then a blank do."""
    table = np.full(256, by_value[-1])
    table[source.first : source.first + len(source.values)] = by_value[:-1]
    if source.values == TRUTHS:
        table[2:] = by_value[1]
    return table


# ---- numbers that are equal


def same_bounds(number: float) -> tuple[float, float]:
    """Return the least and the greatest number that are the same by 15 digits."""
    return _furthest(number, -inf), _furthest(number, inf)


def _furthest(number: float, toward: float) -> float:
    shown = f"{number:.14e}"
    while number and f"{(further := nextafter(number, toward)):.14e}" == shown:
        number = further
    return number


def _bounds_of(line: NumberComparison) -> tuple[float, float]:
    low, high = _BOUNDS[line.sign](*same_bounds(line.number))
    return max(low, -_LARGEST), min(high, _LARGEST)


_BOUNDS: Final[Mapping[str, Callable[[float, float], tuple[float, float]]]] = {
    "<": lambda low, _: (-inf, nextafter(low, -inf)),
    "<=": lambda _, high: (-inf, high),
    ">": lambda _, high: (nextafter(high, inf), inf),
    ">=": lambda low, _: (low, inf),
    "=": lambda low, high: (low, high),
    "<>": lambda low, high: (low, high),
}
"""Where a comparison is TRUE, "<>" where it is not, by what is equal to its number."""


# ---- a part of a formula


class _Timeless(Environment):
    """A place without a clock, in which a date without a year is a mere text.

    A run gives the same in every year.
    """

    def year(self, is_cell: bool = False) -> None:
        return None


def constant_truth(atom: Atom) -> bool:
    """Return whether a part that reads no field is TRUE."""
    return bool(_truths(np.array([atom.program.run(_Timeless())], object))[0][0])


def column_of_values(values: Sequence[Any], codes: NDArray[Any], *, fill: bool) -> tuple[NDArray[Any], Bools | None]:
    """Return a field of few values as a column, and which rows are blank.

    Without `fill` blanks are left in the column. Codes that are the last but for the values, or -1, are blank.
    """
    if values == TRUTHS:
        return np.asarray(codes != 0), None
    if values and isinstance(values[0], str):
        texts = np.array([*values, None], object)[codes]
        return texts, (codes < 0) | (codes == len(values)) if fill else None
    numbers = np.array([*values, np.nan])[codes]
    return filled(numbers) if fill else (numbers, None)


def filled(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], Bools | None]:
    """Return numbers with a number for each blank, and the blanks; None for none.

    A column of numbers runs several times as fast as one with blanks.
    """
    blank = np.isnan(numbers)
    return (np.where(blank, 0.0, numbers), blank) if blank.any() else (numbers, None)


def truth_of_values(atom: Atom, values: Sequence[Any]) -> tuple[Bools, Bools]:
    """For each value of the atom's field, then for a blank.

    Whether it is TRUE, and whether that cannot be told.
    """
    checkpoint()
    listed = np.empty(len(values) + 1, object)
    listed[:-1] = list(values)
    true, faulty = _truths(map_columns(atom.plan, {"A": listed}, atom.program))
    unknown = np.zeros(len(listed), np.bool_) if faulty is None else faulty
    unknown[-1] |= atom.needs_value
    return true & ~unknown, unknown


def truth_of_columns(
    atom: Atom, columns: Sequence[tuple[NDArray[Any], Bools | None]], count: int
) -> tuple[Bools, Bools | None]:
    """Return (TRUE, neither TRUE nor FALSE) of a part down its columns.

    By pieces that stay in the processor's cache: what the engine makes for a million rows at once is memory that the
    system gives by the page.
    """
    true = np.empty(count, np.bool_)
    unknown: Bools | None = None
    for _, blank in columns:
        if blank is not None:
            unknown = blank.copy() if unknown is None else unknown | blank
    for start in range(0, count, PIECE_ROWS):
        checkpoint()
        piece = slice(start, start + PIECE_ROWS)
        part = {column_name(at): column[piece] for at, (column, _) in enumerate(columns)}
        true[piece], faulty = _truths(map_columns(atom.plan, part, atom.program))
        if faulty is not None:
            unknown = np.zeros(count, np.bool_) if unknown is None else unknown
            unknown[piece] |= faulty
    return (true, None) if unknown is None else (true & ~unknown, unknown)


def _truths(values: NDArray[Any] | None) -> tuple[Bools, Bools | None]:
    """Return (TRUE, neither TRUE nor FALSE) of a formula's values.

    A number is TRUE unless it is 0, as in a sheet.
    """
    assert values is not None
    if values.dtype == np.bool_:
        return values, None
    if values.dtype.kind == "f":
        return values != 0, None
    answers = [
        value if isinstance(value, bool) else value != 0 if isinstance(value, int | float) else None for value in values
    ]
    faulty = np.array([answer is None for answer in answers], np.bool_)
    return np.array([bool(each) for each in answers], np.bool_), faulty if faulty.any() else None
