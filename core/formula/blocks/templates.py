"""Graphs to begin with: what those who watch over loans calculate for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from core.formula.blocks.graph import Graph


@dataclass(frozen=True, slots=True)
class TemplateInput:
    """A column that a template reads; the column_ref of the same id names the sheet's own."""

    node_id: str
    column: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Template:
    """A graph that works as it is, over columns of these names."""

    id: str
    name: str
    description: str
    inputs: tuple[TemplateInput, ...]
    graph: Graph
    examples: tuple[tuple[tuple[Any, ...], Any], ...]
    """The values of the inputs in a row, and what the row gives; of a lookup the rows are those of one sheet."""


def _template(
    template_id: str, name: str, description: str, inputs: list[tuple[str, str, str, str]],
    nodes: list[tuple[str, str, dict[str, Any]]], edges: list[str], examples: list[tuple[tuple[Any, ...], Any]],
) -> Template:  # fmt: skip
    """A template from short rows; an edge is written "source > target.port"."""
    columns = [{"id": node, "type": "column_ref", "params": {"column": column}} for node, column, _, _ in inputs]
    blocks = [{"id": node, "type": kind, "params": params} for node, kind, params in nodes]
    wires = []
    for number, edge in enumerate(edges, 1):
        source, _, target = edge.partition(" > ")
        node, _, port = target.partition(".")
        ends = {"source": {"nodeId": source, "port": "output"}, "target": {"nodeId": node, "port": port}}
        wires.append({"id": f"e{number}", **ends})
    graph = {"version": "1", "template_id": template_id, "nodes": columns + blocks, "edges": wires}
    told = tuple(TemplateInput(*one) for one in inputs)
    return Template(template_id, name, description, told, msgspec.convert(graph, Graph), tuple(examples))


_PAR: Final = ("par", "Par", "number", "Principal balance, in currency")
_PRICE: Final = ("price", "Price", "number", "Market price, in percent of par")
_RATING: Final = ("rating", "Rating", "text", "Moody's rating")
_MATURITY: Final = ("maturity", "Maturity", "date", "Maturity date")

_FACTORS: Final = (
    ("Aaa", 1), ("Aa1", 10), ("Aa2", 20), ("Aa3", 40), ("A1", 70), ("A2", 120), ("A3", 180), ("Baa1", 260),
    ("Baa2", 360), ("Baa3", 610), ("Ba1", 940), ("Ba2", 1350), ("Ba3", 1766), ("B1", 2220), ("B2", 2720),
    ("B3", 3490), ("Caa1", 4770), ("Caa2", 6500), ("Caa3", 8070), ("Ca", 10000), ("C", 10000),
)  # fmt: skip
"""Moody's rating factors."""

_ROWS: Final = (
    _template(
        "ratio", "Ratio", "One column divided by another; blank where the divisor is 0 or blank.",
        [("numerator", "Numerator", "number", "What is divided"), ("denominator", "Denominator", "number", "By what")],
        [("result", "expression", {"formula": '=IF(b=0,"",a/b)'})],
        ["numerator > result.a", "denominator > result.b"],
        [((3.0, 4.0), 0.75), ((3.0, 0.0), ""), ((3.0, None), ""), ((0.0, 4.0), 0.0)],
    ),
    _template(
        "weighted_average", "Weighted average",
        "The average of a column weighted by another, over all rows that have the value: the same figure in each row.",
        [("value", "Value", "number", "What is averaged"), ("weight", "Weight", "number", "What it weighs")],
        [("result", "expression", {"formula": "=SUMPRODUCT([v],[w])/SUMPRODUCT(--ISNUMBER([v]),[w])"})],
        ["value > result.v", "weight > result.w"],
        [((4.0, 1.0), 4.75), ((5.0, 3.0), 4.75), ((None, 9.0), 4.75)],
    ),
)  # fmt: skip

TEMPLATES: Final[dict[str, Template]] = {row.id: row for row in _ROWS}
"""By id, in the order in which they are shown."""
