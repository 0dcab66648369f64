"""Graphs to formulas.

What each block becomes, every fault by its node, and no graph that takes long.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from core.formula.blocks import Graph, check, compile_graph
from core.formula.blocks.check import InvalidGraph, _Checker
from core.formula.language import parse
from tests.conftest import within
from tests.core.formula.blocks.graphs import constant, expression, graph, graphs
from tests.core.formula.trees import text_of
from tests.rows import every

A_B = {"a": "A", "b": "B"}

FORMULAS: list[tuple[dict[str, Any], tuple[str, ...], str]] = [
    ({"a": "Par Amount"}, (), "=[@[Par Amount]]"),
    ({"c": constant(-2.5)}, (), "=-2.5"),
    ({"c": constant('a"b')}, (), '="a""b"'),
    ({"c": constant(True)}, (), "=TRUE"),
    ({**A_B, "x": ("compare", {"operator": "lte"})}, ("a > x.left", "b > x.right"), "=[@A]<=[@B]"),
    ({**A_B, "x": ("compare", {"operator": "ne"})}, ("b > x.left", "a > x.right"), "=[@B]<>[@A]"),
    ({**A_B, "x": ("if", {})}, ("a > x.condition", "b > x.true", "a > x.false"), "=IF([@A],[@B],[@A])"),
    ({**A_B, "x": ("sum", {})}, ("a > x.input10", "b > x.input2"), "=SUM([@B],[@A])"),
    ({**A_B, "x": ("and", {})}, ("a > x.b", "b > x.a"), "=AND([@B],[@A])"),
    ({"a": "A", "x": ("or", {})}, ("a > x.1",), "=OR([@A])"),
    ({**A_B, "x": ("concat", {})}, ("a > x.in1", "b > x.in2"), "=[@A]&[@B]"),
    ({"a": "A", "x": ("concat", {})}, ("a > x.p",), '=[@A]&""'),
    (
        {**A_B, "x": ("lookup_exact", {"default": 0})},
        ("a > x.value", "a > x.keys", "b > x.results"),
        "=XLOOKUP([@A],[A],[B],0)",
    ),
    ({**A_B, "x": expression("=a1*Rate%")}, ("a > x.A1", "b > x.RATE"), "=[@A]*[@B]%"),
    ({**A_B, "x": expression("SUM([w])*v")}, ("a > x.w", "b > x.v"), "=SUM([A])*[@B]"),
    ({"a": "A", "x": expression("=LET(a,2,a*b)")}, ("a > x.b",), "=LET(a,2,a*[@A])"),
    ({"a": "A", "x": expression("=VLOOKUP(k,Rates!A:B,2,0)")}, ("a > x.k",), "=VLOOKUP([@A],Rates!$A:$B,2,0)"),
    # What is used twice is calculated once; the name is one that nothing in the graph has.
    (
        {"r": expression("=RAND()"), "x": expression("=LET(step_9,a,step_9-b)")},
        ("r > x.a", "r > x.b"),
        "=LET(step__1,RAND(),LET(step_9,step__1,step_9-step__1))",
    ),
    (
        {"a": "A", "s": expression("=a+1"), "x": expression("=s*s")},
        ("a > s.a", "s > x.s"),
        "=LET(step_1,[@A]+1,step_1*step_1)",
    ),
]


@every("nodes,edges,formula", FORMULAS)
def test_a_graph_becomes_its_formula(nodes: dict[str, Any], edges: tuple[str, ...], formula: str) -> None:
    result = check(graph(nodes, *edges))
    assert result.errors == ()
    assert result.formula == formula


def test_a_graph_that_is_no_formula_compiles_to_its_faults() -> None:
    assert compile_graph(graph({"a": "A", "x": ("sum", {})}, "a > x.p")) == "=SUM([@A])"
    with pytest.raises(InvalidGraph, match="nothing leads into the input 'false'") as refusal:
        compile_graph(graph({"a": "A", "x": ("if", {})}, "a > x.condition", "a > x.true"))
    assert [(fault.node_id, fault.code) for fault in refusal.value.faults] == [("x", "missing_input")]


@given(graphs())
def test_the_formula_parses_back_to_the_tree_that_was_composed(drawn: Graph) -> None:
    checker = _Checker(drawn)
    checker.check_nodes()
    checker.check_edges()
    checker.check_arity()
    order = checker.check_order()
    assert checker.faults == []
    composed, text = checker.tree(order), checker.compose(order)
    assert text is not None
    assert composed is not None
    assert text_of(parse(text)) == text_of(composed)


ADD = ("sum", {})
FAULTS: list[tuple[dict[str, Any], tuple[str, ...], set[tuple[str | None, str]]]] = [
    ({}, (), {(None, "no_nodes")}),
    ({"a": ("median", {})}, (), {("a", "unknown_node_type")}),
    ({"a": "A", "b": "B"}, (), {("a", "several_outputs"), ("b", "several_outputs")}),
    ({"a": "A", "x": ADD}, ("a > x.p", "gone > x.q"), {("x", "dangling_edge")}),
    ({"a": "A", "x": ADD}, ("a > x.p", "a > gone.q"), {("a", "dangling_edge")}),
    ({"a": "A", "x": ADD}, ("a > x.p", "a > x.p"), {("x", "doubled_input")}),
    ({"a": "A", "c": constant(1)}, ("a > c.input",), {("c", "unknown_port")}),
    ({"a": "A", "x": ("if", {})}, ("a > x.condition", "a > x.True"), {
        ("x", "unknown_port"), ("x", "missing_input"),
    }),
    ({"x": ADD}, (), {("x", "wrong_arity")}),
    ({"a": "A", "x": ADD, "y": ADD}, ("a > x.a", "x > y.a", "y > x.b"), {("x", "cycle"), ("y", "cycle")}),
    ({"a": "A", "x": ADD, "y": ADD}, ("a > x.a", "x > y.a", "y > y.b"), {
        ("y", "cycle"),
    }),
    ({"a": "A", "x": ADD, "b": "B", "y": ADD}, ("a > x.a", "b > y.a", "y > y.b"), {
        ("y", "cycle"), ("b", "unreachable_node"),
    }),
    ({"a": ("column_ref", {})}, (), {("a", "invalid_params")}),
    ({"a": ("column_ref", {"column": 3})}, (), {("a", "invalid_params")}),
    ({"a": "x" * 256}, (), {("a", "invalid_params")}),
    ({"c": constant(None)}, (), {("c", "invalid_params")}),
    ({"c": constant([1])}, (), {("c", "invalid_params")}),
    ({"c": constant(10**400)}, (), {("c", "invalid_params")}),
    ({"c": constant("x" * 256)}, (), {("c", "limit_exceeded")}),
    ({"a": "A", "x": ("compare", {"operator": "="})}, ("a > x.left", "a > x.right"), {("x", "invalid_params")}),
    ({"x": ("expression", {})}, (), {("x", "invalid_params")}),
    ({"x": expression("=1+")}, (), {("x", "invalid_expression")}),
    ({"x": expression("=NOPE(1)")}, (), {("x", "unsupported_function")}),
    ({"x": expression("=WEBSERVICE(1)")}, (), {("x", "unsupported_function")}),
    ({"x": expression("=ROUND(1)")}, (), {("x", "invalid_expression")}),
    ({"x": expression("=a+1")}, (), {("x", "missing_input")}),
    ({"a": "A", "x": expression("=1")}, ("a > x.a",), {("x", "unknown_port")}),
    ({"x": expression("=SUM(A1:B2)")}, (), {("x", "invalid_expression")}),
    ({"x": expression("=Rates!A1")}, (), {("x", "invalid_expression")}),
    ({"x": expression("=[Other.xlsx]Rates!$A$1")}, (), {("x", "invalid_expression")}),
    ({"x": expression("=[#Headers]")}, (), {("x", "invalid_expression")}),
    ({"x": expression("=SEQUENCE(3)")}, (), {("x", "type_conflict")}),
    ({"x": expression("=[Par]")}, (), {("x", "type_conflict")}),
    ({"a": "A", "s": ADD, "x": ("lookup_exact", {})}, ("a > s.p", "a > x.value", "s > x.keys", "a > x.results"), {
        ("x", "type_conflict"),
    }),
    ({"a": "A", "s": ADD, "x": expression("=SUM([w])")}, ("a > s.p", "s > x.w"), {("x", "type_conflict")}),
]  # fmt: skip


@every("nodes,edges,faults", FAULTS)
def test_each_fault_names_its_node(
    nodes: dict[str, Any], edges: tuple[str, ...], faults: set[tuple[str | None, str]]
) -> None:
    result = check(graph(nodes, *edges))
    assert {(fault.node_id, fault.code) for fault in result.errors} == faults
    assert result.formula is None


SCHEMA = {"N": "number", "T": {"type": "string"}, "B": "boolean", "D": {"type": "string", "format": "date"}}
N_T_B_D = {"n": "N", "t": "T", "b": "B", "d": "D"}

KINDS: list[tuple[tuple[str, Any], dict[str, str], bool]] = [  # block, {input: node}, whether it goes together
    (ADD, {"1": "n", "2": "d", "3": "b"}, True),
    (ADD, {"1": "n", "2": "t"}, False),
    (ADD, {"1": "quoted"}, False),
    (("and", {}), {"1": "b", "2": "true"}, True),
    (("and", {}), {"1": "n"}, False),
    (("or", {}), {"1": "t"}, False),
    (("or", {}), {"1": "text"}, False),
    (("if", {}), {"condition": "n", "true": "n", "false": "t"}, False),
    (("if", {}), {"condition": "b", "true": "n", "false": "t"}, True),
    (("compare", {"operator": "eq"}), {"left": "n", "right": "t"}, False),
    (("compare", {"operator": "lt"}), {"left": "d", "right": "n"}, True),
    (("compare", {"operator": "lt"}), {"left": "d", "right": "quoted"}, False),
    (("compare", {"operator": "eq"}), {"left": "text", "right": "t"}, True),
    (("compare", {"operator": "eq"}), {"left": "b", "right": "n"}, False),
    (("concat", {}), {"1": "n", "2": "t", "3": "b"}, True),
    (("lookup_exact", {}), {"value": "n", "keys": "t", "results": "b"}, False),
    (("lookup_exact", {"default": ""}), {"value": "text", "keys": "t", "results": "n"}, True),
    (expression("=n+t"), {"n": "n", "t": "t"}, True),
]


@every("block,inputs,together", KINDS)
def test_kinds_that_are_known_go_together(block: tuple[str, Any], inputs: dict[str, str], together: bool) -> None:
    known = {"quoted": constant("2026-01-31"), "true": constant(True), "text": expression('="a"&1'), **N_T_B_D}
    nodes = {node: known[node] for node in inputs.values()}
    edges = [f"{node} > x.{port}" for port, node in inputs.items()]
    for schema in (SCHEMA, {"properties": SCHEMA}, {"columns": [{"name": k, "type": t} for k, t in _words(SCHEMA)]}):
        result = check(graph({**nodes, "x": block}, *edges), schema)
        expected = [] if together else [("x", "type_conflict")]
        assert [(fault.node_id, fault.code) for fault in result.errors][:1] == expected, result.errors


def _words(schema: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, "date" if name == "D" else answer if isinstance(answer, str) else answer["type"])
            for name, answer in schema.items()]  # fmt: skip


@every("schema", [{"A": "colour"}, {"A": 3}, {"columns": [3]}, {"A": {"type": {}}}])
def test_an_input_schema_that_says_nothing_is_refused(schema: dict[str, Any]) -> None:
    assert [fault.code for fault in check(graph({"a": "A"}), schema).errors] == ["invalid_input_schema"]


def test_what_is_likely_to_surprise_is_told() -> None:
    result = check(graph({"b": "B", "c": constant(10**17 + 1), "x": ADD}, "b > x.1", "c > x.2"), {"B": "boolean"})
    assert result.formula is not None
    assert len(result.warnings) == 2
    assert check(graph({"b": "B"}), {"A": "number"}).warnings == ("the column 'B' is not in input_schema",)
    assert any("volatile" in warning for warning in check(graph({"x": expression("=TODAY()")})).warnings)


def _chain(block: tuple[str, Any], ports: tuple[str, ...], length: int, first: Any = "A") -> Graph:
    nodes: dict[str, Any] = {"n0": first, **{f"n{at}": block for at in range(1, length)}}
    return graph(nodes, *(f"n{at - 1} > n{at}.{port}" for at in range(1, length) for port in ports))


def test_a_chain_of_diamonds_is_a_formula_of_its_length() -> None:
    result = check(_chain(ADD, ("a", "b"), 61))
    assert result.formula is not None
    assert len(result.formula) < 2_500
    assert result.formula.endswith("step_59,SUM(step_58,step_58),SUM(step_59,step_59))")


LONG = "+".join(["a"] * 4_000)
HOSTILE: list[tuple[str, Graph]] = [
    ("nodes", graph({f"n{at}": "A" for at in range(201)})),
    ("edges", graph({"a": "A", "x": ADD}, *(f"a > x.p{at}" for at in range(1_001)))),
    ("arity", graph({"a": "A", "x": ADD}, *(f"a > x.p{at}" for at in range(256)))),
    ("levels", _chain(ADD, ("a",), 66)),
    ("steps", _chain(ADD, ("a", "b"), 200)),
    ("expressions", _chain(expression("=" + LONG), ("a",), 3)),
    ("long names", graph({"a": "'" * 255, "x": expression("=" + LONG[:1000])}, "a > x.a")),
    ("operations", _chain(expression("=" + "+".join(["a"] * 300)), ("a",), 4)),
    ("nesting", _chain(expression("=" + "ABS(" * 30 + "a" + ")" * 30), ("a",), 4)),
    ("port", graph({"a": "A", "x": ADD}, "a > x." + "9" * 5_000)),
    ("signs", graph({"a": "A", "x": expression("=" + "-" * 8_000 + "a")}, "a > x.a")),
    ("ids", graph({"n" * 300: "A"})),
    ("parentheses", graph({"a": "A", "x": expression("=" + "(" * 4_000)}, "a > x.a")),
    ("fan", graph({"a": "A", **{f"n{at}": ADD for at in range(198)}},
                  *(f"n{low} > n{low + step}.p{step}" for low in range(190) for step in range(1, 6)))),
    ("cycle", graph({f"n{at}": ADD for at in range(200)}, *(f"n{at} > n{(at + 1) % 200}.p" for at in range(200)))),
]  # fmt: skip


@every("name,hostile", HOSTILE, ids=lambda row: row[0])
def test_a_hostile_graph_is_refused_at_once(name: str, hostile: Graph) -> None:
    with within(1):
        result = check(hostile)
    assert result.formula is None
    assert 1 <= len(result.errors) <= 100
    assert all(len(fault.message) < 500 for fault in result.errors), name


def test_a_graph_is_read_as_its_json_says_it() -> None:
    text = b"""{"version": "1.0", "template_id": "nobody", "nodes": [{"id": "a", "type": "column_ref",
        "params": {"column": "Par"}}], "edges": []}"""
    result = check(msgspec.json.decode(text, type=Graph))
    assert [(fault.node_id, fault.code) for fault in result.errors] == [(None, "unknown_template")]
