"""A formula that takes long is worked on by an evaluator, never by the process that answers everybody."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.calculations.evaluator_actions import EVALUATING
from tests.conftest import Member, Stack, member, register

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux' count of processor time")

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
CELLS = {f"A{row}": float(row) for row in range(1, 201)}
TEXTS = {f"A{row}": "Jan 31 24" for row in range(1, 201)}


def tree_of(port: str) -> list[Path]:
    """The processes of the API that listens there.

    The one that was started, and all below it.
    """
    paths = [path for path in Path("/proc").glob("[0-9]*") if _is_api(path, port)]
    for process in paths:  # which grows on the way
        for task in process.glob("task/*/children"):
            paths.extend(Path("/proc") / number for number in task.read_text().split())
    return list(dict.fromkeys(paths))


def _is_api(process: Path, port: str) -> bool:
    try:
        words = process.joinpath("cmdline").read_bytes().split(b"\0")
    except OSError:  # it just ended
        return False
    return b"granian" in words and port.encode() in words


def processor_seconds(processes: list[Path]) -> tuple[float, float]:
    """What the API itself has used of the processor, and what its evaluators have."""
    own = evaluators = 0.0
    for process in processes:
        used = process.joinpath("stat").read_text().rpartition(")")[2].split()
        seconds = (int(used[11]) + int(used[12])) * TICK_SECONDS
        command = process.joinpath("cmdline").read_bytes()
        if EVALUATING.encode() in command:
            evaluators += seconds
        elif b"core.confined.child" not in command:  # children of other kinds may just be starting
            own += seconds
    return own, evaluators


@pytest.fixture(scope="module")
def attacker(stack: Stack) -> Iterator[Member]:
    """At an API of its own, whose evaluator has started."""
    with stack.another_api(fresh=True, CUSHION_EVALUATORS="1") as url:
        result = member(url, register(stack.url).tokens, "attacker")
        assert _evaluated(result, "=SUM(SEQUENCE(10))", {}) == 200
        yield result


@contextmanager
def work_for_evaluators(by: Member) -> Iterator[None]:
    """Of its seconds, next to none are the API's.

    While that computes, nobody else is served.
    """
    port = str(by.http.base_url.port)
    own, evaluators = processor_seconds(tree_of(port))
    yield
    own_then, evaluators_then = processor_seconds(tree_of(port))
    assert evaluators_then - evaluators > 0.2
    assert own_then - own < (evaluators_then - evaluators) / 4


def test_heavy_formulas_use_the_evaluators_processor_time(attacker: Member) -> None:
    with work_for_evaluators(attacker):
        for formula, cells in (
            ("=" + "+".join(["NPV(A1:A200,A1:A200)"] * 23), CELLS),
            ("=SUM(" + ",".join(["COUNTIF(A1:A200,A1:A200)"] * 19) + ")", TEXTS),
            ("=SUM(" + ",".join(["COUNTIFS(A1:A200,A1:A200)"] * 18) + ")", TEXTS),
            ("=SUM(" + ",".join(["VALUE(A1:A200)"] * 32) + ")", TEXTS),
        ):
            assert len(formula) <= 500
            assert _evaluated(attacker, formula, cells) == 200


def test_long_formulas_are_validated_and_translated_by_the_evaluators(attacker: Member) -> None:
    names = "".join(f"{chr(0x4E00 + at)},1," for at in range(120))
    named = "=" + "+".join([f"LET({names}1)"] * 16)
    counted = "=" + "+".join(['SUMIF(A:A,"*")'] * 500)
    with work_for_evaluators(attacker):
        for _ in range(8):
            validated = attacker.post("/api/v1/calculations/validate", json={"formula": named})
            assert validated.json()["valid"] is True
            translated = attacker.get("/api/v1/calculations/translate", params={"formula": counted})
            assert translated.status_code == 200, translated.text


def _evaluated(by: Member, formula: str, cells: dict[str, object]) -> int:
    return by.post("/api/v1/calculations/evaluate", json={"formula": formula, "context": cells}).status_code
