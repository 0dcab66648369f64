"""The rules of a draft.

What the file prints of the deal, what its figures tie by, and what stays open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.compliance.conventions import currency_of, printed_agency
from core.compliance.ladders import masked_rows
from core.deals.draft.figures import DraftTest
from core.deals.draft.record import CERTAIN, GUESSED, ONE, Decision, Sections, Sure, origin
from core.definition.choices import BY_NAME, Option, Setting
from core.definition.definition import FAMILIES_MAX, FAMILY_MAX, Definition
from core.definition.keys import TEXT_MAX
from core.definition.written import Block, WrittenEntry, one_line
from core.interpretation.reading import read_by
from core.portfolio import Portfolio
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.interpretation import Choice, Interpretation
from core.portfolio.model.portfolio import Deal
from core.values import day_of
from core.words import first_of

_DAYS: Final = ("closing_date", "reinvestment_end", "stated_maturity")

_MOVING: Final = {
    "wal": "the limit of a life falls with time in most deals, and the page prints that of its day: give its steps",
    "warf": "it may be the limit of one row of a matrix, which moves with the spread: give the matrix",
    "was": "it may be the limit of one row of a matrix, which moves with the rating factor: give the matrix",
    "sdr": "the printed limit is the break-even rate of its day: give the coefficients of the CDO Monitor",
}  # fmt: skip
"""Measures whose printed limits hold for one day, and what has to be given in their place."""


def add_deal(sections: Sections, portfolio: Portfolio, drafted: Sequence[DraftTest]) -> None:
    """Currency, home and days of the deal, as the file prints them."""
    deal, cells = portfolio.deal, portfolio.source_cells
    currency = currency_of(portfolio)
    if currency is None or len(currency) != 3 or not currency.isalpha():
        sections.leave("conventions.currency", None, "nothing in the file names one")
    else:
        sections.put(
            "conventions.currency", currency.upper(), cells.get("deal.currency") or cells.get("currency"), CERTAIN
        )
    _add_home(sections, drafted)
    for name in _DAYS:
        day, place = day_of(getattr(deal, name)), cells.get(f"deal.{name}")
        if day is not None:
            sections.put(f"conventions.{name}", day, place or "the deal's record", CERTAIN)
        else:
            sections.leave(f"conventions.{name}", None, "no page prints it")


def _add_home(sections: Sections, drafted: Sequence[DraftTest]) -> None:
    """Set the home countries, where the label of the test of foreign obligors names them."""
    foreign = next(
        (draft_test.fact for draft_test in drafted if draft_test.measured.get("measure") == "foreign_country"), None
    )
    if foreign is None:
        return
    if foreign.subject is not None and foreign.subject.detail == "us":
        sections.put("conventions.home_countries", ["US"], foreign.place, CERTAIN)
        return
    why = f"{one_line(foreign.label, TEXT_MAX)!r} does not list them: the market's list stands in"
    sections.leave("conventions.home_countries", None, why, foreign.place)


# ---- readings ------------------------------------------------------------------------------------------------------


def add_readings(sections: Sections, interpretation: Interpretation, deal: Deal) -> None:
    """Add what the file's own figures decide, then the choices that they leave open."""
    for choice in interpretation.choices:
        named = BY_NAME.get(choice.name)
        if named is None or choice.state == "stated":
            continue
        if choice.name == MOODYS_COLUMNS and deal.factor_ratings is not None:
            why = "the file's CCC bucket goes by another column of Moody's ratings than its factor, and a definition "
            sections.leave("ratings.a.columns", None, f"{why}names one for both: what the file does stays")
            continue
        option = next((each for each in named.options if each.name == choice.reading.option), None)
        if choice.state == "open":
            _leave_open(sections, choice, option, named.words)
        else:
            _add_reading(sections, choice, option)


MOODYS_COLUMNS: Final = "rating_columns_a"
"""The choice of the column of Moody's ratings."""


def _add_reading(sections: Sections, choice: Choice, option: Option | None) -> None:
    ties, runner_up = len(choice.reading.ties), choice.runner_up
    second = "" if runner_up is None else f", runner-up {len(runner_up.ties)}"
    where = f"by the file's figures: {ties} tie{second}, {_places(choice)}".rstrip(", ")
    sure: Sure = ONE if choice.state == "proposed" else CERTAIN
    settings = _settings(option)
    for setting in settings:
        sections.put(setting.key, setting.document, where, sure)
    path = settings[0].key if settings else choice.name
    if choice.state == "proposed":
        sections.decide.append(
            Decision(
                subject=path, why=f"one amount alone ties by it: {choice.reading.words}", place=_places(choice) or None
            )
        )


OF_ANOTHER_BALANCE: Final = ("account", "overdraft")
"""Readings of the principal cash that no key says: an amount of one month."""


def cash_correction(sections: Sections, portfolio: Portfolio, interpretation: Interpretation) -> list[Block]:
    """Return the correction of this month's principal cash, where the file's figures tie by another balance than was
    read; open where the file does not say its day, since it would correct every file."""
    choice = next((each for each in interpretation.changed if each.name == "principal_cash"), None)
    if choice is None or choice.reading.option not in OF_ANOTHER_BALANCE:
        return []
    read = portfolio if portfolio.interpretation is not None else read_by(portfolio, interpretation)
    day = day_of(portfolio.deal.as_of)
    is_open = day is None or portfolio.deal.as_of_source in ("modified", "upload")
    if is_open:
        why = "the file does not say its day, and the correction would hold for every month"
        sections.decide.append(Decision(subject="corrections", why=why))
    where = f"by the file's figures: {len(choice.reading.ties)} tie, {_places(choice)}"
    comment = origin(where, ONE if choice.state == "proposed" else CERTAIN)
    entries = (
        WrittenEntry("figure", "principal_cash", comment),
        WrittenEntry("amount", read.deal.principal_cash, comment),
        WrittenEntry("note", one_line(f"by the figures of the file, {choice.reading.words}", TEXT_MAX), comment),
        *(() if day is None else (WrittenEntry("as_of", day, "the day of the file"),)),
    )
    return [Block("corrections", entries, is_listed=True, is_open=is_open)]


def _leave_open(sections: Sections, choice: Choice, option: Option | None, words: str) -> None:
    """Add a choice that no figure decides.

    What is used stays what the market or the reading has.
    """
    why = f"no figure of the file decides {words}; {choice.reading.words} until something does"
    settings = _settings(option)
    for setting in settings:
        sections.leave(setting.key, setting.document, why)
    if not settings:
        sections.decide.append(Decision(subject=choice.name, why=why))


PLACES_SHOWN: Final = 3
"""Cells of tied figures that a comment names."""


def _places(choice: Choice) -> str:
    return first_of(list(dict.fromkeys(tie.place for tie in choice.reading.ties)), PLACES_SHOWN)


def _settings(option: Option | None) -> list[Setting]:
    """Return what a definition says for an option; nothing for an absent key."""
    return [] if option is None else [change for change in option.sets if change.value is not None]


def add_reading_of_pages(sections: Sections, portfolio: Portfolio, base: Definition) -> None:
    """Add what sums of the file's pages decide where the search did not, what masks hide, and what no page prints."""
    deal, cells = portfolio.deal, portfolio.source_cells
    denominator = "conventions.defaulted_in_denominator"
    if deal.defaulted_in_denominator is not None and not sections.has(denominator):
        place = cells.get("deal.defaulted_in_denominator")
        sections.put(denominator, deal.defaulted_in_denominator, place, CERTAIN)
    if deal.reference_coupon is not None:
        guess = next(
            (warning for warning in portfolio.notes.warnings if warning.code == "reference_coupon_by_test"), None
        )
        path, place = "conventions.reference_coupon", cells.get("deal.reference_coupon")
        sections.put(path, deal.reference_coupon, place, CERTAIN if guess is None else GUESSED)
        if guess is not None:
            sections.decide.append(Decision(subject=path, why=guess.message, limit=deal.reference_coupon, place=place))
    industry = printed_agency(portfolio, "industry")
    if industry is not None and not sections.has("classifications.industry"):
        sections.put(
            "classifications.industry", industry, "the only agency by whose industries limits are printed", CERTAIN
        )
    _leave_masked(sections, portfolio, base)


_UNSAID: Final = "no page says what they count as"


def _leave_masked(sections: Sections, portfolio: Portfolio, base: Definition) -> None:
    for agency, name in AGENCY_NAMES.items():
        column, path = f"rating_agency_{agency}", f"ratings.{agency}.masked"
        rows = masked_rows(portfolio, column) if column in portfolio.ranks else None
        if rows is not None and not sections.has(path):
            known = getattr(portfolio.deal, f"masked_ccc_{agency}") is not None
            table = "its rating table says how much of them is CCC, no page what else they count as"
            why = f"{int(rows.sum())} ratings of {name} are masked: " + (table if known else _UNSAID)
            sections.leave(path, getattr(base.ratings, agency).masked, why, portfolio.source_cells.get(column))


def leave_unprinted(sections: Sections, portfolio: Portfolio, drafted: Sequence[DraftTest]) -> None:
    """Add the amounts and terms that the drafted tests need and no page prints."""
    deal, measures = portfolio.deal, {each.measured.get("measure") for each in drafted}
    if "ic" in measures and deal.interest_available is None:
        if deal.interest_receivable is None:
            sections.leave(
                "interest_coverage.receivable",
                None,
                "no page prints the interest of the period that is still to be received",
            )
        if deal.senior_fees is None:
            sections.leave("interest_coverage.senior_fees", None, "no page prints the senior fees of the period")
    if deal.principal_cash is None:
        sections.decide.append(Decision(subject="principal cash", why="no page prints it, and it counts as 0"))
    if "was" in measures and not sections.has("conventions.reference_coupon"):
        _leave_coupon(sections, portfolio)
    _leave_ccc(sections, drafted)
    for draft_test in drafted:
        measure = draft_test.measured.get("measure")
        if measure in _MOVING and draft_test.fact.trigger is not None:
            name = one_line(draft_test.fact.label, TEXT_MAX)
            sections.decide.append(
                Decision(subject=name, why=_MOVING[measure], limit=draft_test.fact.trigger, place=draft_test.fact.place)
            )


def _leave_coupon(sections: Sections, portfolio: Portfolio) -> None:
    """Add the reference coupon, over which fixed-rate loans add to the spread."""
    path, fixed = "conventions.reference_coupon", portfolio.flags.get("is_fixed")
    printed = next(
        (
            figure
            for figure in portfolio.facts.figures
            if figure.subject is not None
            and (figure.subject.measure, figure.subject.detail) == ("wac", "reference")
            and figure.value is not None
        ),
        None,
    )
    if printed is not None:
        why = "a page prints it; whether the spread test counts coupons over and below it, no page says"
        sections.leave(path, printed.value, why, printed.place)
    elif fixed is not None and fixed.any():
        sections.leave(
            path,
            None,
            "fixed-rate loans add their excess coupon to the spread only where it is known, and no page prints it",
        )


def _leave_ccc(sections: Sections, drafted: Sequence[DraftTest]) -> None:
    """Add the limit of the CCC excess, which may be that of the CCC tests."""
    ccc = [
        draft_test
        for draft_test in drafted
        if draft_test.measured.get("measure") == "ccc" and draft_test.fact.trigger is not None
    ]
    limits = {each.fact.trigger for each in ccc if not each.open_limit}
    if len(limits) == 1:
        place = ", ".join(each.fact.place for each in ccc)
        sections.leave(
            "par_value.ccc_limit",
            limits.pop(),
            "the CCC tests print this limit, and the excess may have another",
            place,
        )


# ---- families ------------------------------------------------------------------------------------------------------


def families(portfolio: Portfolio) -> list[Block]:
    """Return the obligors that the file's page of the largest obligors counts as one."""
    blocks, names = [], set[str]()
    for family in portfolio.notes.families[:FAMILIES_MAX]:
        name = one_line(family.name, TEXT_MAX) or one_line(family.obligors[0], TEXT_MAX)
        obligors = list(dict.fromkeys(one_line(obligor, TEXT_MAX) for obligor in family.obligors[:FAMILY_MAX]))
        if not name or name in names or not all(obligors):
            continue
        names.add(name)
        blocks.append(
            Block(
                "classifications.families",
                (
                    WrittenEntry("name", name, f"{family.place}: certain"),
                    WrittenEntry(
                        "obligors", obligors, f"their par adds up to the printed sum, {family.place}: guessed"
                    ),
                ),
                is_listed=True,
            )
        )
    return blocks
