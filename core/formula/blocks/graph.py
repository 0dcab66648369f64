"""A formula as a graph of blocks.

Nodes, the edges between their ports, and what may be wrong with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from core.frames.brief import brief, value_shown
from core.words import counted

NODES_MAX: Final = 200
EDGES_MAX: Final = 1_000

LEVELS_MAX: Final = 64
"""Nodes on the longest way to the output: calls nest so deep in Excel."""

NAME_CHARACTERS_MAX: Final = 255
"""Of a node's id, a port's and a column's name."""

EXPRESSIONS_CHARACTERS_MAX: Final = 16_384
"""Of all expressions of a graph together: twice what a formula holds, since blanks do not count there."""

OUTPUT: Final = "output"
"""The port that every edge begins at."""


class GraphPort(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One end of an edge."""

    node_id: str = msgspec.field(name="nodeId")
    """Which block of the graph, by its `id`."""
    port: str
    """Name of its port: output where the edge begins, an input's name where it ends."""

    __repr__ = brief


class GraphNode(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A block.

    `params` by type: column (column_ref), value (constant), default (lookup_exact), operator (compare), formula
    (expression).
    """

    id: str
    """Name of the node within its graph."""
    type: str
    """column_ref, constant, lookup_exact, compare, if, and, or, sum, concat or expression."""
    params: dict[str, Any] = msgspec.field(default_factory=dict)
    """By type: column (column_ref), value (constant), default (lookup_exact), operator (compare), formula
    (expression)."""

    __repr__ = brief


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a node's output goes into."""

    id: str
    """Name of the edge within its graph."""
    source: GraphPort
    """Where the value comes from: a node's output."""
    target: GraphPort
    """Where it goes: an input of another node."""

    __repr__ = brief


class Graph(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A formula's graph, as its JSON says it.

    The one node that nothing follows gives the result.
    """

    version: str = "1"
    """Version of the graph's own format."""
    template_id: str = "custom"
    nodes: list[GraphNode]
    """The blocks, at most 200."""
    edges: list[GraphEdge]
    """What goes into what, at most 1,000."""

    def __repr__(self) -> str:
        name = "" if self.template_id == "custom" else f"{value_shown(self.template_id)}, "
        return f"Graph({name}{counted(len(self.nodes), 'node')}, {counted(len(self.edges), 'edge')})"


@dataclass(frozen=True, slots=True)
class GraphFault:
    """What is wrong with a graph."""

    node_id: str | None
    """The node that it is about. Null: none that there is."""
    code: str
    """Machine-readable kind of fault."""
    message: str
    """What is wrong, in a sentence."""
    position: int | None = None
    """Offset in an expression's formula, from 0. Null: not within one."""

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class NodeType:
    """What a kind of block takes."""

    ports: tuple[str, ...] = ()
    """Input ports that all have to be connected."""
    varies: bool = False
    """Any number of inputs under any names, in the order of their names' numbers."""

    __repr__ = brief


NODE_TYPES: Final = {
    "column_ref": NodeType(),
    "constant": NodeType(),
    "lookup_exact": NodeType(("value", "keys", "results")),
    "compare": NodeType(("left", "right")),
    "if": NodeType(("condition", "true", "false")),
    "and": NodeType(varies=True),
    "or": NodeType(varies=True),
    "sum": NodeType(varies=True),
    "concat": NodeType(varies=True),
    "expression": NodeType(),  # its ports are the names in its formula
}

OPERATORS: Final = {"eq": "=", "ne": "<>", "lt": "<", "gt": ">", "lte": "<=", "gte": ">="}
"""Of a compare, by params.operator."""
