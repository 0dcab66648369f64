"""Draft a definition.

Classes and triggers, tests with limits and names as printed, conventions that tied.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Final, NamedTuple

from core.compliance.conventions import currency_of
from core.compliance.matching import Terms, with_counted_decimals
from core.deals.draft.coverage import TestedClass, add_ratios, class_blocks, sheet_triggers, tested_classes
from core.deals.draft.figures import DraftTest, UnmeasuredTest, sort_figures
from core.deals.draft.ids import id_of, unique
from core.deals.draft.record import (
    CERTAIN,
    GUESSED,
    MARKET,
    ONE,
    Decision,
    DefinitionDraft,
    DraftError,
    DraftTies,
    Sections,
    origin,
)
from core.deals.draft.rules import (
    add_deal,
    add_reading_of_pages,
    add_readings,
    cash_correction,
    families,
    leave_unprinted,
)
from core.deals.tie_out import TieOut, compare, takes_cash
from core.definition import READY, DefinitionError, parse, ready_for
from core.definition.definition import ALIASES_MAX, TESTS_MAX
from core.definition.keys import TEXT_MAX
from core.definition.written import LINE_MAX, Block, WrittenEntry, one_line, to_document, to_toml
from core.interpretation.figures import terms_by
from core.interpretation.interpret import interpret
from core.portfolio import Portfolio
from core.portfolio.cells.string_pool import key
from core.portfolio.model.facts import Fact
from core.values import day_of
from core.words import counted

FIGURES_MAX: Final = 2_000
"""Printed figures that a draft is made of."""

_TABLES: Final = (
    "conventions", "ratings", "ratings.a", "ratings.b", "ratings.c", "classifications", "par_value",
    "interest_coverage", "reinvestment_oc", "event_of_default",
)  # fmt: skip
"""The tables of a draft in the order of its text; families stand below classifications, classes and tests last."""

BY_WORDS: Final = origin("by the words of its name", CERTAIN)
"""The comment on what a test measures, where no printed figure says whether it is that."""

_RATIOS: Final = ("reinvestment_oc", "event_of_default")


class _Test(NamedTuple):
    """A test of a draft, and the printed figure that it is of.

    None: of the table of the notes.
    """

    block: Block
    fact: Fact | None


def draft(portfolio: Portfolio, *, name: str | None = None) -> DefinitionDraft:
    """Draft a definition out of what a file prints and what its own figures tie by.

    No number of it is a guess: each is printed in the file, or belongs to a convention of the closed list. What the
    words of the file leave open stands at the top of the text and, with its limit and its place, as a comment.

    Args:
        portfolio: the loans, and the facts that their file prints.
        name: of the deal; None leaves it to be decided.

    Raises:
        DraftError: what the file prints of the deal makes no definition.
    """
    market = ready_for(currency_of(portfolio))
    interpretation = portfolio.interpretation or interpret(portfolio)
    figures = with_counted_decimals(portfolio.facts.figures)
    terms, _ = terms_by(portfolio, READY[market])
    drafted, unmeasured = sort_figures(figures[:FIGURES_MAX], terms)
    classes = tested_classes(drafted, terms.structure, portfolio.source_cells)
    sections = Sections()
    add_deal(sections, portfolio, drafted)
    add_readings(sections, interpretation, portfolio.deal)
    corrections = cash_correction(sections, portfolio, interpretation)
    add_reading_of_pages(sections, portfolio, READY[market])
    leave_unprinted(sections, portfolio, drafted)
    if not drafted and not classes:
        why = "the file prints no test that one of ours measures, and no class with a trigger"
        sections.decide.append(Decision(subject="tests", why=why))
    ratios = add_ratios(sections, drafted, classes, terms.structure)
    if len(figures) > FIGURES_MAX:
        sections.decide.append(
            Decision(subject="tests", why=f"the file prints {len(figures):,} figures: the first {FIGURES_MAX:,} count")
        )
    tests = _tests(drafted, ratios, classes, terms, market)
    tests = _within(tests, sections)
    top = _top(market, name, sections)
    tables = {name: [sections.block(name)] for name in _TABLES}
    tables["classifications"] += families(portfolio)
    rules = [top, *(block for blocks in tables.values() for block in blocks), *class_blocks(classes), *corrections]
    tests = _with_cash(portfolio, rules, _accept(rules, tests, sections))
    document = to_document([*rules, *(test.block for test in tests)])
    rows = compare(portfolio, parse(document))
    tests = _compare(tests, rows, sections)
    blocks = [*rules, *(test.block for test in tests), *_open_blocks(unmeasured, sections)]
    known = [row.agrees for row in rows if row.agrees is not None]
    ties = DraftTies(figures=len(known), tied=sum(known))
    text = to_toml(_head(portfolio, name, ties, sections.decide), blocks)
    return DefinitionDraft(
        toml=text, definition=document, decide=sections.decide, ties=ties, interpretation=interpretation
    )


def _top(market: str, name: str | None, sections: Sections) -> Block:
    """Return the document's own keys."""
    named = one_line(name or "", TEXT_MAX)
    if not named:
        sections.decide.insert(0, Decision(subject="name", why="the name of the deal is not known"))
    base = WrittenEntry("base", market, origin("by the currency, below what stands here", MARKET))
    return Block(
        "",
        (
            WrittenEntry("name", named, "as given") if named else WrittenEntry("name", "", "to decide", is_open=True),
            base,
        ),
    )


# ---- tests -----------------------------------------------------------------------------------------------------------


def _tests(
    drafted: Sequence[DraftTest], ratios: set[str], classes: Sequence[TestedClass], terms: Terms, market: str
) -> list[_Test]:
    """Return the tests of the printed figures.

    Where none is of coverage, those of the classes with a trigger.
    """
    taken: set[str] = set()
    shared = _shared_names(drafted)
    tests = []
    for draft_test in drafted:
        if draft_test.measured.get("measure") in _RATIOS and draft_test.measured["measure"] not in ratios:
            continue
        test_id = unique(id_of(draft_test.measured, draft_test.fact, market, terms.industry_agency), taken)
        tests.append(_Test(_block(draft_test, test_id, _name(draft_test.fact, test_id, shared)), draft_test.fact))
    if terms.structure is not None and not any(each.measured.get("measure") in ("oc", "ic") for each in drafted):
        places = {
            (measure, note_class.name): place
            for note_class in classes
            for measure, (_, place) in note_class.triggers.items()
        }
        for measure, letters, trigger in sheet_triggers(terms.structure):
            place = places.get((measure, "/".join(letters)))
            test_id = unique(f"{measure}_class_{''.join(letters).lower()}", taken)
            tests.append(_Test(_class_test(test_id, measure, "/".join(letters), trigger, place), None))
    return tests


def _class_test(test_id: str, measure: str, name: str, trigger: float, place: str | None) -> Block:
    words = {"oc": "overcollateralisation", "ic": "interest coverage"}[measure]
    return Block(
        "tests",
        (
            WrittenEntry("id", test_id, "by what is measured"),
            WrittenEntry("name", f"Class {name} {words}", "the notes' table has no name for it"),
            WrittenEntry("measure", measure, origin(place, CERTAIN)),
            WrittenEntry("class", name, origin(place, CERTAIN)),
            WrittenEntry("min", trigger, origin(place, CERTAIN)),
        ),
        is_listed=True,
    )


def _shared_names(drafted: Iterable[DraftTest]) -> set[str]:
    """Names, as they are compared, that figures of several things have.

    They tell nothing apart.
    """
    counts = Counter(key(draft_test.fact.label) for draft_test in drafted)
    return {name for name, count in counts.items() if count > 1}


def _name(fact: Fact, test_id: str, shared: set[str]) -> str:
    """Return the label; a shared one gets its table's title or the id."""
    label = one_line(fact.label, TEXT_MAX) or test_id
    if key(fact.label) not in shared:
        return label
    more = f" ({test_id})"
    return label[: TEXT_MAX - len(more)] + more


def _block(draft_test: DraftTest, test_id: str, name: str) -> Block:
    fact = draft_test.fact
    entries = [
        WrittenEntry("id", test_id, "by what is measured"),
        WrittenEntry("name", name, origin(f"as printed, {fact.place}", CERTAIN)),
        *(WrittenEntry(part, value, BY_WORDS) for part, value in draft_test.measured.items()),
    ]
    if fact.trigger is not None and draft_test.open_limit:
        entries.append(
            WrittenEntry(
                draft_test.side, fact.trigger, f"to decide: {draft_test.open_limit} ({fact.place})", is_open=True
            )
        )
    elif fact.trigger is not None:
        entries.append(WrittenEntry(draft_test.side, fact.trigger, origin(fact.place, CERTAIN)))
    aliases = [alias for alias in (one_line(each, TEXT_MAX) for each in draft_test.aliases) if alias][:ALIASES_MAX]
    if aliases:
        entries.append(WrittenEntry("aliases", aliases, "other names in the file: certain"))
    return Block("tests", tuple(entries), is_listed=True)


def _within(tests: list[_Test], sections: Sections) -> list[_Test]:
    """Return the tests up to as many as a definition takes."""
    if len(tests) > TESTS_MAX:
        printed = counted(len(tests), "test")
        why = f"the file prints {printed}, and a definition takes {TESTS_MAX:,}: the first ones are drafted"
        sections.decide.append(Decision(subject="tests", why=why))
    return tests[:TESTS_MAX]


def _accept(rules: Sequence[Block], tests: list[_Test], sections: Sections) -> list[_Test]:
    """Return the tests, those open for which the definition lacks something.

    What has to be decided of each is listed.

    Raises:
        DraftError: the rules themselves are refused.
    """
    refused: dict[int, str] = {}
    while True:
        active = [at for at in range(len(tests)) if at not in refused]
        try:
            parse(to_document([*rules, *(tests[at].block for at in active)]))
            break
        except DefinitionError as error:
            for place, message in error.faults:
                match = _PLACE.match(place)
                if match is None:
                    raise DraftError(f"what the file prints makes no definition: {place} {message}") from None
                refused.setdefault(active[int(match[1])], f"the definition lacks what it needs: it {message}")
    for at, test in enumerate(tests):
        _list_open(test, refused.get(at), sections)
    return [
        _Test(replace(each.block, is_open=True, note=f"To decide: {refused[at]}"), each.fact) if at in refused else each
        for at, each in enumerate(tests)
    ]


_PLACE: Final = re.compile(r"tests\[(\d+)\]")


def _with_cash(portfolio: Portfolio, rules: Sequence[Block], tests: list[_Test]) -> list[_Test]:
    """Return the tests, with principal cash in those whose printed numerator is ours with it, to the cent."""
    rows = compare(portfolio, parse(to_document([*rules, *(test.block for test in tests)])))
    apart = {row.cell for row in rows if row.differs == "numerator"}
    tried = [_adding_cash(test) if test.fact is not None and test.fact.place in apart else test for test in tests]
    if tried == tests:
        return tests
    rows = compare(portfolio, parse(to_document([*rules, *(each.block for each in tried)])))
    tied = {row.cell for row in rows if row.agrees}
    return [
        changed if test.fact is not None and test.fact.place in tied else test
        for test, changed in zip(tests, tried, strict=True)
    ]


def _adding_cash(test: _Test) -> _Test:
    """Return a test with principal cash in its numerator, where that takes any."""
    entries = test.block.entries
    if test.block.is_open or not takes_cash({entry.key: entry.value for entry in entries if not entry.is_open}):
        return test
    at = next(at for at, entry in enumerate(entries) if entry.key in ("measure", "share")) + 1
    cash = WrittenEntry("adds", ["cash"], origin("the printed numerator has principal cash in it", ONE))
    return _Test(replace(test.block, entries=(*entries[:at], cash, *entries[at:])), test.fact)


def _list_open(test: _Test, refused: str | None, sections: Sections) -> None:
    """List what has to be decided of a test."""
    name = _name_of(test.block)
    place = None if test.fact is None else test.fact.place
    if refused is not None:
        limit = None if test.fact is None else test.fact.trigger
        sections.decide.append(Decision(subject=name, why=refused, limit=limit, place=place))
        return
    for entry in test.block.entries:
        if entry.is_open:
            why = entry.comment.removeprefix("to decide: ").removesuffix(f" ({place})")
            sections.decide.append(Decision(subject=name, why=f"its limit: {why}", limit=entry.value, place=place))


def _compare(tests: Sequence[_Test], rows: Sequence[TieOut], sections: Sections) -> list[_Test]:
    """Return the tests with a comment on whether the printed figure ties by what is measured; those that do not are
    listed."""
    by_place = {row.cell: row for row in rows}
    compared = []
    for test in tests:
        row = None if test.fact is None else by_place.get(test.fact.place)
        if row is None or test.block.is_open:
            compared.append(test)
            continue
        why, comment = _verdict(row)
        if why:
            limit, place = row.trigger, row.cell
            sections.decide.append(Decision(subject=_name_of(test.block), why=why, limit=limit, place=place))
        entries = tuple(
            replace(entry, comment=comment) if entry.comment == BY_WORDS else entry for entry in test.block.entries
        )
        compared.append(_Test(replace(test.block, entries=entries), test.fact))
    return compared


def _verdict(row: TieOut) -> tuple[str, str]:
    """Return (what has to be decided, the comment on what is measured) by a test's printed figure and ours."""
    if row.agrees:
        return "", origin("the printed figure ties by it", CERTAIN)
    if row.agrees is None:
        return (f"there is no figure of it: {row.reason}" if row.reason else ""), BY_WORDS
    figures = f"the file prints {row.trustee_value:.15g}, and by this it is {row.our_value:.6f}"
    part = "" if row.differs in (None, "value") else f" ({row.differs}s differ)"
    return f"{figures}{part}", origin(f"by the words of its name; {figures}{part}", GUESSED)


def _name_of(block: Block) -> str:
    return next(str(entry.value) for entry in block.entries if entry.key == "name")


def _open_blocks(unmeasured: Sequence[UnmeasuredTest], sections: Sections) -> list[Block]:
    """Return the printed tests that nothing measures, as comments with their limits and places."""
    blocks = []
    for printed_test in unmeasured:
        fact = printed_test.fact
        name = one_line(fact.label, TEXT_MAX) or fact.place
        entries = [WrittenEntry("name", name, f"as printed, {fact.place}")]
        # A figure of the nearest test that the page does not print, such as how many obligors, is not repeated.
        entries += [
            WrittenEntry(part, nearest, "the nearest")
            for part, nearest in printed_test.nearest.items()
            if isinstance(nearest, str)
        ]
        if fact.trigger is not None:
            entries.append(WrittenEntry(fact.direction or "limit", fact.trigger, fact.place))
        blocks.append(
            Block("tests", tuple(entries), is_listed=True, is_open=True, note=f"To decide: {printed_test.why}")
        )
        sections.decide.append(Decision(subject=name, why=printed_test.why, limit=fact.trigger, place=fact.place))
    return blocks


# ---- the head ------------------------------------------------------------------------------------------------------


def _head(portfolio: Portfolio, name: str | None, ties: DraftTies, decide: Sequence[Decision]) -> list[str]:
    """Return the lines above the document.

    What it is, how much of it ties, and what must be decided.
    """
    day = day_of(portfolio.deal.as_of)
    lines = [
        f"Draft of the definition of {one_line(name or 'a deal', TEXT_MAX)}, from its file"
        + (f" as of {day.isoformat()}." if day is not None else "."),
        (
            f"{ties.tied} of {ties.figures} printed figures that stand beside ours tie by it."
            if ties.figures
            else "No printed figure stands beside one of ours."
        )
        + " Each line says where it comes from and how sure it is.",
        "",
        "To decide:" if decide else "Nothing is left to decide.",
    ]
    by_reason: dict[str, list[Decision]] = {}
    for each in decide:
        by_reason.setdefault(each.why, []).append(each)
    for why, alike in by_reason.items():
        subjects = "; ".join(_subject(each) for each in alike)
        lines += _wrap(f"- {subjects}: {why}" if len(alike) == 1 else f"- {why}: {subjects}")
    return lines


def _subject(decision: Decision) -> str:
    limit = "" if decision.limit is None else f", {decision.limit:.15g}"
    return f"{one_line(decision.subject, TEXT_MAX)}{limit}" + (f" ({decision.place})" if decision.place else "")


def _wrap(text: str) -> list[str]:
    return wrap(text, LINE_MAX - 2, subsequent_indent="  ", break_on_hyphens=False)
