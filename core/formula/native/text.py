"""A recipe as a function in LLVM's language.

    i32 loop(double **inputs, double *out, i64 rows, double first, double days_apart)

`first` is the place of the first row in its sheet, from 0; `days_apart` is added to a serial of the 1904 system.

It computes every row as if nothing special could happen. An error is a NaN, which arithmetic hands on by itself, and
which a choice that is not taken drops. The answer is not 0 where some row needs a second look: it
came to an error, whose code a NaN does not tell, overflowed, or met two numbers that may be equal at 15 digits,
or an input was no number of a cell. Then
the caller computes these rows in chunks, whose loops (columns/loops.h) this one follows operation by operation. No flag
lets the compiler fuse or reorder them, so all bits are equal.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from core.formula.native.recipe import AGGREGATES, COMPARISONS, CONDITIONS, ERROR_AWARE, LoopRecipe, LoopStep


def _spell(value: float) -> str:
    """Return a double as LLVM reads it exactly."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


_NAN: Final = _spell(float("nan"))
_ZERO, _ONE = _spell(0.0), _spell(1.0)
_CLOSE: Final = 2e-14  # this and the next are those of columns/loops.h
_ABOUT: Final = 6e-15
_LARGEST, _LEAST_NORMAL = 1.7976931348623157e308, 2.2250738585072014e-308
_ALL_WHOLE: Final = 4503599627370496.0
_SCALED_MOST: Final = 1e15
_LAST_DAY: Final = 2_958_465.0

_ORDERS: Final = {"=": "oeq", "<>": "une", "<": "olt", ">": "ogt", "<=": "ole", ">=": "oge"}
_DATE_PARTS: Final = frozenset({"YEAR", "MONTH", "DAY"})

_OVERFLOWING: Final = frozenset({"+", "-", "*", "/", "sum", "difference", "SUM", "AVERAGE", "PRODUCT"})
_PASSING: Final = frozenset(
    {"negate", "%", "ABS", "SQRT", "INT", "ROUND", "ROUNDUP", "ROUNDDOWN", "IF", "CHOOSE", "IFERROR"}
)
_LOSING_ERRORS: Final = COMPARISONS | AGGREGATES | {"IF", "SIGN", "NOT"}
"""Steps whose value says nothing of an error among what they read."""
_NOTHING, _ALL, _FIRST, _SECOND = slice(0), slice(None), slice(1), slice(1, 2)
_LOSES: Final = (
    dict.fromkeys(COMPARISONS | CONDITIONS | {"MIN", "MAX", "SIGN", "NOT"}, _ALL)
    | dict.fromkeys(("IF", "CHOOSE"), _FIRST)
    | {"/": _SECOND}
)
"""What of its reads a step may not hand on."""


def _divides(value: str) -> bool:
    """Return whether a value is a number of the formula, and not 0."""
    return not value.startswith("%") and value != _ZERO


def text_of(recipe: LoopRecipe) -> str:
    """Return the function `loop`."""
    body = _Body(any(step.name in ERROR_AWARE for step in recipe.steps))
    head = []
    values = {register: _spell(float.fromhex(number)) for register, number in recipe.constants}
    for at, (register, fixed) in enumerate(zip(recipe.inputs, recipe.fixed, strict=True)):
        head.append(f"%at{at} = getelementptr ptr, ptr %inputs, i64 {at}")
        head.append(f"%input{at} = load ptr, ptr %at{at}")
        if fixed:
            head.append(f"%value{at} = load double, ptr %input{at}")
            values[register] = f"%value{at}"
        else:
            place = body.add(f"getelementptr double, ptr %input{at}, i64 %row")
            values[register] = body.unseen(body.add(f"load double, ptr {place}"))
    for step in recipe.steps:
        values[step.out] = body.step(step, [values[register] for register in step.reads])
    result = values[recipe.steps[-1].out]
    body.see(result, errors=True)
    looks = body.looks()
    lines = [
        "define i32 @loop(ptr readonly %inputs, ptr noalias %out, i64 %rows, double %first, double %days_apart) {",
        "entry:",
        *head,
        "br label %each",
        "each:",
        "%row = phi i64 [0, %entry], [%next, %each]",
        "%so_far = phi i64 [0, %entry], [%again, %each]",
        *body.lines,
        f"%again = or i64 %so_far, {looks}",
        "%cell = getelementptr double, ptr %out, i64 %row",
        f"store double {result}, ptr %cell",
        "%next = add nuw nsw i64 %row, 1",
        "%more = icmp ult i64 %next, %rows",
        "br i1 %more, label %each, label %end",
        "end:",
        "%any = icmp ne i64 %again, 0",
        "%answer = zext i1 %any to i32",
        "ret i32 %answer",
        "}",
        "declare double @llvm.fabs.f64(double)",
        "declare double @llvm.floor.f64(double)",
        "declare double @llvm.sqrt.f64(double)",
    ]
    return "\n".join(lines)


class _Body:
    """The operations on one row, in order."""

    def __init__(self, is_error_aware: bool) -> None:
        self.lines: list[str] = []
        self._is_error_aware = is_error_aware
        self._asked: list[str] = []
        self._fails: set[str] = set()
        """The values that may be an error."""
        self._unseen: set[str] = set()
        """The values that may be infinite or, where they cannot fail, NaN: inputs, and what may overflow. Arithmetic
        hands that on, so one look at the result does. What would lose it looks before; so does a body that is aware of
        errors, which must not take an overflow for one."""

    def step(self, step: LoopStep, reads: list[str]) -> str:
        """Return one step; its value."""
        name, failing = step.name, [value for value in reads if value in self._fails]
        for value in reads[_LOSES.get(name, _NOTHING)]:
            self.see(value)
        if name in COMPARISONS:
            if _ZERO not in reads:  # no other number is close to 0
                self._look_where_close(*reads)
            value = self._truth(self._compare(_ORDERS[name], *reads))
        elif name in AGGREGATES:
            value = self._aggregate(name, reads)
        elif name in _DATE_PARTS:
            value = self._date_part(name, reads[0])
        else:
            value = self._value(step, reads)
        if name in ERROR_AWARE:
            failing = failing if name == "IFERROR" and reads[1] in self._fails else []
        elif failing and name in _LOSING_ERRORS:
            value = self._unless_error([reads[0]] if name == "IF" else failing, value)
        if failing or name in _DATE_PARTS or name in ("SQRT", "CHOOSE") or (name == "/" and not _divides(reads[1])):
            self._fails.add(value)
        if name in _OVERFLOWING or (name in _PASSING and any(each in self._unseen for each in reads)):
            self.unseen(value)
        return value

    def _value(self, step: LoopStep, reads: Sequence[str]) -> str:  # noqa: C901 - a plain match over kinds
        name, x, y = step.name, reads[0] if reads else "", reads[1] if len(reads) > 1 else ""
        match name:
            case "+" | "sum":
                return self._sum("fadd", x, y, snaps=name == "sum")
            case "-" | "difference":
                return self._sum("fsub", x, y, snaps=name == "difference")
            case "*":
                return self._not_subnormal(self._two("fmul", x, y))
            case "/":
                quotient = self._two("fdiv", x, y)
                if not _divides(y):
                    quotient = self._pick(self._compare("oeq", y, _ZERO), _NAN, quotient)
                return self._not_subnormal(quotient)
            case "negate":
                return self._two("fsub", _ZERO, x)
            case "%":
                return self._two("fdiv", x, _spell(100.0))
            case "ABS":
                return self._size(x)
            case "SIGN":
                above, below = (self._truth(self._compare(order, x, _ZERO)) for order in ("ogt", "olt"))
                return self._two("fsub", above, below)
            case "SQRT":
                return self.add(f"call double @llvm.sqrt.f64(double {x})")
            case "INT":
                return self._whole(x)
            case "ROUND" | "ROUNDUP" | "ROUNDDOWN":
                return self._rounded(name, x, step.form[0])
            case "IF":
                return self._pick(self._compare("une", x, _ZERO), y, reads[2])
            case "IFERROR":
                return self._pick(self._compare("uno", x, _ZERO), y, x)
            case "ISERROR":
                return self._truth(self._compare("uno", x, _ZERO))
            case "ISNUMBER":
                return self._truth(self._compare("ord", x, _ZERO))
            case "ISBLANK" | "ISTEXT" | "ISLOGICAL":
                return _ZERO
            case "ISNONTEXT":
                return _ONE
            case "NOT":
                return self._truth(self._compare("oeq", x, _ZERO))
            case "CHOOSE":
                return self._chosen(x, reads[1:])
            case "ROW":
                place = self._two("fadd", self.add("sitofp i64 %row to double"), "%first")
                return self._two("fadd", place, _spell(step.form[0]))
        raise KeyError(name)

    # Operations.

    def add(self, operation: str) -> str:
        """Append an operation; its value."""
        self.lines.append(f"%v{len(self.lines)} = {operation}")
        return f"%v{len(self.lines) - 1}"

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
            self.look("ogt" if value in self._fails and not errors else "ugt", self._size(value), _spell(_LARGEST))
            self._unseen.discard(value)

    def look(self, order: str, x: str, y: str) -> None:
        """Have a row looked at again where a comparison holds."""
        self._asked.append(self._compare(order, x, y))

    def looks(self) -> str:
        """Return whether a row needs a second look, as an i64."""
        asked = "false"
        for each in self._asked:
            asked = self.add(f"or i1 {asked}, {each}")
        return self.add(f"zext i1 {asked} to i64")

    def _two(self, operation: str, x: str, y: str) -> str:
        return self.add(f"{operation} double {x}, {y}")

    def _compare(self, order: str, x: str, y: str) -> str:
        return self.add(f"fcmp {order} double {x}, {y}")

    def _pick(self, condition: str, x: str, y: str) -> str:
        return self.add(f"select i1 {condition}, double {x}, double {y}")

    def _both(self, left: str, right: str) -> str:
        return self.add(f"and i1 {left}, {right}")

    def _truth(self, condition: str) -> str:
        return self.add(f"uitofp i1 {condition} to double")

    def _size(self, x: str) -> str:
        return self.add(f"call double @llvm.fabs.f64(double {x})")

    def _floor(self, x: str) -> str:
        return self.add(f"call double @llvm.floor.f64(double {x})")

    def _by(self, x: str, divisor: float) -> str:
        """Return the whole part of a quotient of whole numbers, which a double of this size has exactly."""
        return self._floor(self._two("fdiv", x, _spell(divisor)))

    # What loops.h has, too.

    def _look_where_close(self, x: str, y: str) -> None:
        apart = self._size(self._two("fsub", x, y))
        near = self._compare("ole", apart, self._two("fmul", self._size(x), _spell(_CLOSE)))
        self._asked.append(self._both(near, self._compare("one", x, y)))

    def _not_subnormal(self, result: str) -> str:
        """0 for what is too small, the sign of 0 included."""
        return self._pick(self._compare("olt", self._size(result), _spell(_LEAST_NORMAL)), _ZERO, result)

    def _sum(self, operation: str, x: str, y: str, *, snaps: bool) -> str:
        result = self._two(operation, x, y)
        if snaps:
            near = self._compare("ole", self._size(result), self._two("fmul", self._size(x), _spell(_CLOSE)))
            self._asked.append(self._both(near, self._compare("one", result, _ZERO)))
        return result

    def _parts(self, x: str, power: float, most: float) -> tuple[str, str, str]:
        """Return a size times a power of ten: all of it, what is whole, and the rest."""
        scaled = self._size(x) if power == 1.0 else self._two("fmul", self._size(x), _spell(power))
        self.look("oge", scaled, _spell(most))
        whole = self._floor(scaled)
        return scaled, whole, self._two("fsub", scaled, whole)

    def _under_one(self, scaled: str, whole: str) -> str:
        rest = self._two("fsub", self._two("fadd", whole, _ONE), scaled)
        return self._compare("olt", rest, self._two("fmul", scaled, _spell(_ABOUT)))

    def _over_none(self, scaled: str, part: str) -> str:
        little = self._compare("olt", part, self._two("fmul", scaled, _spell(_ABOUT)))
        return self._both(self._compare("ogt", part, _ZERO), little)

    def _rounded(self, name: str, x: str, places: int) -> str:
        power = float(10**places)
        scaled, whole, part = self._parts(x, power, _SCALED_MOST if places else _ALL_WHOLE)
        if name == "ROUND":
            half = _spell(0.5)
            missing = self._two("fsub", half, part)
            little = self._compare("olt", missing, self._two("fmul", scaled, _spell(_ABOUT)))
            self._asked.append(self._both(self._compare("olt", part, half), little))
            whole = self._two("fadd", whole, self._truth(self._compare("oge", part, half)))
        elif name == "ROUNDUP":
            self._asked.append(self._over_none(scaled, part))
            whole = self._two("fadd", whole, self._truth(self._compare("ogt", part, _ZERO)))
        else:
            self._asked.append(self._under_one(scaled, whole))
        size = whole if power == 1.0 else self._two("fdiv", whole, _spell(power))
        signed = self._pick(self._compare("olt", x, _ZERO), self.add(f"fneg double {size}"), size)
        return self._pick(self._compare("oeq", x, _ZERO), x, self._two("fadd", signed, _ZERO))

    def _whole(self, x: str) -> str:
        scaled, whole, part = self._parts(x, 1.0, _ALL_WHOLE)
        negative = self._compare("olt", x, _ZERO)
        near = self.add(
            f"select i1 {negative}, i1 {self._over_none(scaled, part)}, i1 {self._under_one(scaled, whole)}"
        )
        self._asked.append(near)
        down = self._truth(self._both(negative, self._compare("ogt", part, _ZERO)))
        below = self._two("fadd", whole, down)
        signed = self._pick(negative, self.add(f"fneg double {below}"), below)
        return self._pick(self._compare("oeq", x, _ZERO), x, signed)

    # Choices and aggregates.

    def _unless_error(self, reads: Sequence[str], value: str) -> str:
        for each in reads:
            if each in self._fails:
                value = self._pick(self._compare("uno", each, _ZERO), _NAN, value)
        return value

    def _chosen(self, index: str, choices: Sequence[str]) -> str:
        value = _NAN
        for at in range(len(choices), 0, -1):
            value = self._pick(self._compare("olt", index, _spell(at + 1)), choices[at - 1], value)
        return self._pick(self._compare("oge", index, _ONE), value, _NAN)

    def _aggregate(self, name: str, reads: Sequence[str]) -> str:
        if name in CONDITIONS:
            truths = [self._compare("une", each, _ZERO) for each in reads]
            truth_so_far = truths[0]
            operation = {"AND": "and", "OR": "or", "XOR": "xor"}[name]
            for truth in truths[1:]:
                truth_so_far = self.add(f"{operation} i1 {truth_so_far}, {truth}")
            return self._truth(truth_so_far)
        if name in ("MIN", "MAX"):
            truth_so_far = reads[0]
            for truth in reads[1:]:
                truth_so_far = self._pick(
                    self._compare("olt" if name == "MIN" else "ogt", truth, truth_so_far), truth, truth_so_far
                )
            return truth_so_far
        truth_so_far = _ONE if name == "PRODUCT" else _ZERO
        for truth in reads:
            truth_so_far = self._two("fmul" if name == "PRODUCT" else "fadd", truth_so_far, truth)
        return self._two("fdiv", truth_so_far, _spell(len(reads))) if name == "AVERAGE" else truth_so_far

    # Dates.

    def _date_part(self, name: str, moment: str) -> str:
        """As `_part_of_day` (columns/numbers.pxi) does it in whole numbers.

        Half a second before midnight is the next day, and 1900 has a 29 February.
        """
        is_moment = self._both(self._compare("oge", moment, _ZERO), self._compare("olt", moment, _spell(_LAST_DAY + 1)))
        moment = self._pick(is_moment, moment, _ZERO)
        midnight = self._floor(moment)
        seconds = self._two("fmul", self._two("fsub", moment, midnight), _spell(86_400.0))
        turned = self._compare("oge", self._two("fadd", seconds, _spell(0.5)), _spell(86_400.0))
        serial = self._two("fadd", midnight, "%days_apart")
        turned = self._both(turned, self._compare("ole", serial, _spell(_LAST_DAY)))
        serial = self._two("fadd", serial, self._truth(turned))
        is_day = self._both(is_moment, self._compare("ole", serial, _spell(_LAST_DAY)))
        is_early = self._compare("ole", serial, _spell(60.0))
        part = self._pick(is_early, self._of_early(name, serial), self._of_later(name, serial))
        return self._pick(is_day, part, _NAN)

    def _of_early(self, name: str, serial: str) -> str:
        if name == "YEAR":
            return _spell(1900.0)
        is_first = self._compare("ole", serial, _spell(31.0))
        if name == "MONTH":
            return self._pick(is_first, _ONE, _spell(2.0))
        return self._pick(is_first, serial, self._two("fsub", serial, _spell(31.0)))

    def _of_later(self, name: str, serial: str) -> str:
        """Return eras of 400 years and years that begin with March, so that a leap day is the last."""
        since = self._two("fadd", serial, _spell(693_899.0))  # from 1 March of year 0 on
        era = self._by(since, 146_097.0)
        since = self._two("fsub", since, self._two("fmul", era, _spell(146_097.0)))
        days = self._two("fsub", since, self._by(since, 1_460.0))
        days = self._two("fsub", self._two("fadd", days, self._by(since, 36_524.0)), self._by(since, 146_096.0))
        year = self._by(days, 365.0)
        leaps = self._two("fsub", self._by(year, 4.0), self._by(year, 100.0))
        since = self._two("fsub", since, self._two("fadd", self._two("fmul", year, _spell(365.0)), leaps))
        fifths = self._two("fadd", self._two("fmul", since, _spell(5.0)), _spell(2.0))
        month = self._by(fifths, 153.0)  # from March on, 0 to 11
        if name == "DAY":
            gone = self._two("fadd", self._two("fmul", month, _spell(153.0)), _spell(2.0))
            return self._two("fadd", self._two("fsub", since, self._by(gone, 5.0)), _ONE)
        is_next = self._compare("oge", month, _spell(10.0))
        if name == "MONTH":
            return self._two("fadd", month, self._pick(is_next, _spell(-9.0), _spell(3.0)))
        year = self._two("fadd", year, self._two("fmul", era, _spell(400.0)))
        return self._two("fadd", year, self._truth(is_next))
