"""Columns that the folders of a partitioned dataset name, as `country=US`.

A file below such a folder has the column with that one value, as Spark, DuckDB, Polars and pyarrow write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import unquote

from core.portfolio.assemble.columns import FIELD_TYPES, day_number
from core.portfolio.model.errors import MappingError
from core.portfolio.model.ratings import AGENCY_OF


class KeyRefused(ValueError):
    """The folders of a file do not say what they should; the text says what to do."""


Value = str | float | int | bool | None
"""What a folder says of each loan below it; None is blank."""

NULL: Final = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder whose value is null."""

_NUMBERS_OF_TEXTS: Final = frozenset((*AGENCY_OF, "lien_type", "base_rate"))
"""Fields of texts that are ranks, liens or levels where a column holds numbers."""


def is_data(path: PurePath) -> bool:
    """Return whether no part of a path is one that programs keep beside data.

    They begin so: _SUCCESS, _temporary, .crc. A folder of a column may begin with _.
    """
    return not any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in path.parts)


def partition_keys(folders: Sequence[str]) -> dict[str, str | None]:
    """Return the values of the columns that some folders name, outermost first.

    Raises:
        KeyRefused: two of them name one column, or a name is no text.
    """
    keys: dict[str, str | None] = {}
    for folder in folders:
        heading, is_key, text = folder.partition("=")
        if not is_key:
            continue
        try:
            heading, text = unquote(heading, errors="strict"), unquote(text, errors="strict")
        except UnicodeDecodeError:
            raise KeyRefused(f"the folder {folder!r} is not valid UTF-8: rename it") from None
        if heading in keys:
            raise KeyRefused(f"two folders of its path are called {heading}=...: rename one")
        keys[heading] = None if text in ("", NULL) else text
    return keys


def key_value(target: str, heading: str, text: str | None) -> Value:
    """Return a folder's text as a value of a field.

    Raises:
        KeyRefused: it is none.
    """
    field_type = FIELD_TYPES[target]
    if text is None:
        return None
    if field_type == "string":
        return _number_if_any(target, text)
    if field_type == "date":
        try:
            day = day_number(heading, text)
        except MappingError:
            raise KeyRefused(f"the folder {heading}={text[:40]} names no date: write it as 2026-03-31") from None
        return None if isnan(day) else day
    value: Value = _cast(text, "double" if field_type == "number" else "bool")
    if value is None:
        raise KeyRefused(f"the folder {heading}={text[:40]} names no {_NOUNS[field_type]}: rename it")
    return value


_NOUNS: Final = {"number": "number", "boolean": "flag (true or false, 0 or 1)"}


def _number_if_any(target: str, text: str) -> Value:
    """Return a text, or its number where the field takes numbers for something else."""
    if target not in _NUMBERS_OF_TEXTS:
        return text
    value = _cast(text, "double" if target == "base_rate" else "int64")
    return text if value is None else value


def _cast(text: str, arrow_type: str) -> Any:
    """Return a text as a value of a type of Arrow, None where it is none."""
    import pyarrow  # type: ignore[import-untyped]

    try:
        return pyarrow.scalar(text).cast(arrow_type).as_py()
    except pyarrow.ArrowInvalid:
        return None


def arrow_type_of(value: Value) -> Any:
    """Return the type of Arrow that a column of a value has."""
    import pyarrow

    return pyarrow.scalar(value).type


def with_keys(batch: Any, keys: Iterable[tuple[str, Value]]) -> Any:
    """Return a record batch with the columns that its folders name."""
    import pyarrow

    for heading, value in keys:
        column = pyarrow.repeat(pyarrow.scalar(value), batch.num_rows)
        batch = batch.append_column(heading, column.dictionary_encode() if isinstance(value, str) else column)
    return batch
