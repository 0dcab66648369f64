"""Formulas as graphs of blocks: checked, compiled, placed in a sheet; and ready-made ones."""

from core.formula.blocks.check import CheckedGraph, check, columns_of, compile_graph
from core.formula.blocks.graph import Graph, GraphFault
from core.formula.blocks.place import UnknownColumn, by_name, placed
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
    "placed",
]
