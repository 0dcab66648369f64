"""The words of the OpenAPI document for each field: its own, or of its name."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

_WORDS: Final = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

SHARED: Final[dict[str, str]] = _WORDS["fields"]
"""What a name means wherever nothing else is said of it."""

PATHS: Final[dict[str, str]] = _WORDS["paths"]
"""Parameters of paths that are no `id` of a list, or mean something else than the field of that name."""

_ADDS: Final = ("Null: ", "Unset: ")
"""Words of a field that open so are added to what is said of it anyway."""


def describe(properties: dict[str, Any], kind: type, components: dict[str, Any]) -> None:
    """Describe each property of a class's schema.

    Those are the string below the field, else the `Meta` of its type, else those of its name, else what the schema
    that it refers to says of itself.
    """
    own = _own(kind)
    names = dict(zip(*(getattr(kind, f"__struct_{each}__", ()) for each in ("encode_fields", "fields")), strict=True))
    for name, schema in properties.items():
        words, text = own.get(names.get(name, name)), _of_type(schema) or SHARED.get(name)
        if words and text and words.startswith(_ADDS):
            words = f"{sentence(text)} {words}"
        if words := words or text or _of_reference(schema, components):
            schema["description"] = sentence(words)


def of_path(name: str, path: str) -> str:
    """Return the words of a path's parameter.

    By default it is what a record says of itself in the list that it stands in.
    """
    words = PATHS.get(name) or SHARED.get(name)
    return sentence(words or f"The `id` of one of GET {path.partition('/{' + name)[0]}")


def _of_type(schema: dict[str, Any]) -> str | None:
    """Return the words of a type's `Meta`, also of one that may be null."""
    return next((part["description"] for part in (schema, *schema.get("anyOf", ())) if "description" in part), None)


def _of_reference(schema: dict[str, Any], components: dict[str, Any]) -> str | None:
    parts = (part["$ref"].rpartition("/")[2] for part in (schema, *schema.get("anyOf", ())) if "$ref" in part)
    return next((components[name]["description"] for name in parts if name in components), None)


def sentence(words: str) -> str:
    """Return a text with a full stop, on one line."""
    text = " ".join(words.split())
    return text if text.endswith(".") else text + "."


def _own(kind: type) -> dict[str, str]:
    """Return the strings below a class's fields.

    Those of its bases are included, and those of the struct that a patch is derived from.
    """
    source, names = getattr(kind, "described_by", (None, ()))
    texts = {name: words for name, words in _own(source).items() if name in names} if source else {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] in ("core", "service"):
            texts |= _module(base.__module__).get(base.__name__, {})
    return texts


_LINE: Final = re.compile(r'^(?:class (\w+)|([^\s)])|    (\w+): |    """(.*?)""")', re.MULTILINE | re.DOTALL)
"""A class, another statement of the module, a field, or a string that may stand below one. (Reading the syntax tree
instead takes twenty times as long, a tenth of a second at each start.)"""


@cache
def _module(name: str) -> dict[str, dict[str, str]]:
    """Return the strings below the fields of a module's classes, by class and field."""
    classes: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    field = ""
    for line in _LINE.finditer(Path(str(sys.modules[name].__file__)).read_text(encoding="utf-8")):
        class_name, statement, field_name, words = line.groups()
        if class_name or statement:
            fields, field = classes.setdefault(class_name or "", {}), ""
        elif field_name:
            field = field_name
        elif field:
            fields[field] = words
            field = ""
    classes.pop("", None)
    return classes
