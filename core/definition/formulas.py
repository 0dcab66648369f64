"""The formulas of a definition.

What they may say, and a share's formula in the parts that run down the columns.

A share's formula is taken apart at AND, OR and NOT into atoms. An atom that reads one field of few values (a text, a
rating, a flag) is worked out once for each value; any other runs down the columns of numbers. A loan of which an atom
needs a field that is blank is neither in nor out, unless the rest of the formula decides it or the formula asks for the
blank (ISBLANK, ISNUMBER, ISTEXT).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from core.definition.terms import FORMULA_MAX, LOAN_FIELDS, LOAN_FLAGS, LOAN_MADE, LOAN_NUMBERS, LOAN_TEXTS
from core.formula.columns import Plan, plan
from core.formula.language import ArrayLiteral, Binary, Call, Cell, Empty, FormulaError, Name, Node, Unary, parse
from core.formula.language import Literal as Constant
from core.formula.machine import CompiledTree, compile  # noqa: A004 - it compiles
from core.grid.address import column_name
from core.remembered import remembered

ATOMS_MAX: Final = 200
"""Parts of one formula."""

FUNCTIONS: Final = frozenset(
    (
        "ABS", "AND", "AVERAGE", "CHOOSE", "COUNT", "DATE", "DAY", "EDATE", "EXACT", "EXP", "FALSE", "FIND", "IF",
        "IFERROR", "IFS", "INT", "ISBLANK", "ISERROR", "ISNUMBER", "ISTEXT", "LEFT", "LEN", "LN", "LOG", "LOWER", "MAX",
        "MEDIAN", "MID", "MIN", "MOD", "MONTH", "NOT", "OR", "POWER", "RIGHT", "ROUND", "ROUNDDOWN", "ROUNDUP",
        "SEARCH", "SIGN", "SQRT", "SUM", "SUMPRODUCT", "SWITCH", "TRIM", "TRUE", "UPPER", "VALUE",
        "XOR", "YEAR", "YEARFRAC",
    )
)  # fmt: skip
"""Functions that a definition may call: each makes little work, and the same of the same values on any day."""

_ASKING: Final = frozenset(("ISBLANK", "ISNUMBER", "ISTEXT"))
"""Functions that see a blank as what it is."""

_MADE_NUMBERS: Final = frozenset(("years_to_maturity", "obligor_par"))
CATEGORIES: Final = frozenset((*LOAN_TEXTS, *LOAN_FLAGS, *(set(LOAN_MADE) - _MADE_NUMBERS)))
"""Fields of few distinct values."""
NUMBERS: Final = frozenset((*LOAN_NUMBERS, *_MADE_NUMBERS))


_CELL: Final = re.compile("[a-z]{1,3}[0-9]+")
"""A name that reads like a cell."""

ATOMS_OF_DEFINITION_MAX: Final = 2_000
"""Parts of all formulas of a definition: each walks every loan."""


class FormulaFault(ValueError):
    """A formula that a definition cannot have; the text says why."""


class NumberComparison(NamedTuple):
    """A comparison with a number."""

    sign: str
    """As the field stands left of it; or ISBLANK or ISNUMBER, which have no number."""
    number: float
    joins: str = ""
    """+, -, * or / between two fields."""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Atom:
    """A part of a share's formula without AND, OR and NOT around it."""

    text: str
    category: str | None
    """The one field of few values that it reads; None for an atom over numbers."""
    needs_value: bool
    """Of a category: whether a blank leaves it open."""
    fields: tuple[str, ...]
    """Fields that it reads, each a column of the atom in this order."""
    blank_matters: tuple[str, ...]
    """The fields whose blanks leave it open."""
    plan: Plan | None
    program: CompiledTree
    line: NumberComparison | None = None
    """What it is where it does no more than compare a field, or two that are added up or so, with a number."""


@dataclass(frozen=True)
class Logic:
    """AND, OR or NOT over parts."""

    operator: Literal["AND", "OR", "NOT"]
    parts: tuple[Logic | Atom, ...]


def names_of(text: str, known: Iterable[str]) -> frozenset[str]:
    """Return the names that a formula over single values reads.

    A known one that looks like a cell, such as ob1, is no cell.

    Raises:
        FormulaFault: it is no formula, names something unknown, reads cells, or calls what a definition may not.
    """
    known = frozenset(known)
    tree = _parse(text, known)
    names = frozenset(_name_of(node, text) for node in _walk(tree) if isinstance(node, Name | Cell))
    _refuse_strangers(names, known)
    return names


def _name_of(node: Name | Cell, text: str) -> str:
    return (node.name if isinstance(node, Name) else text[node.start : node.end]).lower()


def without_cells(text: str, names: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Return a formula over single values that has no cells, and what it calls each of the names that it reads.

    A name such as ob1, which the engine would take for a cell, has an underscore before it.
    """
    called = {name: f"_{name}" if _CELL.fullmatch(name) else name for name in names}
    if any(name != stand_in for name, stand_in in called.items()):
        text = _written_without_cells(text)
    return text, called


@remembered(1_024)
def _written_without_cells(text: str) -> str:
    written, at = "", 0
    nodes = (node for node in _walk(parse(text)) if isinstance(node, Name | Cell))
    for start in sorted(node.start for node in nodes if _CELL.fullmatch(_name_of(node, text))):
        written += text[at:start] + "_"
        at = start
    return written + text[at:]


@remembered(1_024)
def share_of(text: str) -> Logic | Atom:
    """Return a share's formula in parts.

    What its names are is not asked: `strangers_of` tells of those that nobody knows.

    Raises:
        FormulaFault: it is no formula, reads cells, or calls what a definition may not; or a part compares a number
            with a list, which cannot run down the columns.
    """
    tree = _parse(text, None)
    atoms = 0

    def taken_apart(node: Node) -> Logic | Atom:
        nonlocal atoms
        if isinstance(node, Call) and node.name in ("AND", "OR", "NOT") and node.arguments:
            if any(isinstance(argument, Empty) for argument in node.arguments):
                raise FormulaFault(f"{node.name} has an empty argument")
            if not any(_is_list(argument) for argument in node.arguments):
                return Logic(node.name, tuple(taken_apart(argument) for argument in node.arguments))  # type: ignore[arg-type]
        atoms += 1
        if atoms > ATOMS_MAX:
            raise FormulaFault(f"has more than {ATOMS_MAX} parts")
        return _atom(node, text)

    return taken_apart(tree)


def _is_list(node: Node) -> bool:
    """Return whether the value is a list, which AND and OR take as so many values.

    A list outside another AND or OR.
    """
    if isinstance(node, Call) and node.name in ("AND", "OR", "NOT"):
        return False
    return isinstance(node, ArrayLiteral) or any(_is_list(child) for child in _children(node))


def _atom(node: Node, text: str) -> Atom:
    names: dict[str, None] = {}
    matters: dict[str, None] = {}
    places: list[tuple[int, int, str]] = []
    for each, is_asked in _walk_asked(node, is_asked=False):
        if isinstance(each, Name | Cell):
            field = _name_of(each, text)
            names[field] = None
            places.append((each.start, each.end, field))
            if not is_asked:
                matters[field] = None
    fields = tuple(names)
    only = fields[0] if len(fields) == 1 else None
    category = only if only in CATEGORIES else None
    written, at = "=", node.start
    for start, end, field in sorted(places):
        written += text[at:start] + f"${column_name(fields.index(field))}1"
        at = end
    written += text[at : node.end]
    tree = parse(written)
    running = plan(tree, text=written) if fields else None
    if running is None and only is not None and only not in LOAN_FIELDS:
        category = only  # a field of a mapping's own: whatever it holds, its values are told apart
    if fields and category is None and running is None:
        raise FormulaFault(
            f"{text[node.start : node.end][:120]} cannot run down the columns: "
            "compare a list with one text or rating field only"
        )
    return Atom(
        text[node.start : node.end],
        category,
        bool(matters),
        fields,
        tuple(matters),
        running,
        compile(tree),
        _line(node, text),
    )


_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def _line(node: Node, text: str) -> NumberComparison | None:
    """Return the comparison that a part is; None for anything else."""
    if isinstance(node, Call) and node.name in ("ISBLANK", "ISNUMBER"):
        asked = node.arguments[0]
        return (
            NumberComparison(node.name, 0.0, fields=(_name_of(asked, text),))
            if isinstance(asked, Name | Cell)
            else None
        )
    if not isinstance(node, Binary) or node.operator not in _MIRRORED:
        return None
    left, right, sign = node.left, node.right, node.operator
    if (number := _number(right)) is None:
        left, sign, number = right, _MIRRORED[sign], _number(left)
    if number is None:
        return None
    if isinstance(left, Name | Cell):
        return NumberComparison(sign, number, fields=(_name_of(left, text),))
    if isinstance(left, Binary) and left.operator in ("+", "-", "*", "/"):
        sides = left.left, left.right
        if isinstance(sides[0], Name | Cell) and isinstance(sides[1], Name | Cell):
            return NumberComparison(sign, number, left.operator, (_name_of(sides[0], text), _name_of(sides[1], text)))
    return None


def _number(node: Node) -> float | None:
    if isinstance(node, Unary) and node.operator == "-" and (number := _number(node.operand)) is not None:
        return -number
    return node.value if isinstance(node, Constant) and type(node.value) is float else None


def strangers_of(part: Logic | Atom, own_fields: Iterable[str]) -> list[str]:
    """Return the names of a share's formula that neither a loan nor a mapping has."""
    own = {name.lower() for name in own_fields}
    return sorted(name for name in fields_of(part) if name not in LOAN_FIELDS and name not in own)


def fields_of(part: Logic | Atom) -> frozenset[str]:
    """Return the fields that a share's formula reads."""
    return frozenset(part.fields) if isinstance(part, Atom) else frozenset().union(*map(fields_of, part.parts))


def atoms_of(part: Logic | Atom) -> frozenset[str]:
    """Return the texts of the parts of a share's formula."""
    return frozenset((part.text,)) if isinstance(part, Atom) else frozenset().union(*map(atoms_of, part.parts))


def _parse(text: str, names: frozenset[str] | None) -> Node:
    """Return the tree of a formula.

    What reads like a cell is a name where `names` has it, or for None everywhere.

    Raises:
        FormulaFault: it is no formula, reads cells, or calls what a definition may not.
    """
    if len(text) > FORMULA_MAX:
        raise FormulaFault(f"has more than {FORMULA_MAX} characters")
    if not text.startswith("="):
        raise FormulaFault("must begin with =")
    try:
        tree = parse(text)
    except FormulaError as error:
        where = "" if error.position is None else f" at character {error.position + 1}"
        raise FormulaFault(f"is no formula: {error.message}{where}") from None
    for node in _walk(tree):
        if (hindrance := _hindrance(node, text, names)) is not None:
            raise FormulaFault(hindrance)
    return tree


_ALLOWED: Final = Constant | ArrayLiteral | Binary | Unary | Empty
"""Nodes of a formula that read nothing."""


def _hindrance(node: Node, text: str, names: frozenset[str] | None) -> str | None:
    """Return what a definition may not have of a node; None where it may."""
    what = text[node.start : node.end][:60]
    if isinstance(node, Call):
        return None if node.name in FUNCTIONS else f"calls {node.name[:60]}, which a definition may not"
    if isinstance(node, Name):
        return None if node.sheet is None else f"reads {what}: a definition has no sheets"
    if isinstance(node, _ALLOWED) or (isinstance(node, Cell) and _is_name(_name_of(node, text), names)):
        return None
    return f"reads {what}: a definition has names and no cells"


def _is_name(cell: str, names: frozenset[str] | None) -> bool:
    """Return whether what reads like a cell may be a name: one of those known.

    For None any, of which is asked later.
    """
    return _CELL.fullmatch(cell) is not None if names is None else cell in names


def _refuse_strangers(names: Iterable[str], known: Iterable[str]) -> None:
    strangers = sorted(set(names) - frozenset(known))
    if strangers:
        raise FormulaFault(unknown_names(strangers))


def unknown_names(names: Sequence[str]) -> str:
    """Return what is wrong with a formula that reads these."""
    if all(map(_CELL.fullmatch, names)):
        return f"reads {', '.join(name[:60].upper() for name in names[:5])}: a definition has names and no cells"
    return f"names {', '.join(name[:60] for name in names[:5])}, which is not known here"


def _children(node: Any) -> tuple[Node, ...]:
    if isinstance(node, Binary):
        return node.left, node.right
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Call):
        return node.arguments
    return ()


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(_children(current))


def _walk_asked(node: Node, *, is_asked: bool) -> Iterator[tuple[Node, bool]]:
    waiting = [(node, is_asked)]
    while waiting:
        each, asked = waiting.pop()
        yield each, asked
        asked = asked or (isinstance(each, Call) and each.name in _ASKING)
        waiting.extend((child, asked) for child in _children(each))
