"""Mapping asks its caller at each checkpoint whether to go on.

Within `checking` and in that thread only.
"""

from __future__ import annotations

import threading

import pytest

from core.portfolio.cells import checkpoint
from core.portfolio.mapping.normalise import normalise_rows
from core.portfolio.mapping.profiles.configure import configure_mapping

MAPPING = configure_mapping(
    {
        "source_type": "custom",
        "mappings": {"In": {"target": "out", "type": "string", "required": False, "aliases": []}},
        "transforms": [
            {"field": "out", "operation": "replace", "parameters": {"pattern": "a", "replacement": "b"}},
            {"field": "out", "operation": "uppercase"},
        ],
        "validation_rules": [{"field": "out", "rule": "unique"}],
    },
    id="m",
    name="M",
)
ROWS = [{"In": f"a{row}"} for row in range(100)]


class Enough(Exception):
    """The caller has no more time."""


def test_the_question_is_asked_at_each_step_and_within_long_ones() -> None:
    count = 0

    def question(_grown_bytes: int) -> None:
        nonlocal count
        count += 1

    with checkpoint.checking(question):
        normalise_rows(MAPPING, ROWS)
    assert count >= 3 + len(ROWS) // checkpoint.STRINGS
    asked = count
    normalise_rows(MAPPING, ROWS)
    assert count == asked, "outside nobody is asked"


@pytest.mark.parametrize("most", [0, 1, 5])
def test_what_the_question_raises_ends_the_work(most: int) -> None:
    left = most

    def question(_grown_bytes: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Enough

    with pytest.raises(Enough), checkpoint.checking(question):
        normalise_rows(MAPPING, ROWS)
    assert normalise_rows(MAPPING, ROWS).row_count == len(ROWS), "it does not linger"


@pytest.mark.parametrize("pattern", ["a", "[^0-9]"])
@pytest.mark.parametrize(("replacement", "longer"), [("bcd", 2), ("é", 1), ("", 0)])
def test_the_question_is_told_how_much_replacing_makes(pattern: str, replacement: str, longer: int) -> None:
    parts = {"pattern": pattern, "replacement": replacement}
    grow = configure_mapping(
        {
            "source_type": "custom",
            "mappings": {"In": {"target": "out"}},
            "transforms": [{"field": "out", "operation": "replace", "parameters": parts}],
        },
        id="g",
        name="G",
    )
    grown: list[int] = []
    with checkpoint.checking(grown.append):
        normalise_rows(grow, ROWS)
    assert sum(grown) == longer * len(ROWS)


def test_another_thread_is_not_concerned() -> None:
    done = []

    def refuse(_grown_bytes: int) -> None:
        raise Enough

    def work() -> None:
        done.append(normalise_rows(MAPPING, ROWS).row_count)

    with checkpoint.checking(refuse):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert done == [len(ROWS)]


def test_items_pass_unchanged() -> None:
    assert list(checkpoint.with_checkpoints(range(20))) == list(range(20))
    assert list(checkpoint.with_checkpoints([])) == []
