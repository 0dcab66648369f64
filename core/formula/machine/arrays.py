"""Where a formula meets arrays, told from its tree.

One whose value is an array spills where nobody says otherwise.
"""

from __future__ import annotations

from typing import Any, Final

from core.formula.functions.catalogue import FUNCTIONS, Takes
from core.formula.language.tree import (
    Area,
    ArrayLiteral,
    Binary,
    Call,
    Cell,
    Empty,
    Invoke,
    Literal,
    Name,
    Node,
    Spill,
    Structured,
    Unary,
)
from core.formula.values.value import NA

_ARRAYS: Final = frozenset((
    "ANCHORARRAY", "BYCOL", "BYROW", "CHOOSECOLS", "CHOOSEROWS", "DROP", "EXPAND", "FILTER", "FREQUENCY",
    "GROUPBY", "GROWTH", "HSTACK", "INDIRECT", "LAMBDA", "LINEST", "LOGEST", "MAKEARRAY", "MAP",
    "MINVERSE", "MMULT", "MODE.MULT", "MUNIT", "PIVOTBY", "RANDARRAY", "REDUCE", "REGEXEXTRACT", "SCAN",
    "SEQUENCE", "SORT", "SORTBY", "TAKE", "TEXTSPLIT", "TOCOL", "TOROW", "TRANSPOSE", "TREND", "TRIMRANGE",
    "UNIQUE", "VSTACK", "WRAPCOLS", "WRAPROWS",
))  # fmt: skip
"""Functions whose value is an array whatever they are given."""

_BY_SHAPE: Final = frozenset(("COLUMN", "FORMULATEXT", "ISFORMULA", "ROW"))
"""Functions that take a reference whole and tell something of each of its cells."""

_WHOLE: Final = frozenset((Takes.RANGE, Takes.ARRAY, Takes.REFERENCE, Takes.OPERAND, Takes.LAMBDA))
"""Kinds of arguments that take an array as one thing."""

_ARRAYS_INSIDE: Final = frozenset((Takes.ARRAY, Takes.OPERAND, Takes.LAMBDA))
"""Kinds of arguments that are worked out as arrays in every formula."""


Singles = frozenset[str]
"""Names, in lower case, that LET gave to single values."""


def may_be_array(node: Node, singles: Singles = frozenset()) -> bool:
    """Return whether the value may hold more than one cell; True in doubt."""
    match node:
        case Name(sheet=None, name=name):
            return name.lower() not in singles
        case Cell():
            return node.last_sheet is not None
        case Literal() | Empty():
            return False
        case Unary():
            return node.operator != "@" and may_be_array(node.operand, singles)
        case Binary():
            return node.operator in ": ," or may_be_array(node.left, singles) or may_be_array(node.right, singles)
        case Structured():
            return node.items != ("#This Row",) or node.first is None or node.first != node.last
        case Call():
            return _call(node, singles)
    return True


def _call(node: Call, singles: Singles) -> bool:
    function, arguments = FUNCTIONS.get(node.name), node.arguments
    if function is None or node.name in _ARRAYS:
        return True
    if node.name == "LET" and arguments:
        return may_be_array(arguments[-1], _named_singles(arguments, singles))
    if node.name in _BY_SHAPE:
        return any(may_be_array(argument, singles) for argument in arguments)
    if node.name == "INDEX":
        places = arguments[1:]
        return not places or any(_is_zero(place) or may_be_array(place, singles) for place in places)
    if node.name == "OFFSET":
        return len(arguments) > 3 or any(may_be_array(argument, singles) for argument in arguments)
    if node.name == "XLOOKUP":
        if len(arguments) < 3 or not _is_line(arguments[2]):
            return True
        return any(may_be_array(argument, singles) for argument in (arguments[0], *arguments[3:]))
    return any(
        may_be_array(argument, singles)
        for at, argument in enumerate(arguments)
        if function.body is None or function.argument(at).kind not in _WHOLE
    )


def lifts(node: Node, singles: Singles = frozenset()) -> bool:
    """Return whether an operator or a function inside works through an array, where a formula of a file from before
    dynamic arrays would meet one cell of it; True where it cannot be told."""
    match node:
        case Unary():
            return (node.operator != "@" and may_be_array(node.operand, singles)) or lifts(node.operand, singles)
        case Binary():
            parts = (node.left, node.right)
            through = node.operator not in ": ," and any(may_be_array(part, singles) for part in parts)
            return through or any(lifts(part, singles) for part in parts)
        case Call():
            return _call_lifts(node, singles)
        case Spill() | Invoke():
            return True
    return False


def beyond(node: Node | None) -> Any:
    """Return what stands in cells of an array formula's range that its value does not reach: #N/A, and what ISERROR and
    its kin say of it where they are the formula, since they see their argument as large as the range."""
    function = FUNCTIONS.get(node.name) if isinstance(node, Call) else None
    if function is None or function.body is None or len(function.arguments) != 1:
        return NA
    return function.body(NA) if function.arguments[0].kind is Takes.ANY else NA


def _call_lifts(node: Call, singles: Singles) -> bool:
    function, arguments = FUNCTIONS.get(node.name), node.arguments
    if function is None:
        return True
    if node.name == "LET" and arguments:
        named = _named_singles(arguments, singles)
        return any(lifts(argument, named) for argument in arguments[1::2]) or lifts(arguments[-1], named)
    if function.body is None or node.name in _BY_SHAPE:
        return any(may_be_array(argument, singles) or lifts(argument, singles) for argument in arguments)
    for at, argument in enumerate(arguments):
        kind = function.argument(at).kind
        if kind not in _WHOLE and may_be_array(argument, singles):
            return True
        if kind not in _ARRAYS_INSIDE and lifts(argument, singles):
            return True
    return False


def _named_singles(nodes: tuple[Node, ...], singles: Singles) -> Singles:
    """Return the names of single values at the end of a LET."""
    for name, value in zip(nodes[:-1:2], nodes[1::2], strict=False):
        if isinstance(name, Name):
            word = frozenset((name.name.lower(),))
            singles = singles - word if may_be_array(value, singles) else singles | word
    return singles


def _is_zero(node: Node) -> bool:
    return isinstance(node, Empty) or (isinstance(node, Literal) and node.value == 0)


def _is_line(node: Node) -> bool:
    """Return whether a range is one column wide."""
    if isinstance(node, Structured):
        return node.first is not None and node.first == node.last
    if isinstance(node, ArrayLiteral):
        return len(node.rows[0]) == 1
    return (
        isinstance(node, Area)
        and not node.whole_rows
        and (node.first.column == node.last.column and node.first.column_absolute == node.last.column_absolute)
    )
