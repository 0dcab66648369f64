"""Credit: the CCC bucket and what one more downgrade does, a default, weak prices, and room for the next purchase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from core.insights.insight import FigureCondition, FigureRecipe, PortfolioChange
from core.insights.limits import NAMED
from core.insights.study import FindingDraft, Study, StudyFinding, Urgency
from core.insights.words import listed, plain
from core.portfolio.model.ratings import CCC, SCALE_A, SCALE_B
from core.scenario.headroom import first_failure
from core.scenario.trades import Trade, TradeError
from core.values import day_of

LAST_BEFORE_CCC: Final = CCC - 1
"""The rank of B3 and B-."""

DISTRESSED: Final = 80.0
"""Percent of par below which a performing loan is priced as distressed."""
WEAK: Final = 90.0
DOUBTFUL: Final = 50.0
"""Below it the price of a loan that no agency has at CCC is more likely wrong than right."""

CCC_ROWS: Final = [FigureCondition("worst_rating", "at_least", float(CCC))]
NEXT_ROWS: Final = [FigureCondition("worst_rating", "equal", float(LAST_BEFORE_CCC))]

TESTS_SHOWN: Final = 3


def ccc(study: Study) -> Iterator[StudyFinding]:
    """Yield what is rated CCC, at which prices, and the largest names."""
    columns = study.columns
    if not columns.has("worst_rating"):
        return
    chosen = columns.chosen(CCC_ROWS)
    draft = study.draft("ccc")
    draft.loans("count", "count", "count", *CCC_ROWS)
    draft.loans("par", "sum", "amount", *CCC_ROWS)
    if draft.loans("share", "share", "percent", *CCC_ROWS, of="denominator") is None:
        return
    each = study.first("ccc")
    text = ""
    if each is not None and each.threshold_type == "max":
        draft.test("value", each.test_id)
        draft.test("limit", each.test_id, "limit")
        text = " The tested bucket, of the agency that sees the most, is {value} against a limit of {limit}."
    if not chosen.any():
        yield draft.finding(
            "risk_compliance",
            "background",
            "No performing loan is rated CCC or lower",
            "No performing loan is rated Caa1/CCC+ or lower by any agency." + text,
            methodology="Loans whose worst agency rating is at least as weak as Caa1 or CCC+.",
        )
        return
    named = draft.largest("loan", chosen)
    priced = ""
    if columns.has("price") and draft.loans("price", "average", "price", *CCC_ROWS, column="price") is not None:
        priced = "They are priced at {price} on average."
    yield draft.finding(
        "risk_compliance",
        "notable" if draft["share"] > 5.0 else "context",
        "{share} of the deal is rated CCC or lower",
        f"{{count}} with {{par}} ({{share}} of the deal) {'is' if draft['count'] == 1 else 'are'} rated "
        f"Caa1/CCC+ or lower by at least one agency.{text}",
        weight=draft["share"],
        operations=f"The largest: {named}.",
        analyst=f"{priced} The largest: {named}.".strip(),
        finance=priced,
        executive=f"The largest: {named}.",
        coverage_pct=study.covered("worst_rating"),
        methodology="Performing loans whose worst rating, as the rules derive them, is Caa1, CCC+ or weaker; the "
        "share is of the "
        "denominator of the limits. Loans that nobody rates are not among them, though the tested bucket may count "
        "them.",
    )


def downgrade(study: Study) -> Iterator[StudyFinding]:
    """Every loan one notch above CCC falls by one.

    A run over the portfolio as it would be then.
    """
    columns = study.columns
    if not columns.has("worst_rating"):
        return
    chosen = columns.chosen(NEXT_ROWS)
    if not chosen.any():
        return
    draft = study.draft("downgrade")
    draft.basis = "projected"
    change = PortfolioChange(kind="downgrade", where=NEXT_ROWS, notches=1)
    draft.loans("count", "count", "count", *NEXT_ROWS)
    draft.loans("par", "sum", "amount", *NEXT_ROWS)
    draft.loans("share", "share", "percent", *NEXT_ROWS, of="denominator")
    broken = _broken(study, change)
    moved = [each for each in map(study.first, ("ccc", "warf", "oc")) if each is not None]
    texts = []
    for at, each in enumerate(moved):
        if draft.test(f"after_{at}", each.test_id, change=change) is None:
            continue
        draft.say(f"test_{at}", each.test_name)
        draft.test(f"now_{at}", each.test_id)
        draft.test(f"limit_{at}", each.test_id, "limit")
        texts.append(f"{{test_{at}}} would go from {{now_{at}}} to {{after_{at}}} (limit {{limit_{at}}})")
    if not texts:
        return
    named = draft.largest("loan", chosen)
    yield draft.finding(
        "risk_compliance",
        "near" if broken else "notable" if draft["share"] > 10.0 else "context",
        "One more downgrade of the B3/B\N{MINUS SIGN} loans would "
        + (f"make {_tests(draft, broken)} fail" if broken else "make no test fail"),
        "{count} with {par} ({share} of the deal) "
        + ("stand" if draft["count"] != 1 else "stands")
        + f" one notch above CCC. Were they all cut by one notch, {'; '.join(texts)}.",
        weight=draft["share"],
        coverage_pct=study.covered("worst_rating"),
        executive="This is a stress of all of them at once, not a forecast.",
        finance="This is a stress of all of them at once, not a forecast.",
        operations=f"The largest to watch: {named}.",
        analyst=f"The largest of them: {named}.",
        methodology="A run of the same tests over the portfolio with every rating of the performing loans whose worst "
        "rating is B3 or B- one notch lower. Prices and recoveries stay as they are.",
    )


def _broken(study: Study, change: PortfolioChange) -> list[str]:
    """Return tests that pass now and fail after a change, by id."""
    return [
        result.test_id
        for result in study.after(change)
        if result.status == "fail" and result.test_id in study.by_id and study.by_id[result.test_id].status != "fail"
    ]


def _tests(draft: FindingDraft, test_ids: list[str]) -> str:
    """Return the template of a few tests by name, with how many more there are, such as: the tests WARF and CCC/Caa
    bucket."""
    names = []
    for at, test_id in enumerate(test_ids[:TESTS_SHOWN]):
        draft.say(f"fails_{at}", draft.study.by_id[test_id].test_name)
        if test_id not in draft.tests:
            draft.tests.append(test_id)
        names.append(f"{{fails_{at}}}")
    if len(test_ids) > TESTS_SHOWN:
        draft.quote(
            "more_tests", len(test_ids) - TESTS_SHOWN, "count", "tests that fail after the change", noun="other"
        )
        names.append("{more_tests}")
    return f"the test{'s' * (len(names) > 1)} {listed(names)}"


def default(study: Study) -> Iterator[StudyFinding]:
    """Yield the obligor with the most par defaults.

    A run over the portfolio as it would be then.
    """
    columns = study.columns
    if not columns.has("obligor") or not (by_name := columns.by_name("obligor")):
        return
    where = [FigureCondition("obligor", "equal", by_name[0][0])]
    oc_result = study.first("oc")
    draft = study.draft("default")
    draft.basis = "projected"
    change = PortfolioChange(kind="default", where=where)
    if oc_result is None or draft.test("after", oc_result.test_id, change=change) is None:
        return
    chosen = columns.chosen(where)
    rows = columns.largest(chosen)
    draft.say("obligor", study.borrower(int(rows[0])))
    draft.say("test", oc_result.test_name)
    draft.loans("par", "sum", "amount", *where)
    draft.loans("share", "share", "percent", *where, of="denominator")
    draft.test("now", oc_result.test_id)
    draft.test("limit", oc_result.test_id, "limit")
    draft.combined("move", "difference", "points", "after", "now", sign=True)
    draft.list(rows, in_all=int(np.count_nonzero(chosen)))
    broken = _broken(study, change)
    text = f"It would fail {_tests(draft, broken)}." if broken else "No test that passes now would fail."
    yield draft.finding(
        "risk_compliance",
        "near" if broken else "context",
        "A default of {obligor} would move {test} by {move}",
        f"{{obligor}} is the largest obligor with {{par}} ({{share}} of the deal). Were it to default, {{test}} "
        f"would go "
        f"from {{now}} to {{after}} against {{limit}}. {text}",
        weight=draft["share"],
        analyst="Its loans are carried at the lower of price and recovery, as the deal's rules have it.",
        finance="Its loans are carried at the lower of price and recovery, as the deal's rules have it.",
        methodology="A run of the same tests over the portfolio with every loan of the obligor marked as defaulted.",
    )


def distressed(study: Study) -> Iterator[StudyFinding]:
    """Loans that the market prices below 80, and those it prices below 90 though no agency has them at CCC."""
    columns = study.columns
    if not columns.has("price"):
        return
    where = [FigureCondition("price", "below", DISTRESSED)]
    chosen = columns.chosen(where)
    if chosen.any():
        draft = study.draft("distressed")
        draft.loans("count", "count", "count", *where)
        draft.loans("par", "sum", "amount", *where)
        draft.loans("share", "share", "percent", *where, of="par")
        draft.loans("price", "average", "price", *where, column="price")
        draft.quote("line", DISTRESSED, "price", "the line below which a loan is called distressed here")
        draft.loans(
            "worth", "weighted", "amount", *where, column="price", times=0.01, name="these loans at their prices"
        )
        draft.combined("loss", "difference", "amount", "par", "worth")
        named = draft.largest("loan", chosen)
        yield draft.finding(
            "risk_compliance",
            "notable" if draft["share"] > 3.0 else "context",
            "{count} " + ("are" if draft["count"] != 1 else "is") + " priced below {line}",
            "{count} with {par}, {share} of performing par, "
            + ("are" if draft["count"] != 1 else "is")
            + " priced below {line}, at {price} on average.",
            weight=draft["share"],
            coverage_pct=study.covered("price"),
            operations=f"The largest: {named}.",
            executive=f"The largest: {named}.",
            analyst=f"The largest: {named}.",
            finance="Sold at their prices they would bring {worth}, {loss} less than par.",
            methodology="Performing loans with a price below the line, which many indentures use for discount loans.",
        )
    if not columns.has("worst_rating"):
        return
    where = [
        FigureCondition("price", "below", WEAK),
        FigureCondition("price", "at_least", DOUBTFUL),
        FigureCondition("worst_rating", "below", float(CCC)),
    ]
    chosen = columns.chosen(where)
    if chosen.any():
        draft = study.draft("ahead_of_ratings")
        draft.loans("count", "count", "count", *where)
        draft.loans("par", "sum", "amount", *where)
        draft.loans("share", "share", "percent", *where, of="par")
        draft.quote("line", WEAK, "price", "the line below which a price is called weak here")
        draft.list(columns.largest(chosen), in_all=int(np.count_nonzero(chosen)))
        named = draft.each("cheap", columns.lowest("price", chosen, NAMED).tolist(), column="price")
        yield draft.finding(
            "risk_compliance",
            "notable" if draft["share"] > 3.0 else "context",
            "{count} " + ("are" if draft["count"] != 1 else "is") + " priced below {line} and not rated CCC",
            "The market sees more risk than the agencies in {count} with {par} ({share} of performing par): "
            f"rated better than CCC by all, and priced below {{line}}. The cheapest: {named}.",
            weight=draft["share"],
            coverage_pct=min(study.covered("price"), study.covered("worst_rating")),
            executive="Such loans are the likeliest next entries of the CCC bucket.",
            operations="Such loans are the likeliest next entries of the CCC bucket: put them on the watch list.",
            methodology="Performing loans with a price below the line whose worst rating of any agency is B3, B- or "
            "better.",
        )


def defaults(study: Study) -> Iterator[StudyFinding]:
    """Yield the defaulted loans."""
    columns = study.columns
    chosen = columns.chosen(loans="defaulted") & (columns.par > 0)
    if not chosen.any():
        return
    draft = study.draft("defaults")
    positive = [FigureCondition("par_value", "above", 0.0)]
    draft.loans("count", "count", "count", *positive, loans="defaulted")
    draft.loans("par", "sum", "amount", *positive, loans="defaulted")
    draft.loans("performing", "sum", "amount")
    draft.combined("all", "total", "amount", "par", "performing")
    draft.combined("share", "quotient", "percent", "par", "all", times=100.0)
    named = draft.largest("loan", chosen)
    each = study.first("oc")
    carried = ""
    if each is not None and draft.test("carried", each.test_id, "adjustments.defaulted_carried"):
        draft.combined("rate", "quotient", "percent", "carried", "par", times=100.0)
        carried = "Overcollateralisation carries them at {carried}, {rate} of par."
    yield draft.finding(
        "risk_compliance",
        "notable" if draft["share"] > 1.0 else "context",
        "{count} with {par} " + ("are" if draft["count"] != 1 else "is") + " in default",
        "{count} with {par} of par, {share} of all par, "
        + ("are" if draft["count"] != 1 else "is")
        + f" in default: {named}.",
        weight=draft["share"],
        finance=carried,
        analyst=carried,
        methodology="Loans with the flag, a D, SD or RD rating, 90 days past due, or a default date that has come.",
    )


# ---- room for the next purchase


def headroom(study: Study) -> Iterator[StudyFinding]:
    """How much of a loan may be bought until the first test fails.

    An average one, and ones that lean on a limit.
    """
    if study.pool.par <= 0 or not study.results:
        return
    loan = _average(study)
    if loan is None:
        return
    plainly: list[str] = []
    close = max(1.0, min(CLOSE_MOST, study.pool.par * CLOSE_PART))
    for kind, words, names, trades in _leaning(study, loan):
        try:
            amount, test_ids, most = first_failure(study.simulator, msgspec.convert(trades, list[Trade]), close=close)
        except TradeError:
            continue
        if kind != "average" and test_ids == plainly:
            continue  # what the loans lean on is not what comes first
        plainly = test_ids if kind == "average" else plainly
        draft = study.draft(f"headroom:{kind}")
        draft.basis = "projected"
        recipe = FigureRecipe(operation="headroom", change=PortfolioChange(kind="buy", trades=trades))
        _describe(draft, trades[0])
        for name, text in names.items():
            draft.say(name, text)
        if len(trades) > 1:
            draft.quote("borrowers", len(trades), "count", "trades of the search", noun="new borrower")
        draft.put("room", amount if test_ids else most, "amount", recipe, name="par that can be bought")
        draft.loans("par", "sum", "amount", name="performing par")
        draft.combined("part", "quotient", "percent", "room", "par", times=100.0)
        title, sentence = _room_in_words(draft, words, amount, test_ids)
        paid = _paid_in_words(draft)
        share = "That is {part} of performing par." if amount >= 1.0 else ""
        yield draft.finding(
            "risk_compliance" if test_ids and amount < 1.0 else "portfolio_composition",
            _urgency_of_room(draft, amount) if test_ids else "background",
            title,
            f"{sentence} ({{described}}).",
            weight=-draft["part"],
            executive=share,
            finance=paid,
            operations="Run the trade itself as a scenario before it is agreed.",
            analyst=f"{share} {paid}".strip(),
            methodology=_SEARCHED,
        )


def _room_in_words(draft: FindingDraft, words: str, amount: float, test_ids: list[str]) -> tuple[str, str]:
    """Return the title and the sentence of how much can be bought until these tests fail."""
    first = _tests(draft, test_ids) if test_ids else ""
    if not test_ids:
        return f"No test stands against buying {words}", (
            f"Up to {{room}} of {words} could be bought, as far as was looked, and no test that passes now would fail"
        )
    if amount < 1.0:
        title = f"No {words} can be bought without making {first} fail"
        return title, title
    verb = "fails" if len(test_ids) == 1 else "fail"
    title = f"Room for {words.rstrip(',')}: {{room}}"
    return title, f"Up to {{room}} of {words} can be bought before {first} {verb}"


def _paid_in_words(draft: FindingDraft) -> str:
    """Return what the search does to principal cash, with what there is where that is known."""
    cash = draft.study.subject.measured.deal.principal_cash
    if cash is None or not np.isfinite(cash):
        return "The search lets principal cash go below zero."
    draft.quote("cash", cash, "amount", "deal.principal_cash")
    return "Principal cash is {cash}, and the search lets it go below zero."


def _urgency_of_room(draft: FindingDraft, amount: float) -> Urgency:
    if draft["part"] > ROOMY_PCT:
        return "background"
    if amount < 1.0:
        return "near"
    return "notable" if draft["part"] < 1.0 else "context"


_SEARCHED: Final = (
    "The suite is run over the portfolio with more and more of the loans until a test that passes now fails. Cash pays "
    "for them at the stated price."
)


def _average(study: Study) -> dict[str, Any] | None:
    """Return a loan like the pool's average, as a trade without a borrower."""
    columns = study.columns
    trade: dict[str, Any] = {"trade_type": "buy", "par_value": 1.0}
    data: dict[str, Any] = {}
    for field, where in (("spread", trade), ("price", trade), ("recovery_rate", data), ("all_in_rate", data)):
        recipe = FigureRecipe(operation="average", column=field, where=study.floating())
        if columns.has(field) and (value := columns.figure(recipe)) is not None:
            where[field] = round(value, 2)
    if columns.has("maturity_date"):
        value = columns.figure(FigureRecipe(operation="average", column="maturity_date"))
        day = None if value is None else day_of(value)
        if day is not None:
            trade["maturity_date"] = day.isoformat()
    trade |= _middle_ratings(study)
    if columns.has("industry") and (industries := columns.by_name("industry")):
        trade["industry"] = industries[-1][0]
    if columns.has("country") and (countries := columns.by_name("country")):
        data["country"] = countries[0][0]
    data |= {name: value for name, value in _ORDINARY.items() if columns.has(name)}
    return trade | {"loan_data": data}


_ORDINARY: Final = {"facility_size": 1e9, "quote_depth": 3, "lien_type": "first lien"}
"""What a new loan has of the columns that are no reason for a test to fail."""


def _middle_ratings(study: Study) -> dict[str, str]:
    """Return the middle rating of each agency that rates the loans."""
    ratings = {}
    for agency, scale in (("a", SCALE_A), ("b", SCALE_B), ("c", SCALE_B)):
        field = f"rating_agency_{agency}"
        if study.columns.has(field) and (rank := _middle(study, field)) is not None:
            ratings[field] = scale[min(rank, 21) - 1]
    return ratings


def _middle(study: Study, field: str) -> int | None:
    """Return the rating that half of the rated par is as good as, or better."""
    ranks, par = study.columns.numbers(field), study.columns.par * study.columns.chosen()
    known = np.isfinite(ranks) & (par > 0)
    if not known.any():
        return None
    rated = ranks[known].astype(np.uint8)
    order = np.argsort(rated, kind="stable")
    below = np.cumsum(par[known][order])
    return int(rated[order][np.searchsorted(below, below[-1] / 2)])


def _leaning(study: Study, loan: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str], list[dict[str, Any]]]]:
    """(key, words, the names in them, trades).

    Loans like the average spread over new borrowers, then ones that lean on a limit.
    """
    columns = study.columns
    industries = [name for name, _ in reversed(columns.by_name("industry"))] if "industry" in loan else []
    yield "average", "loans like the pool's average, spread over {borrowers},", {}, _spread(loan, industries)
    if ratings := {name: symbol for name, symbol in _WEAKER.items() if name in loan}:
        yield "ccc", "Caa1/CCC+ loans, spread over {borrowers},", {}, _spread(loan | ratings, industries)
    if "industry" in loan:
        largest = columns.by_name("industry")[0][0]
        trades = _spread(loan, [largest])
        yield "industry", "loans in the largest industry, {industry},", {"industry": largest}, trades
    if columns.has("obligor", "borrower_name"):
        largest = columns.by_name("obligor")[0][0]
        row = int(columns.largest(columns.chosen([FigureCondition("obligor", "equal", largest)]))[0])
        names = study.subject.portfolio.names
        if names["borrower_name"].codes[row] < 0:
            return
        name = names["borrower_name"].values[int(names["borrower_name"].codes[row])]
        data = dict(loan["loan_data"])
        if "issuer_id" in names and names["issuer_id"].codes[row] >= 0:
            data["issuer_id"] = names["issuer_id"].values[int(names["issuer_id"].codes[row])]
        trade = loan | {"borrower_name": name, "loan_data": data}
        yield "obligor", "further loans to the largest obligor, {obligor},", {"obligor": name}, [trade]


CLOSE_MOST: Final = 1_000.0
CLOSE_PART: Final = 1e-5
"""Currency to which the room is looked for, and as a part of performing par."""

ROOMY_PCT: Final = 25.0
"""Percent of performing par beyond which room to buy is no news."""

BORROWERS: Final = 20
"""New borrowers over which a purchase is spread, so that no limit on one of them comes first."""


def _spread(loan: dict[str, Any], industries: Sequence[str]) -> list[dict[str, Any]]:
    """Return the loan as one of each new borrower, which are of these industries in turn."""
    return [
        loan
        | {"borrower_name": f"Newcomer {at + 101}"}
        | ({"industry": industries[at % len(industries)]} if industries else {})
        for at in range(BORROWERS)
    ]


_WEAKER: Final = {"rating_agency_a": "Caa1", "rating_agency_b": "CCC+", "rating_agency_c": "CCC+"}


def _describe(draft: FindingDraft, loan: dict[str, Any]) -> None:
    """Name the loan by its terms.

    Its digits are terms of the trade, which the recipe holds.
    """
    ratings = [str(loan[name]) for name in ("rating_agency_a", "rating_agency_b") if name in loan]
    terms = ["/".join(ratings)] if ratings else []
    terms += [f"spread {loan['spread']:.0f} bps"] if "spread" in loan else []
    terms += [f"price {loan['price']:.2f}"] if "price" in loan else ["price 100"]
    draft.say("described", plain(", ".join(terms)))


FINDERS: Final = (ccc, downgrade, default, distressed, defaults, headroom)
