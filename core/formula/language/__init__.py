"""The formula language: text to tree, tree to text, a tree's shape, and the faults of a formula."""

from core.formula.language.errors import ContextError, FormulaError, LimitExceeded
from core.formula.language.parser import functions, parse, references, render
from core.formula.language.shape import shapes
from core.formula.language.tree import (
    Area,
    ArrayLiteral,
    Binary,
    Call,
    Cell,
    Empty,
    Literal,
    Name,
    Node,
    Structured,
    Unary,
)

__all__ = [
    "Area",
    "ArrayLiteral",
    "Binary",
    "Call",
    "Cell",
    "ContextError",
    "Empty",
    "FormulaError",
    "LimitExceeded",
    "Literal",
    "Name",
    "Node",
    "Structured",
    "Unary",
    "functions",
    "parse",
    "references",
    "render",
    "shapes",
]
