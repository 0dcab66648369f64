"""Graphs in short, and random ones."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from core.formula.blocks import Graph


def graph(nodes: dict[str, Any], *edges: str, **more: Any) -> Graph:
    """A graph of {id: (type, params)} and edges "source > target.port".

    A node that is no pair is its column's name.
    """
    rows = [
        {"id": node, "type": actual_node[0], "params": actual_node[1]}
        if isinstance(actual_node, tuple)
        else {"id": node, "type": "column_ref", "params": {"column": actual_node}}
        for node, actual_node in nodes.items()
    ]
    wires = []
    for number, edge in enumerate(edges):
        source, _, target = edge.partition(" > ")
        node, _, port = target.rpartition(".")
        ends = {"source": {"nodeId": source, "port": "output"}, "target": {"nodeId": node, "port": port}}
        wires.append({"id": f"e{number}", **ends})
    return msgspec.convert({"nodes": rows, "edges": wires, **more}, Graph)


def constant(value: Any) -> tuple[str, dict[str, Any]]:
    return "constant", {"value": value}


def expression(formula: str) -> tuple[str, dict[str, Any]]:
    return "expression", {"formula": formula}


EXPRESSIONS = (
    "=a*b+1", "a&\"x\"", "=-a^2", "=(a=b)", "=IF(a>1,b,a)", "=LET(p,a,q,p*2,q+b)", "=SUM(a,[@[Par Amount]],3%)",
    "=a*(b-1)%", "=LET(step_1,2,step_1*a)", "=AND(a,NOT(b))&a", "=SUM(Rates!$A:$B)+a", "=RAND()+b",
    '=IFERROR(a/b,"")', "=a", "=1", "=SUM([Spread])/a", "=SUM(LAMBDA(a,a+b)(3))", "=x1-A2",
)  # fmt: skip

COLUMNS = ("Par", "Par Amount", "a'b[c]#@", "Price, %", "x1", "1", " é\n")

VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**15), 10**15), st.booleans(),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6),
)  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph in order.

    Any block over any earlier ones, all of which lead to the last.
    """
    nodes: dict[str, Any] = {"n0": draw(st.sampled_from(COLUMNS)), "n1": constant(draw(VALUES))}
    edges: list[str] = []
    kinds = ("column", "constant", "lookup_exact", "compare", "if", "and", "or", "sum", "concat", "expression")
    for at in range(2, draw(st.integers(3, 14))):
        kind, node = draw(st.sampled_from(kinds)), f"n{at}"
        earlier = st.sampled_from(sorted(nodes))
        ports: list[str] = []
        match kind:
            case "column":
                nodes[node] = draw(st.sampled_from(COLUMNS))
            case "constant":
                nodes[node] = constant(draw(VALUES))
            case "lookup_exact":
                default = draw(st.one_of(st.none(), VALUES))
                nodes[node] = (kind, {} if default is None else {"default": default})
                edges += [f"n0 > {node}.keys", f"n0 > {node}.results"]
                ports = ["value"]
            case "compare":
                nodes[node] = (kind, {"operator": draw(st.sampled_from(("eq", "ne", "lt", "gt", "lte", "gte")))})
                ports = ["left", "right"]
            case "if":
                nodes[node] = (kind, {})
                ports = ["condition", "true", "false"]
            case "expression":
                formula = draw(st.sampled_from(EXPRESSIONS))
                nodes[node] = expression(formula)
                ports = [port for port in ("a", "b", "x1", "A2") if _names(formula, port)]
            case _:
                nodes[node] = (kind, {})
                ports = [f"input{number}" for number in range(1, 1 + draw(st.integers(1, 12)))]
        edges += [f"{draw(earlier)} > {node}.{port}" for port in ports]
    sources = {edge.partition(" > ")[0] for edge in edges}
    ends = [node for node in nodes if node not in sources]
    nodes["out"] = ("concat", {})
    edges += [f"{node} > out.input{number}" for number, node in enumerate(ends)]
    return graph(nodes, *edges)


def _names(formula: str, port: str) -> bool:
    """Whether a formula of EXPRESSIONS has this name free."""
    free = {
        "=LET(p,a,q,p*2,q+b)": "a b", "=SUM(LAMBDA(a,a+b)(3))": "b", "=LET(step_1,2,step_1*a)": "a",
        "=x1-A2": "x1 A2",
        "=SUM(Rates!$A:$B)+a": "a", "=AND(a,NOT(b))&a": "a b", "=RAND()+b": "b", "=SUM([Spread])/a": "a",
        "=SUM(a,[@[Par Amount]],3%)": "a", "a&\"x\"": "a", "=-a^2": "a", "=a": "a", "=1": "",
    }  # fmt: skip
    return port in free.get(formula, "a b").split()
