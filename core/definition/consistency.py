"""Faults of a definition that only show where its sections are read together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final

from core.definition.checks import check_amounts, check_excess, check_fees, limits_read
from core.definition.definition import DealTest, Definition, Matrix
from core.definition.formulas import ATOMS_OF_DEFINITION_MAX, FormulaFault, atoms_of, names_of, share_of
from core.definition.keys import Faults
from core.definition.terms import AMONG, MEASURES, PARAMETERS, SUITE_TESTS, TOTALS

CIRCLE_SHOWN: Final = 10
"""Tests of a circle that a fault names."""

_CLASS: Final = re.compile("[A-Z](?:-?[1-9]{1,2}[A-Za-z]?)?")
"""Name of a class of notes such as A, B-1 or A1."""


def cross_faults(definition: Definition) -> Faults:
    """Return what only shows where sections are seen together."""
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
    """Return whether a test may name a class.

    One of the listed ones, or any other of the notes, which is not tested.
    """
    names = [note_class.name for note_class in definition.classes]
    return not names or _class_is(name, names) or all(_CLASS.fullmatch(part) for part in name.split("/"))


def _check_families(definition: Definition, faults: Faults) -> None:
    seen: dict[str, str] = {}
    for at, family in enumerate(definition.classifications.families):
        for obligor in family.obligors:
            if seen.setdefault(obligor.casefold(), family.name) != family.name:
                faults.append((f"classifications.families[{at}].obligors", f"{obligor} is in another family, too"))


def _check_countries(definition: Definition, faults: Faults) -> None:
    """Check that a country has one ceiling of an agency.

    A group has countries, or ceilings that the table has.
    """
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
    """Each test by itself, then what its figure and its limit read of other tests."""
    matrices = {matrix.id: matrix for matrix in definition.quality.matrices}
    ids = [test.id for test in definition.tests]
    known = frozenset((*ids, *TOTALS))
    needs: dict[str, frozenset[str]] = {}
    if len(matrices) < len(definition.quality.matrices):
        faults.append(("quality.matrices", "have one id twice"))
    matrix_names = {
        matrix.id: _check_matrix(matrix, f"quality.matrices[{at}]", known, faults)
        for at, matrix in enumerate(definition.quality.matrices)
    }
    for at, test in enumerate(definition.tests):
        place = f"tests[{at}]"
        _check_id(test, place, ids[:at], faults)
        _check_figure(test, place, definition, faults)
        _check_limit(test, place, matrices, definition, faults)
        names = _formula_names(test.value, f"{place}.value", known, faults) if test.value else frozenset[str]()
        of_matrix = matrix_names.get(test.matrix or "", frozenset())
        needs[test.id] = ((names | of_matrix | limits_read(test, definition)) - {test.id}) & frozenset(ids)
        if test.id in names:
            faults.append((f"{place}.value", "names the test itself"))
        if test.id in of_matrix:
            faults.append((f"{place}.matrix", "reads the test itself, whose figure comes after its limit"))
    if not faults:
        _check_atoms(definition, faults)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = error.args[1]
        shown = " -> ".join(circle if len(circle) <= CIRCLE_SHOWN else (*circle[:CIRCLE_SHOWN], "..."))
        faults.append(("tests", f"need each other in a circle: {shown}"))


def _check_id(test: DealTest, place: str, earlier: Sequence[str], faults: Faults) -> None:
    """Check that an id is the test's own, no other word of a formula and no other test."""
    if test.id in earlier:
        faults.append((f"{place}.id", f"{test.id} is there already"))
    if test.id in TOTALS or test.id in ("true", "false"):
        faults.append((f"{place}.id", f"{test.id} would be read as a total or a truth in a formula"))
    if test.measure is not None and (like := SUITE_TESTS.get(test.id, test.measure)) != test.measure:
        faults.append((f"{place}.id", f"{test.id} is the suites' test of {like}, to which its limit would go, too"))


def _check_atoms(definition: Definition, faults: Faults) -> None:
    atoms = frozenset().union(*(atoms_of(share_of(text)) for _, text in loan_formulas(definition)))
    if len(atoms) > ATOMS_OF_DEFINITION_MAX:
        text = f"have {len(atoms)} different parts in their formulas, more than the limit of {ATOMS_OF_DEFINITION_MAX}"
        faults.append(("tests", text))


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
    _check_class(test, place, definition, faults)
    _check_loans(test, place, definition, faults)


def _check_class(test: DealTest, place: str, definition: Definition, faults: Faults) -> None:
    if test.measure in ("oc", "ic") and test.class_ is not None and not _names_class(test.class_, definition):
        classes = ", ".join(note_class.name for note_class in definition.classes)
        faults.append((f"{place}.class", f"is no class: a letter such as C or D-1, or one of {classes}"))


def _has(test: DealTest, name: str) -> bool:
    """Return whether a test gives a parameter."""
    return getattr(test, "class_" if name == "class" else name) not in (None, ())


def _check_loans(test: DealTest, place: str, definition: Definition, faults: Faults) -> None:
    """Its formulas over loans; a group that there is.

    Cash is no obligor's, industry's or country's.
    """
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
    """At most one limit, on the right side of its warning. Steps in order of days."""
    names = [name for name in ("max", "min", "matrix") if getattr(test, name) is not None]
    if len(names) > 1:
        faults.append((place, f"has more than one limit: {' and '.join(names)}"))
        return
    _check_matrix_limit(test, place, matrices, faults)
    if not names and (test.steps or test.warning is not None):
        faults.append((place, "has steps or a warning, and no max or min"))
    is_max = test.max is not None or test.matrix_limit == "max"
    levels = [("warning", test.max if test.max is not None else test.min, test.warning)]
    levels += [(f"steps[{at}].warning", step.limit, step.warning) for at, step in enumerate(test.steps)]
    for name, limit, warning in levels:
        if limit is not None and warning is not None and (warning > limit if is_max else warning < limit):
            faults.append((f"{place}.{name}", f"must not be {'above' if is_max else 'below'} its limit {limit:g}"))
    _check_steps(test, place, definition, faults)


def _check_matrix_limit(test: DealTest, place: str, matrices: Mapping[str, Matrix], faults: Faults) -> None:
    if test.matrix is not None:
        if test.matrix not in matrices:
            faults.append((f"{place}.matrix", f"is no matrix: there are {', '.join(matrices) or 'none'}"))
        if test.matrix_limit is None:
            faults.append((f"{place}.matrix_limit", "is missing: max or min"))
        if test.steps:
            faults.append((f"{place}.steps", "and a matrix are two limits"))
    elif test.matrix_limit is not None:
        faults.append((f"{place}.matrix_limit", "is for a test with a matrix"))


def _check_steps(test: DealTest, place: str, definition: Definition, faults: Faults) -> None:
    end = definition.conventions.reinvestment_end
    days = [step.day or end for step in test.steps]
    if None in days and len(days) > 1:
        faults.append((f"{place}.steps", "have reinvestment_end among dates: give conventions.reinvestment_end"))
    known = [day for day in days if day is not None]
    if any(later <= earlier for earlier, later in pairwise(known)):
        faults.append((f"{place}.steps", "must stand in the order of their days"))


def _check_matrix(matrix: Matrix, place: str, known: frozenset[str], faults: Faults) -> frozenset[str]:
    """Its sides ascend, its values fill it, its formulas name what there is.

    The names that they read.
    """
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


def loan_formulas(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield the formulas over loans with their places."""
    for at, test in enumerate(definition.tests):
        if test.share is not None:
            yield f"tests[{at}].share", test.share
        if test.among is not None and test.among.startswith("="):
            yield f"tests[{at}].among", test.among
