"""Where a formula meets arrays, told from its tree: one whose value is an array spills where nobody says otherwise."""

from __future__ import annotations

from typing import Final

from core.formula.functions import FUNCTIONS, Takes
from core.formula.language import Area, Binary, Call, Cell, Empty, Invoke, Literal, Node, Spill, Structured, Unary

_ARRAYS: Final = frozenset((
    "ANCHORARRAY", "BYCOL", "BYROW", "CHOOSECOLS", "CHOOSEROWS", "DROP", "EXPAND", "FILTER", "FREQUENCY",
    "GROUPBY", "GROWTH", "HSTACK", "INDIRECT", "LAMBDA", "LET", "LINEST", "LOGEST", "MAKEARRAY", "MAP",
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


def may_be_array(node: Node) -> bool:
    """Whether the value may hold more than one cell; True where it cannot be told."""
    match node:
        case Cell():
            return node.last_sheet is not None
        case Literal() | Empty():
            return False
        case Unary():
            return node.operator != "@" and may_be_array(node.operand)
        case Binary():
            return node.operator in ": ," or may_be_array(node.left) or may_be_array(node.right)
        case Structured():
            return node.items != ("#This Row",) or node.first is None or node.first != node.last
        case Call():
            return _call(node)
    return True


def _call(node: Call) -> bool:
    function, given = FUNCTIONS.get(node.name), node.arguments
    if function is None or node.name in _ARRAYS:
        return True
    if node.name in _BY_SHAPE:
        return any(map(may_be_array, given))
    if node.name == "INDEX":
        places = given[1:]
        return not places or any(_is_zero(place) or may_be_array(place) for place in places)
    if node.name == "OFFSET":
        return len(given) > 3 or any(may_be_array(argument) for argument in given)
    if node.name == "XLOOKUP":
        return len(given) < 3 or may_be_array(given[0]) or not _is_line(given[2]) or any(map(may_be_array, given[3:]))
    return any(
        may_be_array(argument)
        for at, argument in enumerate(given)
        if function.body is None or function.argument(at).kind not in _WHOLE
    )


def lifts(node: Node) -> bool:
    """Whether an operator or a function inside works through an array, where a formula of a file from before dynamic
    arrays would meet one cell of it; True where it cannot be told."""
    match node:
        case Unary():
            return (node.operator != "@" and may_be_array(node.operand)) or lifts(node.operand)
        case Binary():
            parts = (node.left, node.right)
            return (node.operator not in ": ," and any(map(may_be_array, parts))) or any(map(lifts, parts))
        case Call():
            return _call_lifts(node)
        case Spill() | Invoke():
            return True
    return False


def _call_lifts(node: Call) -> bool:
    function, given = FUNCTIONS.get(node.name), node.arguments
    if function is None:
        return True
    if function.body is None or node.name in _BY_SHAPE:
        return any(may_be_array(argument) or lifts(argument) for argument in given)
    for at, argument in enumerate(given):
        kind = function.argument(at).kind
        if kind not in _WHOLE and may_be_array(argument):
            return True
        if kind not in _ARRAYS_INSIDE and lifts(argument):
            return True
    return False


def _is_zero(node: Node) -> bool:
    return isinstance(node, Empty) or (isinstance(node, Literal) and node.value == 0)


def _is_line(node: Node) -> bool:
    """Whether a range is one column wide."""
    return (
        isinstance(node, Area)
        and not node.whole_rows
        and (node.first.column == node.last.column and node.first.column_absolute == node.last.column_absolute)
    )
