"""The page of the library, from the signatures and docstrings of what it offers."""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Final

import cushion
from docs.made.markdown import code, fenced, page, plain, table

OPENING = """# The library

What follows is all that the library promises; it is taken from the code. Sheets, portfolios and results hold NumPy arrays, and no server,
network or clock is asked for anything. Figures are in the units of a trustee's report: percent points, basis points for spreads,
currency for amounts, years for lives."""


LINE_MAX: Final = 88


def pages() -> dict[str, str]:
    """The page by its path."""
    names = sorted(cushion.__all__, key=str.lower)
    offered = [(name, getattr(cushion, name)) for name in names]
    functions = [(name, one) for name, one in offered if inspect.isroutine(one)]
    types = [(name, one) for name, one in offered if not inspect.isroutine(one)]
    return {
        "reference/library.md": page(
            OPENING,
            table(("name", "what it is"), [(f"[{code(name)}](#{name.lower()})", _first(one)) for name, one in offered]),
            "## Functions",
            *(_described(name, one, "###") for name, one in functions),
            "## Types",
            *(_type(name, one) for name, one in types),
        )
    }


def _first(one: Any) -> str:
    return plain(_docstring(one).split("\n\n")[0].replace("\n", " "))


def _type(name: str, kind: type | UnionType) -> str:
    if isinstance(kind, UnionType):
        return _described(name, kind, "###")
    own = [vars(base) for base in reversed(kind.__mro__) if base.__module__.partition(".")[0] == "core"]
    members = [
        (f"{name}.{member}", value)
        for member, value in ChainMap(*reversed(own)).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, (classmethod, staticmethod, property)))
        and _docstring(value)
    ]  # fmt: skip
    return page(
        _described(name, kind, "###"), _fields(kind), *(_described(path, value, "####") for path, value in members)
    )


def _fields(kind: type) -> str:
    hints = {
        name: hint for base in reversed(kind.__mro__) for name, hint in vars(base).get("__annotations__", {}).items()
    }
    named = [one.name for one in fields(kind)] if is_dataclass(kind) else list(getattr(kind, "__struct_fields__", ()))
    rows = [(code(name), code(str(hints.get(name, "")))) for name in named if not name.startswith("_")]
    return table(("field", "type"), rows) if rows else ""


def _described(path: str, one: Any, level: str) -> str:
    plain_one = one.__func__ if isinstance(one, (classmethod, staticmethod)) else one
    return page(f"{level} {path} {{#{path.lower()}}}", _signature(path, plain_one), _sections(_docstring(plain_one)))


def _docstring(one: Any) -> str:
    """The words alone: what Cython puts before them is the signature."""
    if isinstance(one, UnionType):
        return f"`{one}`"
    text = inspect.getdoc(one) or ""
    return re.sub(r"\A[\w.]+\(.*\)(?: -> .*)?\n+", "", text)


def _signature(path: str, one: Any) -> str:
    if isinstance(one, property) or inspect.isgetsetdescriptor(one):
        return ""
    written = re.match(r"[\w.]+(\(.*\)(?: -> .*)?)\n", (getattr(one, "__doc__", "") or "") + "\n")
    try:
        told = _unquoted(inspect.signature(one))
    except (TypeError, ValueError):
        told = written[1] if written else ""
    told = path + re.sub(r"\b(?:core|typing)\.(?:\w+\.)*", "", told)
    if len(told) > LINE_MAX:  # a line for each of them: a comma parts two where a name, * or / follows
        told = re.sub(r", (?=\w+(?:: |=)|[*/])", ",\n    ", told.replace("(", "(\n    ", 1))
        told = ",\n)".join(told.rsplit(")", 1))
    return fenced(told, "python") if told != path else ""


class _Name(str):
    """A type as it is written."""

    __repr__ = str.__str__


def _unquoted(signature: inspect.Signature) -> str:
    """A signature as it is called, its types without quotes."""

    def named(one: Any) -> Any:
        return _Name(one) if isinstance(one, str) else one

    called = [one.replace(annotation=named(one.annotation)) for one in signature.parameters.values()]
    called = [one for one in called if one.name not in ("self", "cls")]
    return str(signature.replace(parameters=called, return_annotation=named(signature.return_annotation)))


def _sections(text: str) -> str:
    """A docstring as Markdown: its `Raises:` and the like are lists."""
    parts = re.split(r"^(Args|Raises|Returns|Yields):\n", text, flags=re.MULTILINE)
    made = [_escaped(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        entries = re.split(r"^ {4}(?=\S)", body, flags=re.MULTILINE)
        made.append(f"**{title}**")
        made.append("\n".join(f"- {plain(' '.join(entry.split()))}" for entry in entries if entry.strip()))
    return page(*made)


def _escaped(text: str) -> str:
    return "\n".join(line if line.startswith("    ") else plain(line) for line in text.split("\n"))
