"""A hundred and fifty questions as analysts ask them: most are answered rightly, and none wrongly without a word."""

from __future__ import annotations

from collections import Counter

from core.questions.ask import ask
from tests.core.questions.books import APRIL, BEACON, HERE, SUBJECTS, portfolios, subject
from tests.core.questions.judge import judge
from tests.core.questions.rows import expect, rows

FILES = sorted(HERE.glob("asked_*.jsonl"))
"""Those that the parser was written with (seen), and those that were kept back until it was done (held)."""

RIGHT_MIN = 0.8


def test_the_answers_are_those_of_the_oracle() -> None:
    """Of all files together; what is wrong must not be, whatever the count of right ones."""
    verdicts: Counter[str] = Counter()
    wrong, faults = [], []
    for file in FILES:
        for row in rows(file):
            subjects = [subject(name) for name in SUBJECTS[row["subject"]]]
            verdict, fault = judge(row, ask(row["question"], subjects))
            verdicts[verdict] += 1
            if verdict == "wrong":
                wrong.append(f"{row['question']}: {fault}")
            elif verdict == "open":
                faults.append(f"{row['question']}: {fault}")
    assert wrong == []
    assert verdicts["right"] >= RIGHT_MIN * verdicts.total(), "\n".join(faults)


def test_the_file_is_what_the_oracle_says() -> None:
    """So that nobody mends an expectation by hand."""
    for file in HERE.glob("*.jsonl"):
        assert [row for row in rows(file) if row != expect(row)] == []


def test_what_is_suggested_is_answered() -> None:
    for name in (APRIL, BEACON, "mag17"):
        if name in portfolios():
            refused = ask("What is the weather like in London?", [subject(name)])
            assert not refused.answered
            assert [ask(one, [subject(name)]).answered for one in refused.suggestions] == [True] * 3
