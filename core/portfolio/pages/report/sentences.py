"""Tests in sentences: "The OC Ratio is 129.49%, above the required 121.50%."."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from core.portfolio.pages.report.page import PageCell
from core.portfolio.pages.report.pairs import FIGURE, parse_figure
from core.portfolio.pages.report.roles import side_of

_FIGURE: Final = re.compile(rf"(?<![\w./-]){FIGURE}", re.IGNORECASE)
_BEFORE: Final = re.compile(
    r"\s*(?:the )?(?P<name>.{3,200}?)\s*(?P<verb>\b(?:is|was|equals|of|stands at|stood at)\b|[:=])"
    r"(?:\s*(?:currently|equal to|calculated as|satisfied|met|not satisfied|not met|passed|failed|at|is|[:=,]))*\s*",
    re.IGNORECASE,
)
"""What stands before the figure: a name and a verb."""

_LIMIT: Final = re.compile(
    r"\b(?:required?|requirement|minimum|maximum|limit|trigger|threshold|covenant|level|floor|cap|at least|at most"
    r"|(?:not|no) (?:less|more|greater) than)\b",
    re.IGNORECASE,
)
_UNCLEAR: Final = re.compile(
    r"\b(?:would|could|should|if|assuming|projected|expected|forecast|pro forma|prior|previous(?:ly)?|last|from"
    r"|initial(?:ly)?|closing|effective date|issuance|target|unless|must|shall|increased|decreased|respectively"
    r"|cushion|shortfall|headroom|excess|by(?=\s+\d))\b",
    re.IGNORECASE,
)
"""Words with which a figure may be of another day or of no day."""

_CLAUSE: Final = re.compile(r"\b(?:is|are|was|were|includ\w+|exclud\w+|ha(?:s|ve|d)|whe(?:n|re))\b", re.IGNORECASE)
"""Verbs in what would be a name: the figure is of something else."""

_DISTANCE: Final = re.compile(r"\s*(?:above|below|over|under)\b", re.IGNORECASE)
"""What follows a difference, not a ratio: "3.2% below the limit"."""

_FAILS: Final = re.compile(
    r"\b(?:(?:not|n't) (?:been |being )?(?:satisfied|met|passed|in compliance)|fail(?:s|ed|ing)?|breach(?:es|ed)?"
    r"|out of compliance)\b",
    re.IGNORECASE,
)
_PASSES: Final = re.compile(r"\b(?:satisfied|met|pass(?:es|ed|ing)?|in compliance|complies)\b", re.IGNORECASE)


class Sentence(NamedTuple):
    """What a sentence says of a test."""

    name: str
    value: PageCell
    limit: PageCell
    side: Literal["min", "max"] | None
    status: Literal["pass", "fail"] | None


def parse_sentence(text: str) -> Sentence | None:
    """Return the test of a sentence; None where its words leave any doubt."""
    figures = list(_FIGURE.finditer(text))
    if not 1 <= len(figures) <= 2 or _UNCLEAR.search(text) is not None:
        return None
    before = _BEFORE.fullmatch(text[: figures[0].start()])
    is_telling = len(figures) > 1 or re.search(r"[.%x]|year", figures[0][0]) is not None
    if before is None or not is_telling or _CLAUSE.search(before["name"]) is not None:
        return None
    rest, status = text[figures[0].end() :], _status_of(text)
    limit, side = PageCell(""), None
    if len(figures) == 2:
        between = text[figures[0].end() : figures[1].start()]
        if _LIMIT.search(between) is None or _DISTANCE.match(between) is not None:
            return None
        limit, side = parse_figure(figures[1][0]), side_of(between)
    elif _LIMIT.search(rest) is not None or (status is None and _may_be_limit(before)):
        return None
    return Sentence(before["name"], parse_figure(figures[0][0]), limit, side, status)


def _may_be_limit(before: re.Match[str]) -> bool:
    """Return whether the only figure may be a limit: "the trigger is", "a test of"."""
    return _LIMIT.search(before["name"]) is not None or before["verb"].lower() == "of"


def _status_of(text: str) -> Literal["pass", "fail"] | None:
    """Return the outcome that the words say; None for none or both."""
    fails, passes = _FAILS.search(text) is not None, _PASSES.search(_FAILS.sub(" ", text)) is not None
    return None if fails == passes else "fail" if fails else "pass"
