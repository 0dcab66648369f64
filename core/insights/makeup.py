"""What the portfolio is made of.

Names, industries, countries, ratings, kinds of loans, spreads and maturities.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

import numpy as np

from core.insights.insight import FigureCondition, FigureRecipe
from core.insights.limits import NAMED
from core.insights.stress import LAST_BEFORE_CCC, NEXT_ROWS
from core.insights.study import Study, StudyFinding, share_of
from core.insights.words import plain
from core.values import day_of

TOP: Final = 10
YEAR_DAYS: Final = 365
LOW_BY: Final = 75.0
"""Basis points below the average at which a spread is called low."""

REFINANCING_PRICE: Final = 90.0
"""Percent of par below which a loan that matures soon may not be refinanced."""

CALL_PRICE: Final = 100.0
"""Percent of par from which on a borrower gains by refinancing."""

_NOUNS: Final = {"industry": "industry", "country": "country"}


def obligors(study: Study) -> Iterator[StudyFinding]:
    """Yield the ten largest obligors together."""
    columns = study.columns
    if not columns.has("obligor"):
        return
    by_name = columns.by_name("obligor")
    if len(by_name) <= TOP:
        return
    draft = study.draft("obligors")
    texts, keys = [], []
    for at, (name, _) in enumerate(by_name[:TOP]):
        where = FigureCondition("obligor", "equal", name)
        chosen = columns.chosen([where])
        rows = columns.largest(chosen)
        draft.say(f"obligor_{at}", study.borrower(int(rows[0])))
        draft.loans(f"share_{at}", "share", "percent", where, of="denominator", name=f"share of obligor {at + 1}")
        keys.append(f"share_{at}")
        draft.list(rows[:2], in_all=int(np.count_nonzero(chosen)))
        texts.append(f"{{obligor_{at}}} {{share_{at}}}")
    draft.combined("top", "total", "percent", *keys)
    draft.quote("ten", TOP, "count", "how many are looked at", noun="obligor")
    draft.quote("all", len(by_name), "count", "distinct obligors with par")
    draft.combined("even", "quotient", "percent", "ten", "all", times=100.0)
    yield draft.finding(
        "portfolio_composition",
        "notable" if draft["top"] > 16.0 else "context",
        "The largest {ten} make {top} of the deal",
        f"The largest {{ten}} of {{all}} make {{top}} of {share_of(study)}. The first are {', '.join(texts[:NAMED])}.",
        weight=draft["top"],
        analyst=f"Then come {', '.join(texts[NAMED:6])}.",
        finance="Were all alike, as many would make {even}.",
        methodology="Performing par by obligor, facilities added up, over the denominator of the limits.",
    )


def groups(study: Study) -> Iterator[StudyFinding]:
    """Yield the largest industries and countries."""
    for column, noun in _NOUNS.items():
        columns = study.columns
        if not columns.has(column):
            continue
        by_name = columns.by_name(column)
        if len(by_name) < 2:
            continue
        draft = study.draft(f"groups:{column}")
        texts, keys = [], []
        for at, (name, _) in enumerate(by_name[:NAMED]):
            where = FigureCondition(column, "equal", name)
            draft.say(f"name_{at}", name)
            draft.loans(f"share_{at}", "share", "percent", where, of="denominator", name=f"share of {plain(name)}")
            draft.loans(f"count_{at}", "count", "count", where, name=f"loans of {plain(name)}")
            keys.append(f"share_{at}")
            texts.append(f"{{name_{at}}} {{share_{at}}}")
        draft.combined("top", "total", "percent", *keys)
        draft.quote("all", len(by_name), "count", f"distinct names of {column} with par", noun=noun)
        largest = columns.chosen([FigureCondition(column, "equal", by_name[0][0])])
        named = draft.largest("loan", largest)
        yield draft.finding(
            "portfolio_composition",
            "context" if draft["share_0"] > 10.0 else "background",
            f"{{name_0}} is the largest {noun} with {{share_0}}",
            f"Of {{all}}, the largest are {', '.join(texts)}: {{top}} of {share_of(study)} together.",
            weight=draft["share_0"],
            operations=f"The largest loans of {{name_0}}: {named}.",
            analyst=f"{{name_0}} has {{count_0}}; the largest are {named}.",
            coverage_pct=study.covered(column),
            methodology=f"Performing par by {noun} over the denominator of the limits; blanks belong to none.",
        )


def ratings(study: Study) -> Iterator[StudyFinding]:
    """Where the ratings stand: the share one notch above CCC, the average quality."""
    if not study.columns.has("worst_rating"):
        return
    draft = study.draft("ratings")
    if draft.loans("next", "share", "percent", *NEXT_ROWS, of="par", name="share one notch above CCC") is None:
        return
    better = FigureCondition("worst_rating", "below", float(LAST_BEFORE_CCC))
    draft.loans("better", "share", "percent", better, of="par", name="share rated better")
    weaker = FigureCondition("worst_rating", "above", float(LAST_BEFORE_CCC))
    draft.loans("weaker", "share", "percent", weaker, of="par", name="share rated CCC or lower")
    draft.loans(
        "unrated", "share", "percent", FigureCondition("worst_rating", "blank"), of="par", name="share without a rating"
    )
    each = study.first("warf")
    factor = ""
    if each is not None and draft.test("factor", each.test_id) is not None:
        draft.say("factor_name", each.test_name)
        factor = "{factor_name} is {factor}."
    unrated = " {unrated} has no rating." if draft["unrated"] >= 0.01 else ""
    yield draft.finding(
        "portfolio_composition",
        "context" if draft["next"] > 10.0 else "background",
        "{next} of performing par is one notch above CCC",
        "By its worst agency rating, {better} of performing par is rated B2/B or better, {next} B3/B\N{MINUS SIGN} and "
        f"{{weaker}} CCC or lower.{unrated}",
        weight=draft["next"],
        analyst=factor,
        finance=factor,
        coverage_pct=study.covered("worst_rating"),
        methodology="Performing par by the worst rating of the agencies, as the deal's rules derive them.",
    )


_KINDS: Final = (
    ("covenant-lite", FigureCondition("cov_lite", "equal", 1.0)),
    ("second-lien", FigureCondition("lien_type", "equal", "second_lien")),
    ("unsecured", FigureCondition("lien_type", "equal", "unsecured")),
    ("bonds", FigureCondition("lien_type", "equal", "bond")),
    ("fixed-rate", FigureCondition("is_fixed", "equal", 1.0)),
    ("deferring", FigureCondition("is_deferring", "equal", 1.0)),
)


def kinds(study: Study) -> Iterator[StudyFinding]:
    """Yield the shares of loans of special kinds."""
    draft = study.draft("kinds")
    shares = []
    for words, where in _KINDS:
        if study.columns.has(where.column):
            share = draft.loans(
                f"{words}_share".replace("-", "_"), "share", "percent", where, of="par", name=f"share {words}"
            )
            if share:
                shares.append((share, f"{words} {{{words.replace('-', '_')}_share}}"))
    if not shares:
        return
    shares.sort(reverse=True)
    yield draft.finding(
        "portfolio_composition",
        "background",
        "Special kinds of loans: " + shares[0][1],
        f"Of performing par: {', '.join(text for _, text in shares)}.",
        weight=shares[0][0],
        methodology="Shares of performing par; a loan may be of several kinds.",
    )


def tail(study: Study) -> Iterator[StudyFinding]:
    """Loans that pay less than the pool, and those that borrowers may refinance."""
    columns = study.columns
    if columns.has("spread"):
        draft, floating = study.draft("low_spread"), study.floating()
        average = draft.loans("average", "average", "bps", *floating, column="spread", name="average spread")
        if average is not None and average > LOW_BY:
            line = float(np.floor((average - LOW_BY) / 25.0) * 25.0)
            low = [*floating, FigureCondition("spread", "below", line)]
            draft.quote("line", line, "bps", "the line below which a spread is called low here")
            draft.loans("count", "count", "count", *low)
            draft.loans("par", "sum", "amount", *low)
            draft.loans("share", "share", "percent", *low, of="par")
            draft.loans("low", "average", "bps", *low, column="spread", name="their average spread")
            if draft["count"]:
                chosen = columns.chosen(low)
                cheapest = columns.lowest("spread", chosen)
                draft.list(cheapest, in_all=int(np.count_nonzero(chosen)))
                each = study.first("was")
                text = ""
                if each is not None and each.threshold_type == "min":
                    draft.test("was", each.test_id)
                    draft.test("was_limit", each.test_id, "limit")
                    text = " The tested spread is {was} against a minimum of {was_limit}."
                yield draft.finding(
                    "portfolio_composition",
                    "background",
                    "{share} of performing par pays less than {line}",
                    "{count} with {par} pay less than {line}, {low} on average, against {average} for the pool.",
                    weight=draft["share"],
                    operations=f"The lowest: {draft.each('low', cheapest[:NAMED].tolist(), column='spread')}.",
                    analyst=f"Selling them first raises the spread test most.{text}",
                    finance=text.strip(),
                    coverage_pct=study.covered("spread"),
                    methodology="Performing floating-rate loans with a spread 75 bps or more below the pool's "
                    "average, the line "
                    "rounded "
                    "down to 25 bps.",
                )
    if columns.has("price"):
        where = FigureCondition("price", "at_least", CALL_PRICE)
        draft = study.draft("above_par")
        draft.quote("line", CALL_PRICE, "price", "the price from which on refinancing pays")
        draft.loans("count", "count", "count", where)
        draft.loans("par", "sum", "amount", where)
        share = draft.loans("share", "share", "percent", where, of="par")
        if share and draft["count"]:
            named = draft.largest("loan", columns.chosen([where]))
            spread = ""
            if (
                columns.has("spread")
                and draft.loans("spread", "average", "bps", where, *study.floating(), column="spread") is not None
            ):
                spread = "They pay {spread} on average, which a refinancing would lower."
            yield draft.finding(
                "trends_forecasts",
                "context" if share > 15.0 else "background",
                "{share} of performing par is priced at {line} or above",
                "{count} with {par} are priced at {line} or above: their borrowers may ask for a lower spread or "
                "repay.",
                weight=share,
                finance=spread,
                analyst=spread,
                operations=f"The largest: {named}.",
                coverage_pct=study.covered("price"),
                methodology="Performing loans whose price is par or more.",
            )


def maturities(study: Study) -> Iterator[StudyFinding]:
    """Yield what matures within a year, the year in which most matures, and what matures after the notes."""
    columns, day = study.columns, study.subject.day
    as_of = study.subject.portfolio.deal.as_of
    if not columns.has("maturity_date") or as_of is None or day is None:
        return
    yield from _soon(study, float(as_of))
    years = columns.numbers("year")
    chosen = columns.chosen() & np.isfinite(years)
    if chosen.any():
        calendar_years, places = np.unique(years[chosen].astype(int), return_inverse=True)
        by_year = np.bincount(places, columns.par[chosen])
        peak = int(calendar_years[int(np.argmax(by_year))])
        draft = study.draft("wall")
        draft.say("year", str(peak))
        where = FigureCondition("year", "equal", float(peak))
        draft.loans("share", "share", "percent", where, of="par")
        draft.loans("par", "sum", "amount", where)
        draft.loans("count", "count", "count", where)
        each = study.first("wal")
        life = ""
        if each is not None:
            draft.test("life", each.test_id)
            draft.test("limit", each.test_id, "limit")
            life = " The weighted average life is {life} against at most {limit}."
        named = draft.largest("loan", columns.chosen([where]))
        yield draft.finding(
            "trends_forecasts",
            "context" if draft["share"] > 25.0 else "background",
            "{share} of performing par matures in {year}",
            f"More par matures in {{year}} than in any other year: {{par}} in {{count}}, {{share}} of performing "
            f"par.{life}",
            weight=draft["share"],
            operations=f"The largest: {named}.",
            coverage_pct=study.covered("maturity_date"),
            methodology="Performing par by the calendar year of maturity; scheduled payments before it are not "
            "taken off.",
        )
    yield from _late(study)
    yield from _period(study, day)


def _soon(study: Study, as_of: float) -> Iterator[StudyFinding]:
    columns = study.columns
    where = [
        FigureCondition("maturity_date", "above", as_of),
        FigureCondition("maturity_date", "at_most", as_of + YEAR_DAYS),
    ]
    chosen = columns.chosen(where)
    if not chosen.any():
        return
    draft = study.draft("soon")
    draft.quote("days", YEAR_DAYS, "days", "how far ahead is looked")
    draft.loans("count", "count", "count", *where)
    draft.loans("par", "sum", "amount", *where)
    draft.loans("share", "share", "percent", *where, of="par")
    named = draft.largest("loan", chosen)
    weak = ""
    if columns.has("price"):
        cheap = [*where, FigureCondition("price", "below", REFINANCING_PRICE)]
        draft.quote("line", REFINANCING_PRICE, "price", "the line below which refinancing is in doubt here")
        draft.loans("weak_count", "count", "count", *cheap, name="of these priced below the line")
        draft.loans("weak_par", "sum", "amount", *cheap, name="par of these priced below the line")
        if draft["weak_count"]:
            weak = (
                " {weak_count} of them with {weak_par} "
                + ("are" if draft["weak_count"] != 1 else "is")
                + (" priced below {line}, where refinancing is in doubt.")
            )
    yield draft.finding(
        "trends_forecasts",
        "notable" if weak else "context" if draft["share"] > 3.0 else "background",
        "{count} with {par} " + ("mature" if draft["count"] != 1 else "matures") + " within {days}",
        "{count} with {par}, {share} of performing par, "
        + ("mature" if draft["count"] != 1 else "matures")
        + f" within {{days}} of the day of the file.{weak}",
        weight=draft["share"],
        finance="That principal comes back to be reinvested or paid out.",
        operations=f"The largest: {named}.",
        analyst=f"The largest: {named}.",
        coverage_pct=study.covered("maturity_date"),
        methodology="Performing loans whose maturity lies after the day of the file and within a year of it.",
    )


def _late(study: Study) -> Iterator[StudyFinding]:
    """Loans that mature after the notes."""
    end = study.pool.portfolio.deal.stated_maturity
    last = day_of(end)
    if end is None or last is None:
        return
    where = FigureCondition("maturity_date", "above", float(end))
    chosen = study.columns.chosen([where])
    if not chosen.any():
        return
    draft = study.draft("late")
    draft.quote("end", last, "date", "deal.stated_maturity")
    draft.loans("count", "count", "count", where)
    draft.loans("par", "sum", "amount", where)
    draft.loans("share", "share", "percent", where, of="par")
    named = draft.largest("loan", chosen)
    yield draft.finding(
        "trends_forecasts",
        "notable",
        "{count} with {par} " + ("mature" if draft["count"] != 1 else "matures") + " after the notes",
        "{count} with {par}, {share} of performing par, "
        + ("mature" if draft["count"] != 1 else "matures")
        + " after the notes' stated maturity of {end}.",
        weight=draft["share"],
        operations=f"The largest: {named}.",
        analyst=f"The largest: {named}.",
        finance="Such loans must be sold, or repaid early, before the notes are due.",
        executive="Such loans must be sold, or repaid early, before the notes are due.",
        methodology="Performing loans whose maturity lies after the deal's stated maturity.",
    )


def _period(study: Study, day: date) -> Iterator[StudyFinding]:
    """How long the reinvestment period lasts."""
    end = day_of(study.pool.portfolio.deal.reinvestment_end)
    if end is None:
        return
    draft = study.draft("reinvestment")
    draft.quote("end", end, "date", "deal.reinvestment_end")
    draft.put(
        "days", abs((end - day).days), "days", FigureRecipe(operation="given", place="days between it and deal.as_of")
    )
    if end < day:
        yield draft.finding(
            "trends_forecasts",
            "context",
            "The reinvestment period ended on {end}",
            "The reinvestment period ended on {end}, {days} before the day of the file: principal mostly repays the "
            "notes, "
            "senior classes first.",
            methodology="The end of the reinvestment period, as the file or the deal's definition has it.",
        )
    else:
        yield draft.finding(
            "trends_forecasts",
            "notable" if (end - day).days < YEAR_DAYS else "background",
            "The reinvestment period lasts until {end}",
            "The reinvestment period lasts until {end}, {days} from the day of the file: after it principal mostly "
            "repays "
            "the notes.",
            methodology="The end of the reinvestment period, as the file or the deal's definition has it.",
        )


FINDERS: Final = (obligors, groups, ratings, kinds, tail, maturities)
