"""Comments, strings, regular expressions and templates are told from code."""

from __future__ import annotations

import re

import pytest

from service.console.file_actions import FOLDER
from service.console.script_actions import Script

WORD = re.compile("x")
CASES = {
    "x + 1": 1,
    "// x\nx": 1,
    "/* x\nx */ x": 1,
    '\'x\' + "x\\"x" + x': 1,
    "`x${x}x`": 1,
    "`x${`x${x}x`}x` + x": 2,
    "`x${{ a: `}x` }}x`": 0,
    "`\\`x\\${x}`": 0,
    "`$x$`": 0,
    "a / x / 2": 1,
    "a = /x/g": 0,
    "return /x'/": 0,
    "f(/[/'x]x/) / x": 1,
    "(a) / x / b": 1,
    "a.b / x": 1,
    "a = /* x */ /x/": 0,
    "a /* x */ / x": 1,
    "`a` / x": 1,
}


@pytest.mark.parametrize(("text", "count"), CASES.items())
def test_matches_in_code(text: str, count: int) -> None:
    assert len(Script(text).code_matches(WORD)) == count


def test_replacing_in_code_or_in_markup() -> None:
    script = Script("x; `x`; html`<x>${x}`; svg`x`")
    assert script.replace_code(WORD, lambda _: "y") == "y; `x`; html`<x>${y}`; svg`x`"
    assert script.replace_markup(WORD, lambda _: "y") == "x; `x`; html`<y>${x}`; svg`x`"


@pytest.mark.parametrize("text", ["'x", '"x\n"', "`x", "`${x`", "{ x", "x }"])
def test_what_is_not_closed(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not closed|closes nothing"):
        Script(text)


def test_every_module_of_the_console_can_be_read() -> None:
    spans = {path.name: Script(path.read_text()).spans for path in FOLDER.rglob("*.js")}
    assert any(span.kind == "template" and span.tag == "html" for span in spans["deals.js"])
