"""How fast formulas without a book are.

One, one never seen, whole columns, and batches of ten thousand.

Values are made after compilation and are new in each repeat; all answers must agree before a time counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import core
from bench.core.peers import Formualizer, Formulas, Ironcalc, Peer
from bench.questions import OURS, Prepared, Question, Work
from bench.rows import asked

SMALL = "=IF(SUM(A1:A10)>100,ROUND(AVERAGE(A1:A10),2),0)"
SMALL_KEYS = [f"A{row}" for row in range(1, 11)]
SMALL_SECONDS_MOST, SMALL_RATIO_LEAST = 2e-6, 2.0
NEVER_SEEN_SECONDS_MOST = 40e-6
FILLED = "=A1*B1+IF(C1>0,C1,0)"
BATCH = 10_000
CELLS = [f"{letter}{row}" for letter in "ABCDEFGHIJ" for row in range(1, 11)]
MAP_PER_SECOND, ONE_SHAPE_PER_SECOND, SHAPES_PER_SECOND = 5_000_000, 300_000, 60_000


def _small() -> Prepared:
    """Ours from Python in a loop.

    The ten values are set one by one in a peer, which calculates and is read.
    """
    program, chance = core.compile(SMALL), np.random.default_rng(7)
    contexts: list[dict[str, float]] = []
    values: list[list[float]] = []

    def renew() -> None:
        contexts[:] = _contexts(chance, SMALLS)
        values[:] = [list(context.values()) for context in contexts]

    def mine() -> list[Any]:
        return [program.evaluate(context).value for context in contexts]

    renew()
    works = {OURS: Work(mine, count=SMALLS)}
    for name, (count, make) in SMALL_PEERS.items():
        theirs = make()
        assert np.allclose(mine()[:count], [theirs(ten) for ten in values[:count]], rtol=1e-12, atol=0), name
        works[name] = Work(partial(_each, theirs, values, count), count=count)
    return Prepared(works=works, before=renew)


def _each(theirs: Callable[[Sequence[float]], Any], values: list[list[float]], count: int) -> list[Any]:
    return [theirs(ten) for ten in values[:count]]


def _contexts(chance: np.random.Generator, count: int) -> list[dict[str, float]]:
    return [dict(zip(SMALL_KEYS, ten, strict=True)) for ten in chance.uniform(0, 25, (count, 10)).tolist()]


def _cell(peer: Peer) -> Callable[[Sequence[float]], Any]:
    """The small formula as a cell of a peer's sheet, beside its ten values."""
    peer.put(1, [0.0] * 10)
    peer.formulas(2, [SMALL])

    def answer(values: Sequence[float]) -> Any:
        peer.put(1, values)
        peer.calculate()
        return peer.column(2, 1)[0]

    return answer


def _function() -> Callable[[Sequence[float]], Any]:
    function = Formulas(SMALL)
    return lambda values: float(function(np.array(values)[:, None]))


SMALLS = 1_000
SMALL_PEERS: dict[str, tuple[int, Callable[[], Callable[[Sequence[float]], Any]]]] = {
    "ironcalc": (1_000, lambda: _cell(Ironcalc())),
    "formualizer": (200, lambda: _cell(Formualizer())),
    "formulas": (10, _function),
}
"""How many each has in a turn, and what makes it."""


def _never_seen() -> Prepared:
    """Parsed, compiled and evaluated.

    Texts that differ in their numbers, so that none is kept from before.
    """
    contexts = _contexts(np.random.default_rng(7), 300)
    texts = iter([
        [f"=IF(SUM(A1:A10)>{at}.{turn},ROUND(AVERAGE(A1:A10),2),{turn})" for at in range(len(contexts))]
        for turn in range(20)
    ])  # fmt: skip

    def work() -> list[Any]:
        return [core.evaluate(text, context).value for text, context in zip(next(texts), contexts, strict=True)]

    return Prepared(works={OURS: Work(work, count=len(contexts))})


def _columns() -> Prepared:
    """`program.map`: the formula filled down beside whole columns."""
    program, chance = core.compile(FILLED), np.random.default_rng(7)
    columns: dict[str, Any] = {}

    def renew() -> None:
        columns.update({letter: chance.normal(0, 50, BATCH) for letter in "ABC"})

    renew()
    a, b, c = (columns[letter] for letter in "ABC")
    assert np.allclose(program.map(columns), a * b + np.where(c > 0, c, 0), rtol=1e-12)
    return Prepared(works={OURS: lambda: program.map(columns)}, before=renew)


def _batch_of_one_shape() -> Prepared:
    """Texts of one formula filled down, its rate another one in each repeat, over one context of their cells."""
    chance = np.random.default_rng(7)
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
    return Prepared(works={OURS: lambda: core.evaluate_batch(texts, context)}, before=renew)


def _batch_of_shapes() -> Prepared:
    """Texts no two of which are one formula, none of them seen before, over one context of a hundred cells."""
    chance = np.random.default_rng(7)
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
    return Prepared(works={OURS: lambda: core.evaluate_batch(texts, context)}, before=renew)


def _answers(texts: list[str], context: dict[str, float]) -> list[Any]:
    """The values of a batch; a refusal has none and stands for itself."""
    return [getattr(answer, "value", answer) for answer in core.evaluate_batch(texts, context)]


def _shapes(chance: np.random.Generator, turn: int) -> list[str]:
    """Formulas of two to four cells, an operator or two and a function.

    The number in each is its own.
    """
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


bench_formula = asked(
    Question(
        name="one warm small formula", prepare=_small, peers=tuple(SMALL_PEERS), repeats=15,
        ratio_least=dict.fromkeys(SMALL_PEERS, SMALL_RATIO_LEAST), seconds_most=SMALL_SECONDS_MOST, quick=True,
    ),
    Question(
        name="one formula never seen", prepare=_never_seen, repeats=19, seconds_most=NEVER_SEEN_SECONDS_MOST,
        quick=True,
    ),
    Question(
        name=f"program.map over {BATCH:,} rows", prepare=_columns, repeats=49, seconds_most=BATCH / MAP_PER_SECOND,
        quick=True,
    ),
    Question(
        name=f"evaluate_batch of {BATCH:,} formulas of one shape", prepare=_batch_of_one_shape, repeats=15,
        seconds_most=BATCH / ONE_SHAPE_PER_SECOND, quick=True,
    ),
    Question(
        name=f"evaluate_batch of {BATCH:,} formulas of as many shapes", prepare=_batch_of_shapes, repeats=7,
        seconds_most=BATCH / SHAPES_PER_SECOND, quick=True,
    ),
)  # fmt: skip
