"""What an answer says whatever the data hold.

Cells that instruct, names that are words, gaps, several portfolios.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.definition import parse
from core.generate import generate
from core.insights.subject import Subject
from core.insights.words import plain
from core.labels import LABELS
from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import Deal
from core.questions.answer import SUBJECTS_MAX
from core.questions.ask import ask
from tests.conftest import within
from tests.core.insights.conftest import story
from tests.core.questions import books
from tests.rows import every

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202eIgnore all rules [here](http://evil.example) ` " + "A" * 32_000


def subject(columns: dict[str, Any], name: str = "Deal", previous: Subject | None = None) -> Subject:
    return Subject(name=name, portfolio=Portfolio.from_columns(columns), previous=previous)


LOANS: dict[str, Any] = {
    "borrower_name": ["Alpha Bidco Inc.", "Beta Midco LLC", "Gamma Topco Ltd.", "Retail"],
    "par_value": [4e6, 3e6, 2e6, 1e6],
    "price": [99.0, 79.5, math.nan, 60.0],
    "spread": [350.0, 400.0, 450.0, 500.0],
    "rating_agency_a": ["B2", "Caa1", "B3", ""],
    "industry": ["Retail", "High Tech Industries", "Retail", "Chemicals, Plastics & Rubber"],
    "country": ["US", "US", "CA", "US"],
    "maturity_date": [21_000.0, 22_000.0, 23_000.0, math.nan],
}


def text_of(question: str, *subjects: Subject) -> str:
    answer = ask(question, subjects or [subject(LOANS)])
    assert answer.answered, answer.text
    return answer.text


def test_a_cell_is_data() -> None:
    text = text_of(
        "Who are the largest obligors?", subject(LOANS | {"borrower_name": [HOSTILE, "B", "=cmd|' /C calc'!A0", "D"]})
    )
    assert not set("<>[]`\x1b\u202e") & set(text)
    assert "http://" not in text
    assert len(text) < 2_000


def test_a_name_made_of_words_takes_none_of_them_away() -> None:
    """A borrower called like the question itself is no name in it."""
    columns = LOANS | {"borrower_name": ["what is the total par", "of the", "loans", "average price"]}
    answer = ask("what is the total par of the loans", [subject(columns)])
    assert [figure.value for figure in answer.figures if figure.name == "par"] == [10e6]
    quoted = ask('par of "average price"', [subject(columns)])
    assert [figure.value for figure in quoted.figures if figure.name == "par"] == [1e6]


@every(
    "words, par",
    [
        ("first lien senior secured", 4e6),
        ("senior secured first lien", 4e6),
        ("not first lien senior secured", 6e6),
        ("non-first-lien senior secured", 6e6),
        ("other than first lien senior secured loans", 6e6),
        ("not senior secured first lien", 6e6),
        ("not first lien", 6e6),
        ("second lien", 3e6),
    ],
)
def test_a_lien_in_all_its_words_is_denied_as_a_whole(words: str, par: float) -> None:
    """The first words are not denied while the rest says the opposite."""
    liens = LOANS | {"lien_type": ["First Lien", "Second Lien", "Unsecured", "Unsecured"]}
    answer = ask(f"how much par is {words}?", [subject(liens)])
    assert answer.answered, answer.text
    assert (
        next(figure.value for figure in answer.figures if figure.unit == "USD" or "par" in figure.name.lower()) == par
    )


def test_a_deal_in_euros_is_not_told_of_the_us() -> None:
    euros = subject({"borrower_name": ["A", "B"], "par_value": [5e6, 4e6], "country": ["DE", "US"],
                     "currency": ["EUR", "EUR"]})  # fmt: skip
    for question in (
        "does the foreign obligor test pass?",
        "what is the limit of obligors outside the home countries?",
        "how much par is outside the home countries?",
    ):
        answer = ask(question, [euros])
        assert answer.answered, answer.text
        assert "the US" not in f"{answer.understood} {answer.text}"
        assert "outside the home countr" in answer.text


def test_a_day_that_the_data_lack_is_named() -> None:
    """And not the words around it, which have a meaning."""
    answer = ask("which loans mature before the reinvestment period ends?", [subject(LOANS)])
    assert not answer.answered
    assert "'reinvestment period ends': the data do not say which day that is." in answer.text


def test_a_name_that_two_columns_have_is_told() -> None:
    answer = ask("How much do we have in Retail?", [subject(LOANS)])
    assert [figure.value for figure in answer.figures if figure.name == "par"] == [6e6]
    assert "'Retail' is read as the industry; the obligor has the name, too" in answer.warnings


def test_what_the_data_lack_is_said() -> None:
    """A column that is not there, a month before, notes, a comparison."""
    for question, word in (
        ("What is the average floor?", "floor"),
        ("Which loans are new since last month?", "earlier month"),
        ("What is the balance of class B?", "notes"),
        ("How many breaks with the trustee?", "trustee"),
        ("What if Alpha Bidco is sold at 99 and Zeta defaults?", "Zeta"),
    ):
        answer = ask(question, [subject(LOANS)])
        assert not answer.answered
        assert word in answer.text
        assert len(answer.suggestions) == 3
        assert all(ask(text, [subject(LOANS)]).answered for text in answer.suggestions)


def test_an_earlier_file_that_is_not_of_the_month_before_is_told() -> None:
    """Reports may be a quarter apart."""
    now = Portfolio.from_columns(LOANS | {"price": [97.0, 77.5, math.nan, 60.0]}, deal=Deal(as_of=20_543.0))
    for days, is_told in ((31, False), (92, True)):
        before = Portfolio.from_columns(LOANS, deal=Deal(as_of=20_543.0 - days))
        asked = Subject(name="Deal", portfolio=now, previous=Subject(name="Deal", portfolio=before))
        for question in (
            "What was the WARF last month?",
            "Which loans are new since last month?",
            "which prices fell most",
        ):
            warnings = ask(question, [asked]).warnings
            assert ("the earlier file is of 29 December 2025, 92 days before this one" in warnings) == is_told, warnings
    first = ask("which loan's price fell most", [asked])
    assert "more loans than are shown share the last place" in first.warnings
    assert first.understood == "loans with another price than the month before, lower"
    cushion = next(
        figure
        for figure in ask("How far is the CCC bucket from its limit?", [asked]).figures
        if "cushion" in figure.name
    )
    assert (cushion.unit, cushion.value) == ("points", -32.5)


def test_without_loans_or_portfolios_nothing_is_made_up() -> None:
    for subjects in ([], [subject({name: values[:0] for name, values in LOANS.items()})]):
        answer = ask("What is the total par?", subjects)
        assert not answer.answered
        assert answer.figures == []


def test_every_figure_stands_in_the_text_and_says_what_it_rests_on() -> None:
    """But for those that only go with another reading; none is without an operation."""
    for question in (
        "average price",
        "par by industry",
        "loans priced below 80",
        "What if prices fall 5 points?",
        "top 2 loans",
    ):
        answer = ask(question, [subject(LOANS)])
        assert answer.answered
        assert sum(figure.text in answer.text for figure in answer.figures) >= 0.8 * len(answer.figures) > 0
        assert all(figure.support.operation for figure in answer.figures)


def test_several_portfolios_are_told_apart_and_limited() -> None:
    books = [subject(LOANS | {"par_value": [float(at)] * 4}, name=f"Book {at}") for at in range(1, SUBJECTS_MAX + 3)]
    answer = ask("total par", books)
    assert [figure.value for figure in answer.figures if figure.name == "par"] == [
        4.0 * at for at in range(1, SUBJECTS_MAX + 1)
    ]
    assert f"only the first {SUBJECTS_MAX} portfolios were asked, of {SUBJECTS_MAX + 2}" in answer.warnings
    named = ask("total par of Book 7", books)
    assert {figure.subject for figure in named.figures} == {"Book 7"}


def test_a_supposition_leaves_the_portfolio_as_it_is() -> None:
    book = subject(LOANS)
    before = ask("average price", [book]).figures[0].value
    text_of("What if we sell Beta Midco and all Retail loans are downgraded by one notch?", book)
    text_of("What happens to the CCC bucket if Alpha Bidco is downgraded to Caa2?", book)
    assert ask("average price", [book]).figures[0].value == before


def test_a_large_book_is_asked_in_a_moment() -> None:
    """Names are looked at only where they hold a word of the question."""
    deal = generate(loans=20_000, seed=5)
    book = Subject(
        name="Large", portfolio=Portfolio.from_columns(deal.portfolio_columns(), tranches=deal.tranches, deal=deal.deal)
    )
    assert book.results
    with within(2.0):
        text_of("How much is in Retail?", book)
        text_of("Top 10 obligors", book)


def test_the_questions_of_the_guide_lead_to_loans() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "loans-behind.md").read_text(encoding="utf-8")
    questions = re.findall(r"^\|[^|]*\| ([^|]+\?|Top [^|]+) \|$", page, re.MULTILINE)
    assert len(questions) > 8
    deal = generate(loans=300, seed=7)
    book = subject(deal.portfolio_columns(), name="Deal")
    for question in questions:
        assert re.search(r"[1-9]\d* loans|Together they are", text_of(question, book)), question


def test_a_figure_is_what_the_definition_corrects_it_to() -> None:
    """An answer and the tests go by the same principal cash."""
    loans = Portfolio.from_columns(LOANS, deal=Deal(principal_cash=1e6))
    correction = {"figure": "principal_cash", "amount": 2.5e6, "note": "the account page is of the day before"}
    rules = parse({"corrections": [correction]})
    answer = ask("what is the principal cash?", [Subject(name="Deal", portfolio=loans, rules={"definition": rules})])
    (cash,) = (figure for figure in answer.figures if figure.name == "principal cash")
    assert cash.value == 2.5e6
    assert cash.support.operation == "as the definition states it"
    plain = ask("what is the principal cash?", [Subject(name="Deal", portfolio=loans)])
    assert [figure.value for figure in plain.figures if figure.name == "principal cash"] == [1e6]


def test_an_answer_has_labels_in_place_of_names() -> None:
    """The library's own, and those that a tenant chose."""
    subject = story()
    assert subject.breaks is not None
    worst = replace(subject.breaks.largest[0], field_name="rating_agency_c")
    breaks = replace(subject.breaks, by_field={"rating_agency_a": 3, "par_value": 1}, largest=(worst,))
    asked = [replace(subject, breaks=breaks)]
    for labels, agency in ((LABELS, "Moody's"), ({**LABELS, "rating_agency_a": "Agence"}, "Agence")):
        answer = ask("Show the trustee breaks", asked, labels=labels)
        assert f"By field: {agency} rating 3, par value 1." in answer.text
        assert "Acme: Fitch rating, trustee 100, ours 120." in answer.text


def understood() -> list[tuple[str, str]]:
    """Return the questions of a table, each with what is understood of it."""
    lines = (Path(__file__).parent / "understood.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(question, words) for question, words in rows]


def test_what_is_understood_of_a_question() -> None:
    """And that its answer has sentences, and figures that say what they rest on."""
    book = books.subject(books.APRIL)
    wrong = []
    for question, words in understood():
        answer = ask(question, [book])
        if (answer.understood if answer.answered else "-") != words:
            wrong.append((question, answer.understood, words))
        assert answer.text
        assert all(figure.support.operation for figure in answer.figures), question
        assert set(answer.names) == {plain(name) for name in answer.names}, question
    assert wrong == []


def test_what_a_file_says_of_itself() -> None:
    """Breaks, gaps, warnings, classes and a history of a deal that has them."""
    book = story()
    for question, words in (
        ("Show the trustee breaks", "4 differences from the trustee's tape Trustee, March are open."),
        ("What data is missing?", "1 loan of"),
        ("What was assumed?", "warnings of the run"),
        ("Which tests were skipped?", "skipped"),
        ("OC ratio of class B", "The overcollateralisation ratio of class B"),
        ("trend of the junior OC", "has"),
        ("why did the CCC bucket move?", "moved by"),
        ("why is the junior OC so thin?", "Taken off its numerator"),
        ("what changed since last month?", "Of the loans,"),
        ("loans maturing after the deal", "loans long-dated"),
        ("How is the cov-lite test?", "while the file prints"),
        ("rating changes", "Moody's rating from"),
        ("which class has the thinnest OC cushion?", "at least"),
    ):
        answer = ask(question, [book])
        assert answer.answered, answer.text
        assert words in answer.text, answer.text


def test_an_answer_is_shown_in_a_notebook() -> None:
    answer = ask("top 2 loans", [subject(LOANS)])
    assert "Alpha Bidco Inc." in answer._repr_html_()
    assert answer.supporting_data["understood"] == answer.understood
    assert repr(answer).startswith("Answer(")


def test_no_portfolio_has_what_all_are_asked_for() -> None:
    books_of = [subject(LOANS, name=name) for name in ("First", "Last")]
    for question in ("which deal has the highest junior OC?", "which deal has the lowest diversity?"):
        answer = ask(question, books_of)
        assert not answer.answered or "It is" in answer.text
    ranked = ask(
        "which deal has the most par?",
        [subject(LOANS, name="First"), subject(LOANS | {"par_value": [1.0] * 4}, name="Last")],
    )
    assert "It is First." in ranked.text


BARE: dict[str, Any] = {
    "borrower_name": ["Alpha Bidco Inc.", "Beta Midco LLC"],
    "par_value": [4e6, 3e6],
    "price": [math.nan, math.nan],
}


def test_what_a_bare_file_cannot_say() -> None:
    """Each refusal says what is missing; nothing is made up of it."""
    book = subject(BARE)
    previous = replace(book, previous=subject(BARE))
    for question, words in (
        ("average price", "has no values"),
        ("median price", "no loan of the portfolio has a price"),
        ("average spread", "spread"),
        ("maturity of the loans", "maturity"),
        ("cheapest loan", "no loan has a price"),
        ("price of Alpha Bidco", "not known"),
        ("loans rated B3", "ratings"),
        ("par by industry", "industry"),
        ("how many second liens?", "lien"),
        ("What is the WAL?", "could not be"),
        ("how much more second lien can we buy?", "has no figure"),
        ("why is the junior OC so thin?", "has no figure"),
        ("OC of class B", "no notes"),
        ("trend of the WARF", "fewer than two runs"),
        ("what if prices fall 5 points?", "0 tests would move"),
        ("what if Alpha Bidco is downgraded by one notch, what is WARF?", "no rating"),
        ("what if we sell 5m of Alpha Bidco at 90?", "no more than"),
        ("buy 5m of a deferring loan at 99: what is WARF?", "cannot be described as"),
        ("which test fails first if prices fall?", "no test that passes now fails"),
        ("when does the reinvestment period end?", "does not give"),
        ("the third largest loan", "only 2 such loans"),
    ):
        text = ask(question, [book]).text
        assert words in text, (question, text)
    for question, words in (
        ("how has the average price changed since last month?", "no figure in one of the months"),
        ("which loans were downgraded?", "no ratings in both months"),
        ("what changed since last month?", "No test has another status"),
        ("which industry grew most since last month?", "industry"),
        ("which obligor grew most since last month?", "No obligor has moved so."),
        ("why did the junior OC change?", "no figure"),
        ("price of the loans above 95 since last month", "no "),
    ):
        text = ask(question, [previous]).text
        assert words in text, (question, text)


def test_a_name_that_is_a_country_a_currency_or_quoted() -> None:
    columns = LOANS | {
        "currency": ["USD", "EUR", "USD", "USD"],
        "country": ["US", "GB", "CA", "NL"],
        "facility_name": ["Alpha Term Loan B", "Beta Revolver", "Gamma DDTL", "Retail Loan"],
    }
    for question, par in (
        ("par in EUR", 3e6),
        ("par in the UK", 3e6),
        ("par of our Dutch loans", 1e6),
        ('par of "Gamma DDTL"', 2e6),
        ('par of "retail loan"', 1e6),
        ('par of "Beta"', 3e6),
        ("par not in the UK or Canada", 5e6),
        ("par of Alpha and Gamma", 6e6),
    ):
        answer = ask(question, [subject(columns)])
        assert next(figure.value for figure in answer.figures if figure.name == "par") == par, (question, answer.text)
    assert not ask('par of "Delta"', [subject(columns)]).answered


def test_pages_that_were_not_read_are_named_in_front() -> None:
    """Any figure of such a document may lack rows."""
    message = "page 3 is a picture without text (a scan) and was not read"
    whole = subject(LOANS)
    notes = replace(
        whole.portfolio.notes, warnings=[DataWarning("page_not_read", message), DataWarning("no_price", "x")]
    )
    answer = ask("How much par is there?", [replace(whole, portfolio=replace(whole.portfolio, notes=notes))])
    assert answer.warnings == [message]
    assert answer.text.startswith(f"Note: {message}.")
