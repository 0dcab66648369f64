"""A hundred and fifty questions as analysts ask them: most are answered rightly, and none wrongly without a word."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import cache

from core.insights.subject import HistoryPoint, Subject
from core.questions.ask import ask
from tests.core.questions import oracle
from tests.core.questions.judge import EPOCH, judge

FILES = sorted(oracle.HERE.glob("asked_*.jsonl"))
"""Those that the parser was written with (seen), and those that were kept back until it was done (held)."""

RIGHT_MIN = 0.8


@cache
def subject(name: str) -> Subject:
    """Of the first deal with the month before it, and that month's run as its history."""
    portfolio = oracle.portfolios()[name]
    if name != oracle.APRIL:
        return Subject(name=name, portfolio=portfolio)
    before = subject(oracle.MARCH)
    day = EPOCH + timedelta(days=before.portfolio.deal.as_of or 0.0)
    history = {
        one.test_id: [HistoryPoint(day=day, value=one.current_value, status=one.status)] for one in before.results
    }
    return Subject(name=name, portfolio=portfolio, previous=before, history=history)


def test_the_answers_are_those_of_the_oracle() -> None:
    """Of all files together; what is wrong must not be, whatever the count of right ones."""
    verdicts: Counter[str] = Counter()
    wrong, faults = [], []
    for file in FILES:
        for row in oracle.rows(file):
            subjects = [subject(name) for name in oracle.SUBJECTS[row["subject"]]]
            verdict, fault = judge(row, ask(row["question"], subjects))
            verdicts[verdict] += 1
            if verdict == "wrong":
                wrong.append(f"{row['question']}: {fault}")
            elif verdict == "said":
                faults.append(f"{row['question']}: {fault}")
    assert wrong == []
    assert verdicts["right"] >= RIGHT_MIN * verdicts.total(), "\n".join(faults)


def test_the_file_is_what_the_oracle_says() -> None:
    """So that nobody mends an expectation by hand."""
    for file in FILES:
        assert [row for row in oracle.rows(file) if row != oracle.answered(row)] == []


def test_what_is_suggested_is_answered() -> None:
    for name in (oracle.APRIL, oracle.BEACON, "mag17"):
        if name in oracle.portfolios():
            refused = ask("What is the weather like in London?", [subject(name)])
            assert not refused.answered
            assert [ask(one, [subject(name)]).answered for one in refused.suggestions] == [True] * 3
