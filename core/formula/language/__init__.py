"""The formula language.

Text to tree, tree to text, a tree's shape, and the faults of a formula.
"""

from core.formula.language.errors import ContextError, FormulaError, LimitExceeded, MissingContext
from core.formula.language.parser import functions, parse, references, render
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
from core.formula.language.walk import children, walk

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
    "MissingContext",
    "Name",
    "Node",
    "Spill",
    "Structured",
    "Unary",
    "children",
    "functions",
    "parse",
    "references",
    "render",
    "shapes",
    "walk",
]
