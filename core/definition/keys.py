"""The rows of the schema.

What a key of a definition may hold, and how it is read, refused and written again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import date, datetime
from typing import Any, ClassVar, Final, Protocol, TypeVar

from core.words import nearest

TEXT_MAX: Final = 200
"""Characters of a name."""

LIST_MAX: Final = 500
"""Elements of a list, where its row says nothing else."""

SHOWN_MAX: Final = 60
"""Characters of what was given that a fault repeats."""

FAULTS_MAX: Final = 100
"""Faults that are reported at once."""

Faults = list[tuple[str, str]]
"""(place, message), such as ("tests[3].share", "...")."""

T = TypeVar("T")


class KeyKind(Protocol):
    """What a key may hold."""

    @property
    def words(self) -> str:
        """In words, such as "a number from 0 to 100"."""

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        """Return the value; what is wrong with it goes into the faults."""

    def write(self, value: Any) -> Any:
        """Return what `read` makes the value of."""


def shown(value: Any) -> str:
    """Return what was given, short enough to be repeated."""
    text = repr(value) if isinstance(value, str | int | float | bool) else type(value).__name__
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "..."


class _Plain:
    """A kind whose values are written as they are read."""

    def write(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class NumberKey(_Plain):
    """A finite number within its range."""

    low: float = -1e15
    high: float = 1e15

    @property
    def words(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        # The range is asked first: float() of an integer of 400 digits fails.
        if isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high:
            return float(value)
        faults.append((place, f"must be {self.words}, not {shown(value)}"))
        return None


@dataclass(frozen=True)
class IntegerKey(_Plain):
    """A whole number within its range."""

    low: int
    high: int

    @property
    def words(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        faults.append((place, f"must be {self.words}, not {shown(value)}"))
        return None


@dataclass(frozen=True)
class FlagKey(_Plain):
    """True or false."""

    words: ClassVar[str] = "true or false"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        if isinstance(value, bool):
            return value
        faults.append((place, f"must be {self.words}, not {shown(value)}"))
        return None


_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, those that turn the direction of what follows, and halves of a pair, which cannot be sent."""


@dataclass(frozen=True)
class TextKey(_Plain):
    """A text that is not blank."""

    most: int = TEXT_MAX
    pattern: str | None = None
    example: str = ""

    @property
    def words(self) -> str:
        return f"a text of 1 to {self.most} characters" + (f" such as {self.example}" if self.example else "")

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        fits = isinstance(value, str) and 0 < len(value.strip()) <= len(value) <= self.most
        if fits and not _CONTROL.search(value) and (self.pattern is None or re.fullmatch(self.pattern, value)):
            return value
        faults.append((place, f"must be {self.words}, not {shown(value)}"))
        return None


@dataclass(frozen=True)
class ChoiceKey(_Plain):
    """One of some words."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"one of {', '.join(self.options)}"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        if isinstance(value, str) and value in self.options:
            return value
        near = nearest(value, self.options) if isinstance(value, str) else None
        meant = f"; did you mean {near}?" if near else ""
        faults.append((place, f"must be {self.words}, not {shown(value)}{meant}"))
        return None


class DayKey:
    """A date: a date of TOML, or a text YYYY-MM-DD."""

    words: ClassVar[str] = "a date (YYYY-MM-DD)"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value
        if isinstance(value, str) and len(value) == 10:
            try:
                return date.fromisoformat(value)
            except ValueError:
                pass
        faults.append((place, f"must be {self.words}, not {shown(value)}"))
        return None

    def write(self, value: date) -> str:
        return value.isoformat()


@dataclass(frozen=True)
class CheckedKey:
    """A value that a function makes of the given one, or refuses with a ValueError that says what it must be."""

    words: str
    convert: Callable[[Any], Any]

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        try:
            return self.convert(value)
        except ValueError as error:
            faults.append((place, str(error)))
            return None

    def write(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, date) else value


@dataclass(frozen=True)
class ListKey:
    """A list of one kind."""

    kind: KeyKind
    most: int = LIST_MAX
    least: int = 0
    is_set: bool = False
    """Whether no element may come twice."""

    @property
    def words(self) -> str:
        return f"a list of at most {self.most} elements, each {self.kind.words}"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        if not isinstance(value, list | tuple):
            faults.append((place, f"must be a list, not {shown(value)}"))
            return None
        if not self.least <= len(value) <= self.most:
            faults.append((place, f"has {len(value)} elements; it takes {self.least} to {self.most}"))
            return None
        values = tuple(self.kind.read(each, f"{place}[{at}]", faults) for at, each in enumerate(value))
        if self.is_set and len(set(values)) < len(values):
            faults.append((place, "names one thing twice"))
        return values

    def write(self, value: Sequence[Any]) -> Any:
        return [self.kind.write(each) for each in value]


@dataclass(frozen=True)
class TableKey:
    """A table with the keys of a class."""

    of: type[Any]

    @property
    def words(self) -> str:
        return f"a table of {', '.join(row.name for row in rows_of(self.of))}"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        return read_table(self.of, value, place, faults)

    def write(self, value: Any) -> Any:
        return write_table(value)


@dataclass(frozen=True)
class NamedKeys:
    """A table whose keys are some words, each with a value of one kind."""

    keys: tuple[str, ...]
    kind: KeyKind

    @property
    def words(self) -> str:
        return f"a table of {', '.join(self.keys)}, each {self.kind.words}"

    def read(self, value: Any, place: str, faults: Faults) -> Any:
        if not isinstance(value, Mapping):
            faults.append((place, f"must be a table, not {shown(value)}"))
            return None
        _refuse_unknown(value, self.keys, place, faults)
        return tuple((key, self.kind.read(value[key], f"{place}.{key}", faults)) for key in self.keys if key in value)

    def write(self, value: Sequence[tuple[str, Any]]) -> Any:
        return {key: self.kind.write(each) for key, each in value}


@dataclass(frozen=True)
class MapKey:
    """A table whose keys are names that a function makes of the given ones, each with a value of one kind."""

    key_words: str
    """What its keys are, in words."""
    named: Callable[[str], str]
    """The name that a key stands for; a ValueError says what it must be."""
    kind: KeyKind
    most: int = LIST_MAX

    @property
    def words(self) -> str:
        return f"a table of at most {self.most} keys, each {self.key_words}, with {self.kind.words}"

    def read(self, document: Any, place: str, faults: Faults) -> Any:
        if not isinstance(document, Mapping):
            faults.append((place, f"must be a table, not {shown(document)}"))
            return None
        if len(document) > self.most:
            faults.append((place, f"has {len(document)} keys; it takes at most {self.most}"))
            return None
        rows: dict[str, Any] = {}
        for key, value in document.items():
            where = f"{place}.{str(key)[:SHOWN_MAX]}"
            try:
                name = self.named(str(key))
            except ValueError as error:
                faults.append((where, str(error)))
                continue
            if name in rows:
                faults.append((where, f"names {name} a second time"))
            rows[name] = self.kind.read(value, where, faults)
        return tuple(rows.items())

    def write(self, value: Sequence[tuple[str, Any]]) -> Any:
        return {key: self.kind.write(each) for key, each in value}


def key(kind: KeyKind, meaning: str, default: Any = MISSING) -> Any:
    """Return a row of the schema, as a field of a dataclass.

    Without a default the key is required.
    """
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


def rows_of(of: Any) -> tuple[Field[Any], ...]:
    """Return the schema's rows of a class, without what a document cannot say."""
    return tuple(row for row in fields(of) if row.metadata)


def read_table(of: type[T], document: Any, place: str, faults: Faults) -> T | None:
    """Return a table as its class; None where something is wrong with it."""
    if not isinstance(document, Mapping):
        faults.append((place, f"must be a table, not {shown(document)}"))
        return None
    rows = {row.name: row for row in rows_of(of)}
    before = len(faults)
    # A word of Python is written with an underscore behind it here, and without one in the document.
    names = {name.rstrip("_"): name for name in rows}
    _refuse_unknown(document, tuple(names), place, faults)
    values = {}
    for key, name in names.items():
        where = f"{place}.{key}" if place else key
        if key in document:
            values[name] = rows[name].metadata["kind"].read(document[key], where, faults)
        elif rows[name].default is MISSING:
            faults.append((where, f"is missing: {rows[name].metadata['meaning']}"))
    return of(**values) if len(faults) == before else None


def _refuse_unknown(document: Mapping[str, Any], known: tuple[str, ...], place: str, faults: Faults) -> None:
    for name in document:
        if len(faults) > FAULTS_MAX:
            return
        if name not in known:
            near = nearest(str(name)[:SHOWN_MAX], known)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
            faults.append((f"{place}.{str(name)[:SHOWN_MAX]}".lstrip("."), f"is no key here: {hint}"))


def write_table(value: Any) -> dict[str, Any]:
    """Return the table of a class, without what has its default."""
    written: dict[str, Any] = {}
    for row in rows_of(value):
        value_of_row = getattr(value, row.name)
        if value_of_row == row.default or value_of_row is None:
            continue
        content = row.metadata["kind"].write(value_of_row)
        if content != {}:
            written[row.name.rstrip("_")] = content
    return written
