"""Every function as a row.

Name, category, arguments, help, examples and the body that computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeVar

from core.formula.values.value import OMITTED


class Takes(Enum):
    """What an argument's body receives, and what its value goes through before."""

    NUMBER = "number"
    """A float. Blank is 0, booleans are 0 and 1, numeric text is read; an array lifts the call element by element."""
    INTEGER = "integer"
    """An int: a NUMBER cut toward zero."""
    TEXT = "text"
    """A str. Lifts over arrays."""
    LOGICAL = "logical"
    """A bool. Lifts over arrays."""
    VALUE = "value"
    """One value as it is, never an error (those come back before the body runs). Lifts over arrays."""
    ANY = "any"
    """One value as it is, errors too. Lifts over arrays."""
    RANGE = "range"
    """A single value, or an Array (its `reference` set when it was read from cells); errors too. Operators inside
    the argument of a plain (not array) cell formula still meet single cells."""
    ARRAY = "array"
    """An Array always (a single value is one of 1 x 1; a single error too); what stands inside is evaluated as
    arrays, in plain cell formulas too."""
    REFERENCE = "reference"
    """The Reference itself, not its cells; #VALUE! where the argument is none."""
    OPERAND = "operand"
    """A Reference where the argument is one, else its value or Array."""
    LAMBDA = "lambda"
    """A Lambda."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a function."""

    name: str
    kind: Takes
    description: str
    required: bool = True
    repeats: bool = False
    """The argument, with the repeating ones beside it, may be given again and again (up to 255 in all)."""
    empty: Any = None
    """What the body gets for an argument that is there but empty, as in F(1,,2): None means blank, coerced by kind;
    OMITTED is passed as it is."""
    partly: bool = False
    """The body reads some cells of a RANGE, ARRAY or OPERAND, not all: it gets the Reference where the argument is one
    and cells may have to wait to be calculated, else what its kind says. Nothing waits for what it does not read."""
    single_cell: bool = False
    """A reference to several cells is #VALUE! here, neither lifted nor cut with the formula's own row; an array lifts.
    So it is where functions of the Analysis ToolPak take one value."""


@dataclass(frozen=True, slots=True)
class Work:
    """How much work a function's body makes at most, in nanoseconds.

    What `core.formula.work` adds up.
    """

    call: float
    """A call with single values."""
    cell: float = 0
    """More for each cell that it is given in ranges and arrays."""
    column: float = 0
    """More for each of their columns."""
    character: float = 0
    """More for each character of text in them all, beside copying it."""
    reads: bool = False
    """It reads texts as numbers and dates, where the kind of the argument does not."""
    matches: bool = False
    """It matches texts with a pattern, its longest single argument."""
    grows: int = 1
    """How many times as long as a text what it makes of it may be; 0 for no text."""
    joins: bool = False
    """It puts its first argument between all others."""


@dataclass(frozen=True, slots=True)
class Function:
    """A row of the catalogue."""

    name: str
    category: str
    description: str
    arguments: tuple[Argument, ...]
    examples: tuple[tuple[str, Any], ...]
    """(formula, value): executed by a test. The cells that an example may use are EXAMPLE_CELLS."""
    volatile: bool
    environment: bool
    """The body's first parameter is the Environment."""
    body: Callable[..., Any] | None
    """None for the forms that evaluate their own arguments (IF, LET, LAMBDA, ...): they live in the machine."""
    work: Work | None
    """None where nothing bounds it, or nobody measured it."""
    caution: str = ""
    """In what its answers may differ from Excel's; told in the help, when a formula is checked, and with an answer."""
    minimum: int = field(init=False)
    maximum: int = field(init=False)
    period: int = field(init=False)
    """How many arguments repeat together; 0 when none."""
    parts: tuple[int, ...] = field(init=False)
    """The places of the arguments of which the body reads some cells, or none (a REFERENCE)."""

    def __post_init__(self) -> None:
        repeating = sum(argument.repeats for argument in self.arguments)
        object.__setattr__(self, "minimum", sum(argument.required for argument in self.arguments))
        object.__setattr__(self, "maximum", ARGUMENTS_MAX if repeating else len(self.arguments))
        object.__setattr__(self, "period", repeating)
        taken = enumerate(self.arguments)
        parts = tuple([at for at, row in taken if row.partly or row.kind is Takes.REFERENCE])
        object.__setattr__(self, "parts", parts)

    @property
    def syntax(self) -> str:
        """As the help shows it: ROUND(number, num_digits)."""
        names = [argument.name if argument.required else f"[{argument.name}]" for argument in self.arguments]
        if self.period:
            names.append("...")
        return f"{self.name}({', '.join(names)})"

    def argument(self, index: int) -> Argument:
        """Return the row of the argument at a 0-based place, repetition included."""
        if index < len(self.arguments) or not self.period:
            return self.arguments[index]
        first = len(self.arguments) - self.period
        return self.arguments[first + (index - first) % self.period]


ARGUMENTS_MAX: Final = 255
"""Arguments of one call, Excel's own limit."""

FUNCTIONS: Final[dict[str, Function]] = {}
"""Every function that the engine has, by its upper-case name. Filled by importing `core.formula.functions.families`."""

EXAMPLE_CELLS: Final[dict[str, Any]] = {
    "A1": 10.0, "A2": 20.0, "A3": 30.0, "A4": 40.0, "A5": 50.0,
    "B1": "apple", "B2": "banana", "B3": "cherry", "B4": "apple", "B5": "date",
    "C1": 1.0, "C2": 2.0, "C3": 3.0, "C4": 4.0, "C5": 5.0,
    "D1": True, "D2": False, "D3": None, "D4": "text", "D5": 45_000.0,
}  # fmt: skip
"""The cells that the examples of the catalogue refer to."""

OUTSIDE_WORLD: Final = frozenset(
    {
        *(
            "CUBEKPIMEMBER",
            "CUBEMEMBER",
            "CUBEMEMBERPROPERTY",
            "CUBERANKEDMEMBER",
            "CUBESET",
            "CUBESETCOUNT",
            "CUBEVALUE",
        ),
        *("CALL", "COPILOT", "DETECTLANGUAGE", "FILTERXML", "IMAGE", "PY", "REGISTER.ID", "RTD", "SQL.REQUEST"),
        *("STOCKHISTORY", "TRANSLATE", "WEBSERVICE"),
    }
)
"""Excel's functions that reach outside the workbook: never supported."""

Body = TypeVar("Body", bound=Callable[..., Any])


def function(
    name: str,
    category: str,
    description: str,
    *arguments: Argument,
    examples: tuple[tuple[str, Any], ...],
    volatile: bool = False,
    environment: bool = False,
    work: Work | None = None,
    caution: str = "",
) -> Callable[[Body], Body]:
    """Enter a body into the catalogue; one body may stand under several names.

    The body gets its arguments by position, coerced by their kind, those not given left out; it returns a value of
    `core.formula.values` (an int or a NumPy float is taken as a number, NaN and infinity as #NUM!) or raises Failure.
    """

    def enter(body: Body) -> Body:
        assert name not in FUNCTIONS, f"{name} is in the catalogue already"
        FUNCTIONS[name] = Function(
            name, category, description, arguments, examples, volatile, environment, body, work, caution
        )
        return body

    return enter


def form(
    name: str,
    category: str,
    description: str,
    *arguments: Argument,
    examples: tuple[tuple[str, Any], ...],
    work: Work | None = None,
) -> None:
    """Enter a function that evaluates its own arguments."""
    assert name not in FUNCTIONS, f"{name} is in the catalogue already"
    FUNCTIONS[name] = Function(name, category, description, arguments, examples, False, False, None, work)


__all__ = [
    "ARGUMENTS_MAX",
    "EXAMPLE_CELLS",
    "FUNCTIONS",
    "OMITTED",
    "OUTSIDE_WORLD",
    "Argument",
    "Function",
    "Takes",
    "Work",
    "form",
    "function",
]
