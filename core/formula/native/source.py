"""The steps of a loop as Python source, for Numba.

    def loop(inputs, out, rows, first, days_apart): ...

`first` is the place of the first row in its sheet, from 0; `days_apart` is added to a serial of the 1904 system.

It computes every row as if nothing special could happen. An error is a NaN, which arithmetic hands on by itself, and
which a choice that is not taken drops. The answer is not 0 where some row needs a second look: it
came to an error, whose code a NaN does not tell, overflowed, or met two numbers that may be equal at 15 digits,
or an input was no number of a cell. Then
the caller computes these rows in chunks, whose loops (columns/loops.h) this one follows operation by operation. Nothing
lets the compiler fuse or reorder them, so all bits are equal. The caller does so, too, where the processor marked that
a subnormal number was read, if it is one that marks them (`is_marked`): 0 added to a product shows one that is too
small.

Truths are joined by & and |, and a choice is between values that are calculated already: what does not branch runs by
vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.formula.native.steps import AGGREGATES, COMPARISONS, CONDITIONS, ERROR_AWARE, LoopStep

SIGNATURE: Final = "int32(CPointer(CPointer(float64)), CPointer(float64), int64, float64, float64)"

_ABOUT: Final = 6e-15  # this is that of columns/loops.h
_PART: Final = 2.0**-9
"""So much of a number, added to a second one, does not change it, where the first is at most 2e-14 of the second (CLOSE
of loops.h): 2e-14 * 2**-9 is less than 2**-54."""

_LARGEST, _LEAST_NORMAL = 1.7976931348623157e308, 2.2250738585072014e-308
_ALL_WHOLE: Final = 4503599627370496.0
_SCALED_MOST: Final = 1e15
_LAST_DAY: Final = 2_958_465.0

_DATE_PARTS: Final = frozenset({"YEAR", "MONTH", "DAY"})
_ORDERS: Final = {"=": "==", "<>": "!="}

_OVERFLOWING: Final = frozenset({"+", "-", "*", "/", "sum", "difference", "SUM", "AVERAGE", "PRODUCT"})
_PASSING: Final = frozenset(
    {"negate", "%", "ABS", "SQRT", "INT", "ROUND", "ROUNDUP", "ROUNDDOWN", "IF", "CHOOSE", "IFERROR"}
)
_LOSING_ERRORS: Final = COMPARISONS | AGGREGATES | {"IF", "SIGN", "NOT"}
"""Steps whose value says nothing of an error among what they read."""
_NOTHING, _ALL, _FIRST, _SECOND = slice(0), slice(None), slice(1), slice(1, 2)
_LOSES: Final = (
    dict.fromkeys(CONDITIONS | {"MIN", "MAX", "SIGN", "NOT"}, _ALL)
    | dict.fromkeys(("IF", "CHOOSE"), _FIRST)
    | {"/": _SECOND}
)
"""What of its reads a step may not hand on."""


def spell(number: float) -> str:
    """Return a number of the formula as the source has it, exactly."""
    return f"({number!r})"


def _number(value: str) -> float | None:
    """Return a value that is a number of the formula; None for others."""
    return float(value[1:-1]) if value.startswith("(") else None


def source_of(
    body: Body,
    steps: Sequence[LoopStep],
    inputs: Sequence[int],
    fixed: Sequence[bool],
    constants: Sequence[tuple[int, str]],
) -> str:
    """Return the function `loop` of a recipe's parts, written into `body`."""
    head = []
    values = {register: spell(float.fromhex(number)) for register, number in constants}
    for at, (register, is_fixed) in enumerate(zip(inputs, fixed, strict=True)):
        if is_fixed:
            head.append(f"x{at} = inputs[{at}][0]")
            values[register] = f"x{at}"
        else:
            head.append(f"input{at} = inputs[{at}]")
            values[register] = body.unseen(body.add(f"input{at}[row]"))
    for step in steps:
        values[step.out] = body.step(step, [values[register] for register in step.reads])
    result = values[steps[-1].out]
    body.see(result, errors=True)
    looks = body.looks()
    return "\n    ".join(
        [
            *("def loop(inputs, out, rows, first, days_apart):", *head),
            "zero = days_apart * 0.0",  # none to a compiler
            *("again = False", "for row in range(rows):"),
            *(f"    {line}" for line in (*body.lines, f"again = again | {looks}", f"out[row] = {result}")),
            "return int32(again)\n",
        ]
    )


class Body:
    """The operations on one row, in order."""

    def __init__(self, *, is_error_aware: bool, is_marked: bool) -> None:
        self.lines: list[str] = []
        self._is_error_aware = is_error_aware
        self._is_marked = is_marked
        self._asked: list[str] = []
        self._never_minus: set[str] = set()
        """The values that are never -0, which a rounding leaves as it is."""
        self._fails: set[str] = set()
        """The values that may be an error."""
        self._unseen: set[str] = set()
        """The values that may be infinite or, where they cannot fail, NaN: inputs, and what may overflow. Arithmetic
        hands that on, so one look at the result does. What would lose it looks before; so does a body that is aware of
        errors, which must not take an overflow for one."""

    def step(self, step: LoopStep, reads: list[str]) -> str:
        """Return one step; its value."""
        name, failing = step.name, [value for value in reads if value in self._fails]
        divides = name == "/" and bool(_number(reads[1]))
        for value in reads[_LOSES.get(name, _NOTHING)]:
            self.see(value)
        if name in COMPARISONS:
            value = self._comparison(name, *reads)
        elif name in AGGREGATES:
            value = self._aggregate(name, reads)
        elif name in _DATE_PARTS:
            value = self._date_part(name, reads[0])
        else:
            value = self._value(step, reads, divides=divides)
        if name in ERROR_AWARE:
            failing = failing if name == "IFERROR" and reads[1] in self._fails else []
        elif failing and name in _LOSING_ERRORS:
            value = self._unless_error([reads[0]] if name == "IF" else failing, value)
        if failing or name in _DATE_PARTS or name in ("SQRT", "CHOOSE") or (name == "/" and not divides):
            self._fails.add(value)
        if name in _OVERFLOWING or (name in _PASSING and any(each in self._unseen for each in reads)):
            self.unseen(value)
        return value

    def _value(self, step: LoopStep, reads: Sequence[str], *, divides: bool) -> str:
        name, x, y, z = step.name, *reads[:3], *("",) * (3 - len(reads[:3]))
        match name:
            case "+" | "-":
                return self._sum(name, x, y)
            case "sum" | "difference":
                result = self._sum("+" if name == "sum" else "-", x, y)
                self._look_if_small(result, x)
                return result
            case "*":
                return self._not_subnormal(self.add(f"{x} * {y}"))
            case "/":
                quotient = self.add(f"{x} / {y}")
                return self._not_subnormal(quotient if divides else self.add(f"nan if {y} == 0.0 else {quotient}"))
            case "INT":
                return self._whole(x)
            case "ROUND" | "ROUNDUP" | "ROUNDDOWN":
                return self._rounded(name, x, step.form[0])
            case "CHOOSE":
                return self._chosen(x, reads[1:])
            case "ROW":
                return self.add(f"float(row) + first + {float(step.form[0])}")
            case "ISBLANK" | "ISTEXT" | "ISLOGICAL" | "ISNONTEXT":
                return spell(float(name == "ISNONTEXT"))
        return self.add(_PLAIN[name].format(x=x, y=y, z=z))

    # Operations.

    def add(self, operation: str) -> str:
        """Append an operation; its value."""
        self.lines.append(f"v{len(self.lines)} = {operation}")
        return f"v{len(self.lines) - 1}"

    def unseen(self, value: str) -> str:
        """Return a value that may be none of a cell."""
        self._unseen.add(value)
        if self._is_error_aware:
            self.see(value)
        return value

    def see(self, value: str, *, errors: bool = False) -> None:
        """Have a row looked at again where a value is none of a cell.

        Or, with `errors`, an error.
        """
        if value in self._unseen or (errors and value in self._fails):
            overflow_alone = value in self._fails and not errors
            self.look(f"abs({value}) > {_LARGEST}" if overflow_alone else f"not (abs({value}) <= {_LARGEST})")
            self._unseen.discard(value)

    def look(self, condition: str) -> None:
        """Have a row looked at again where a condition holds."""
        self._asked.append(self.add(condition))

    def looks(self) -> str:
        """Return whether a row needs a second look."""
        return self.add(" | ".join(self._asked) or "False")

    # What loops.h has, too.

    def _comparison(self, name: str, x: str, y: str) -> str:
        if {x, y} <= self._unseen - self._fails:
            # One look for both: an infinite sum stays as it is or becomes NaN, which differs from nothing.
            apart, both = self.add(f"{x} - {y}"), self.add(f"{x} + {y}")
            self.look(f"(not {_differ(self.add(f'{both} + {apart} * {_PART}'), both)}) & ({apart} != 0.0)")
            self._unseen -= {x, y}
        else:
            self.see(x)
            self.see(y)
            if 0.0 not in (_number(x), _number(y)):  # no other number is close to 0
                self._look_if_small(self.add(f"{x} - {y}"), x)
        return self.add(f"float64({x} {_ORDERS.get(name, name)} {y})")

    def _not_subnormal(self, result: str) -> str:
        """0 for what is too small, the sign of 0 included."""
        small = f"{result} + zero" if self._is_marked else f"0.0 if abs({result}) < {_LEAST_NORMAL} else {result}"
        value = self.add(small)
        self._never_minus.add(value)
        return value

    def _sum(self, sign: str, x: str, y: str) -> str:
        result = self.add(f"{x} {sign} {y}")
        if x in self._never_minus or (sign == "+" and y in self._never_minus):
            self._never_minus.add(result)
        return result

    def _look_if_small(self, number: str, x: str) -> None:
        """Have a row looked at again where a number is nothing beside x, but not 0."""
        self.look(f"({x} + {number} * {_PART} == {x}) & ({number} != 0.0)")

    def _parts(self, x: str, power: float, most: float) -> tuple[str, str, str]:
        """Return a size times a power of ten: all of it, what is whole, and the rest."""
        scaled = self.add(f"abs({x})" if power == 1.0 else f"abs({x}) * {power!r}")
        if x in self._unseen and x not in self._fails:
            self.look(f"not ({scaled} < {most})")
            self._unseen.discard(x)
        else:
            self.look(f"{scaled} >= {most}")
        whole = self.add(f"floor({scaled})")
        return scaled, whole, self.add(f"{scaled} - {whole}")

    def _rounded(self, name: str, x: str, places: int) -> str:
        power = float(10**places)
        scaled, whole, part = self._parts(x, power, _SCALED_MOST if places else _ALL_WHOLE)
        if name == "ROUND":
            self.look(f"({part} < 0.5) & (0.5 - {part} < {scaled} * {_ABOUT})")
            whole = self.add(f"{whole} + float64({part} >= 0.5)")
        elif name == "ROUNDUP":
            self.look(_over_none(scaled, part))
            whole = self.add(f"{whole} + float64({part} > 0.0)")
        else:
            self.look(_under_one(scaled, whole))
        size = whole if power == 1.0 else self.add(f"{whole} / {power!r}")
        signed = self.add(f"(-{size} if {x} < 0.0 else {size}) + 0.0")
        if x in self._never_minus:
            return signed
        return self.add(f"{x} if {x} == 0.0 else {signed}")

    def _whole(self, x: str) -> str:
        scaled, whole, part = self._parts(x, 1.0, _ALL_WHOLE)
        over, under = self.add(_over_none(scaled, part)), self.add(_under_one(scaled, whole))
        self.look(f"(({x} < 0.0) & {over}) | ((not ({x} < 0.0)) & {under})")
        below = self.add(f"{whole} + float64(({x} < 0.0) & ({part} > 0.0))")
        signed = self.add(f"-{below} if {x} < 0.0 else {below}")
        return self.add(f"{x} if {x} == 0.0 else {signed}")

    # Choices and aggregates.

    def _unless_error(self, reads: Sequence[str], value: str) -> str:
        for each in reads:
            if each in self._fails:
                value = self.add(f"nan if {each} != {each} else {value}")
        return value

    def _chosen(self, index: str, choices: Sequence[str]) -> str:
        value = "nan"
        for at in range(len(choices), 0, -1):
            value = self.add(f"{choices[at - 1]} if {index} < {float(at + 1)} else {value}")
        return self.add(f"{value} if {index} >= 1.0 else nan")

    def _aggregate(self, name: str, reads: Sequence[str]) -> str:
        if name in CONDITIONS:
            operator = {"AND": " & ", "OR": " | ", "XOR": " ^ "}[name]
            return self.add(f"float64({operator.join(f'({each} != 0.0)' for each in reads)})")
        if name in ("MIN", "MAX"):
            result, order = reads[0], "<" if name == "MIN" else ">"
            for each in reads[1:]:
                result = self.add(f"{each} if {each} {order} {result} else {result}")
            return result
        result, operator = ("1.0", "*") if name == "PRODUCT" else ("0.0", "+")
        for each in reads:
            result = self.add(f"{result} {operator} {each}")
        return self.add(f"{result} / {float(len(reads))}") if name == "AVERAGE" else result

    # Dates.

    def _date_part(self, name: str, moment: str) -> str:
        """As `_part_of_day` (columns/numbers.pxi) does it in whole numbers.

        Half a second before midnight is the next day, and 1900 has a 29 February.
        """
        is_moment = self.add(f"({moment} >= 0.0) & ({moment} < {_LAST_DAY + 1})")
        moment = self.add(f"{moment} if {is_moment} else 0.0")
        midnight = self.add(f"floor({moment})")
        seconds = self.add(f"({moment} - {midnight}) * 86400.0")
        serial = self.add(f"{midnight} + days_apart")
        serial = self.add(f"{serial} + float64(({seconds} + 0.5 >= 86400.0) & ({serial} <= {_LAST_DAY}))")
        early, later = self._of_early(name, serial), self._of_later(name, serial)
        part = self.add(f"{early} if {serial} <= 60.0 else {later}")
        return self.add(f"{part} if {is_moment} & ({serial} <= {_LAST_DAY}) else nan")

    def _of_early(self, name: str, serial: str) -> str:
        if name == "YEAR":
            return "1900.0"
        first, second = ("1.0", "2.0") if name == "MONTH" else (serial, self.add(f"{serial} - 31.0"))
        return self.add(f"{first} if {serial} <= 31.0 else {second}")

    def _of_later(self, name: str, serial: str) -> str:
        """Count eras of 400 years, and years from March on: a leap day is the last."""
        since = self.add(f"{serial} + 693899.0")  # from 1 March of year 0 on
        era = self.add(f"floor({since} / 146097.0)")
        since = self.add(f"{since} - {era} * 146097.0")
        days = self.add(f"{since} - floor({since} / 1460.0)")
        days = self.add(f"{days} + floor({since} / 36524.0) - floor({since} / 146096.0)")
        year = self.add(f"floor({days} / 365.0)")
        since = self.add(f"{since} - ({year} * 365.0 + (floor({year} / 4.0) - floor({year} / 100.0)))")
        month = self.add(f"floor(({since} * 5.0 + 2.0) / 153.0)")  # from March on, 0 to 11
        if name == "DAY":
            return self.add(f"{since} - floor(({month} * 153.0 + 2.0) / 5.0) + 1.0")
        if name == "MONTH":
            turn = self.add(f"-9.0 if {month} >= 10.0 else 3.0")
            return self.add(f"{month} + {turn}")
        return self.add(f"{year} + {era} * 400.0 + float64({month} >= 10.0)")


_PLAIN: Final = {
    "negate": "0.0 - {x}", "%": "{x} / 100.0", "ABS": "abs({x})", "SIGN": "float64({x} > 0.0) - float64({x} < 0.0)",
    "SQRT": "sqrt({x})", "IF": "{y} if {x} != 0.0 else {z}", "IFERROR": "{y} if {x} != {x} else {x}",
    "ISERROR": "float64({x} != {x})", "ISNUMBER": "float64({x} == {x})", "NOT": "float64({x} == 0.0)",
}  # fmt: skip
"""The steps that are one operation."""


def _differ(x: str, y: str) -> str:
    """Return whether two numbers are different, and neither is NaN."""
    return f"(({x} < {y}) | ({x} > {y}))"


def _over_none(scaled: str, part: str) -> str:
    return f"({part} > 0.0) & ({part} < {scaled} * {_ABOUT})"


def _under_one(scaled: str, whole: str) -> str:
    return f"({whole} + 1.0 - {scaled} < {scaled} * {_ABOUT})"
