"""Trees as short text that tests can compare, and random formulas for them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

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


def text_of(node: Node) -> str:
    """Everything about a tree but the positions."""
    match node:
        case Literal():
            return repr(node.value)
        case Empty():
            return "_"
        case Cell():
            row = f"{node.row}$" if node.row_absolute else f"{node.row:+}"
            column = f"{node.column}$" if node.column_absolute else f"{node.column:+}"
            return f"{_sheets(node)}r{row}c{column}"
        case Area():
            whole = "columns " if node.whole_columns else "rows " if node.whole_rows else ""
            return f"{_sheets(node)}{whole}[{text_of(node.first)} to {text_of(node.last)}]"
        case Name():
            return f"{_sheets(node)}name {node.name}"
        case Structured():
            return f"table({node.table}|{','.join(node.items)}|{node.first}|{node.last})"
        case Spill():
            return f"spill({text_of(node.operand)})"
        case Unary():
            return f"({node.operator} {text_of(node.operand)})"
        case Binary():
            return f"({text_of(node.left)} {node.operator} {text_of(node.right)})"
        case Call():
            return f"{node.name}({', '.join(map(text_of, node.arguments))})"
        case Invoke():
            return f"{text_of(node.callee)}<{', '.join(map(text_of, node.arguments))}>"
        case ArrayLiteral():
            return repr(node.rows)
    raise AssertionError(node)


def _sheets(node: Cell | Area | Name) -> str:
    last = f":{node.last_sheet}" if not isinstance(node, Name) and node.last_sheet else ""
    return f"{node.sheet}{last}!" if node.sheet is not None else ""


PIECES = (  # what a lexer may trip over
    "A1 $B$2 C$3 $D4 XFD1048576 XFE1 A1048577 A0 LOG10 A1:B2 $A$1:B3 A:C $A:$C C:A 1:3 $1:$3 3:1 A1# Sheet1!A1 "
    "'It''s'!B2 Sheet1!A:A Sheet1!1:2 Sheet1:Sheet3!A1 'a:b c'!A1 [1]Sheet1!A1 '[B.xlsx]S 1'!A1 [1]!Rate Rate x y.z _a "
    "\\b ünï Sheet1!Rate Table1[Col] Table1[[#Headers],[Col]] [@Col] [@[a b]] [[#This_Row],[a]:[b]] Table1[] [#All] "
    'T[\'#x] {1,2;3,4} {-1,"a",TRUE,#N/A} #N/A #REF! #DIV/0! #REF!A1 Sheet1!#REF! TRUE FALSE 1 2.5 .5 1E+3 1e5 7. '
    '"a""b" "A1" "" + - * / ^ & = <> < > <= >= % @ : , ( ) ( ) SUM( IF( LET( LAMBDA(x, INDEX( _xlfn.SINGLE( '
    "A1:.B2 A1.:B2 A.:.C 1:.3 Sheet1!A1:.B2 x.:.y .: :. _xlfn._TRO_ALL( "
    "_xlfn.ANCHORARRAY( _xlfn._xlws.SORT( LOG10( F(,) G() _xlpm.x _xlop.y { } [ ] # ! ; ' \" $ . A 1 e"
)

PARTS = st.sampled_from([*re.split(" ", PIECES), " ", "\n"])

SOUP = st.lists(PARTS, max_size=14).map(lambda parts: "=" + "".join(parts))
"""Formulas and what only looks like one."""

OPERANDS = st.sampled_from(
    [
        *("A1", "$B$2", "C$3", "A1:B2", "A:C", "1:3", "Sheet1!A1", "'It''s'!B2", "Sheet1:Sheet3!A1", "[1]S!A1", "Rate"),
        *("A1:.B2", "A.:.C", "1.:3"),
        *("\\b", "Table1[Col]", "[@Col]", "T[[#Headers],[a]:[b]]", '{1,-2;"x",TRUE}', "#N/A", "TRUE", "1", "2.5"),
        *("1E+300", '"a""b"', "A1#", "F()", "F(,)"),
    ]
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(("+", "-", "*", "/", "^", "&", "=", "<>", "<", ">", "<=", ">="))
    return st.one_of(
        st.builds("{}{}{}".format, inner, operators, inner),
        st.builds("({})".format, inner),
        st.builds("{}{}".format, st.sampled_from("+-@"), inner),
        st.builds("{}%".format, inner),
        st.builds("F({},{})".format, inner, inner),
        st.builds("LET(x,{},x*{})".format, inner, inner),
        st.builds("LAMBDA(x,[y],{})({})".format, inner, inner),
        st.builds("(INDEX({},1):A9,B1:B2 B2)".format, inner),
    )


FORMULAS = st.recursive(OPERANDS, _larger, max_leaves=12).map("={}".format)
"""Formulas only."""
