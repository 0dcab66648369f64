"""What a published figure is about, as the fields of a definition's test that measures it, or why none of ours does.

The subjects are those of labels of monthly reports and indentures of US and European deals, by the words of a page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from core.portfolio.cells.string_pool import key
from core.portfolio.model.facts import AGENCY_NAMES, Agency, Direction, Fact, FactSubject

ONE_OBLIGOR_MOST_PCT: Final = 4.0
"""Limit of a test of obligors that names no rank: up to here it is about one obligor, beyond it about several."""

HOMES: Final = ("us", "europe", "eea", "qualifying", "eligible", "specified", "approved")
"""Details of a label about obligors abroad, which say what home is: by its name, or as the deal defines it."""

MEANINGS_MAX: Final = 2_048
"""Subjects whose meaning is remembered."""


@dataclass(frozen=True, slots=True)
class SubjectMeaning:
    """The test of ours that measures a subject."""

    test: dict[str, Any]
    """Fields of a definition's test: measure, share or value, with their parameters."""
    side: Direction
    """Side of its limit."""


@dataclass(frozen=True, slots=True)
class NoMeaning:
    """That no test of ours measures a subject."""

    why: str
    """What ours lack, in words: "its share includes cash, ours does not"."""
    nearest: dict[str, Any] = field(default_factory=dict)
    """Fields of the test that would be meant without what ours lack; empty where there is none."""


@dataclass(frozen=True, slots=True)
class _Role:
    """How a measure of a label is measured by us."""

    test: dict[str, Any]
    limit: Direction
    takes: frozenset[str] = frozenset()
    """What else the subject says: class (needed), agency, classification, nth, adds, among."""
    agency: frozenset[Agency] = frozenset()
    """Agencies that may be named without changing what is measured."""
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the subject's detail, the fields in place of `test`; "" keeps those."""
    ignores: frozenset[str] = frozenset()
    """What the subject may say without changing what is measured: classes, complement."""


def _row(test: dict[str, Any] | str, limit: Direction = "max", takes: str = "", **more: Any) -> _Role:
    """Return a measure by its name, or a share by its formula."""
    terms = {"share" if test.startswith("=") else "measure": test} if isinstance(test, str) else test
    agency, ignores = frozenset(more.pop("agency", "")), frozenset(more.pop("ignores", "").split())
    return _Role(terms, limit, frozenset(takes.split()), agency, ignores=ignores, **more)


_LOANS: Final = {"share": '=lien="first_lien"'}
_BONDS: Final = {"share": '=lien="bond"'}
_ALL: Final[dict[str, Any]] = {}
"""The role's own fields."""

_ROLES: Final = {
    "oc": _row("oc", "min", "class"),
    "ic": _row("ic", "min", "class"),
    "reinvestment": _row("reinvestment_oc", "min", ignores="classes"),
    "eod": _row("event_of_default", "min", ignores="classes"),
    "warf": _row("warf", "max", "agency"),
    "warr": _row("warr", "min", "agency", ignores="classes"),
    "was": _row("was", "min"),
    "wac": _row("wac", "min"),
    "wal": _row("wal", "max"),
    "diversity": _row("diversity", "min", agency="a"),
    "cdo_monitor": _row(
        "sdr", "max", agency="b", ignores="classes",
        details={"sdr": _ALL, "scenario": _ALL, "bdr": {"measure": "bdr"}, "break even": {"measure": "bdr"}},
    ),
    "sdr": _row("sdr", "max", agency="b", ignores="classes"),
    "bdr": _row("bdr", "min", agency="b", ignores="classes"),
    "default_rate_dispersion": _row("default_rate_dispersion", "max", agency="b"),
    "obligor_diversity": _row("obligor_diversity", "min", agency="b"),
    "industry_diversity": _row("industry_diversity", "min", agency="b"),
    "regional_diversity": _row("regional_diversity", "min", agency="b"),
    "obligor": _row("obligor", "max", "nth among"),
    "industry": _row("industry", "max", "nth classification"),
    "country": _row("country", "max", "nth"),
    "ccc": _row("ccc", "max", "agency"),
    "senior_secured": _row(
        "senior_secured", "min", "adds",
        details={"loan": _LOANS, "bond": _BONDS, "loan and bond": _ALL, "loan bond": _ALL},
    ),
    "non_senior": _row("non_senior_secured", ignores="complement"),
    "cov_lite": _row("cov_lite", details={"loan": _ALL}),
    "fixed": _row("fixed_rate"),
    "floating": _row("floating_rate"),
    "dip": _row("dip", details={"loan": _ALL}),
    "current_pay": _row("current_pay"),
    "discount": _row("discount", details={"loan": _ALL}),
    "bridge": _row("bridge", details={"loan": _ALL}),
    "participation": _row("participations"),
    "pik": _row("pik"),
    "infrequent": _row("pays_less_than_quarterly", details={
        "annual": {"measure": "pays_annually"}, "semi annual": {"measure": "pays_semi_annually"},
        "less than semi annual": {"measure": "pays_annually"},
    }),
    "unfunded": _row("revolving", details={"loan": _ALL}),
    "foreign": _row("foreign_country", ignores="complement", details=dict.fromkeys(HOMES, _ALL)),
    "small": _row("small_facilities"),
    "long_dated": _row("long_dated"),
    "bond": _row("bonds", details={"bond": _ALL}),
    "defaulted": _row({"value": "=defaulted_par/denominator*100"}),
}  # fmt: skip
"""By the role of the words, the measure or the share that is meant; the limit's side where the page prints none."""

_UNMEASURED: Final = {
    "currency": "no test of ours is about the loans' currencies",
    "unhedged": "no test of ours is about hedges",
    "credit_estimate": "the loans do not say which ratings are credit estimates",
    "derived": "no test of ours is about how a rating was derived",
    "letter_of_credit": "no test of ours is about letters of credit",
    "structured": "no test of ours is about structured finance or step-up securities",
    "equity": "no test of ours is about equity and warrants",
    "counterparty": "no test of ours is about the exposure to counterparties",
    "delinquent": "ours counts defaulted loans with those past due",
    "workout": "no test of ours is about workout loans",
    "affiliate": "no test of ours is about the manager's companies",
    "sale": "no test of ours is about sales",
    "retention": "no test of ours is about the risk retention",
    "price": "the label does not say which price, or how it is averaged",
    "quotes": "no test of ours in an indenture is about quotes",
}  # fmt: skip

_SUBSETS: Final = {
    "non_senior": "non_senior_secured", "senior_secured": "senior_secured", "dip": "dip", "cov_lite": "cov_lite",
    "fixed": "fixed_rate", "current_pay": "current_pay", "discount": "discount", "bridge": "bridge",
    "participation": "participations", "pik": "pik", "unfunded": "revolving", "long_dated": "long_dated",
    "bond": "bonds",
}  # fmt: skip
"""The role of the loans among which a figure is measured, as the measure that counts them."""

AMONG_WORDS: Final = {
    "non_senior_secured": "loans that are not senior secured", "senior_secured": "senior secured loans",
    "dip": "DIP loans", "cov_lite": "covenant-lite loans", "fixed_rate": "fixed-rate loans",
    "floating_rate": "floating-rate loans", "current_pay": "current pay loans", "discount": "discount obligations",
    "bridge": "bridge loans", "participations": "participations", "pik": "loans that may defer interest",
    "revolving": "revolving and delayed drawdown loans", "long_dated": "long-dated loans", "bonds": "bonds",
    "foreign_country": "loans of obligors abroad", "small_facilities": "small facilities",
}  # fmt: skip
"""The loans that a measure counts, in words."""


def meaning_of_fact(fact: Fact) -> SubjectMeaning | NoMeaning:
    """Return the test that measures a printed figure, by its subject and what else the words of its label say."""
    if fact.subject is None:
        return NoMeaning("its words say no one test of ours")
    meaning = meaning_of(fact.subject, fact.trigger, fact.direction)
    if isinstance(meaning, NoMeaning):
        return meaning
    words = key(fact.label)
    if (match := _PART.search(words)) is not None:
        return NoMeaning(f'its words ("{match[0].strip()}") are about a part of what ours measures', meaning.test)
    if meaning.test.get("measure") == "foreign_country" and _MORE.search(words) is not None:
        return NoMeaning("it speaks of other places than home", meaning.test)
    if fact.subject.measure not in _BY_NAME and _OF_OBLIGORS.search(words) is not None:
        return NoMeaning("it is about obligors among these loans, ours about the loans", meaning.test)
    return meaning


_PART: Final = re.compile(
    r"\b(?:each|every|swapped|acquired|purchased?|first period|ebitda|emerging|adjust(?:ment|ments|ed)"
    r"|other (?:industr\w+|sectors?|obligors?|issuers?)|(?:other than|except|excluding) the (?:\w+ )?(?:largest|top)"
    r"|(?:exclud\w+|excl|except)\b(?! (?:any )?default\w+))\b"
)
"""Words by which a figure is about a part of what its other words say, or about something beside it."""

_OF_OBLIGORS: Final = re.compile(r"\b(?:obligor|issuer|borrower) (?:concentrations?|limits?|exposures?)\b")

_MORE: Final = re.compile(r"\b(?:canada|uk|united kingdom|australia|japan|group (?:i+|iv|[1-4])|emerging|tax)\b")
"""Places beside home that a label names: what it leaves out, or is about, is another share than what is abroad."""

_BY_NAME: Final = ("obligor", "industry", "country", "foreign", "counterparty")
"""Measures of obligors themselves."""


@lru_cache(maxsize=MEANINGS_MAX)
def meaning_of(
    subject: FactSubject, trigger: float | None = None, direction: Direction | None = None
) -> SubjectMeaning | NoMeaning:
    """Return the fields of the test that measures a subject, and the side of its limit.

    Args:
        subject: of a published figure.
        trigger: its printed limit, which tells one obligor from several where the label does not.
        direction: side of the limit as the page prints it; None: the measure's own.
    """
    role = _ROLES.get(subject.measure)
    if role is None:
        return NoMeaning(_UNMEASURED.get(subject.measure, "no test of ours measures it"))
    if (why := _hindrance(subject, role)) is not None:
        return NoMeaning(why, _with_rank(dict(role.test), subject, role))
    if "class" in role.takes and not subject.classes:
        return NoMeaning("the label names no class")
    side = direction or role.limit
    if subject.measure == "obligor":
        return _obligors(subject, trigger, side)
    if subject.measure == "country":
        return _country(subject, side)
    return SubjectMeaning(_with_rank(_fields_of(subject, role, trigger, direction), subject, role), side)


def _fields_of(subject: FactSubject, role: _Role, trigger: float | None, direction: Direction | None) -> dict[str, Any]:
    """Return the fields of the test of a subject that is no obligor and no country, without its rank."""
    if subject.measure == "wal" and subject.agency == "b":
        return {"measure": "cdo_monitor_wal"}
    if subject.measure == "cdo_monitor" and subject.detail is None:
        return _monitor(trigger, direction)
    test = dict(role.details.get(subject.detail or "") or role.test)
    if "class" in role.takes:
        test["class"] = "/".join(dict.fromkeys(name.rstrip("0123456789-") or name for name in subject.classes))
    for name in ("agency", "classification"):
        if name in role.takes and subject.agency is not None:
            test[name] = subject.agency
    if subject.with_cash:
        test["adds"] = ["cash"]
    return test


def _hindrance(subject: FactSubject, role: _Role) -> str | None:
    """Return what a subject says beyond its measure that ours do not measure.

    None: nothing.
    """
    measure = subject.measure
    if subject.with_cash and "adds" not in role.takes:
        return "its share includes cash, ours does not"
    if subject.subset is not None and not ("among" in role.takes and subject.subset in _SUBSETS):
        among = AMONG_WORDS.get(subject.subset, f"loans that are {subject.subset.replace('_', ' ')}")
        return f"it is measured among {among}, ours among all loans"
    if subject.aggregate is not None and measure != "obligor":
        several = f"{subject.aggregate} of them" if subject.aggregate else "several"
        return f"it adds up {several}, ours is one"
    if subject.rank is not None and "nth" not in role.takes:
        return f"it is of number {subject.rank} by size, ours of all"
    if subject.is_complement and "complement" not in role.ignores and measure != "country":
        return "it is of everything else, ours of what the words name"
    if subject.classes and "class" not in role.takes and "classes" not in role.ignores:
        return f"it is of class {'/'.join(subject.classes)}, ours of the whole deal"
    if subject.detail is not None and subject.detail not in role.details and measure != "country":
        return f"it is of another kind ({subject.detail}) than ours"
    return _other_agency(subject, role)


def _other_agency(subject: FactSubject, role: _Role) -> str | None:
    if subject.measure == "country":
        return None  # which countries are meant is looked at apart
    if subject.agency is None or role.takes & {"agency", "classification"} or subject.agency in role.agency:
        return None
    if subject.measure == "wal" and subject.agency == "b":
        return None  # the average life of the CDO Monitor
    return f"it is {AGENCY_NAMES[subject.agency]}'s own, ours the deal's"


def _with_rank(test: dict[str, Any], subject: FactSubject, role: _Role) -> dict[str, Any]:
    return {**test, "nth": subject.rank or 1} if "nth" in role.takes else test


def _obligors(subject: FactSubject, trigger: float | None, side: Direction) -> SubjectMeaning | NoMeaning:
    """One obligor by its rank, or several of the largest together."""
    among = {} if subject.subset is None else {"among": _SUBSETS[subject.subset]}
    single = {"measure": "obligor", "nth": subject.rank or 1, **among}
    ten = {"measure": "top_obligors", "nth": 10, **among}
    if subject.aggregate:
        return SubjectMeaning({"measure": "top_obligors", "nth": subject.aggregate, **among}, side)
    if subject.aggregate is None and subject.rank is not None:
        return SubjectMeaning(single, side)
    if subject.aggregate is None and trigger is None:
        return NoMeaning("the label does not say whether it is one obligor or several", single)
    if subject.aggregate == 0 or (trigger is not None and trigger > ONE_OBLIGOR_MOST_PCT):
        return NoMeaning("it adds up several obligors, and the label does not say how many", ten)
    return SubjectMeaning(single, side)


def _country(subject: FactSubject, side: Direction) -> SubjectMeaning | NoMeaning:
    if subject.is_complement and subject.rank is None and subject.detail is None:
        return SubjectMeaning({"measure": "foreign_country"}, side)
    if subject.rank is not None and not subject.is_complement and subject.detail is None:
        return SubjectMeaning({"measure": "country", "nth": subject.rank}, side)
    return NoMeaning("it is about countries that the label chooses", {"measure": "foreign_country"})


def _monitor(trigger: float | None, direction: Direction | None) -> dict[str, Any]:
    """Return the CDO Monitor's figure.

    The scenario default rate below the break-even rate, or, held from below, the break-even rate; their difference
    where the limit is 0.
    """
    if direction != "min":
        return {"measure": "sdr"}
    return {"measure": "bdr" if trigger else "cdo_monitor"}
