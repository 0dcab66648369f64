"""A graph to its Excel formula, or to every fault that keeps it from being one."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sys import float_info
from typing import Any, Final

from core.checked import checked
from core.formula.blocks.expression import THIS_ROW, Expression, put, read
from core.formula.blocks.graph import (
    EDGES_MAX,
    EXPRESSIONS_CHARACTERS_MAX,
    LEVELS_MAX,
    NAME_CHARACTERS_MAX,
    NODE_TYPES,
    NODES_MAX,
    OPERATORS,
    OUTPUT,
    Graph,
    GraphEdge,
    GraphFault,
    GraphNode,
)
from core.formula.blocks.kinds import Kind, constant_kind, declared_kinds, family, join_kinds, kind_of
from core.formula.blocks.templates import TEMPLATES
from core.formula.language.errors import FormulaError, UnsupportedFunction
from core.formula.language.parser import ARGUMENTS_MAX, CHARACTERS_MAX, DEPTH_MAX, parse, render
from core.formula.language.tree import Binary, Call, Literal, Name, Node, Structured, Unary
from core.formula.language.walk import walk
from core.formula.machine.arrays import may_be_array
from core.formula.machine.machine import compile as compile_tree
from core.formula.suggest import warnings as formula_warnings

ANY: Final[Kind] = "any"

FAULTS_MAX: Final = 100
"""Faults that are listed for one graph."""

SUGGESTION_CHARACTERS_MAX: Final = 200

TEXT_CHARACTERS_MAX: Final = 255
"""Of a text in a formula: Excel's own limit."""

STEPS_MAX: Final = 126
"""Nodes whose value is used more than once: LET names no more in Excel."""

_LEAVES: Final = ("column_ref", "constant")
"""Blocks that are written again wherever they are used; any other that is used more than once is named by LET."""


@dataclass(frozen=True, slots=True)
class CheckedGraph:
    """What checking a graph came to."""

    errors: tuple[GraphFault, ...]
    warnings: tuple[str, ...] = ()
    formula: str | None = None
    """The Excel formula, the row's own cell in a column as [@Column]; None where there are errors."""
    columns: tuple[str, ...] = ()
    """The columns that the formula reads."""
    kind: Kind = "any"
    """Of the formula's value."""


class InvalidGraph(FormulaError):
    """The graph is no formula; `faults` say why."""

    def __init__(self, faults: tuple[GraphFault, ...]) -> None:
        super().__init__("; ".join(fault.message for fault in faults[:3]))
        self.faults = faults


@checked
def compile_graph(graph: Graph) -> str:
    """Return the Excel formula of a graph, with its '='.

    A block that several others use is calculated once: LET gives it a name. Columns and constants are written again.

    Raises:
        InvalidGraph: it is none.
    """
    checked = check(graph)
    if checked.formula is None:
        raise InvalidGraph(checked.errors)
    return checked.formula


def check(graph: Graph, input_schema: Mapping[str, Any] | None = None) -> CheckedGraph:
    """Return every fault of a graph, or its formula.

    Args:
        input_schema: the kinds of the sheet's columns, see `kinds.declared_kinds`; what it does not say is not checked.
    """
    if len(graph.nodes) > NODES_MAX or len(graph.edges) > EDGES_MAX:
        message = f"a graph has at most {NODES_MAX} nodes and {EDGES_MAX:,} edges"
        return CheckedGraph((GraphFault(None, "limit_exceeded", message),))
    return _Checker(graph).checked(input_schema)


def place_of_port(port: str) -> tuple[tuple[int, int | str], ...]:
    """Return what inputs of any name are ordered by: input2 stands before input10."""
    pieces = re.split(r"([0-9]+)", port.casefold())
    return tuple((0, int(piece)) if at % 2 else (1, piece) for at, piece in enumerate(pieces))


class _Checker:
    """One look at a graph.

    What it finds is kept by the place of a node among the graph's nodes.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.faults: list[GraphFault] = []
        self.warnings: dict[str, None] = {}
        self.inputs: list[dict[str, int]] = [{} for _ in graph.nodes]  # port -> node
        self.followers: list[list[int]] = [[] for _ in graph.nodes]
        self.expressions: dict[int, Expression] = {}
        self.columns: dict[str, None] = {}

    def fault(self, at: int | None, code: str, message: str, position: int | None = None) -> None:
        self.faults.append(GraphFault(None if at is None else self.nodes[at].id, code, message, position))

    def checked(self, input_schema: Mapping[str, Any] | None) -> CheckedGraph:
        formula, kind = None, ANY
        self.check_nodes()
        self.check_edges()
        self.check_arity()
        order = self.check_order()
        if not self.faults:
            formula = self.compose(order)
        if not self.faults:
            kind = self.check_kinds(order, input_schema)
        if self.faults:
            return CheckedGraph(tuple(self.faults[:FAULTS_MAX]), tuple(self.warnings))
        return CheckedGraph((), tuple(self.warnings), formula, tuple(self.columns), kind)

    # Nodes.

    def check_nodes(self) -> None:
        if self.graph.template_id != "custom" and self.graph.template_id not in TEMPLATES:
            known = ", ".join(("custom", *TEMPLATES))
            message = f"no template is called {_cut(self.graph.template_id)!r}; there are {known}"
            self.fault(None, "unknown_template", message)
        if not self.nodes:
            self.fault(None, "no_nodes", "the graph has no nodes")
        for node_id, count in Counter(node.id for node in self.nodes).items():
            if count > 1:
                self.faults.append(GraphFault(node_id, "duplicate_id", f"{count} nodes have the id {_cut(node_id)!r}"))
        length = 0
        for at, node in enumerate(self.nodes):
            if not 1 <= len(node.id) <= NAME_CHARACTERS_MAX:
                self.fault(at, "invalid_id", f"a node's id has 1 to {NAME_CHARACTERS_MAX} characters")
            if node.type not in NODE_TYPES:
                known = ", ".join(NODE_TYPES)
                self.fault(at, "unknown_node_type", f"no node has the type {_cut(node.type)!r}; there are {known}")
                continue
            if node.type == "expression":
                formula = node.params.get("formula")
                length += len(formula) if isinstance(formula, str) else 0
                if length > EXPRESSIONS_CHARACTERS_MAX:
                    message = f"the expressions have more than {EXPRESSIONS_CHARACTERS_MAX:,} characters together"
                    self.fault(at, "limit_exceeded", message)
                    return
            self.check_params(at, node)

    def check_params(self, at: int, node: GraphNode) -> None:
        params = node.params
        if node.type == "column_ref":
            column = params.get("column")
            if not isinstance(column, str) or not 1 <= len(column) <= NAME_CHARACTERS_MAX:
                message = f"params.column of a column_ref is a column's name, 1 to {NAME_CHARACTERS_MAX} characters"
                self.fault(at, "invalid_params", message)
        elif node.type == "constant":
            self.check_constant(at, params.get("value"), "params.value of a constant")
        elif node.type == "lookup_exact" and params.get("default") is not None:
            self.check_constant(at, params["default"], "params.default of a lookup_exact")
        elif node.type == "compare" and params.get("operator") not in tuple(OPERATORS):
            self.fault(at, "invalid_params", f"params.operator of a compare is one of {', '.join(OPERATORS)}")
        elif node.type == "expression":
            self.check_expression(at, params.get("formula"))

    def check_constant(self, at: int, value: object, whose: str) -> None:
        if isinstance(value, str):
            if len(value) > TEXT_CHARACTERS_MAX:
                self.fault(at, "limit_exceeded", f"{whose} has more than {TEXT_CHARACTERS_MAX} characters")
        elif not isinstance(value, int | float):
            self.fault(at, "invalid_params", f'{whose} is a number, a text ("" for nothing) or a boolean')
        elif not abs(value) <= float_info.max:
            self.fault(at, "invalid_params", f"{whose} is larger than 1E+308")
        elif int(float(value)) != int(value):
            text = f"node {_cut(self.nodes[at].id)}: a number has 15 digits; {value} becomes {float(value):.15g}"
            self.warnings[text] = None

    def check_expression(self, at: int, formula: object) -> None:
        if not isinstance(formula, str) or not formula.strip(" ="):
            self.fault(at, "invalid_params", "params.formula of an expression is a formula")
            return
        try:
            self.expressions[at] = read(formula)
        except UnsupportedFunction as error:
            self.fault(at, "unsupported_function", _error_text(error), error.position)
        except FormulaError as error:
            self.fault(at, "invalid_expression", _error_text(error), error.position)

    # Edges.

    def check_edges(self) -> None:
        place = {node.id: at for at, node in enumerate(self.nodes)}
        ids = Counter(edge.id for edge in self.graph.edges)
        for edge_id, count in ids.items():
            if count > 1:
                self.fault(None, "duplicate_id", f"{count} edges have the id {_cut(edge_id)!r}")
        for edge in self.graph.edges:
            source, target = place.get(edge.source.node_id), place.get(edge.target.node_id)
            for end, far_end in ((edge.source, target), (edge.target, source)):
                if end.node_id not in place:
                    message = f"the edge {_cut(edge.id)!r} has an end at {_cut(end.node_id)!r}, which is no node"
                    self.fault(far_end, "dangling_edge", message)
            if source is not None and target is not None:
                self.followers[source].append(target)
                self.check_ports(edge, source, target)

    def check_ports(self, edge: GraphEdge, source: int, target: int) -> None:
        node, port = self.nodes[target], edge.target.port
        if edge.source.port != OUTPUT:
            message = f"an edge begins at the port {OUTPUT!r}, not at {_cut(edge.source.port)!r}"
            self.fault(source, "unknown_port", message)
        if node.type == "expression":
            port = port.lower()
        if not self.has_port(target, port):
            self.fault(target, "unknown_port", f"{_a(node.type)} has no input {_cut(edge.target.port)!r}")
        elif port in self.inputs[target]:
            self.fault(target, "doubled_input", f"two edges lead into the input {_cut(edge.target.port)!r}")
        else:
            self.inputs[target][port] = source

    def has_port(self, at: int, port: str) -> bool:
        """Return whether a node has an input; also where that cannot be told."""
        kind = NODE_TYPES.get(self.nodes[at].type)
        if kind is None or self.nodes[at].type == "expression":
            expression = self.expressions.get(at)
            return expression is None or port in expression.ports or port in expression.columns
        return port in kind.ports or (kind.varies and 1 <= len(port) <= NAME_CHARACTERS_MAX)

    def check_arity(self) -> None:
        for at, node in enumerate(self.nodes):
            kind = NODE_TYPES.get(node.type)
            if kind is None:
                continue
            wanted = self.expressions[at].ports if at in self.expressions else kind.ports
            for port in wanted:
                if port not in self.inputs[at]:
                    self.fault(at, "missing_input", f"nothing leads into the input {port!r}")
            if kind.varies and not 1 <= len(self.inputs[at]) <= ARGUMENTS_MAX:
                self.fault(at, "wrong_arity", f"{_a(node.type)} has 1 to {ARGUMENTS_MAX} inputs")
            for port in self.column_ports(at):
                if port in self.inputs[at] and self.nodes[self.inputs[at][port]].type != "column_ref":
                    self.fault(at, "type_conflict", f"the input {port!r} takes a whole column, from a column_ref")

    def column_ports(self, at: int) -> Iterable[str]:
        """Return the inputs of a node that take whole columns."""
        if at in self.expressions:
            return self.expressions[at].columns
        return ("keys", "results") if self.nodes[at].type == "lookup_exact" else ()

    # Order.

    def check_order(self) -> list[int]:
        """Return the nodes, each after those that it uses; the output is the last."""
        left = [0] * len(self.nodes)
        for followers in self.followers:
            for follower in followers:
                left[follower] += 1
        order, levels = [], [1] * len(self.nodes)
        waiting = deque(at for at, count in enumerate(left) if not count)
        while waiting:
            at = waiting.popleft()
            order.append(at)
            for follower in self.followers[at]:
                levels[follower] = max(levels[follower], levels[at] + 1)
                left[follower] -= 1
                if not left[follower]:
                    waiting.append(follower)
        looped = set(range(len(self.nodes))).difference(order)
        self.check_cycles(looped)
        deep = [at for at in order if levels[at] == LEVELS_MAX + 1]
        for at in deep:
            self.fault(at, "limit_exceeded", f"more than {LEVELS_MAX} nodes stand one behind the other")
        self.check_outputs(looped)
        return order

    def check_cycles(self, looped: set[int]) -> None:
        """Name the nodes of cycles; `looped` are those on one or behind one."""
        ahead = {at: sum(follower in looped for follower in self.followers[at]) for at in looped}
        before: dict[int, list[int]] = {at: [] for at in looped}
        for at in looped:
            for follower in self.followers[at]:
                if follower in looped:
                    before[follower].append(at)
        waiting = [at for at in looped if not ahead[at]]
        while waiting:
            at = waiting.pop()
            looped.discard(at)
            for successor in before[at]:
                ahead[successor] -= 1
                if not ahead[successor]:
                    waiting.append(successor)
        for at in sorted(looped):
            self.fault(at, "cycle", "the node needs its own result: it stands on a cycle")

    def check_outputs(self, looped: set[int]) -> None:
        ends = [at for at in range(len(self.nodes)) if not self.followers[at]]
        if len(ends) > 1:
            names = ", ".join(_cut(self.nodes[at].id) for at in ends[:10])
            for at in ends:
                message = f"nothing follows {len(ends)} nodes ({names}); one of them gives the result"
                self.fault(at, "several_outputs", message)
        if len(ends) != 1:
            return
        leading = self.leading_to(ends[0])
        for at in range(len(self.nodes)):
            if at not in leading and at not in looped:
                self.fault(at, "unreachable_node", "the node does not lead to the output")

    def leading_to(self, end: int) -> set[int]:
        """Return every node from which a path leads to one, itself included."""
        before: list[set[int]] = [set() for _ in self.nodes]
        for at, followers in enumerate(self.followers):
            for follower in followers:
                before[follower].add(at)
        reached, waiting = {end}, [end]
        while waiting:
            new = before[waiting.pop()] - reached
            reached |= new
            waiting.extend(new)
        return reached

    # The formula.

    def compose(self, order: list[int]) -> str | None:
        """Return the formula of a graph that is in order."""
        if (deep := self.too_high(order)) is not None:
            self.fault(deep, "limit_exceeded", f"more than {DEPTH_MAX} operations stand inside each other")
            return None
        tree = self.tree(order)
        if tree is None:
            return None
        text = render(tree)
        if len(text) > CHARACTERS_MAX:
            message = f"the formula has {len(text):,} characters; Excel takes {CHARACTERS_MAX:,}"
            self.fault(order[-1], "limit_exceeded", message)
            return None
        try:
            tree = parse(text)
            compile_tree(tree, text=text)
        except FormulaError as error:
            self.fault(order[-1], "limit_exceeded", f"the formula is none that Excel takes: {error.message}")
            return None
        if may_be_array(tree):
            self.fault(
                order[-1], "type_conflict", "the formula may give an array, and a cell has one value: @ takes one"
            )
            return None
        self.warnings.update(dict.fromkeys(formula_warnings(tree)))
        self.columns.update(dict.fromkeys(columns_of(tree)))
        return text

    def uses(self) -> list[int]:
        """Return how often the formula names each node."""
        count = [0] * len(self.nodes)
        for at, inputs in enumerate(self.inputs):
            for port, source in inputs.items():
                count[source] += self.expressions[at].ports.get(port, 0) if at in self.expressions else 1
        return count

    def too_high(self, order: list[int]) -> int | None:
        """Return the first node whose tree could be deeper than whoever walks a tree may go."""
        heights = [0] * len(self.nodes)
        for at in order:
            own = self.expressions[at].height if at in self.expressions else max(len(self.inputs[at]), 3)
            heights[at] = own + max((heights[source] for source in self.inputs[at].values()), default=0)
            if heights[at] > DEPTH_MAX:
                return at
        return None

    def tree(self, order: list[int]) -> Node | None:
        uses, prefix = self.uses(), self.prefix()
        steps: list[Node] = []
        trees: list[Node] = [Literal(0.0)] * len(self.nodes)
        for at in order:
            trees[at] = self.node_tree(at, trees)
            if uses[at] > 1 and self.nodes[at].type not in _LEAVES:
                name = Name(None, f"{prefix}{len(steps) // 2 + 1}")
                steps += [name, trees[at]]
                trees[at] = name
            if len(steps) > 2 * STEPS_MAX:
                self.fault(at, "limit_exceeded", f"more than {STEPS_MAX} nodes are used more than once")
                return None
        return Call("LET", (*steps, trees[order[-1]])) if steps else trees[order[-1]]

    def prefix(self) -> str:
        """Return how the names of LET begin: as no name in any expression does."""
        prefix = "step_"
        taken = frozenset().union(*(expression.names for expression in self.expressions.values()))
        while any(name.startswith(prefix) for name in taken):
            prefix += "_"
        return prefix

    def node_tree(self, at: int, trees: list[Node]) -> Node:
        node, inputs = self.nodes[at], self.inputs[at]
        if node.type == "column_ref":
            column = node.params["column"]
            return Structured(None, THIS_ROW, column, column)
        if node.type == "constant":
            return _constant(node.params["value"])
        if node.type == "expression":
            return put(
                self.expressions[at].tree,
                lambda name, _: trees[inputs[name]],
                lambda name, node: self.whole_column(inputs[name]) if name in inputs else node,
            )
        if node.type == "lookup_exact":
            default = node.params.get("default")
            arguments = [trees[inputs["value"]], *(self.whole_column(inputs[port]) for port in ("keys", "results"))]
            return Call("XLOOKUP", (*arguments, *(() if default is None else (_constant(default),))))
        if node.type == "compare":
            return Binary(OPERATORS[node.params["operator"]], trees[inputs["left"]], trees[inputs["right"]])
        ports = NODE_TYPES[node.type].ports or sorted(inputs, key=place_of_port)
        arguments = [trees[inputs[port]] for port in ports]
        if node.type != "concat":
            return Call(node.type.upper(), tuple(arguments))
        text, *rest = arguments
        for part in rest or [Literal("")]:
            text = Binary("&", text, part)
        return text

    def whole_column(self, at: int) -> Node:
        column = self.nodes[at].params["column"]
        return Structured(None, (), column, column)

    # Kinds.

    def check_kinds(self, order: list[int], input_schema: Mapping[str, Any] | None) -> Kind:
        """Return the kind of the result; a fault wherever two kinds do not go together."""
        known: dict[str, Kind] = {}
        if input_schema is not None:
            try:
                known = {name.casefold(): kind for name, kind in declared_kinds(input_schema).items()}
            except ValueError as error:
                self.fault(None, "invalid_input_schema", str(error))
            for column in self.columns:
                if column.casefold() not in known:
                    self.warnings[f"the column {column!r} is not in input_schema"] = None
        kinds: list[Kind] = ["any"] * len(self.nodes)
        for at in order:
            kinds[at] = self.node_kind(at, kinds, known)
        return kinds[order[-1]]

    def node_kind(self, at: int, kinds: list[Kind], known: Mapping[str, Kind]) -> Kind:
        node = self.nodes[at]
        by_port = {port: kinds[source] for port, source in self.inputs[at].items()}
        if node.type == "column_ref":
            return known.get(node.params["column"].casefold(), "any")
        if node.type == "constant":
            return constant_kind(node.params["value"])
        if node.type == "expression":
            return kind_of(self.expressions[at].tree, by_port)
        if node.type == "compare":
            self.check_same(at, by_port, "left", "right")
            return "boolean"
        if node.type == "lookup_exact":
            self.check_same(at, by_port, "value", "keys")
            default = node.params.get("default")
            return by_port["results"] if default is None else join_kinds([by_port["results"], constant_kind(default)])
        if node.type == "if":
            self.check_port(at, by_port, "condition", "number", "text")
            return join_kinds([by_port["true"], by_port["false"]])
        if node.type == "sum":
            self.check_sum(at, by_port)
            return "number"
        if node.type == "concat":
            return "text"
        for port in by_port:
            self.check_port(at, by_port, port, "number", "text")
        return "boolean"

    def check_sum(self, at: int, kinds: Mapping[str, Kind]) -> None:
        for port, source in self.inputs[at].items():
            self.check_port(at, kinds, port, "text")
            if kinds[port] == "boolean" and self.nodes[source].type == "column_ref":
                self.warnings[f"node {_cut(self.nodes[at].id)}: SUM passes over the booleans of a column"] = None

    def check_port(self, at: int, kinds: Mapping[str, Kind], port: str, *refused: Kind) -> None:
        if family(kinds[port]) in refused:
            message = f"the input {_cut(port)!r} of {_a(self.nodes[at].type)} is a {kinds[port]}"
            self.fault(at, "type_conflict", message)

    def check_same(self, at: int, kinds_by_port: Mapping[str, Kind], first: str, second: str) -> None:
        kinds = [kinds_by_port[first], kinds_by_port[second]]
        if "any" not in kinds and family(kinds[0]) != family(kinds[1]):
            message = f"{first} is a {kinds[0]} and {second} a {kinds[1]}: the two are never equal"
            self.fault(at, "type_conflict", message)


def columns_of(tree: Node) -> list[str]:
    """Return the columns of the sheet that a formula reads by their names, each once, in order of appearance."""
    names: dict[str, None] = {}
    for node, _ in walk(tree):
        if isinstance(node, Structured) and node.table is None and node.first is not None:
            names.update(dict.fromkeys((node.first, node.last or node.first)))
    return list(names)


def _constant(value: float | str | bool) -> Node:
    """Return a value as a formula writes it: a sign stands before its number."""
    if isinstance(value, str | bool):
        return Literal(value)
    number = float(value) + 0.0  # no -0
    return Unary("-", Literal(-number)) if number < 0 else Literal(number)


def _error_text(error: FormulaError) -> str:
    return "; ".join(
        (
            error.message,
            *(suggestion for suggestion in error.suggestions[:1] if len(suggestion) <= SUGGESTION_CHARACTERS_MAX),
        )
    )


def _cut(text: str) -> str:
    return text if len(text) <= 64 else text[:63] + "…"


def _a(node_type: str) -> str:
    return f"an {node_type}" if node_type[:1] in "aeio" else f"a {node_type}"
