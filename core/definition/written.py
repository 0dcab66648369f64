"""A definition's document as TOML with a comment on each line, and the same lines as a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from textwrap import wrap
from typing import Any, Final

LINE_MAX: Final = 120
"""Characters of a line up to which a list stands on one, and words of the head are wrapped."""

COMMENT_MAX: Final = 400
"""Characters of a comment."""


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """A key with its value, and why it stands there."""

    key: str
    value: Any
    """A text, a number, a flag, a day, a list or a table of these; None only where it is open."""
    comment: str = ""
    is_open: bool = False
    """Written as a comment: somebody has to decide."""


@dataclass(frozen=True, slots=True)
class Block:
    """A table, or one of a list of tables."""

    name: str
    """With dots, such as ratings.a; "" for the document's own keys, which come first."""
    entries: tuple[WrittenEntry, ...]
    is_listed: bool = False
    """One of a list of tables: [[tests]]."""
    is_open: bool = False
    """All of it is written as a comment."""
    note: str = ""
    """A comment above it."""


def to_toml(head: Iterable[str], blocks: Sequence[Block]) -> str:
    """Return the text: the head's lines as comments, then the blocks, each key with its comment behind it."""
    lines = [f"# {_comment(line)}".rstrip() for line in head]
    for block in blocks:
        if block.entries or block.is_listed:
            lines += ["", *_block(block)] if lines else _block(block)
    return "\n".join(lines) + "\n"


def to_document(blocks: Iterable[Block]) -> dict[str, Any]:
    """Return the document that the text holds, days as YYYY-MM-DD.

    What is open is left out.
    """
    document: dict[str, Any] = {}
    for block in blocks:
        values = {entry.key: _plain(entry.value) for entry in block.entries if not entry.is_open}
        if block.is_open or not (values or block.is_listed):
            continue
        *above, last = block.name.split(".")
        place = document
        for name in above:
            place = place.setdefault(name, {})
        if block.is_listed:
            place.setdefault(last, []).append(values)
        elif last:
            place[last] = {**place.get(last, {}), **values}
        else:
            document.update(values)
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _block(block: Block) -> list[str]:
    """Return the lines of a block.

    A table whose keys are all open is open itself, so that it is no empty table.
    """
    is_open = block.is_open or not (block.is_listed or any(not entry.is_open for entry in block.entries))
    lines = [*([f"# {_comment(block.note)}"] if block.note else ()), *_lines(block)]
    return [line if line.startswith("#") else f"# {line}" for line in lines] if is_open else lines


def _lines(block: Block) -> Iterator[str]:
    if block.name:
        yield f"[[{block.name}]]" if block.is_listed else f"[{block.name}]"
    for entry in block.entries:
        text = f"{_key(entry.key)} = {_value(entry.value)}".rstrip()
        if len(text) > LINE_MAX and isinstance(entry.value, list | tuple):
            text = "\n".join([f"{_key(entry.key)} = [", *(f"    {_value(each)}," for each in entry.value), "]"])
        comment = _comment(entry.comment)
        if comment and len(text) + len(comment) + 6 <= LINE_MAX and "\n" not in text:
            text = f"{text}  # {comment}"
        elif comment:
            yield from (f"# {line}" for line in wrap(comment, LINE_MAX - 2, break_on_hyphens=False))
        for line in text.split("\n"):
            yield f"# {line}" if entry.is_open else line


_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_SHORT: Final = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_ESCAPED: Final = re.compile(r'[\x00-\x1f"\\\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]')
_NO_COMMENT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    escaped = _ESCAPED.sub(lambda match: _SHORT.get(match[0], f"\\u{ord(match[0]):04X}"), text)
    return f'"{escaped}"'


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items()) + "}"
    return "" if value is None else "[" + ", ".join(map(_value, value)) + "]"


def _comment(text: str) -> str:
    """Return a text as a comment: on one line, without what turns or breaks it."""
    plain = _NO_COMMENT.sub(" ", text).rstrip()
    return plain if len(plain) <= COMMENT_MAX else plain[: COMMENT_MAX - 3] + "..."


def one_line(text: str, most: int) -> str:
    """Return a text of a file as a name.

    On one line, without what a definition's texts refuse, at most so long.
    """
    return " ".join(_NO_COMMENT.sub(" ", text).split())[:most].strip()
