"""Questions as analysts ask them.

Most are answered rightly, and none wrongly without a word.
"""

from __future__ import annotations

from collections import Counter

from core.questions.ask import ask
from tests.core.questions.books import APRIL, BEACON, HERE, SUBJECTS, portfolios, subject
from tests.core.questions.judge import judge
from tests.core.questions.rows import expect, rows

QUESTIONS = HERE / "questions.jsonl"

RIGHT_MIN = 0.9


def test_the_answers_are_those_of_the_oracle() -> None:
    """What is wrong must not be, whatever the count of right ones."""
    verdicts: Counter[str] = Counter()
    faults: dict[str, list[str]] = {"wrong": [], "open": []}
    for row in rows(QUESTIONS):
        subjects = [subject(name) for name in SUBJECTS[row["subject"]]]
        verdict, fault = judge(row, ask(row["question"], subjects))
        verdicts[verdict] += 1
        if verdict != "right":
            faults[verdict].append(f"{row['question']}: {fault}")
    assert faults["wrong"] == []
    assert verdicts["right"] >= RIGHT_MIN * verdicts.total(), "\n".join(faults["open"])


ENDINGS = (
    "that have been amended twice", "excluding affiliates", "in New York", "by revenue", "for the last two years",
    "as rated by DBRS", "assuming 20% CPR", "with a stable outlook", "on a look-through basis", "without haircuts",
    "using market values", "sponsored by KKR", "unless rates rise", "except the best", "for more than 30 days",
    "twice", "next quarter", "since closing", "if the trustee agrees", "in half", "per employee",
)  # fmt: skip
BEGINNINGS = (
    "Leaving affiliates aside,", "In 2019,", "According to Bloomberg,", "On a settled basis,", "For our peers,",
    "Assuming no defaults,", "Before fees,", "Unless rates rise,", "In the worst case,", "Under Basel IV,",
)  # fmt: skip


def test_a_phrase_without_a_meaning_is_never_passed_over() -> None:
    """At the end or the beginning of a question that is understood, it makes it one that is not."""
    passed_over = []
    for at, row in enumerate(rows(QUESTIONS)):
        subjects = [subject(name) for name in SUBJECTS[row["subject"]]]
        question = row["question"].rstrip("?. ")
        for text in (
            f"{question} {ENDINGS[at % len(ENDINGS)]}",
            f"{question} {ENDINGS[(7 * at + 3) % len(ENDINGS)]}",
            f"{BEGINNINGS[at % len(BEGINNINGS)]} {question[:1].lower()}{question[1:]}",
        ):
            if ask(text, subjects).answered:
                passed_over.append(text)
    assert passed_over == []


def test_the_file_is_what_the_oracle_says() -> None:
    """So that nobody mends an expectation by hand."""
    assert [row for row in rows(QUESTIONS) if row != expect(row)] == []


def test_what_is_suggested_is_answered() -> None:
    for name in (APRIL, BEACON, "mag17"):
        if name in portfolios():
            refused = ask("What is the weather like in London?", [subject(name)])
            assert not refused.answered
            assert [ask(question, [subject(name)]).answered for question in refused.suggestions] == [True] * 3
