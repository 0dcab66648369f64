"""The formula language: text to tree, tree to text, a tree's shape, and the faults of a formula."""

from core.formula.language.errors import ContextError, FormulaError, LimitExceeded
from core.formula.language.parser import functions, parse, references
from core.formula.language.shape import shapes
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

__all__ = [
    "Area",
    "ArrayLiteral",
    "Binary",
    "Call",
    "Cell",
    "ContextError",
    "Empty",
    "FormulaError",
    "Invoke",
    "LimitExceeded",
    "Literal",
    "Name",
    "Node",
    "Spill",
    "Structured",
    "Unary",
    "functions",
    "parse",
    "references",
    "shapes",
]
