"""Formulas as graphs of blocks: checked, compiled, placed in a sheet.

In: a `Graph`. Out: one formula of the same language, or every fault by its node. Columns are names, as in a table:
`[@Par]` is the row's own cell, `[Par]` all of them. A block that several others use is named by LET. So it is
calculated once, and a chain of shared blocks is as long as itself and not as its paths. Start with `graph` and
`check`.
"""

from core.formula.blocks.check import CheckedGraph, check, columns_of, compile_graph
from core.formula.blocks.graph import Graph, GraphFault
from core.formula.blocks.place import UnknownColumn, by_name, place_formula
from core.formula.blocks.templates import TEMPLATES

__all__ = [
    "TEMPLATES",
    "CheckedGraph",
    "Graph",
    "GraphFault",
    "UnknownColumn",
    "by_name",
    "check",
    "columns_of",
    "compile_graph",
    "place_formula",
]
