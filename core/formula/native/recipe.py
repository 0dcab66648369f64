"""What one loop does.

The last instructions of a plan, as values, and the kinds of columns that they are right for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from core.formula.native.source import SIGNATURE, Body, source_of
from core.formula.native.steps import AGGREGATES, COMPARISONS, CONDITIONS, ERROR_AWARE, QUESTIONS, LoopStep
from core.native.written import Written
from core.values import Kind

STEPS_MAX: Final = 256
"""Steps of a loop: it takes about 1 ms a step to compile, and strangers write formulas."""

NUMBERS_AND_BLANKS: Final = 254
"""The kind of a register with both; like a uniform kind it says how its `numbers` count, those of blanks being 0."""

NO_LOOP: Final = 255
"""In place of a result's kind: the loop is not for such columns."""

_NUMBERS: Final = frozenset({Kind.NUMBER, Kind.DATE})
_LOOSE: Final = frozenset({Kind.NUMBER, Kind.BLANK, NUMBERS_AND_BLANKS})
_NUMERIC: Final = _NUMBERS | _LOOSE | {Kind.BOOLEAN}


class LoopRecipe(NamedTuple):
    """A loop; equal ones do the same, so it is the key of what is compiled."""

    start: int
    """How many instructions of the plan run in chunks before it."""
    steps: tuple[LoopStep, ...]
    """The last one gives the result."""
    inputs: tuple[int, ...]
    """The registers that are read before they are written."""
    fixed: tuple[bool, ...]
    """Which of the inputs are the same in every row."""
    constants: tuple[tuple[int, str], ...] = ()
    """The registers that hold a number of the formula, as `float.hex` spells it."""
    is_marked: bool = False
    """Whether the caller sees by the processor's mark that a subnormal number was read."""

    def written(self) -> Written:
        """Return the loop as Python source."""
        body = Body(is_error_aware=any(step.name in ERROR_AWARE for step in self.steps), is_marked=self.is_marked)
        return Written(source_of(body, self.steps, self.inputs, self.fixed, self.constants), SIGNATURE)

    def kind(self, inputs: bytes) -> int:
        """Return the kind of the result, errors aside, for inputs of these kinds.

        NO_LOOP where the loop is not for them.
        """
        kinds: dict[int, int] = {register: Kind.NUMBER for register, _ in self.constants}
        kinds.update(zip(self.inputs, inputs, strict=True))
        for step in self.steps:
            kinds[step.out] = step_kind = _kind(step, [kinds[register] for register in step.reads])
            if step_kind == NO_LOOP:
                return NO_LOOP
        return Kind.NUMBER if step_kind in _LOOSE else step_kind


def _kind(step: LoopStep, reads: list[int]) -> int:
    name = step.name
    kinds = set(reads)
    if not kinds <= _NUMERIC:
        return NO_LOOP
    if name in ("+", "sum"):
        return Kind.DATE if (reads[0] == Kind.DATE) != (reads[1] == Kind.DATE) else Kind.NUMBER
    if name in ("-", "difference"):
        return Kind.DATE if reads[0] == Kind.DATE and reads[1] != Kind.DATE else Kind.NUMBER
    if name in COMPARISONS:  # a condition stands above all numbers
        return Kind.BOOLEAN if (reads[0] == Kind.BOOLEAN) == (reads[1] == Kind.BOOLEAN) else NO_LOOP
    if name in ("IF", "CHOOSE"):
        return _common(set(reads[1:]))
    if name == "IFERROR":
        return _common(kinds)
    if name in ("NOT", "ISERROR"):
        return Kind.BOOLEAN
    if name in QUESTIONS:  # whose answer for a number does not hang on its row
        return Kind.BOOLEAN if kinds <= _NUMBERS else NO_LOOP
    if name in AGGREGATES:
        return _kind_of_aggregate(step, reads, kinds)
    return Kind.NUMBER


def _common(kinds: set[int]) -> int:
    """Return the kind of a choice between values of these kinds."""
    if len(kinds) == 1:
        return kinds.pop()
    return NUMBERS_AND_BLANKS if kinds <= _LOOSE else NO_LOOP


def _kind_of_aggregate(step: LoopStep, reads: list[int], kinds: set[int]) -> int:
    counted = _NUMBERS | {Kind.BOOLEAN} if step.name in CONDITIONS else _NUMBERS
    for kind, is_cell in zip(reads, step.form, strict=True):
        if kind not in (counted if is_cell else _NUMBERS | {Kind.BOOLEAN}):
            return NO_LOOP
    if step.name in CONDITIONS:
        return Kind.BOOLEAN
    if step.name in ("MIN", "MAX") and Kind.DATE in kinds:
        return Kind.DATE if len(kinds) == 1 else NO_LOOP
    return Kind.NUMBER
