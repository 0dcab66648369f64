"""A document to a definition and back: one walk tells every fault's place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from core.definition.consistency import cross_faults, loan_formulas
from core.definition.definition import Definition
from core.definition.formulas import FormulaFault, share_of, strangers_of, unknown_names
from core.definition.keys import FAULTS_MAX, ChoiceKey, Faults, read_table, write_table
from core.definition.terms import LOAN_FIELDS, READY_NAMES
from core.words import suggestion

TEXT_MAX: Final = 1_000_000
"""Characters of a definition in TOML."""

KEY_PARTS_MAX: Final = 16
"""Parts of a dotted key: reading one takes time by their square, and no key here has more than four."""

HINTS_MAX: Final = 10
"""Faults of formulas that say what is near."""

OWN_NEAR_MAX: Final = 500
"""Fields of mappings' own among which it is looked for."""

_BASE: Final = ChoiceKey(READY_NAMES)
_QUOTED: Final = re.compile(r""""[^"\n]*"|'[^'\n]*'""")
_AROUND_DOT: Final = re.compile(r"[ \t]+(?=\.)|(?<=\.)[ \t]+")
_WORD: Final = re.compile(r"[^\s,=\[\]{}#]+")
_DOT: Final = re.compile(r"[^.]\.(?=[^.])")


class DefinitionError(ValueError):
    """A document that is no definition."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults[:FAULTS_MAX]
        """(place, message), in the document's order."""
        super().__init__("; ".join(f"{place}: {message}" if place else message for place, message in self.faults))


def parse(
    document: Mapping[str, Any], *, own_fields: Iterable[str] | None = (), stated: Iterable[str] | None = None
) -> Definition:
    """Return the definition that a document says.

    Its own keys, then those of the ready-made one that `base` names, then the suites' defaults.

    Tables of the base and the document are put together; lists and plain values are replaced.

    Args:
        own_fields: the fields that mappings give loans beside the standard ones, which formulas may read, too. None:
            formulas may read whatever there may be, as in a document that was accepted once; a test of what a file
            lacks is skipped.
        stated: the keys that count as the document's own, where it has others beside them, as `to_document` makes it.
            None: all that it has.

    Raises:
        DefinitionError: with every fault and its place.
    """
    faults: Faults = []
    if not isinstance(document, Mapping):
        raise DefinitionError([("", "must be a table")])
    own_keys = {str(name): value for name, value in document.items() if name != "base"}
    if "base" in document and (base := _BASE.read(document["base"], "base", faults)):
        own_keys = _over({**_ready_document(base), "standard": False}, own_keys)
    definition = read_table(Definition, own_keys, "", faults)
    if definition is not None:
        faults.extend(cross_faults(definition))
        if own_fields is not None:
            faults.extend(unknown_fields(definition, own_fields))
    if faults or definition is None:
        raise DefinitionError(faults)
    own = frozenset(dict(_values(document)) if stated is None else stated) - {"base"}
    return replace(definition, stated=own, base=document.get("base"))


def parse_changed(document: Mapping[str, Any], origin: Definition) -> Definition:
    """Return the definition of a document that was made of another definition's.

    What it changes counts as its own.

    Raises:
        DefinitionError: with every fault and its place.
    """
    before = dict(_values(to_document(origin)))
    changed = (key for key, value in _values(document) if key not in before or before[key] != value)
    return replace(parse(document, own_fields=None, stated=origin.stated.union(changed)), base=origin.base)


def _values(document: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """(key with its sections, value) of all that a document says."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _values(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def parse_toml(text: str, *, own_fields: Iterable[str] | None = ()) -> Definition:
    """Return the definition of a TOML text; `own_fields` as `parse`.

    Raises:
        DefinitionError: it is no TOML, or no definition.
    """
    return parse(_document(text), own_fields=own_fields)


def unknown_fields(definition: Definition, own_fields: Iterable[str]) -> Faults:
    """Return the formulas that read what neither a loan nor a mapping's own fields have, each with what is near."""
    own, faults = list(own_fields), list[tuple[str, str]]()
    known = [*sorted(LOAN_FIELDS), *(name.lower() for name in own[:OWN_NEAR_MAX])]
    for place, text in loan_formulas(definition):
        try:
            strangers = strangers_of(share_of(text), own)
        except FormulaFault:  # which is a fault of its own
            continue
        if strangers:
            near = get_close_matches(strangers[0], known, n=1) if len(faults) < HINTS_MAX else []
            hint = f"; did you mean {near[0]}?" if near else ""
            faults.append((place, unknown_names(strangers) + hint))
    return faults


def to_document(definition: Definition) -> dict[str, Any]:
    """Return the document of a definition, without what has its default.

    `parse` makes the same definition of it.
    """
    return write_table(definition)


class UnknownDefinition(KeyError, ValueError):
    """An unknown name of a ready-made definition; the message lists the known ones."""

    def __init__(self, name: object) -> None:
        super().__init__(f"there is no ready-made definition {str(name)[:100]!r}; {suggestion(str(name), READY_NAMES)}")

    def __str__(self) -> str:
        return str(self.args[0])


def ready(name: str) -> Definition:
    """Return a ready-made definition.

    Raises:
        UnknownDefinition: there is none of this name.
    """
    if name not in READY_NAMES:
        raise UnknownDefinition(name)
    return _ready(name)


def definition_of(definition: Definition | str | None) -> Definition | None:
    """Return a definition, or the ready-made one of a name.

    Raises:
        UnknownDefinition: no ready-made one has the name.
    """
    return ready(definition) if isinstance(definition, str) else definition


@lru_cache(maxsize=len(READY_NAMES))
def _ready(name: str) -> Definition:
    return parse(_ready_document(name), stated=())  # what a market's standard says is no deal's own word


class _Ready(Mapping[str, Definition]):
    """The ready-made definitions by name, read when they are asked for."""

    def __getitem__(self, name: str) -> Definition:
        return ready(name)

    def __iter__(self) -> Iterator[str]:
        return iter(READY_NAMES)

    def __len__(self) -> int:
        return len(READY_NAMES)


READY: Final[Mapping[str, Definition]] = _Ready()
"""The ready-made definitions: `us_bsl` for US broadly syndicated loans, `euro` for European deals."""


def ready_for(currency: str | None) -> str:
    """Return the name of the ready-made definition for deals of a currency.

    Euro for the currencies of European deals, else us_bsl.
    """
    return "euro" if currency in ("EUR", "GBP") else "us_bsl"


def ready_text(name: str) -> str:
    """Return a ready-made definition as TOML.

    Raises:
        UnknownDefinition: there is none of this name.
    """
    if name not in READY_NAMES:
        raise UnknownDefinition(name)
    return (files("core.definition") / "ready" / f"{name}.toml").read_text(encoding="utf-8")


def _ready_document(name: str) -> dict[str, Any]:
    return tomllib.loads(ready_text(name))


def _document(text: str) -> dict[str, Any]:
    if len(text) > TEXT_MAX:
        raise DefinitionError([("", f"has {len(text)} characters, more than {TEXT_MAX}")])
    dotted = _AROUND_DOT.sub("", _QUOTED.sub("q", text))
    if any(len(_DOT.findall(word)) >= KEY_PARTS_MAX for word in _WORD.findall(dotted)):
        raise DefinitionError([("", f"has a key of more than {KEY_PARTS_MAX} parts")])
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError([("", f"is no TOML: {error}")]) from None
    except RecursionError:
        raise DefinitionError([("", "is nested too deeply")]) from None
    except ValueError as error:  # a date that is none, a number of too many digits
        raise DefinitionError([("", f"is no TOML: {error}")]) from None


def _over(base: Any, own: Any) -> Any:
    """Return the given values over those of the base."""
    if not isinstance(base, Mapping) or not isinstance(own, Mapping):
        return own
    return {
        name: _over(base[name], own[name]) if name in base and name in own else own.get(name, base.get(name))
        for name in {**base, **own}
    }
