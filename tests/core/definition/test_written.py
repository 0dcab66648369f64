"""A document as TOML with comments.

Whatever its texts hold, the text holds the same document.
"""

from __future__ import annotations

import tomllib
from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.definition.written import COMMENT_MAX, LINE_MAX, Block, WrittenEntry, one_line, to_document, to_toml
from tests.rows import every

HOSTILE = 'a "b" \\ c\n[[tests]]\r\x00\x1b[31m\x7f\x85\u2028\u202e # " \'\'\' """ \\u0041'

TEXTS = st.text(max_size=60) | st.sampled_from([HOSTILE, "", "x" * 10_000, "\t", "1979-05-27", "true", "'"])
PLAIN = (
    TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.dates()
)  # fmt: skip
VALUES = PLAIN | st.lists(PLAIN, max_size=4) | st.dictionaries(TEXTS, PLAIN, max_size=3)
KEYS = st.sampled_from(["name", "min", "a key", 'a "key"', "ä", "", "x.y"])
ENTRIES = st.lists(
    st.builds(WrittenEntry, KEYS, VALUES, TEXTS, is_open=st.booleans()), max_size=5, unique_by=lambda item: item.key
).map(tuple)
BLOCKS = st.lists(
    st.builds(Block, st.sampled_from(["tests", "classifications.families"]), ENTRIES, is_listed=st.just(True),
              is_open=st.booleans(), note=TEXTS),
    max_size=4,
)  # fmt: skip


def as_json(value: Any) -> Any:
    """A document with its days as texts."""
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


@given(ENTRIES, ENTRIES, BLOCKS, st.lists(TEXTS, max_size=3))
def test_the_text_holds_the_document(
    top: tuple[WrittenEntry, ...], table: tuple[WrittenEntry, ...], listed: list[Block], head: list[str]
) -> None:
    top = tuple(item for item in top if item.key not in ("tests", "classifications"))
    blocks = [Block("", top), Block("classifications", table), *listed]
    assert as_json(tomllib.loads(to_toml(head, blocks))) == to_document(blocks)


@every("value", [HOSTILE, "x" * 10_000, 1e16, 0.1 + 0.2, True, -3, date(2024, 9, 30), ["a"] * 60, [], {"a b": 1.5}])
def test_a_value_comes_back(value: Any) -> None:
    text = to_toml([], [Block("", (WrittenEntry("key", value, HOSTILE),))])
    assert tomllib.loads(text) == {"key": value}


def test_what_is_open_is_a_comment_on_every_line() -> None:
    entries = (WrittenEntry("obligors", ["a" * 50] * 5, "why " * 60), WrittenEntry("max", 2.5, is_open=True))
    text = to_toml(["head"], [Block("tests", entries, is_listed=True, is_open=True, note="To decide: all")])
    assert tomllib.loads(text) == {}
    lines = text.splitlines()
    assert all(line.startswith("#") or not line for line in lines)
    assert "# To decide: all" in lines
    assert "# [[tests]]" in lines
    assert any(line.endswith("max = 2.5") for line in lines)


def test_a_table_of_open_keys_alone_is_no_table() -> None:
    blocks = [Block("ratings.b", (WrittenEntry("masked", "left_out", "why", is_open=True),)), Block("par_value", ())]
    assert to_document(blocks) == {}
    assert to_toml([], blocks).splitlines() == ["# [ratings.b]", '# masked = "left_out"  # why']


def test_a_long_comment_stands_above_its_key() -> None:
    text = to_toml([], [Block("", (WrittenEntry("key", 1, "word " * 40), WrittenEntry("next", 2, "short")))])
    lines = text.splitlines()
    assert lines[-1] == "next = 2  # short"
    assert lines[-2] == "key = 1"
    assert all(line.startswith("# ") for line in lines[:-2])
    assert max(map(len, lines)) <= LINE_MAX
    assert len(to_toml([], [Block("", (WrittenEntry("key", 1, "x " * 10_000),))])) < 2 * COMMENT_MAX


def test_a_name_stands_on_one_line() -> None:
    assert one_line(" a\r\n b\x00\u202ec\t ", 5) == "a b c"
    assert one_line("ab cd", 3) == "ab"
