"""A report in two sentences.

How many tests fail, what is doubtful of that, and which tests they are.

A test whose status is doubtful is never counted as a plain failure or a plain pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Final

from core.compliance.printed import is_contradicted, printed_words, status_here
from core.compliance.result import Direction
from core.report.content import ReportVerdict, TestLine
from core.report.figures import figure
from core.words import agreed, counted

NAMED_IN_VERDICT: Final = 3
"""Failed tests, and tests close to their limits, that the verdict names. Doubtful ones are named all."""

_HELD_TO: Final[dict[Direction, str]] = {"max": "against at most", "min": "against at least", "exact": "against"}


def verdict_of(lines: Sequence[TestLine], skipped: int, *, partial: bool = False) -> ReportVerdict:
    """Return what a run says as a whole.

    Args:
        skipped: how many tests have no result.
        partial: the request left tests of the suite out.
    """
    left = [f"{counted(skipped, 'test')} {'has' if skipped == 1 else 'have'} no result."] if skipped else []
    if partial:
        left.append("This run is partial: it says nothing of the tests that it left out.")
    if not lines:
        return ReportVerdict("none", "No test has a result", left[0] if left else "No test was run.")
    measured = "measured " if skipped else ""
    that_ran = f" that {'was' if len(lines) == 1 else 'were'} run" if partial else ""
    doubtful = [line for line in lines if line.doubtful]
    failed = [line for line in lines if line.status == "fail" and not line.doubtful]
    warned = [line for line in lines if line.status == "warning" and not line.doubtful]
    sentences = [f"Failed: {_thinnest_names(failed)}."] if failed else []
    sentences += [f"Doubtful: {_doubtful_names(doubtful)}."] if doubtful else []
    sentences += [f"Close to the limit: {_thinnest_names(warned)}."] if warned else []
    sentence = " ".join([*sentences, *left])
    if doubtful:
        headline = _doubtful_headline(lines, failed, doubtful, measured, that_ran)
        return ReportVerdict("fail" if failed else "doubtful", headline, sentence)
    if failed:
        verb = agreed(len(failed), "fails/fail")
        return ReportVerdict(
            "fail", f"{len(failed)} of {counted(len(lines), f'{measured}test')}{that_ran} {verb}", sentence
        )
    every = f"All {counted(len(lines), f'{measured}test')}{that_ran} pass"
    if len(lines) == 1:
        every = f"The one {measured}test{that_ran} passes"
    if warned:
        return ReportVerdict("warning", f"{every}, {len(warned)} with a warning", sentence)
    return ReportVerdict("pass", every, " ".join(["None is close to its limit.", *left]))


def headroom_of(line: TestLine) -> float:
    """Return the cushion in percent of the limit.

    A failing test without one comes first, a passing one last.
    """
    if line.cushion_pct is not None:
        return line.cushion_pct
    return -inf if line.status == "fail" else inf


# Headlines with doubt -------------------------------------------------------------------------------------------------


_KINDS: Final[tuple[tuple[str, Callable[[TestLine], bool], str], ...]] = (
    ("fail", is_contradicted, "{by} by our figures but the file prints a pass"),
    ("fail", lambda line: not is_contradicted(line), "{by} by our figures with more par missing than {theirs}"),
    ("pass", is_contradicted, "{by} by our figures but the file prints a fail"),
    ("pass", lambda line: not is_contradicted(line), "{by} by our figures with more par missing than {theirs}"),
)
"""Status here, which of its doubtful tests, and what is said of them."""


def _doubtful_headline(
    lines: Sequence[TestLine], failed: Sequence[TestLine], doubtful: Sequence[TestLine], measured: str, that_ran: str
) -> str:
    """Such as: 1 of 22 measured tests fails.

    2 more fail by our figures but the file prints a pass: doubtful.
    """
    passing = [line for line in lines if line.status != "fail" and not line.doubtful]
    every = f"{counted(len(lines), f'{measured}test')}{that_ran}"
    if len(lines) == 1:
        first, more = f"The one {measured}test{that_ran}", frozenset[str]()
        (kind,) = _kinds_of(doubtful, more, is_only=True)
        return f"{first} {kind}: doubtful"
    if failed:
        first, more = f"{len(failed)} of {every} {agreed(len(failed), 'fails/fail')}", frozenset(("fail",))
    elif any(line.status == "fail" for line in doubtful):
        first, more = f"None of {every} fails beyond doubt", frozenset[str]()
    else:
        first, more = f"{len(passing)} of {every} {agreed(len(passing), 'passes/pass')}", frozenset(("pass",))
    return f"{first}; {', '.join(_kinds_of(doubtful, more))}: doubtful"


def _kinds_of(doubtful: Sequence[TestLine], more: frozenset[str], *, is_only: bool = False) -> Iterator[str]:
    for status, is_kind, words in _KINDS:
        count = sum(status_here(line) == status and is_kind(line) for line in doubtful)
        if count:
            verb = agreed(count, f"{'fails' if status == 'fail' else 'passes'}/{status}")
            by = verb if is_only else f"{count} {'more ' if status in more else ''}{verb}"
            yield words.format(by=by, theirs="its cushion bears" if count == 1 else "their cushions bear")


# Names ----------------------------------------------------------------------------------------------------------------


def _thinnest_names(lines: Sequence[TestLine]) -> str:
    """Return the tests with the least headroom first, each with its figure and its limit."""
    first = sorted(lines, key=headroom_of)[:NAMED_IN_VERDICT]
    more = len(lines) - len(first)
    return "; ".join(map(_against, first)) + (f"; and {more} more" if more else "")


def _doubtful_names(lines: Sequence[TestLine]) -> str:
    """Return every doubtful test with its figure, its limit and what the file prints."""
    return "; ".join(f"{_against(line)} ({_beside(line)})" for line in sorted(lines, key=headroom_of))


def _against(line: TestLine) -> str:
    value, limit = (figure(each, line.decimals) for each in (line.value, line.threshold))
    return f"{line.name} {value} {_HELD_TO[line.direction]} {limit}"


def _beside(line: TestLine) -> str:
    printed = printed_words(line.published)
    return f"{status_here(line)} here{', ' if printed else ''}{printed}"
