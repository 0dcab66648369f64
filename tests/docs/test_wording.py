"""The words of the documents.

Short sentences in the guide, short first lines of docstrings.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from docs.generated import api, command, compliance, definition, errors, functions, interpretation, library, settings

ROOT: Final = Path(__file__).parents[2]
WORDS_MAX: Final = 25

BY_HAND: Final = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
}
LISTS: Final = {"reference/definition.md": 2, "reference/library.md": 1}
"""Cells of generated pages that list names or kinds of values, parted by commas."""

FENCED: Final = re.compile(r"^([ \t]*)(```|~~~).*?^\1\2\s*$", re.MULTILINE | re.DOTALL)
MEASURED: Final = re.compile(r"<!-- measured.*?<!-- /measured -->", re.DOTALL)
"""Tables and lists of versions that a run of the benchmarks writes."""
ITEM: Final = re.compile(r"^([-*+] |\d+\. |> ?|!!! \w+ |=== )")
ENDS: Final = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_`A-Z0-9])")


def blocks(page: str) -> Iterator[str]:
    """Give the paragraphs, the items of lists and the cells of tables, where a semicolon parts items."""
    page = re.sub(r"<!--.*?-->", "\n\n", FENCED.sub("\n\n", MEASURED.sub("\n\n", page)), flags=re.DOTALL)
    lines: list[str] = []
    for line in [*map(str.strip, page.splitlines()), ""]:
        if not line or line.startswith(("#", "|")) or ITEM.match(line):
            yield " ".join(lines)
            lines = []
        if line.startswith("|"):
            yield from (item for cell in re.split(r"(?<!\\)\|", line) for item in cell.split("; "))
        elif not line.startswith("#"):
            lines.append(ITEM.sub("", line, count=1))


def sentences(page: str) -> Iterator[str]:
    """Give the sentences of a page; code counts as a word, and a link as its text."""
    for block in blocks(page):
        text = re.sub(r"``?[^`]+``?", "`code`", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block))
        yield from ENDS.split(re.sub(r"<[^>]+>", " ", text))


def long_sentences(page: str) -> list[str]:
    return [text for text in sentences(page) if sum(bool(re.search(r"\w", word)) for word in text.split()) > WORDS_MAX]


def test_sentences_are_told_apart() -> None:
    page = "# Title\n\nOne [two](x.md)\nthree. **Four** `a. B`.\n\n- five\n- six\n\n| a; b | c |\n\n"
    page += "```sh\nno\n```\n<!-- no -->\n"
    texts = [text.strip() for text in sentences(page) if text.strip()]
    assert texts == ["One two three.", "**Four** `code`.", "five", "six", "a", "b", "c"]
    assert long_sentences("word " * 26 + ".") != []
    assert long_sentences("word " * 25 + ".") == []


@pytest.mark.parametrize("name", BY_HAND)
def test_a_sentence_has_at_most_25_words(name: str) -> None:
    assert long_sentences(BY_HAND[name]) == []


MODULES: Final = (api, command, compliance, definition, errors, functions, interpretation, library, settings)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_sentence_of_a_generated_page_has_at_most_25_words(module: object) -> None:
    pages: dict[str, str] = module.pages()  # type: ignore[attr-defined]
    long = {name: texts for name, page in pages.items() if (texts := long_sentences(page))}
    assert {name: texts for name, texts in long.items() if len(texts) > LISTS.get(name, 0)} == {}


FIRST_LINE_MAX: Final = 79
LONG_FIRST_LINES: Final = {"core": 555, "service": 133, "bench": 45, "cushion": 0, "docs": 0}
"""First lines of docstrings that are still to be shortened: no more than these."""


def first_lines(path: Path) -> Iterator[str]:
    """Give the first line of each docstring of a source."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield (ast.get_docstring(node) or "").partition("\n")[0]


def test_the_first_line_of_a_docstring_is_short() -> None:
    long = Counter(
        part
        for part in LONG_FIRST_LINES
        for path in (ROOT / part).rglob("*.py")
        for line in first_lines(path)
        if len(line) > FIRST_LINE_MAX
    )
    assert {part: count for part, count in long.items() if count > LONG_FIRST_LINES[part]} == {}
