"""A document to a definition and back: one walk that tells every fault with its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

from core.definition.checks import check_amounts, check_excess, check_fees, limits_read
from core.definition.definition import DealTest, Definition, Matrix
from core.definition.formulas import (
    ATOMS_OF_DEFINITION_MAX,
    FormulaFault,
    atoms_of,
    names_of,
    share_of,
    strangers_of,
    unknown_names,
)
from core.definition.keys import FAULTS_MAX, ChoiceKey, Faults, read_table, write_table
from core.definition.terms import (
    AMONG,
    LOAN_FIELDS,
    MEASURES,
    PARAMETERS,
    READY_NAMES,
    SUITE_TESTS,
    TOTALS,
)
from core.words import suggestion

TEXT_MAX: Final = 1_000_000
"""Characters of a definition in TOML."""

KEY_PARTS_MAX: Final = 16
"""Parts of a dotted key: reading one takes time by their square, and no key here has more than four."""

CIRCLE_SHOWN: Final = 10
"""Tests of a circle that a fault names."""

HINTS_MAX: Final = 10
"""Faults of formulas that say what is near."""

OWN_NEAR_MAX: Final = 500
"""Fields of mappings' own among which it is looked for."""

_BASE: Final = ChoiceKey(READY_NAMES)
_QUOTED: Final = re.compile(r""""[^"\n]*"|'[^'\n]*'""")
_AROUND_DOT: Final = re.compile(r"[ \t]+(?=\.)|(?<=\.)[ \t]+")
_CLASS: Final = re.compile("[A-Z](?:-?[1-9]{1,2}[A-Za-z]?)?")
"""Name of a class of notes such as A, B-1 or A1."""
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
    """The definition that a document says: its own keys, then those of the ready-made one that `base` names, then the
    suites' defaults.

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
        faults.extend(_cross_faults(definition))
        if own_fields is not None:
            faults.extend(unknown_fields(definition, own_fields))
    if faults or definition is None:
        raise DefinitionError(faults)
    own = frozenset(dict(_values(document)) if stated is None else stated) - {"base"}
    return replace(definition, stated=own, base=document.get("base"))


def parse_changed(document: Mapping[str, Any], origin: Definition) -> Definition:
    """The definition of a document that was made of another definition's: what it changes counts as its own.

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
    """The definition of a TOML text; `own_fields` as `parse`.

    Raises:
        DefinitionError: it is no TOML, or no definition.
    """
    return parse(_document(text), own_fields=own_fields)


def unknown_fields(definition: Definition, own_fields: Iterable[str]) -> Faults:
    """The formulas that read what neither a loan nor a mapping's own fields have, each with what is near."""
    own, faults = list(own_fields), list[tuple[str, str]]()
    known = [*sorted(LOAN_FIELDS), *(name.lower() for name in own[:OWN_NEAR_MAX])]
    for place, text in _loan_formulas(definition):
        try:
            strangers = strangers_of(share_of(text), own)
        except FormulaFault:  # which is a fault of its own
            continue
        if strangers:
            near = get_close_matches(strangers[0], known, n=1) if len(faults) < HINTS_MAX else []
            hint = f"; did you mean {near[0]}?" if near else ""
            faults.append((place, unknown_names(strangers) + hint))
    return faults


def _loan_formulas(definition: Definition) -> Iterator[tuple[str, str]]:
    """The formulas over loans with their places."""
    for at, test in enumerate(definition.tests):
        if test.share is not None:
            yield f"tests[{at}].share", test.share
        if test.among is not None and test.among.startswith("="):
            yield f"tests[{at}].among", test.among


def to_document(definition: Definition) -> dict[str, Any]:
    """The document of a definition, without what has its default: `parse` makes the same definition of it."""
    return write_table(definition)


class UnknownDefinition(KeyError, ValueError):
    """A name that no ready-made definition has; the message lists those that there are."""

    def __init__(self, name: object) -> None:
        super().__init__(f"there is no ready-made definition {str(name)[:100]!r}; {suggestion(str(name), READY_NAMES)}")

    def __str__(self) -> str:
        return str(self.args[0])


def ready(name: str) -> Definition:
    """A ready-made definition.

    Raises:
        UnknownDefinition: there is none of this name.
    """
    if name not in READY_NAMES:
        raise UnknownDefinition(name)
    return _ready(name)


def definition_of(definition: Definition | str | None) -> Definition | None:
    """A definition, or the ready-made one of a name.

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
    """The name of the ready-made definition for deals of a currency: euro for the currencies of European deals, else
    us_bsl."""
    return "euro" if currency in ("EUR", "GBP") else "us_bsl"


def ready_text(name: str) -> str:
    """A ready-made definition as TOML.

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
    """The given values over those of the base."""
    if not isinstance(base, Mapping) or not isinstance(own, Mapping):
        return own
    return {
        name: _over(base[name], own[name]) if name in base and name in own else own.get(name, base.get(name))
        for name in {**base, **own}
    }


def _cross_faults(definition: Definition) -> Faults:
    """What only shows where sections are seen together."""
    faults: Faults = []
    _check_agencies(definition, faults)
    check_excess(definition, faults)
    check_amounts(definition, faults)
    check_fees(definition, faults)
    _check_classes(definition, faults)
    _check_families(definition, faults)
    _check_countries(definition, faults)
    _check_tests(definition, faults)
    return faults


def _check_agencies(definition: Definition, faults: Faults) -> None:
    for agency in ("a", "b", "c"):
        ratings = getattr(definition.ratings, agency)
        if agency in ratings.notched_from:
            faults.append((f"ratings.{agency}.notched_from", "names the agency itself"))
        for name in ("unrated", "masked"):
            if getattr(ratings, f"{name}_value") is not None and getattr(ratings, name) != "bounds":
                faults.append((f"ratings.{agency}.{name}_value", f'is for {name} = "bounds"'))


def _check_classes(definition: Definition, faults: Faults) -> None:
    names = [note_class.name for note_class in definition.classes]
    faults.extend((f"classes[{at}].name", "is there already") for at, name in enumerate(names) if name in names[:at])
    for place in ("reinvestment_oc", "event_of_default"):
        if (trigger := getattr(definition, place)) is not None and names and not _class_is(trigger.class_, names):
            faults.append((f"{place}.class", f"is none of the classes: {', '.join(names)}"))


def _class_is(name: str, names: list[str]) -> bool:
    return name in names or any(name in each.split("/") for each in names)


def _names_class(name: str, definition: Definition) -> bool:
    """Whether a test may name a class: one of the listed ones, or any other of the notes, which is not tested."""
    names = [note_class.name for note_class in definition.classes]
    return not names or _class_is(name, names) or all(_CLASS.fullmatch(part) for part in name.split("/"))


def _check_families(definition: Definition, faults: Faults) -> None:
    seen: dict[str, str] = {}
    for at, family in enumerate(definition.classifications.families):
        for obligor in family.obligors:
            if seen.setdefault(obligor.casefold(), family.name) != family.name:
                faults.append((f"classifications.families[{at}].obligors", f"{obligor} is in another family, too"))


def _check_countries(definition: Definition, faults: Faults) -> None:
    """A country has one ceiling of an agency; a group has countries, or ceilings that the table has."""
    seen: set[tuple[str, str]] = set()
    for at, ceiling in enumerate(definition.country_ceilings):
        for country in ceiling.countries:
            if (ceiling.agency, country) in seen:
                faults.append((f"country_ceilings[{at}].countries", f"{country} has a ceiling of this agency already"))
            seen.add((ceiling.agency, country))
    rated = {agency for agency, _ in seen}
    ids = [group.id for group in definition.country_groups]
    for at, group in enumerate(definition.country_groups):
        place = f"country_groups[{at}]"
        if group.id in ids[:at]:
            faults.append((f"{place}.id", f"{group.id} is there already"))
        by_ceiling = group.ceiling_below is not None or group.ceiling_least is not None
        if by_ceiling == bool(group.countries):
            faults.append((place, "must have either countries, or ceiling_below or ceiling_least"))
        elif by_ceiling and group.agency not in rated:
            faults.append((f"{place}.agency", "must name an agency of which country_ceilings has the ceilings"))
        elif group.agency is not None and not by_ceiling:
            faults.append((f"{place}.agency", "is for a group by ceilings"))


def _check_tests(definition: Definition, faults: Faults) -> None:
    matrices = {matrix.id: matrix for matrix in definition.quality.matrices}
    ids = [test.id for test in definition.tests]
    known = frozenset((*ids, *TOTALS))
    needs: dict[str, set[str]] = {}
    matrix_names: dict[str, set[str]] = {}
    if len(matrices) < len(definition.quality.matrices):
        faults.append(("quality.matrices", "have one id twice"))
    for at, matrix in enumerate(definition.quality.matrices):
        matrix_names[matrix.id] = set(_check_matrix(matrix, f"quality.matrices[{at}]", known, faults))
    seen: set[str] = set()
    for at, test in enumerate(definition.tests):
        place = f"tests[{at}]"
        if test.id in seen:
            faults.append((f"{place}.id", f"{test.id} is there already"))
        seen.add(test.id)
        if test.id in TOTALS or test.id in ("true", "false"):
            faults.append((f"{place}.id", f"{test.id} would be read as a total or a truth in a formula"))
        if test.measure is not None and (like := SUITE_TESTS.get(test.id, test.measure)) != test.measure:
            faults.append((f"{place}.id", f"{test.id} is the suites' test of {like}, to which its limit would go, too"))
        _check_figure(test, place, definition, faults)
        _check_limit(test, place, matrices, definition, faults)
        names = set(_formula_names(test.value, f"{place}.value", known, faults)) if test.value else set()
        of_matrix = matrix_names.get(test.matrix or "", set())
        needs[test.id] = ((names | of_matrix | limits_read(test, definition)) - {test.id}) & set(ids)
        if test.id in names:
            faults.append((f"{place}.value", "names the test itself"))
        if test.id in of_matrix:
            faults.append((f"{place}.matrix", "reads the test itself, whose figure comes after its limit"))
    if not faults:
        atoms = frozenset().union(*(atoms_of(share_of(text)) for _, text in _loan_formulas(definition)))
        if len(atoms) > ATOMS_OF_DEFINITION_MAX:
            faults.append(
                (
                    "tests",
                    f"have {len(atoms)} different parts in their formulas, more than the limit of "
                    f"{ATOMS_OF_DEFINITION_MAX}",
                )
            )
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = error.args[1]
        shown = " -> ".join(circle if len(circle) <= CIRCLE_SHOWN else (*circle[:CIRCLE_SHOWN], "..."))
        faults.append(("tests", f"need each other in a circle: {shown}"))


def _formula_names(text: str, place: str, known: frozenset[str], faults: Faults) -> frozenset[str]:
    try:
        return names_of(text, known)
    except FormulaFault as fault:
        faults.append((place, str(fault)))
        return frozenset()


def _check_figure(test: DealTest, place: str, definition: Definition, faults: Faults) -> None:
    """One of measure, share and value, with the parameters that it takes."""
    names = [name for name in ("measure", "share", "value") if getattr(test, name) is not None]
    if len(names) != 1:
        faults.append((place, f"must have one of measure, share and value, not {' and '.join(names) or 'none'}"))
        return
    takes: tuple[str, ...] = ("of", "adds") if test.share is not None else ()
    if test.measure is not None:
        takes = MEASURES[test.measure].takes
        for name in MEASURES[test.measure].needs:
            if not _has(test, name):
                faults.append((f"{place}.{name}", f"is missing: {test.measure} needs it"))
        if test.measure in ("bdr", "cdo_monitor") and definition.quality.cdo_monitor is None:
            faults.append((f"{place}.measure", "needs quality.cdo_monitor"))
        for name in ("reinvestment_oc", "event_of_default"):
            if test.measure == name and getattr(definition, name) is None:
                faults.append((f"{place}.measure", f"needs {name}"))
    for name in PARAMETERS:
        if name not in takes and _has(test, name):
            faults.append((f"{place}.{name}", f"is nothing that {test.measure or names[0]} takes"))
    if test.measure in ("oc", "ic") and test.class_ is not None and not _names_class(test.class_, definition):
        text = (
            f"is no class: a letter such as C or D-1, or one of {', '.join(each.name for each in definition.classes)}"
        )
        faults.append((f"{place}.class", text))
    _check_loans(test, place, definition, faults)


def _has(test: DealTest, name: str) -> bool:
    """Whether a test gives a parameter."""
    return getattr(test, "class_" if name == "class" else name) not in (None, ())


def _check_loans(test: DealTest, place: str, definition: Definition, faults: Faults) -> None:
    """Its formulas over loans; a group that there is; cash is no obligor's, industry's or country's."""
    for name, text in (("share", test.share), ("among", test.among)):
        if text is not None and text not in AMONG:
            try:
                share_of(text)
            except FormulaFault as fault:
                faults.append((f"{place}.{name}", str(fault)))
    if test.group is not None and test.group not in (
        ids := [country_group.id for country_group in definition.country_groups]
    ):
        faults.append((f"{place}.group", f"is no group of countries: there are {', '.join(ids) or 'none'}"))
    if "cash" in test.adds and test.measure is not None and "nth" in MEASURES[test.measure].takes:
        faults.append((f"{place}.adds", f"cash belongs to none of what {test.measure} ranks"))


def _check_limit(
    test: DealTest, place: str, matrices: Mapping[str, Matrix], definition: Definition, faults: Faults
) -> None:
    """At most one limit, on the right side of its warning; steps in the order of days."""
    names = [name for name in ("max", "min", "matrix") if getattr(test, name) is not None]
    if len(names) > 1:
        faults.append((place, f"has more than one limit: {' and '.join(names)}"))
        return
    if test.matrix is not None:
        if test.matrix not in matrices:
            faults.append((f"{place}.matrix", f"is no matrix: there are {', '.join(matrices) or 'none'}"))
        if test.matrix_limit is None:
            faults.append((f"{place}.matrix_limit", "is missing: max or min"))
        if test.steps:
            faults.append((f"{place}.steps", "and a matrix are two limits"))
    elif test.matrix_limit is not None:
        faults.append((f"{place}.matrix_limit", "is for a test with a matrix"))
    if not names and (test.steps or test.warning is not None):
        faults.append((place, "has steps or a warning, and no max or min"))
    is_max = test.max is not None or test.matrix_limit == "max"
    levels = [("warning", test.max if test.max is not None else test.min, test.warning)]
    levels += [(f"steps[{at}].warning", step.limit, step.warning) for at, step in enumerate(test.steps)]
    for name, limit, warning in levels:
        if limit is not None and warning is not None and (warning > limit if is_max else warning < limit):
            faults.append((f"{place}.{name}", f"must not be {'above' if is_max else 'below'} its limit {limit:g}"))
    days = [step.day or definition.conventions.reinvestment_end for step in test.steps]
    if None in days and definition.conventions.reinvestment_end is None and len(days) > 1:
        faults.append((f"{place}.steps", "have reinvestment_end among dates: give conventions.reinvestment_end"))
    known = [day for day in days if day is not None]
    if any(later <= earlier for earlier, later in pairwise(known)):
        faults.append((f"{place}.steps", "must stand in the order of their days"))


def _check_matrix(matrix: Matrix, place: str, known: frozenset[str], faults: Faults) -> frozenset[str]:
    """Its sides ascend, its values fill it, its formulas name what there is; the names that they read."""
    for name in ("rows", "columns"):
        side = getattr(matrix, name)
        if any(later <= earlier for earlier, later in pairwise(side)):
            faults.append((f"{place}.{name}", "must ascend"))
    if len(matrix.values) != len(matrix.rows):
        faults.append((f"{place}.values", f"has {len(matrix.values)} lists for {len(matrix.rows)} rows"))
    faults.extend(
        (f"{place}.values[{at}]", f"has {len(row)} limits for {len(matrix.columns)} columns")
        for at, row in enumerate(matrix.values)
        if len(row) != len(matrix.columns)
    )
    names: frozenset[str] = frozenset()
    for name in ("row", "column", "modifier"):
        if (formula := getattr(matrix, name)) is not None:
            names |= _formula_names(formula, f"{place}.{name}", known, faults)
    return names
