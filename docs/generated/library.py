"""The page of the library, from the signatures and docstrings of what it offers."""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Final

import cushion
from docs.generated.markdown import code, fenced, page, plain, table

OPENING = """# The library

What follows is all that the library promises; it is taken from the code. Sheets, portfolios and results hold NumPy arrays, and no server,
network or clock is asked for anything. Figures are in the units of a trustee's report: percent points, basis points for spreads,
currency for amounts, years for lives."""


LINE_MAX: Final = 88


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    names = sorted(cushion.__all__, key=str.lower)
    offered = [(name, getattr(cushion, name)) for name in names]
    functions = [(name, item) for name, item in offered if inspect.isroutine(item)]
    types = [(name, item) for name, item in offered if not inspect.isroutine(item)]
    return {
        "reference/library.md": page(
            OPENING,
            table(
                ("name", "what it is"), [(f"[{code(name)}](#{name.lower()})", _first(item)) for name, item in offered]
            ),
            "## Functions",
            *(_described(name, item, "###") for name, item in functions),
            "## Types",
            *(_type(name, item) for name, item in types),
        )
    }


def _first(item: Any) -> str:
    return plain(_docstring(item).split("\n\n")[0].replace("\n", " "))


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
    names = [item.name for item in fields(kind)] if is_dataclass(kind) else list(getattr(kind, "__struct_fields__", ()))
    rows = [(code(name), code(str(hints.get(name, "")))) for name in names if not name.startswith("_")]
    return table(("field", "type"), rows) if rows else ""


def _described(path: str, item: Any, level: str) -> str:
    bare = item.__func__ if isinstance(item, (classmethod, staticmethod)) else item
    return page(f"{level} {path} {{#{path.lower()}}}", _signature(path, bare), _sections(_docstring(bare)))


def _docstring(item: Any) -> str:
    """Return the words alone, without the signature that Cython puts before them."""
    if isinstance(item, UnionType):
        return f"`{item}`"
    text = inspect.getdoc(item) or ""
    return re.sub(r"\A[\w.]+\(.*\)(?: -> .*)?\n+", "", text)


def _signature(path: str, item: Any) -> str:
    if isinstance(item, property) or inspect.isgetsetdescriptor(item):
        return ""
    match = re.match(r"[\w.]+(\(.*\)(?: -> .*)?)\n", (getattr(item, "__doc__", "") or "") + "\n")
    try:
        signature = _unquoted(inspect.signature(item))
    except (TypeError, ValueError):
        signature = match[1] if match else ""
    signature = path + re.sub(r"\b(?:core|typing)\.(?:\w+\.)*", "", signature)
    if len(signature) > LINE_MAX:  # a line for each of them: a comma parts two where a name, * or / follows
        signature = re.sub(r", (?=\w+(?:: |=)|[*/])", ",\n    ", signature.replace("(", "(\n    ", 1))
        signature = ",\n)".join(signature.rsplit(")", 1))
    return fenced(signature, "python") if signature != path else ""


class _Name(str):
    """A type as it is written."""

    __repr__ = str.__str__


def _unquoted(signature: inspect.Signature) -> str:
    """Write a signature as it is called, its types without quotes."""

    def type_name(item: Any) -> Any:
        return _Name(item) if isinstance(item, str) else item

    called = [item.replace(annotation=type_name(item.annotation)) for item in signature.parameters.values()]
    called = [item for item in called if item.name not in ("self", "cls")]
    return str(signature.replace(parameters=called, return_annotation=type_name(signature.return_annotation)))


def _sections(text: str) -> str:
    """Write a docstring as Markdown: its `Raises:` and the like are lists."""
    parts = re.split(r"^(Args|Raises|Returns|Yields):\n", text, flags=re.MULTILINE)
    blocks = [_escaped(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        entries = re.split(r"^ {4}(?=\S)", body, flags=re.MULTILINE)
        blocks.append(f"**{title}**")
        blocks.append("\n".join(f"- {plain(' '.join(entry.split()))}" for entry in entries if entry.strip()))
    return page(*blocks)


def _escaped(text: str) -> str:
    return "\n".join(line if line.startswith("    ") else plain(line) for line in text.split("\n"))
