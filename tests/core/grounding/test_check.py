"""A figure of a text is known by its value, unit, rounding and day.

Whatever facts do not have is marked.
"""

from __future__ import annotations

import random
import re
from datetime import date
from decimal import Decimal

from core.grounding.check import FIGURES_MAX, MARK, check
from core.grounding.fact import KnownFact, facts_of
from core.insights.analyst import analyse
from core.insights.subject import Subject
from tests.conftest import within
from tests.core.questions.oracle import portfolios
from tests.rows import every

FACTS = (
    KnownFact("Class A/B overcollateralization ratio", 125.2987, "percent"),
    KnownFact("limit of the Class A/B overcollateralization ratio", 120.0, "percent"),
    KnownFact("cushion of the Class C interest coverage test", -1.25, "percent"),
    KnownFact("weighted average rating factor (WARF)", 2747.6, "score"),
    KnownFact("weighted average life", 4.234, "years"),
    KnownFact("weighted average spread", 352.0, "bps"),
    KnownFact("par of the portfolio", 399_612_345.67, "USD"),
    KnownFact("share of second-lien loans", 0.0049, "fraction"),
    KnownFact("loans rated Caa1 or below", 12, "loans"),
    KnownFact("failing tests", 3, "count"),
    KnownFact("final maturity of Borealis Term Loan B2", date(2029, 5, 14)),
    KnownFact(
        "The CCC share rose by 1.5 percentage points to 6.8 %; 7 loans of 4 obligors were downgraded in March 2026."
    ),
    KnownFact("Its price fell by 2.4 points to 88.5."),
    KnownFact("The Class D test (interest coverage) fails at 101.3 %."),
    KnownFact("time since the last run", 9, "days"),
    KnownFact("average price", 61.0, "price"),
    KnownFact("share of the portfolio", 4.75, "percent", "Cairn Holdings", ("Cairn Holdings", "Drumlin Foods")),
    KnownFact("Drumlin Foods is 3.15 % of the portfolio; its spread is 4.05 %.", names=("Drumlin Foods",)),
)

BORNE = [
    "The ratio is 125.3 % (limit 120 %).", "125.30% or 125 percent", "1.25x", "about 125 %", "125.2987 %",
    "It is short by 1.25 %.", "a cushion of -1.25 %", "a cushion of -1.3 percentage points",
    "WARF is 2,748.", "WARF is 2747.6", "WARF of roughly 2,700", "more than 2,700", "under 2,750",
    "4.2 years", "a 4.23-year life", "about 51 months", "352 bps", "3.52 %", "352 basis points",
    "$400 million", "$399.6m", "USD 399,612,346", "399.6 million dollars", "almost $400 million",
    "0.49 %", "49 bps", "12 loans", "twelve loans", "12 distressed facilities", "12 of them", "three tests fail",
    "3 failing tests", "May 14, 2029", "14 May 2029", "2029-05-14", "5/14/2029", "in May 2029", "in 2029", "Q2 2029",
    "14th of May 2029", "Term Loan B2", "rated Caa1", "It rose by 1.5 points to 6.8%.", "7 loans and 4 issuers",
    "Seven loans were downgraded in March 2026.", "a drop of -2.4 points", "down 2.4 points to 88.5",
    "The Class D test fails at 101.3 %.", "nine days",
    "Cairn Holdings is 4.75 %.", "The largest has 4.75 %.",
    "Cairn Holdings and Drumlin Foods: 4.75 % and 3.15 %", "Drumlin Foods has 12 loans.", "from 120 to 125.3 %",
    "\uff11\uff12 loans", "\u0661\u0662 loans",
    "a cushion of minus 1.25 %", "priced at 61 % of par, or 61", "a limit of 120 %",
    "No figures at all; one of them, at first.",
]  # fmt: skip

INVENTED: list[tuple[str, list[str]]] = [
    ("The ratio is 126.3 %.", ["126.3 %"]),
    ("125.4 %", ["125.4 %"]),
    ("125.29 %", ["125.29 %"]),  # it is 125.30
    ("12.53 %", ["12.53 %"]),
    ("125.3", ["125.3"]),  # of what?
    ("125.3 years", ["125.3 years"]),
    ("$125.3", ["$125.3"]),
    ("a cushion of 1.25 %", ["1.25 %"]),  # there is none
    ("WARF is 2,000", ["2,000"]),
    ("WARF is 2,747", ["2,747"]),  # it is 2,748
    ("more than 2,800", ["2,800"]),
    ("less than 2,700", ["2,700"]),
    ("4 years", ["4 years"]),  # that is rounding too much
    ("4.2 months", ["4.2 months"]),
    ("352 %", ["352 %"]),
    ("€399.6m", ["€399.6m"]),
    ("$399.6 billion", ["$399.6 billion"]),
    ("$40 million", ["$40 million"]),
    ("0 %", ["0 %"]),
    ("0.5 % and 1.4 %", ["1.4 %"]),
    ("12 obligors", ["12 obligors"[:2]]),
    ("13 loans", ["13"]),
    ("thirteen loans", ["thirteen"]),
    ("12 %", ["12 %"]),
    ("four loans", ["four"]),
    ("half of the loans", ["half"]),
    ("two-thirds of the par", ["two-thirds"]),
    ("it doubled", ["doubled"]),
    ("½ of it", ["½"]),
    ("三 loans", ["三"]),
    ("15 May 2029", ["15 May 2029"]),
    ("2029-05-15", ["2029-05-15"]),
    ("June 2029", ["June 2029"]),
    ("in 2031", ["2031"]),
    ("Q3 2029", ["Q3 2029"]),
    ("rated B3", ["B3"]),
    ("Caa2", ["Caa2"]),
    ("It fell by 1.5 percentage points.", ["1.5 percentage points"]),
    ("Its price rose by 2.4 points.", ["2.4 points"]),
    ("The Class D test passes at 101.3 %.", ["101.3 %"]),
    ("9 weeks", ["9 weeks"]),
    ("The ratio is 120.0 % against a limit of 125.3 %.", ["125.3 %"]),
    ("The Class D test fails, its minimum is 101.3 %.", ["101.3 %"]),
    ("WARF is minus 2,748.", ["minus 2,748"]),
    ("WARF is MMDCCXLVIII.", ["MMDCCXLVIII"]),
    ("Drumlin Foods is 4.75 %.", ["4.75 %"]),
    ("CAIRN HOLDINGS is 3.15 %.", ["3.15 %"]),
    ("1e3 loans", ["1e3"]),
    ("10:30, 1.2.3 and 12,5 %", ["10:30", "1.2.3", "12,5"]),
    ("\uff11\uff13 loans", ["\uff11\uff13"]),
]

VERDICTS = [
    ("The Class D test passes.", False), ("The Class D test does not fail.", False),
    ("Class D meets its limit.", False), ("Class D is no longer failing.", False), ("The Class D test fails.", True),
    ("The Class D test does not pass.", True), ("The Class D test is in breach.", True), ("All tests pass.", False),
    ("No test fails.", False), ("The portfolio is fully compliant.", False), ("Every requirement is met.", False),
    ("The Class C test fails, or it would.", False), ("Class D would fail next month.", True), ("Nothing more.", True),
    ("None of the tests is in breach.", False), ("Class A passes.", True), ("Class E fails.", False),
    ("The share rose to 101.3 %.", False), ("It has fallen.", False), ("It falls short of what is required.", True),
    ("It would have risen.", False),
]  # fmt: skip
DECIDED = (
    KnownFact("The Class D test fails at 101.3 %.", names=("Class D",)),
    KnownFact("Class A passes and would fail at 100 %.", names=("Class A",)),
)

OVERSIZE = " ".join(["12 loans."] * (FIGURES_MAX + 2))


def test_what_facts_say_may_be_said() -> None:
    marked = {text: checked.unsupported for text in BORNE if (checked := check(text, FACTS)).unsupported}
    assert marked == {}


@every("text, unsupported", INVENTED)
def test_what_no_fact_says_is_marked(text: str, unsupported: list[str]) -> None:
    checked = check(text, FACTS)
    assert list(checked.unsupported) == unsupported
    assert checked.text.count(MARK) == len(unsupported)
    assert checked.text.replace(MARK, "") == text


@every("text, borne", VERDICTS)
def test_a_verdict_is_that_of_the_facts(text: str, borne: bool) -> None:
    checked = check(text, DECIDED)
    assert (checked.unsupported == (), MARK not in checked.text) == (borne, borne)


def test_it_is_what_the_facts_are_about() -> None:
    facts = [
        KnownFact("WARF is 2,704.46 of at most 3,000: it passes.", names=("WARF",)),
        KnownFact("WARF", 2704.46, "factor"),
    ]
    for text, borne in (
        ("It fails its limit of 3,000.", False), ("The test is in breach at 2,704.46.", False),
        ("The ratio passes.", True), ("It would fail beyond its limit.", True), ("WARF fails.", False),
        ("WARF is 2,704.46 and it fails its limit of 3,000.", False), ("Another deal fails.", False),
    ):  # fmt: skip
        assert (check(text, facts).unsupported == ()) == borne, text


def test_a_verdict_on_all_tests_needs_one_in_the_facts() -> None:
    assert not check("All tests pass.", [KnownFact("Every test of 25 passes.")]).unsupported
    assert check("All tests pass.", [KnownFact("25 tests: 24 pass, 1 fails.")]).unsupported
    assert check("All tests pass.", [KnownFact("Were all of them cut, Class D would fail.")]).unsupported
    assert not check("All tests pass.", [KnownFact("No test fails.")]).unsupported
    assert check("None of the loans is in default.", [KnownFact("Every test passes.")]).unsupported
    assert not check("All loans are performing.", [KnownFact("No loan is in default.")]).unsupported


def test_whatever_is_written_is_read_in_time() -> None:
    """Pieces of numbers and words in any order.

    The text is the same but for the marks, and nothing takes long.
    """
    chance = random.Random(15)
    pieces = [
        *BORNE,
        *(text for text, _ in INVENTED),
        *"0123456789.,:/-+%$eE()[]<>&\n\u0660\u00bd\u4e09 ",
        "9" * 400,
        "e99",
    ]
    pieces += [
        "million ",
        "hundred ",
        "two ",
        "May ",
        "Q3 ",
        "USD ",
        "bps",
        "NAME_AAA",
        "not ",
        "no ",
        "fails",
        "1,234",
        "x",
    ]
    for _ in range(300):
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 40)))
        assert check(text, FACTS).text.replace(MARK, "") == text, text
    hostile = ["1,", "1 and ", "hundred ", "9", "not ", "all ", "A-", "1-", "May 5 ", "½", "1.1.", "$"]
    with within(5):
        for piece in [*hostile, "a" * 50 + "1"]:
            check(piece * (8_000 // len(piece)), FACTS)


def test_nothing_is_known_without_facts() -> None:
    for text in BORNE[:-1]:
        assert check(text, ()).unsupported, text


def test_figures_behind_the_last_that_is_looked_up_are_unknown() -> None:
    assert check(OVERSIZE, FACTS).unsupported == ("12", "12")


def test_a_figure_is_borne_exactly_where_it_rounds_to_what_is_said() -> None:
    """Against plain arithmetic.

    The value as it is printed is borne, and of the printed ones around it no other.
    """
    chance = random.Random(15)
    for _ in range(300):
        value = round(chance.uniform(20, 9_000), 4)
        decimals = chance.randrange(3)
        unit, words = chance.choice([("percent", "{} %"), ("score", "{}"), ("USD", "${}"), ("years", "{} years")])
        for off in (0, 1, -1, 2, -2, 7):
            digits = Decimal(f"{value + off / 10**decimals:.{decimals}f}")
            borne = abs(digits - Decimal(str(value))) <= Decimal(10) ** -decimals / 2
            wording = words.format(f"{digits:,}")
            assert bool(check(wording, (KnownFact("a figure", value, unit),)).unsupported) is not borne, (
                value,
                wording,
            )


def test_every_sentence_of_the_analyst_is_borne_and_none_with_another_figure() -> None:
    """By the figures' own values alone where a sentence prints no symbol of a rating.

    A changed figure may chance upon another fact of its sentence, which 3 in 100 do at most.
    """
    march, april = list(portfolios().items())[:2]
    subject = Subject(name="Harbor", portfolio=april[1], previous=Subject(name="Harbor", portfolio=march[1]))
    tried = result = 0
    for insight in analyse([subject], stakeholder="analyst", angle=0, most=10):
        text, names = insight.summary, "|".join(map(re.escape, insight.names)) or "(?!)"
        facts = facts_of(text, insight.names, insight.figures)
        assert check(text, facts).unsupported == ()
        alone = facts_of("", insight.names, insight.figures)
        strange = [item for item in check(text, alone).unsupported if not re.search("[A-Za-z]", item)]
        assert strange == [], text
        for match in re.finditer(rf"(?:{names})|\d[\d,]*(?:\.\d+)?", text):
            if not match[0][0].isdigit():
                continue
            places = len(match[0].partition(".")[2])
            value = float(match[0].replace(",", ""))
            for changed in (value + 2 * 10**-places, value * 7.77 + 1):
                other_text = f"{text[: match.start()]}{changed:,.{places}f}{text[match.end() :]}"
                tried += 1
                result += bool(check(other_text, facts).unsupported)
    assert tried > 100
    assert result >= 0.97 * tried, (result, tried)


@every(
    "text, borne",
    [
        ("The weighted average spread fails.", False),
        ("The weighted average spread fails, which is doubtful.", True),
        ("By our figures the weighted average spread fails.", False),
        ("Whether the weighted average spread fails is uncertain.", True),
        ("The largest obligor fails.", True),
    ],
)
def test_a_doubtful_failure_is_not_told_as_a_plain_one(text: str, borne: bool) -> None:
    facts = [
        KnownFact(
            "The weighted average spread fails by our figures, which is doubtful: the file itself calls it passed."
        ),
        KnownFact("The largest obligor fails at 3.15 %."),
    ]
    assert (not check(text, facts).unsupported) == borne
