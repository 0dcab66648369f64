"""The formula language: text to tree, tree to text, a tree's shape, and the faults of a formula."""

from core.formula.language.errors import (
    BodyFault,
    ContextError,
    EvaluationError,
    FormulaError,
    LimitExceeded,
    MissingContext,
    SyntaxFault,
    UnsupportedFunction,
)
from core.formula.language.parser import functions, parse, references, render
from core.formula.language.shape import anchored_shapes, shapes
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
    "BodyFault",
    "Call",
    "Cell",
    "ContextError",
    "Empty",
    "EvaluationError",
    "FormulaError",
    "Invoke",
    "LimitExceeded",
    "Literal",
    "MissingContext",
    "Name",
    "Node",
    "Spill",
    "Structured",
    "SyntaxFault",
    "Unary",
    "UnsupportedFunction",
    "anchored_shapes",
    "functions",
    "parse",
    "references",
    "render",
    "shapes",
]
