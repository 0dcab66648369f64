"""Which published figure is which test of ours.

By a name of the definition, else where both are about the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from core.compliance.coverage import Structure, letter_of
from core.compliance.pool_sums import Pool
from core.compliance.result import Direction
from core.compliance.suites import Test
from core.definition.definition import DealTest
from core.definition.names import AMONG_WORDS, NoMeaning, SubjectMeaning, meaning_of_fact
from core.definition.terms import AGENCIES, FORMULAS, PARAMETERS, SUITE_TESTS
from core.grid.places import column_part
from core.portfolio.cells.string_pool import key
from core.portfolio.model.facts import AGENCY_NAMES, Fact, Facts
from core.portfolio.model.ratings import CCC

SUITE_NTH: Final = {"single_obligor_concentration": 1, "top_5_concentration": 5, "industry_concentration": 1,
                    "second_industry_concentration": 2}  # fmt: skip
"""Which one by size, or how many, of the suites' tests."""

WITHOUT_TWIN: Final = frozenset(("delinquency_pct", "price_below_80_pct", "price_below_90_pct", "quoted_depth_pct"))
"""Tests of the suites that have no published twin: no indenture has them so."""

_COVERAGE: Final = {"oc_ratio": ("oc", -1), "oc_ratio_senior": ("oc", 0), "ic_ratio": ("ic", -1),
                    "ic_ratio_senior": ("ic", 0)}  # fmt: skip
"""Measure and place among the tested classes of the suites' coverage tests."""

_MOODYS_FACTOR_LEAST: Final = 200.0
"""A rating factor from here on is on Moody's scale where the name says no agency: Fitch's ends at 100."""

REINVESTMENT: Final = "reinvestment_oc"
"""Id of the reinvestment test that a ready-made definition has where a file prints its trigger."""

FILES_MAX: Final = 16
"""Files whose figures are kept as they were understood: runs of one file come in numbers."""

ROUNDED_LEAST: Final = 3
"""Printed figures of a column, not all zero, from which on a last digit that is always 0 is not a digit."""


class Match(NamedTuple):
    """A published figure and the test of ours that it is."""

    test: Test
    published: Fact
    side: Direction


class UnmatchedFigure(NamedTuple):
    """A published figure that is no test of ours, or not certainly one."""

    published: Fact
    nearest: str | None
    """Id of the test of ours that comes nearest; None: none measures anything like it."""
    why: str
    """Why that one was not taken, or why there is none, in words."""
    is_measurable: bool = False
    """A test could measure it, and the run has none that does."""
    is_repeated: bool = False
    """Another printed figure of the same thing is taken."""


class Pairs(NamedTuple):
    """A file's figures beside the tests of a run.

    Each test has at most one, but for the bucket of all agencies.
    """

    matches: tuple[Match, ...] = ()
    """In the file's order."""
    listed: tuple[UnmatchedFigure, ...] = ()
    """The file's other figures, in its order."""
    alone: tuple[str, ...] = ()
    """Ids of the tests that no figure of the file is beside, in the run's order."""


class _Key(NamedTuple):
    """What a test measures; two of one key are the same test."""

    what: str
    """Measure, or the formula of a share or a value."""
    nth: int | None
    agency: str | None
    classification: str | None
    last_class: str
    more: tuple[Any, ...]
    """The line, the denominator, the group of countries, the loans that count and what is added, where a definition
    names them."""


def matches(tests: Sequence[Test], own: Mapping[str, DealTest], pool: Pool) -> tuple[Match, ...]:
    """Return the published figures that are tests of ours."""
    printed = _printed_of(_File(pool.portfolio.facts))
    return _Pairing(tests, own, terms_of(pool), is_listing=False).of(printed).matches if printed else ()


def pair(tests: Sequence[Test], own: Mapping[str, DealTest], pool: Pool) -> Pairs:
    """Set the current figures of a file beside the tests of a run.

    Args:
        tests: those of the run.
        own: the definition's tests by id.
        pool: the loans, under the conventions of the run.
    """
    return pair_alone(tests, own, terms_of(pool), pool.portfolio.facts)


def pair_alone(tests: Sequence[Test], own: Mapping[str, DealTest], terms: Terms, facts: Facts) -> Pairs:
    """Set the current figures of a file of which no loans are known beside the tests of a run."""
    return _Pairing(tests, own, terms).of(_printed_of(_File(facts)))


def pair_figures(tests: Sequence[Test], own: Mapping[str, DealTest], terms: Terms, figures: Sequence[Fact]) -> Pairs:
    """Set figures, with the decimals that count, beside tests; there may be no loans."""
    return _Pairing(tests, own, terms).of(tuple(map(_Printed.of, figures)))


class Terms(NamedTuple):
    """What a deal means where a label says no more."""

    home_countries: tuple[str, ...]
    recovery_agency: str | None = None
    """Whose recovery rates the weighted average is of."""
    industry_agency: str | None = None
    """By whose industries the tests go."""
    structure: Structure | None = None
    """The tested classes."""


def terms_of(pool: Pool) -> Terms:
    """Return the terms of the loans under the conventions of a run."""
    view = pool.view
    home = pool.definition.conventions.home_countries
    return Terms(home, view.recovery_agency, view.industry_agency, pool.structure)


class _Printed(NamedTuple):
    """A figure of a file, and what can be said of it without the loans."""

    fact: Fact
    name: str
    """Its label as names are compared."""
    meaning: SubjectMeaning | NoMeaning
    theirs: _Key | None
    """What it measures; None where nothing of ours does."""

    @classmethod
    def of(cls, fact: Fact) -> _Printed:
        meaning = meaning_of_fact(fact)
        theirs = _key_of(meaning.test, fact) if isinstance(meaning, SubjectMeaning) else None
        return cls(fact, key(fact.label), meaning, theirs)


class _File:
    """The facts of a file as a key.

    The same object, not equal ones, which take long to compare.
    """

    __slots__ = ("facts",)

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def __hash__(self) -> int:
        return id(self.facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _File) and other.facts is self.facts


@lru_cache(maxsize=FILES_MAX)
def _printed_of(file: _File) -> tuple[_Printed, ...]:
    """Return the current figures of a file, with the decimals that count."""
    return tuple(map(_Printed.of, with_counted_decimals(file.facts.figures)))


class _Group(NamedTuple):
    """Figures that are about the same.

    By a name of the definition's, or by what they measure.
    """

    named: str | None
    """Id of the test that the definition calls so."""
    theirs: _Key | None
    facts: list[Fact]
    side: Direction


class _Pairing:
    """The tests of a run by their names and by what they measure."""

    def __init__(
        self, tests: Sequence[Test], own: Mapping[str, DealTest], terms: Terms, *, is_listing: bool = True
    ) -> None:
        self._terms = terms
        self._is_listing = is_listing  # a run asks for what is found alone, many times
        self._tests = {test.test_id: test for test in tests}
        listed = [each for each in own.values() if each.id in self._tests]
        self._named = {word: each.id for each in reversed(listed) for word in _names(each)}
        keys = ((test.test_id, _key_of_test(test.test_id, own, terms)) for test in tests)
        self._keys = {test_id: _with_terms(each, terms) for test_id, each in keys if each is not None}
        self._by_key: dict[_Key, list[str]] = {}
        for test_id, each in self._keys.items():
            self._by_key.setdefault(each, []).append(test_id)
        self._matches: dict[int, list[Match]] = {}  # by the figure's identity: not every place is known
        self._listed: dict[int, UnmatchedFigure] = {}

    def of(self, figures: Sequence[_Printed]) -> Pairs:
        groups: dict[str | _Key, _Group] = {}
        for figure in figures:
            self._sort(figure, groups)
        facts = [each.fact for each in figures]
        taken: set[str] = set()
        for group in sorted(groups.values(), key=lambda each: each.named is None):  # names of the definition come first
            taken |= self._match(group, taken)
        return Pairs(
            tuple(match for fact in facts for match in self._matches.get(id(fact), ())),
            tuple(self._listed[id(fact)] for fact in facts if id(fact) in self._listed),
            tuple(test_id for test_id in self._tests if test_id not in taken),
        )

    def _sort(self, printed: _Printed, groups: dict[str | _Key, _Group]) -> None:
        """Put a figure to those that are about the same, or list it where nothing of ours is."""
        fact, name, meaning, theirs = printed
        if (named := self._named.get(name)) is not None:
            side = meaning.side if isinstance(meaning, SubjectMeaning) else self._tests[named].threshold_type
            groups.setdefault(named, _Group(named, None, [], side)).facts.append(fact)
            return
        if isinstance(meaning, NoMeaning):
            if not self._is_listing:
                return
            nearest = self._nearest(_with_terms(_key_of(meaning.nearest), self._terms)) if meaning.nearest else None
            self._listed[id(fact)] = UnmatchedFigure(fact, nearest, meaning.why)
            return
        assert theirs is not None
        if theirs.what == "industry" and theirs.classification is None:
            theirs = theirs._replace(classification=self._terms.industry_agency)
        if theirs.what == "foreign_country" and not is_home(fact, self._terms):
            why = "it is measured from another home than the deal's"
            self._listed[id(fact)] = UnmatchedFigure(fact, self._nearest(theirs), why)
            return
        groups.setdefault(theirs, _Group(None, theirs, [], meaning.side)).facts.append(fact)

    def _match(self, group: _Group, taken: set[str]) -> set[str]:
        """Set one figure of a group beside the tests that are about the same.

        The others are listed.
        """
        test_ids = self._tests_of(group, taken)
        if not test_ids and not self._is_listing:
            return set()
        theirs = group.theirs
        nearest = test_ids[0] if test_ids else None if theirs is None else self._nearest(theirs)
        chosen = _one_of(group.facts)
        for fact in group.facts:
            if isinstance(chosen, str):
                self._listed[id(fact)] = UnmatchedFigure(fact, nearest, chosen)
            elif fact is not chosen:
                self._listed[id(fact)] = UnmatchedFigure(fact, nearest, _why_left(fact, chosen), is_repeated=True)
        if isinstance(chosen, str):
            return set()
        if not test_ids:
            why = self._why_alone(theirs, nearest)
            self._listed[id(chosen)] = UnmatchedFigure(chosen, nearest, why, is_measurable=why != _TAKEN)
            return set()
        self._matches[id(chosen)] = [Match(self._tests[test_id], chosen, group.side) for test_id in test_ids]
        return set(test_ids)

    def _tests_of(self, group: _Group, taken: set[str]) -> list[str]:
        if group.named is not None:
            return [group.named]
        theirs = group.theirs
        assert theirs is not None
        test_ids = [test_id for test_id in self._by_key.get(theirs, ()) if test_id not in taken]
        if theirs.what == "ccc" and theirs.agency is not None:  # beside the greatest of all agencies, too
            test_ids += self._by_key.get(theirs._replace(agency=None), ())
        return test_ids

    def _why_alone(self, theirs: _Key | None, nearest: str | None) -> str:
        if theirs is None or nearest is None:
            return "no test of this run measures it"
        return _difference(theirs, self._keys[nearest]) or _TAKEN

    def _nearest(self, theirs: _Key) -> str | None:
        """Return the test of the same measure that shares most of what else is said, the first of several."""
        alike = [test_id for test_id, ours in self._keys.items() if ours.what == theirs.what]
        return max(
            alike,
            key=lambda test_id: sum(a == b for a, b in zip(self._keys[test_id], theirs, strict=True)),
            default=None,
        )


_TAKEN: Final = "the figure that the definition names is taken"


# ---- what tests and figures are about ------------------------------------------------------------------------------


def terms_of_test(test: DealTest) -> dict[str, Any]:
    """Return what a definition's test measures, in the words of its document."""
    words = ("measure", "share", "value", *PARAMETERS)
    every = {name: getattr(test, "class_" if name == "class" else name) for name in words}
    return {name: value for name, value in every.items() if value not in (None, ())}


def _names(test: DealTest) -> Iterator[str]:
    """Return what a file may call a test of a definition: its name, its id, an alias."""
    return map(key, (test.name, test.id, *test.aliases))


def _key_of_test(test_id: str, own: Mapping[str, DealTest], terms: Terms) -> _Key | None:
    """Return what a test of a run measures; None where nothing printed can be it."""
    if test_id in _COVERAGE:
        if terms.structure is None or not terms.structure.groups:
            return None
        measure, place = _COVERAGE[test_id]
        tested = (terms.structure.oc if measure == "oc" else terms.structure.ic)[place]
        return _key_of({"measure": measure, "class": tested.name})
    if (own_test := own.get(test_id)) is not None:
        # A ready-made definition has the reinvestment test as the ratio of the junior class.
        is_ready_made = test_id == REINVESTMENT and own_test.measure == "oc"
        return _key_of({"measure": "reinvestment_oc"} if is_ready_made else terms_of_test(own_test))
    return None if test_id in WITHOUT_TWIN else _key_of_suite(test_id)


@lru_cache(maxsize=128)
def _key_of_suite(test_id: str) -> _Key | None:
    terms = suite_terms(test_id)
    return None if terms is None else _key_of(terms)


def suite_terms(test_id: str) -> dict[str, Any] | None:
    """Return what a test of the suites measures, in the words of a definition's document."""
    if test_id not in SUITE_TESTS:
        return None
    return {"measure": SUITE_TESTS[test_id]} | ({"nth": SUITE_NTH[test_id]} if test_id in SUITE_NTH else {})


def _key_of(terms: Mapping[str, Any], fact: Fact | None = None) -> _Key:
    """Return what the fields of a definition's test measure.

    `fact` is the published figure that means them, None for a test of ours.
    """
    measure = terms.get("measure")
    agency = terms.get("agency")
    if (bucket := _BUCKET_OF.get(_plain(terms.get("share", "")))) is not None:
        measure, agency = "ccc", bucket
    if measure == "warf" and agency is None and (fact is None or _is_of_moodys(fact)):
        agency = "a"
    # Moody's diversity and the CDO Monitor's figures have lists of industries of their own.
    classification = terms.get("classification") if measure == "industry" else None
    nth = terms.get("nth", {"top_obligors": 10, "obligor": 1, "industry": 1, "country": 1}.get(str(measure)))
    what = measure or _loans(terms.get("share") or terms.get("value") or "")
    last_class = letter_of(str(terms.get("class", "")).rpartition("/")[2])
    among = None if terms.get("among") is None else _loans(terms["among"])
    more = (terms.get("line"), terms.get("of"), terms.get("group"), among, tuple(sorted(terms.get("adds", ()))))
    return _Key(what, nth, agency, classification, last_class, more)


def _with_terms(ours: _Key, terms: Terms) -> _Key:
    """Return what a test of ours measures, with what the deal means where nothing is said."""
    if ours.what == "warr" and ours.agency is None:
        return ours._replace(agency=terms.recovery_agency)
    if ours.what == "industry" and ours.classification is None:
        return ours._replace(classification=terms.industry_agency)
    return ours


def _loans(text: str) -> str:
    """Return a formula, or the measure that counts the same loans."""
    plain = _plain(text)
    return _MEASURE_OF.get(plain, plain)


def _plain(formula: str) -> str:
    """Return a formula without blanks, in lower case."""
    return re.sub(r"\s+", "", formula).casefold()


_BUCKET_OF: Final = {
    f"={kind}rank_{agency}{bound}": agency
    for agency in AGENCIES for kind in ("", "facility_") for bound in (f">={CCC}", f">{CCC - 1}")
}  # fmt: skip
"""The formulas of shares that are an agency's bucket of CCC+ (Caa1) and below."""

_MEASURE_OF: Final = {_plain(formula): measure for measure, formula in FORMULAS.items()}


def _is_of_moodys(fact: Fact) -> bool:
    return max(fact.trigger or 0.0, fact.value or 0.0) >= _MOODYS_FACTOR_LEAST


def is_home(fact: Fact, terms: Terms) -> bool:
    """Return whether the home that a label speaks of is the deal's, as far as it names one."""
    words, home = key(fact.label), terms.home_countries
    named = None if fact.subject is None else fact.subject.detail
    in_europe, in_america = "DE" in home and "US" not in home, "US" in home and "DE" not in home
    is_europe = named in ("europe", "eea") or _EUROPE.search(words) is not None
    is_america = named == "us" or _AMERICA.search(words) is not None
    if is_europe and is_america:
        return False
    return (in_europe or not is_europe) and (in_america or not is_america)


_EUROPE: Final = re.compile(r"\b(?:europe|european|eu|eea)\b")
_AMERICA: Final = re.compile(r"\b(?:usa?|u s a?|united states)\b")


# ---- one of several ------------------------------------------------------------------------------------------------


def _one_of(facts: Sequence[Fact]) -> Fact | str:
    """Return the figure that counts, one with a limit or a status first.

    Why none, where they contradict each other.

    A figure of a column that is a guess contradicts none of a column that is certain.
    """
    certain = [fact for fact in facts if not fact.is_guessed] or list(facts)
    tests = [fact for fact in certain if fact.kind == "test"] or certain
    conflict = next((fact.conflict for fact in tests if fact.conflict), "")
    if conflict and (len(tests) > 1 or len(certain) == len(facts)):
        return f"{_AGAIN}: {conflict}"
    first = next((fact for fact in tests if fact.trigger is not None), tests[0])
    if any(_contradict(first, fact) for fact in tests):
        return f"{_AGAIN}: {', '.join(fact.place for fact in tests)}"
    return first


_AGAIN: Final = "it is printed again with another figure"


def _contradict(first: Fact, second: Fact) -> bool:
    if first.trigger is not None and second.trigger is not None and first.trigger != second.trigger:
        return True
    if first.value is None or second.value is None:
        return False
    return abs(first.value - second.value) > max(first.tolerance, second.tolerance)


def _why_left(fact: Fact, chosen: Fact) -> str:
    if fact.is_guessed and not chosen.is_guessed:
        return f"its column is a guess, and the figure of a certain one is taken: {chosen.place}"
    if fact.conflict:
        return f"{_AGAIN}: {fact.conflict}"
    if _contradict(fact, chosen):
        return f"the figure with a limit is taken: {chosen.place}"
    return f"the same figure is taken from {chosen.place}"


_NUMBERS: Final = {1: "the largest", 2: "the second largest", 3: "the third largest"}


def _difference(theirs: _Key, ours: _Key) -> str:
    """Return what tells a figure from the nearest test of ours, in words."""
    reasons = []
    if theirs.last_class != ours.last_class:
        reasons.append(f"it is of class {theirs.last_class or '?'}, ours of class {ours.last_class or '?'}")
    if theirs.nth != ours.nth:
        reasons.append(f"it is of {_nth(theirs)}, ours of {_nth(ours)}")
    if theirs.agency != ours.agency:
        reasons.append(f"it is by {_agency(theirs.agency)}, ours by {_agency(ours.agency)}")
    if theirs.classification != ours.classification:
        reasons.append(
            f"it is by the industries of {_agency(theirs.classification)}, "
            f"ours by those of {_agency(ours.classification)}"
        )
    reasons += _other_loans(theirs.more, ours.more)
    return "; ".join(reasons)


def _other_loans(theirs: tuple[Any, ...], ours: tuple[Any, ...]) -> Iterator[str]:
    """Yield what tells two figures apart by the loans that they count, what they add, and what they divide by."""
    *apart, among, adds = theirs
    *own_apart, own_among, own_adds = ours
    if among != own_among:
        yield f"it is measured among {_among(among)}, ours among {_among(own_among)}"
    if adds != own_adds:
        yield f"its share includes {_add(adds)}, ours {_add(own_adds)}"
    if apart != own_apart:
        yield "ours is a share of another amount"


def _among(what: str | None) -> str:
    return "all loans" if what is None else AMONG_WORDS.get(what, what)


def _add(names: tuple[str, ...]) -> str:
    return " and ".join(names) or "neither cash nor what is not drawn"


def _nth(key: _Key) -> str:
    if key.what == "top_obligors":
        return f"the {key.nth} largest together"
    return _NUMBERS.get(key.nth or 1, f"number {key.nth} by size")


def _agency(letter: str | None) -> str:
    return AGENCY_NAMES.get(letter or "", "an agency that is not named")


# ---- printed digits ------------------------------------------------------------------------------------------------


def with_counted_decimals(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the figures with the decimals that count.

    Of a column whose printed figures all end in 0, one fewer.
    """
    columns: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.decimals and fact.value is not None and fact.unit in (None, "percent"):
            columns.setdefault((fact.group, column_part(fact.place)), []).append(fact)
    rounded = {id(fact) for column in columns.values() if _is_rounded(column) for fact in column}
    if not rounded:
        return tuple(facts)
    return tuple(
        replace(fact, decimals=fact.decimals - 1) if id(fact) in rounded and fact.decimals else fact for fact in facts
    )


def _is_rounded(column: Sequence[Fact]) -> bool:
    shown = [f"{fact.value:.{fact.decimals}f}" for fact in column if fact.value]
    return len(shown) >= ROUNDED_LEAST and all(text.endswith("0") for text in shown)
