"""What a quiet tenant feels of formulas that are compiled.

The slowest hundredth of its requests, with and without.

Numba works at the lowest priority in a process of its own, one loop after another, on the machine that serves.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import msgspec

from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from bench.service.stack import Client, serving
from core.formula.native.recipe import LoopRecipe
from core.formula.native.steps import LoopStep
from core.native.process import CompilerProcess

PAIRS, REQUESTS, WARM = 5, 300, 100
PAUSE_SECONDS = 0.005
"""Between two requests of the tenant, who is no crowd."""
ALONE = "nothing compiled"
TIMES_MOST = 1.25
STEPS = 40
"""Of each loop that is compiled."""
EVALUATE = "/api/v1/calculations/evaluate"


@contextmanager
def _compiling(folder: Path) -> Iterator[list[int]]:
    """Loops are compiled one after another meanwhile; how many is counted."""
    process, numbers, done, ends = CompilerProcess(), count(), [0], threading.Event()

    def work() -> None:
        while not ends.is_set():
            row = LoopStep("ROW", 1, (), (next(numbers),))
            steps = [LoopStep(("*", "+")[at % 2], 1, (1, 0)) for at in range(STEPS)]
            failure = process.compile(LoopRecipe(0, (row, *steps), (0,), (False,)).written(), folder)
            assert failure is None, failure
            done[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        while not done[0]:
            time.sleep(0.01)
        yield done
    finally:
        ends.set()
        thread.join()
        process.end()


@contextmanager
def _tenant() -> Iterator[Client]:
    with serving({"CUSHION_RATE_LIMITS": "off"}) as url, closing(Client(url)) as client:
        yield client


def _p99(client: Client) -> float:
    body, taken = msgspec.json.encode({"formula": "=SUM(1,2,3)*4"}), []
    for _ in range(REQUESTS):
        time.sleep(PAUSE_SECONDS)
        start = time.perf_counter()
        client.exchange("POST", EVALUATE, body)
        taken.append(time.perf_counter() - start)
    return sorted(taken)[-REQUESTS // 100]


def _felt(client: Client) -> Prepared:
    alone, beside, compiled = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(WARM):
            client.exchange("POST", EVALUATE, b'{"formula":"=1+1"}')
        for _ in range(PAIRS):
            alone.append(_p99(client))
            with _compiling(Path(folder) / "native") as done:
                before = done[0]
                beside.append(_p99(client))
                compiled += done[0] - before
    assert compiled >= PAIRS
    times = statistics.median(b / a for a, b in zip(alone, beside, strict=True))
    return Prepared(works={OURS: beside, ALONE: alone}, facts={"times as long, median of pairs": round(times, 3)})


bench_compiling = asked(
    Question(
        name="p99 of a quiet tenant's evaluate while formulas compile", prepare=_felt, data=_tenant, bounds=(ALONE,),
        ratio_least={ALONE: 1 / TIMES_MOST},
    ),
)  # fmt: skip
