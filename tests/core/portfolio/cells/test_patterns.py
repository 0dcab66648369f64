"""Patterns over a pool of strings.

The answer of one search each, in linear time whatever the pattern.
"""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from core.grid._intern import intern
from core.grid.column import Text
from core.portfolio.cells import patterns
from core.portfolio.cells._replace import endings, joined_lines, split_lines, substituted
from core.portfolio.cells.checkpoint import checking
from core.portfolio.cells.patterns import (
    PatternError,
    matching,
    pattern_fault,
    replace_matches,
    replacement_fault,
    template,
)


def pool(strings: list[str]) -> Text:
    _, offsets, data = intern(list(dict.fromkeys(strings)))
    return Text(offsets, data)


def replaced_in(pattern: str, replacement: str, string: str) -> str | None:
    """Return one string with its matches replaced; None where that failed."""
    result, failed = replace_matches(pattern, replacement, pool([string]))
    return None if failed[0] else result[0]


PATTERNS = [
    r"^[A-Z0-9]{3}$", r"a|b$", r"x*", r"^$", r".", r"^\s*$", r"[^a]", r"\Aa", r"b\z", r"(?i)A", r"\bab\b", r"é", r"\W",
    r"a.b", r"(?s)a.b", r"\n", r"^a(b)+$", r"[[:digit:]]", r"\x61", r"\.", r"[\d-]", r"\D",
]  # fmt: skip
STRINGS = st.lists(st.text(st.sampled_from("abxA1 \n.é-"), max_size=4), max_size=12)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(strings=STRINGS)
def test_matching_is_one_search_for_each_string(pattern: str, strings: list[str]) -> None:
    text = pool(strings)
    expected = [re2.search(pattern, string) is not None for string in text.strings()]
    assert matching(pattern, text).tolist() == expected


@pytest.mark.parametrize("pattern", [r"^[A-Z0-9]{3}$", r"a|b$", r"x*", r"\bab\b", r"[\d-]", r"^a(b)+$"])
@given(strings=STRINGS)
def test_the_dialect_agrees_with_python_s_where_both_have_it(pattern: str, strings: list[str]) -> None:
    text = pool([string.replace("\n", "").replace("é", "") for string in strings])
    expected = [re.search(pattern, string) is not None for string in text.strings()]
    assert matching(pattern, text).tolist() == expected


def test_a_pattern_that_hangs_others_does_not_hang() -> None:
    text = pool(["a" * 30_000 + "b" * at for at in range(1, 30)])
    start = time.perf_counter()
    for pattern in (r"(a+)+$", r"(a|aa)+$", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(.*)*x"):
        assert not matching(pattern, text).any()
    assert time.perf_counter() - start < 5


def test_a_million_strings_are_asked_in_one_go() -> None:
    figures = np.char.zfill(np.arange(300_000).astype("U9"), 9).tolist()
    text = pool(figures)
    start = time.perf_counter()
    assert matching(r"^\d{9}$", text).all()
    assert not matching(r"[A-Z]", text).any()
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    "pattern",
    ["", "(", "[a", "a)(", r"\1", "(?=a)", "(?<=a)b", "a{2000}", "(a{99}){99}", "\ud800", r"\pL{9}", "a" * 301, 5],
)
def test_what_is_no_pattern(pattern: object) -> None:
    assert pattern_fault(pattern)


def test_an_unsound_pattern_never_gets_to_matching() -> None:
    with pytest.raises(PatternError, match="is no pattern"):
        matching("(", pool(["a"]))


@pytest.mark.parametrize(
    ("pattern", "replacement", "text", "expected"),
    [
        (r"(\w+)@(\w+)", r"\2 at \1", "me@home you@work", "home at me work at you"),
        (r"\s+", " ", "a  b\t\tc", "a b c"),
        (r"^Corp - ", "", "Corp - Retail", "Retail"),
        (r"x*", "-", "abc", "-a-b-c-"),
        (r"(a)|(b)", r"[\1\2]", "ab", "[a][b]"),
        (r"a", r"\\", "banana", "b\\n\\n\\"),
        (r"a", r"\0\0", "cat", "caat"),
        (r"é", "e", "café é", "cafe e"),
        (r"b", "", "b", ""),
        (r"$", "!", "a", "a!"),
        (r"x*", "-", "xxéx", "-é-"),
    ],
)
def test_replacing(pattern: str, replacement: str, text: str, expected: str) -> None:
    assert replaced_in(pattern, replacement, text) == expected


@given(text=st.text(st.sampled_from("abc 1"), max_size=30))
def test_replacing_is_python_s_sub(text: str) -> None:
    for pattern, replacement in ((r"[ab]+", r"<\0>"), (r"(a)(\d)?", r"\2\1"), (r"c", "")):
        expected = re.sub(pattern, replacement.replace(r"\0", r"\g<0>"), text)
        assert replaced_in(pattern, replacement, text) == expected


@given(text=st.text(st.sampled_from("aé"), max_size=12))
def test_empty_matches_fall_between_characters(text: str) -> None:
    assert replaced_in("a*", ".", text) == re.sub(r"a+(?=(.?))|(?<!a)(?=[^a])|(?<!a)$", ".", text)


def test_a_text_does_not_grow_without_bound() -> None:
    long = "y" * patterns.GROWTH_MAX
    assert replaced_in("x", long[:200], "x") == long[:200]
    assert replaced_in("x", long[:502], "xx") is None
    assert replaced_in("z", "a", "z" * 5_000) == "a" * 5_000
    assert replaced_in("z", "aa", "z" * 30_000) is None


def test_matches_that_each_read_to_the_end_do_not_take_forever() -> None:
    text = pool(["b" * 6_000 + "c" * at for at in range(40)])
    start = time.perf_counter()
    _, failed = replace_matches(r"b.*x|b", "-", text)
    assert 0 < np.count_nonzero(failed) < 40
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [(r"a*", "."), (r"^a|b$", "-"), (r"(a)(b)?", r"[\2\1]"), (r"\bx", "yy"), (r"[^a]", "n"), (r"1$", ""), (r"a", "\n")],
)
@given(strings=STRINGS)
def test_a_pool_at_once_gives_what_each_string_gives(pattern: str, replacement: str, strings: list[str]) -> None:
    text = pool(strings)
    result, failed = replace_matches(pattern, replacement, text)
    assert result.strings() == [replaced_in(pattern, replacement, string) for string in text.strings()]
    assert not failed.any()


AT_THE_END = [
    (r"1$", ""), (r"(a|bx)?-$", r"<\1>"), (r"a?b??$", "c"), (r"\.?(x|ab|1A)(b)?$", r"\2\1\1"), (r"()$", "e"),
    (r"a|b$", "c"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "replacement"), AT_THE_END)
@given(strings=st.lists(st.text(st.sampled_from("abxA1 .é-"), max_size=9), max_size=12))
def test_an_ending_is_replaced_once_for_all_strings(pattern: str, replacement: str, strings: list[str]) -> None:
    text = pool(strings)
    result, failed = replace_matches(pattern, replacement, text)
    by_string, _ = replace_matches(f"(?:{pattern})", replacement, text)  # which is not seen to be at the end
    assert result.strings() == by_string.strings()
    assert not failed.any()


def test_endings_that_grow_are_told_for_each_string() -> None:
    grown: list[int] = []
    with checking(grown.append):
        result, failed = replace_matches("a$", "b" * 5, pool(["a", "xa", "ya", "b"]))
    assert (result.strings(), sum(grown)) == (["bbbbb", "xbbbbb", "ybbbbb", "b"], 12)
    _, failed = replace_matches("a$", "b" * 1_500, pool(["a", "xa", "b"]))
    assert failed.tolist() == [True, True, False]


def test_endings_of_no_pool() -> None:
    with pytest.raises(ValueError, match="leave"):
        endings(np.array([0, 4], np.int64), np.zeros(3, np.uint8), 2)


@pytest.mark.parametrize("pattern", ["a)(b$", "(a$", "a)$"])
def test_no_pattern_to_replace(pattern: str) -> None:
    with pytest.raises(PatternError):
        replace_matches(pattern, "", pool(["ab"]))


def test_strings_that_grow_too_long_leave_the_others_alone() -> None:
    result, failed = replace_matches("a", "x" * 600, pool(["a", "aaa", "ba", "aa", "b"]))
    assert failed.tolist() == [False, True, False, True, False]
    assert [result[0], result[2], result[4]] == ["x" * 600, "b" + "x" * 600, "b"]


def test_templates() -> None:
    assert template(r"a\1\\b") == (b"a", 1, b"\\", b"b")
    for wrong in ("\\", r"a\n", r"\g<1>"):
        with pytest.raises(PatternError):
            template(wrong)
    assert replacement_fault({"pattern": "(a)", "replacement": r"\1"}) is None
    assert "group 2" in str(replacement_fault({"pattern": "(a)", "replacement": r"\2"}))


@pytest.mark.parametrize("spans", [[(0, 99)], [(5, 2)], [(0, 1), (0, 99)], [(0, 1), (-7, 1)]])
def test_the_loop_trusts_no_span_beyond_its_text(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="leaves the text"):
        substituted(
            lambda *_: spans,
            None,
            b"abcdef",
            (1,) if len(spans) > 1 else (b"x",),
            has_lines=False,
            growth_max=10,
            match_steps=1,
            steps_left=1_000,
            ask=lambda _grown_bytes: None,
        )


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=5)))
def test_lines_of_a_pool(strings: list[str]) -> None:
    text = pool(strings)
    lines = joined_lines(text.offsets, text.data)
    assert lines == "".join(f"{string}\n" for string in dict.fromkeys(strings)).encode()
    offsets, data = split_lines(np.frombuffer(lines, np.uint8), len(text))
    assert (offsets.tolist(), data.tolist()) == (text.offsets.tolist(), text.data.tolist())


@pytest.mark.parametrize(("lines", "count"), [(b"", 1), (b"a", 1), (b"a\n", 2), (b"abc\nde", 1), (b"a\nb\n", 1)])
def test_lines_that_are_not_as_many(lines: bytes, count: int) -> None:
    with pytest.raises(ValueError, match="as many"):
        split_lines(np.frombuffer(lines, np.uint8), count)
