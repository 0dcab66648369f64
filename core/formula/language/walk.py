"""Every node of a formula's tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.formula.language.tree import Binary, Call, Invoke, Node, Spill, Unary


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below a node, in the order of the text."""
    match node:
        case Binary():
            return (node.left, node.right)
        case Unary() | Spill():
            return (node.operand,)
        case Call():
            return node.arguments
        case Invoke():
            return (node.callee, *node.arguments)
    return ()


def with_children(node: Node, below: Sequence[Node]) -> Node:
    """Return the node with other nodes directly below it, in the order of `children`."""
    match node:
        case Binary():
            return Binary(node.operator, below[0], below[1], node.start, node.end)
        case Unary():
            return Unary(node.operator, below[0], node.start, node.end)
        case Spill():
            return Spill(below[0], node.start, node.end)
        case Call():
            return Call(node.name, tuple(below), node.start, node.end)
        case Invoke():
            return Invoke(below[0], tuple(below[1:]), node.start, node.end)
    return node


def walk(tree: Node) -> Iterator[tuple[Node, int]]:
    """Yield every node in the order of the text, with the number of calls around it."""
    waiting = [(tree, 0)]
    while waiting:
        node, calls = waiting.pop()
        yield node, calls
        inside = calls + isinstance(node, Call | Invoke)
        waiting.extend((child, inside) for child in reversed(children(node)))
