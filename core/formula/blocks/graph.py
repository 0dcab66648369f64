"""A formula as a graph of blocks: nodes, the edges between their ports, and what may be wrong with one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

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


class GraphPort(msgspec.Struct, frozen=True, kw_only=True):
    """One end of an edge."""

    node_id: str = msgspec.field(name="nodeId")
    port: str


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    """A block. `params` by type: column (column_ref), value (constant), default (lookup_exact), operator (compare),
    formula (expression)."""

    id: str
    type: str
    params: dict[str, Any] = msgspec.field(default_factory=dict)


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's output goes into."""

    id: str
    source: GraphPort
    target: GraphPort


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """A formula's graph, as its JSON says it. The one node that nothing follows gives the result."""

    version: str = "1"
    template_id: str = "custom"
    nodes: list[GraphNode]
    edges: list[GraphEdge]


@dataclass(frozen=True, slots=True)
class GraphFault:
    """What is wrong with a graph."""

    node_id: str | None
    """None where it concerns no node that there is."""
    code: str
    message: str
    position: int | None = None
    """0-based offset in an expression's formula."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """What a kind of block takes."""

    ports: tuple[str, ...] = ()
    """Input ports that all have to be connected."""
    varies: bool = False
    """Any number of inputs under any names, in the order of their names' numbers."""


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
