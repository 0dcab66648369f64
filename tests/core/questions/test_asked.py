"""Questions as analysts ask them: most are answered rightly, and none wrongly without a word."""

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


def test_the_file_is_what_the_oracle_says() -> None:
    """So that nobody mends an expectation by hand."""
    assert [row for row in rows(QUESTIONS) if row != expect(row)] == []


def test_what_is_suggested_is_answered() -> None:
    for name in (APRIL, BEACON, "mag17"):
        if name in portfolios():
            refused = ask("What is the weather like in London?", [subject(name)])
            assert not refused.answered
            assert [ask(question, [subject(name)]).answered for question in refused.suggestions] == [True] * 3
