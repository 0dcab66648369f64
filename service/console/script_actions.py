"""Where the code of a JavaScript text is.

Not in a comment, a string, a regular expression or a template's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Final, NamedTuple

Replacement = Callable[[re.Match[str]], str]

STOP: Final = re.compile(r"[\"'`/{}]")
"""What may end code."""
OTHER: Final = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<expression>/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*)",
    re.DOTALL,
)
LAST_WORD: Final = re.compile(r"[\w$]+\Z")
WORD_MAX: Final = 20
"""Characters of the code before a stop that are looked at."""
VALUE_ENDS: Final = frozenset(")]}\"'`")
"""Signs behind which a slash divides."""
KEYWORDS: Final = frozenset(("return", "typeof", "case", "of", "in", "await", "yield", "void", "delete", "else", "do"))
"""Words that a regular expression may follow."""
CHUNK: Final = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)


class Span(NamedTuple):
    """A part of a text that is no code."""

    kind: str
    """comment, string, expression or template."""
    start: int
    end: int
    tag: str
    """Of a template: the token before it, such as `html`."""


class Script:
    """A text with its spans."""

    def __init__(self, text: str) -> None:
        """Find the spans of a text.

        Raises:
            ValueError: a string, a template or a brace is not closed, as far as can be seen.
        """
        self._text = text
        self.spans = list(_top_spans(text))
        self._kinds = bytearray(len(text) + 1)
        """By place: 0 code, 1 other, 2 the text of an `html` template."""
        for span in self.spans:
            mark = 2 if span.kind == "template" and span.tag == "html" else 1
            self._kinds[span.start : span.end] = bytes([mark]) * (span.end - span.start)

    def code_matches(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Return the matches that begin in code."""
        return [match for match in pattern.finditer(self._text) if not self._kinds[match.start()]]

    def replace_code(self, pattern: re.Pattern[str], replacement: Replacement) -> str:
        """Return the text with the matches that begin in code replaced."""
        return self._replace(pattern, replacement, 0)

    def replace_markup(self, pattern: re.Pattern[str], replacement: Replacement) -> str:
        """Return the text with the matches that begin in the text of an `html` template replaced."""
        return self._replace(pattern, replacement, 2)

    def _replace(self, pattern: re.Pattern[str], replacement: Replacement, kind: int) -> str:
        return pattern.sub(
            lambda match: replacement(match) if self._kinds[match.start()] == kind else match[0], self._text
        )


def _top_spans(text: str) -> Generator[Span, None, None]:
    end = yield from _code_spans(text, 0)
    if end < len(text):
        raise ValueError("a brace closes nothing")


def _code_spans(text: str, at: int) -> Generator[Span, None, int]:
    """Yield the spans up to the brace that closes an expression, or to the end of the text; return where that is."""
    depth, last = 0, ""
    while (stop := STOP.search(text, at)) is not None:
        last = text[max(at, stop.start() - WORD_MAX) : stop.start()].rstrip() or last
        at, sign = stop.end(), stop[0]
        if sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth < 0:
                return stop.start()
        elif sign == "`":
            at = yield from _template_spans(text, at, _last_word(last))
        elif (span := _other_span(text, stop.start(), last)) is not None:
            yield span
            at = span.end
            sign = last if span.kind == "comment" else ")"
        last = sign
    if depth:
        raise ValueError("a brace is not closed")
    return len(text)


def _other_span(text: str, at: int, last: str) -> Span | None:
    """Return the comment, string or regular expression that begins here.

    None where a slash divides.
    """
    match = OTHER.match(text, at)
    if match is None or (match.lastgroup == "expression" and _is_value(last)):
        if text[at] == "/":
            return None
        raise ValueError("a string is not closed")
    return Span(str(match.lastgroup), at, match.end(), "")


def _is_value(last: str) -> bool:
    """Whether what stands before a slash is divided by it."""
    word = _last_word(last)
    return word not in KEYWORDS if word else last[-1:] in VALUE_ENDS


def _last_word(text: str) -> str:
    match = LAST_WORD.search(text)
    return match[0] if match else ""


def _template_spans(text: str, at: int, tag: str) -> Generator[Span, None, int]:
    """Yield the spans of a template and the code in it. Return the place behind it."""
    while True:
        chunk = CHUNK.match(text, at)
        assert chunk is not None, "it may be empty"
        at = chunk.end()
        yield Span("template", chunk.start(), at, tag)
        if text.startswith("`", at):
            return at + 1
        if not text.startswith("${", at):
            raise ValueError("a template is not closed")
        at = (yield from _code_spans(text, at + 2)) + 1
