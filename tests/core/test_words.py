"""Counts with their nouns, everywhere, and what a misspelt name may have meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from core.words import agreed, capitalize, counted, first_of, nearest, plural, suggestion
from tests.rows import every

ROOT = Path(__file__).parents[2]


@every(
    "count, noun, text",
    [
        (0, "test", "0 tests"),
        (1, "test", "1 test"),
        (2, "test", "2 tests"),
        (1_000, "loan", "1,000 loans"),
        (1, "industry", "1 industry"),
        (2, "industry", "2 industries"),
        (3, "class", "3 classes"),
        (2, "mismatch", "2 mismatches"),
        (2, "survey", "2 surveys"),
        (1, "new failure", "1 new failure"),
        (2, "audit chain", "2 audit chains"),
    ],
)
def test_counts(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


def test_a_list_names_the_first_few_and_counts_the_rest() -> None:
    assert first_of([], 2) == ""
    assert first_of(["a", "b"], 2) == "a, b"
    assert first_of(["a", "b", "c"], 2, repr, "; ") == "'a'; 'b' and 1 more"
    assert first_of(range(1_005)) == "0, 1, 2, 3, 4 and 1,000 more"
    assert [capitalize(text) for text in ("", "a Bc", "\u00e9", "S&P")] == ["", "A Bc", "\u00c9", "S&P"]


def test_verbs_go_with_their_count() -> None:
    assert [counted(count, "loan", "was/were") for count in (0, 1, 2)] == ["0 loans were", "1 loan was", "2 loans were"]
    assert (agreed(1, "is/are"), agreed(5, "is/are"), plural("")) == ("is", "are", "")


def test_what_a_name_may_have_meant() -> None:
    names = ["wal", "warf", "oc_ratio"]
    assert (nearest("wall", names), nearest("WARF", names), nearest("xyz", names)) == ("wal", "warf", None)
    assert suggestion("wall", names) == "did you mean wal? There are: wal, warf, oc_ratio"
    assert suggestion("xyz", names) == "there are: wal, warf, oc_ratio"
    assert suggestion("xyz", [f"name_{at}" for at in range(30)]).endswith("name_11 and 18 more")
    assert suggestion("wall" * 10_000, names) == "there are: wal, warf, oc_ratio"
    assert suggestion("xyz", []) == ""


# Every count of the code


NOUNS = re.compile(
    r"^ (?:more |other )?(tests|loans|rows|trades|columns|sheets|files|obligors|warnings|discrepancies|deals|months|"
    r"days|minutes|cells|formulas|errors|classes|issues|fields|workbooks|events|runs|entries|places|industries|changes|"
    r"records|tables|pivot tables|users|addresses|results|mismatches|alerts|faults|reports)\b"
)
LIMITS = re.compile(r"[A-Z]{3,}|\bmost\b|\bleast\b|max_|settings\.")
"""Of a figure that is a limit, and never one."""
PAST_A_LIMIT = ("more than", "the limit is", "at most", "as many as", "up to", "; a sheet has", "a frame holds")
ALWAYS_SEVERAL = frozenset(
    (
        "core/recalc/data_tables.py: cells",  # more than a million
        "core/alerts/evaluate.py: len(raised)",  # one is told by its own sentence
        "core/compliance/findings.py: len(members)",
        "core/definition/consistency.py: len(matrix.rows)",
        "core/definition/consistency.py: len(matrix.columns)",
        "core/files/read.py: len(sources)",
        "service/commands/batch/plan.py: len(tape.files)",
        "core/portfolio/pages/joined.py: len(par.own)",
        "core/portfolio/sheets/rows/pools.py: len(known)",
        "core/portfolio/sheets/rows/pools.py: len(names)",
        "core/questions/answers/loans.py: ties",
        "core/generate/tapes.py: deal.loans",
        "core/generate/months.py: ago",  # names draws, and nobody reads it
        "core/questions/wording.py: kind",  # OC tests
    )
)


def figures_before_nouns(path: Path) -> Iterator[str]:
    """What stands in an f-string right before a noun in the plural."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        for at, part in enumerate(node.values[1:], 1):
            figure = node.values[at - 1]
            if not (isinstance(part, ast.Constant) and isinstance(figure, ast.FormattedValue)):
                continue
            rest = "".join(
                str(value.value) for value in node.values[max(0, at - 2) :] if isinstance(value, ast.Constant)
            )
            if NOUNS.match(str(part.value)) and not any(words in rest for words in PAST_A_LIMIT):
                yield ast.unparse(figure.value)


def test_no_count_has_a_noun_that_is_always_plural() -> None:
    """`1 tests`: a count that may be one is written by `counted`."""
    texts = {
        f"{path.relative_to(ROOT)}: {figure}"
        for folder in ("core", "service")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for figure in figures_before_nouns(path)
        if not LIMITS.search(figure)
    }
    assert sorted(texts - ALWAYS_SEVERAL) == []
