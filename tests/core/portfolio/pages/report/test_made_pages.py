"""Reports made by seed, in the words and shapes of many trustees, each read and held to what it prints.

MADE_PAGES is the number of seeds: 50 in a plain run, 500 in CI.
"""

from __future__ import annotations

import os
from functools import cache

import pytest

from core.portfolio import Portfolio
from tests.made_pages.book import book_of
from tests.made_pages.score import Score, score_book
from tests.made_pages.words import WORDS

SEEDS = int(os.environ.get("MADE_PAGES", "50"))
RIGHT_LEAST = 0.99


@cache
def score() -> Score:
    total = Score()
    for seed in range(SEEDS):
        book = book_of(seed)
        score_book(total, book, Portfolio.from_workbook(book.workbook))
    return total


@pytest.mark.timeout(1_200)
def test_what_reports_print_is_read_rightly() -> None:
    assert score().share >= RIGHT_LEAST, score().table()


@pytest.mark.timeout(1_200)
def test_nothing_is_wrong_without_a_doubt() -> None:
    assert not score().silent, score().table()


def test_every_report_prints_something_of_each_kind() -> None:
    kinds = {figure.kind for seed in range(20) for figure in book_of(seed).says}
    assert kinds == {"test", "list", "stratification", "empty_page", "note"}
    assert book_of(4).says == book_of(4).says


def test_each_thing_has_six_wordings() -> None:
    counts = {f"tests.{key}": len(set(wordings)) for key, wordings in WORDS.tests.items()}
    counts |= {f"list_titles.{key}": len(set(wordings)) for key, wordings in WORDS.list_titles.items()}
    counts |= {f"strata.{key}": len(set(wordings)) for key, wordings in WORDS.strata.items()}
    for name in (
        "shapes",
        "par",
        "interest",
        "account_names",
        "empty",
        "list_headings",
        "obligor_headings",
        "notes_headings",
    ):
        counts[name] = len(getattr(WORDS, name))
    assert {name: count for name, count in counts.items() if count < 6} == {}
