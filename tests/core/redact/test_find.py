"""What is found in single texts.

Precision and recall over a list of lines, linear time, what the sieve lets by.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from core.grid._intern import intern
from core.grid.column import Text
from core.redact.book import redact_text
from core.redact.find import Span, find
from core.redact.kinds import KINDS
from core.redact.replace import Policy
from core.redact.sieve import candidates
from tests.conftest import within
from tests.core.redact.conftest import CASES
from tests.rows import every

MARK = re.compile(r"\{\{(\w+):(.*?)\}\}", re.DOTALL)


def lines() -> list[tuple[str, list[Span]]]:
    """Each line's text, and the spans that are marked in it."""
    result = []
    for line in (Path(__file__).parent / "lines.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            continue
        marked = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), line).replace("\\n", "\n")
        spans, shift = [], 0
        for match in MARK.finditer(marked):
            start = match.start() - shift
            spans.append(Span(start, start + len(match[2]), match[1]))
            shift += len(match[0]) - len(match[2])
        result.append((MARK.sub(r"\2", marked), spans))
    return result


LINES = lines()


def test_precision_and_recall() -> None:
    """Of 300 and more lines.

    Every span that is marked is found to the character, and nothing else is.
    """
    assert len(LINES) >= 300
    wrong, missed, right = [], [], Counter[str]()
    for text, expected in LINES:
        result = find(text)
        right.update(span.kind for span in set(result) & set(expected))
        wrong += [(text, text[span.start : span.end], span.kind) for span in set(result) - set(expected)]
        missed += [(text, text[span.start : span.end], span.kind) for span in set(expected) - set(result)]
    actual_text = "\n".join([f"wrong {item}" for item in wrong] + [f"missed {item}" for item in missed])
    hits = sum(right.values())
    precision, recall = hits / (hits + len(wrong)), hits / (hits + len(missed))
    assert (precision, recall) == (1.0, 1.0), f"precision {precision:.3f}, recall {recall:.3f}\n{actual_text}"
    assert set(right) == set(KINDS)


def test_the_sieve_lets_through_all_that_can_be_found() -> None:
    texts = list(dict.fromkeys(text for text, _ in LINES))
    _, offsets, data = intern(texts)
    caught = dict(candidates(Text(offsets, data), KINDS))
    for code, text in enumerate(texts):
        assert {span.kind for span in find(text)} <= set(caught.get(code, ())), text
    identifiers = [at for at, (_, spans) in enumerate(LINES) if not spans]
    assert len(set(caught) & set(identifiers)) < 0.5 * len(identifiers), "the sieve holds little back"


@every("policy", CASES)
def test_what_was_redacted_is_found_no_more(policy: Policy) -> None:
    for text, _ in LINES:
        once, counts = redact_text(text, policy)
        assert redact_text(once, policy) == (once, {}), text
        assert sum(counts.values()) == len(find(text)), text


@pytest.mark.parametrize("size", [32_767])
def test_time_is_linear_in_texts_made_to_take_long(size: int) -> None:
    """Pieces that patterns try again and again.

    Each text is as long as a cell permits.
    """
    pieces = [
        *(
            "a@b.",
            "x@" + "a." * 30,
            "1-",
            "4111 ",
            "a at b dot ",
            "+1 ",
            "(020) 7",
            "DE89 ",
            "born 1 1 1 ",
            "a:",
            "1.1.",
        ),
        *("Contact: Aa ", "Prepared by " + "Aa " * 9, "tel: 1 ", "\u200b", "&#64;", '"a', "jane@acme.com, "),
    ]
    for piece in pieces:
        text = (piece * size)[:size]
        with within(1.0, piece):
            find(text)
