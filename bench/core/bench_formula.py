"""How fast formulas without a book are: one, one never seen, whole columns, and batches of ten thousand.

Values are made after compilation and are new in each repeat; all answers must agree before a time counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import core
from bench.core.peers import Formualizer, Formulas, Ironcalc, Peer
from bench.figures import Figure, median_seconds, paired_seconds

SMALL = "=IF(SUM(A1:A10)>100,ROUND(AVERAGE(A1:A10),2),0)"
SMALL_KEYS = [f"A{row}" for row in range(1, 11)]
SMALL_SECONDS_MOST, SMALL_RATIO_LEAST = 2e-6, 2.0
NEVER_SEEN_SECONDS_MOST = 40e-6
FILLED = "=A1*B1+IF(C1>0,C1,0)"
BATCH = 10_000
CELLS = [f"{letter}{row}" for letter in "ABCDEFGHIJ" for row in range(1, 11)]
MAP_PER_SECOND, ONE_SHAPE_PER_SECOND, SHAPES_PER_SECOND = 5_000_000, 300_000, 60_000


def run() -> list[Figure]:
    """Ours alone against the clock, and the small formula against every peer."""
    chance = np.random.default_rng(7)
    peers: dict[str, tuple[int, Callable[[Sequence[float]], Any]]] = {
        "ironcalc": (1_000, _cell(Ironcalc())),
        "formualizer": (200, _cell(Formualizer())),
        "formulas": (10, _function()),
    }
    return [
        _small(chance),
        *(_small_beside(name, count, theirs, chance) for name, (count, theirs) in peers.items()),
        _never_seen(chance),
        _columns(chance),
        _batch_of_one_shape(chance),
        _batch_of_shapes(chance),
    ]


def _small(chance: np.random.Generator) -> Figure:
    program = core.compile(SMALL)
    batches = iter([_contexts(chance, 1_000) for _ in range(20)])
    seconds = median_seconds(lambda: [program.evaluate(context).value for context in next(batches)], repeats=19)
    return Figure(name="one warm small formula", seconds=seconds / 1_000, seconds_most=SMALL_SECONDS_MOST)


def _small_beside(
    name: str, count: int, theirs: Callable[[Sequence[float]], Any], chance: np.random.Generator
) -> Figure:
    """The same, its ten values set one by one in a peer, which calculates and is read."""
    program = core.compile(SMALL)
    contexts: list[dict[str, float]] = []
    values: list[list[float]] = []

    def renew() -> None:
        contexts[:] = _contexts(chance, count)
        values[:] = [list(context.values()) for context in contexts]

    def mine() -> list[Any]:
        return [program.evaluate(context).value for context in contexts]

    renew()
    assert np.allclose(mine(), [theirs(ten) for ten in values], rtol=1e-12, atol=0), name
    ours, peer = paired_seconds(mine, lambda: [theirs(ten) for ten in values], repeats=15, before=renew)
    return Figure(
        name=f"one warm small formula, beside {name}", seconds=ours / count, peer=name, peer_seconds=peer / count,
        ratio_least=SMALL_RATIO_LEAST,
    )  # fmt: skip


def _contexts(chance: np.random.Generator, count: int) -> list[dict[str, float]]:
    return [dict(zip(SMALL_KEYS, ten, strict=True)) for ten in chance.uniform(0, 25, (count, 10)).tolist()]


def _cell(peer: Peer) -> Callable[[Sequence[float]], Any]:
    """The small formula as a cell of a peer's sheet, beside its ten values."""
    peer.put(1, [0.0] * 10)
    peer.formulas(2, [SMALL])

    def answer(values: Sequence[float]) -> Any:
        peer.put(1, values)
        peer.calculate()
        return peer.value(1, 2)

    return answer


def _function() -> Callable[[Sequence[float]], Any]:
    function = Formulas(SMALL)
    return lambda values: float(function(np.array(values)[:, None]))


def _never_seen(chance: np.random.Generator) -> Figure:
    """Parsed, compiled and evaluated: texts that differ in their numbers, so that none is kept from before."""
    contexts = _contexts(chance, 300)
    texts = iter([
        [f"=IF(SUM(A1:A10)>{at}.{turn},ROUND(AVERAGE(A1:A10),2),{turn})" for at in range(len(contexts))]
        for turn in range(20)
    ])  # fmt: skip

    def work() -> list[Any]:
        return [core.evaluate(text, context).value for text, context in zip(next(texts), contexts, strict=True)]

    seconds = median_seconds(work, repeats=19)
    return Figure(name="one formula never seen", seconds=seconds / len(contexts), seconds_most=NEVER_SEEN_SECONDS_MOST)


def _columns(chance: np.random.Generator) -> Figure:
    """`program.map`: the formula filled down beside whole columns."""
    program = core.compile(FILLED)
    columns: dict[str, Any] = {}

    def renew() -> None:
        columns.update({letter: chance.normal(0, 50, BATCH) for letter in "ABC"})

    renew()
    a, b, c = (columns[letter] for letter in "ABC")
    assert np.allclose(program.map(columns), a * b + np.where(c > 0, c, 0), rtol=1e-12)
    seconds = paired_seconds(lambda: program.map(columns), repeats=49, before=renew)[0]
    return Figure(name=f"program.map over {BATCH:,} rows", seconds=seconds, seconds_most=BATCH / MAP_PER_SECOND)


def _batch_of_one_shape(chance: np.random.Generator) -> Figure:
    """Texts of one formula filled down, its rate another one in each repeat, over one context of their cells."""
    context: dict[str, float] = {}
    texts: list[str] = []
    rate = 0

    def renew() -> None:
        nonlocal rate
        rate += 1
        context.update({f"{letter}{row}": float(chance.normal()) for letter in "AB" for row in range(1, BATCH + 1)})
        texts[:] = [f"=ROUND(A{row}*{rate},4)+B{row}" for row in range(1, BATCH + 1)]

    renew()
    answers = _answers(texts, context)
    expected = [round(context[f"A{row}"] * rate, 4) + context[f"B{row}"] for row in range(1, BATCH + 1)]
    assert np.allclose(answers, expected, rtol=1e-12)
    seconds = paired_seconds(lambda: core.evaluate_batch(texts, context), repeats=15, before=renew)[0]
    most = BATCH / ONE_SHAPE_PER_SECOND
    return Figure(name=f"evaluate_batch of {BATCH:,} formulas of one shape", seconds=seconds, seconds_most=most)


def _batch_of_shapes(chance: np.random.Generator) -> Figure:
    """Texts no two of which are one formula, none of them seen before, over one context of a hundred cells."""
    context: dict[str, float] = {}
    texts: list[str] = []
    turn = 0

    def renew() -> None:
        nonlocal turn
        turn += 1
        context.update(
            {f"{letter}{row}": float(chance.uniform(1, 9)) for letter in "ABCDEFGHIJ" for row in range(1, 11)}
        )
        texts[:] = _shapes(chance, turn)

    renew()
    answers = _answers(texts, context)
    assert answers == [core.evaluate(text, context).value for text in texts]
    assert all(isinstance(answer, float) for answer in answers)
    seconds = paired_seconds(lambda: core.evaluate_batch(texts, context), repeats=7, before=renew)[0]
    most = BATCH / SHAPES_PER_SECOND
    return Figure(name=f"evaluate_batch of {BATCH:,} formulas of as many shapes", seconds=seconds, seconds_most=most)


def _answers(texts: list[str], context: dict[str, float]) -> list[Any]:
    """The values of a batch; a refusal has none and stands for itself."""
    return [getattr(answer, "value", answer) for answer in core.evaluate_batch(texts, context)]


def _shapes(chance: np.random.Generator, turn: int) -> list[str]:
    """Formulas of two to four cells, an operator or two and a function; the number in each is its own."""
    patterns = (
        "={a}{o}{b}+{n}", "=SUM({a},{b},{n})*{c}", "=ROUND({a}{o}{b},2)-{n}", "=IF({a}>{b},{c},{n})",
        "=MAX({a},{b}){o}{n}", "=({a}+{b}){o}({c}-{n})", "=MIN({a},{n})+ABS({b}{o}{c})", "={n}%*{a}{o}{b}",
    )  # fmt: skip
    formulas = []
    for at, places in enumerate(chance.integers(0, len(CELLS), (BATCH, 3)).tolist()):
        a, b, c = (CELLS[place] for place in places)
        number = f"{turn * BATCH + at}.5"
        formulas.append(patterns[at % len(patterns)].format(a=a, b=b, c=c, o="+-*/"[at % 4], n=number))
    return formulas
