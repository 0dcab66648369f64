"""What a file prints beside a result of ours, in words.

For sentences of reports, alerts and insights.
"""

from __future__ import annotations

from typing import Literal, Protocol

from core.compliance.beside import contradicts
from core.compliance.result import PublishedFigure, Status
from core.frames.figures import DECIMALS, figure_shown


class JudgedTest(Protocol):
    """A test with a status, and what the file prints of it.

    A result, or a line of a report.
    """

    @property
    def status(self) -> Status: ...

    @property
    def published(self) -> PublishedFigure | None: ...

    @property
    def doubtful(self) -> bool: ...


def status_here(judged: JudgedTest) -> Literal["pass", "fail"]:
    """Return the status as a file prints one: a warning passes."""
    return "fail" if judged.status == "fail" else "pass"


def is_contradicted(judged: JudgedTest) -> bool:
    """Return whether the file prints the other status."""
    return contradicts(judged.published, judged.status)


def printed_words(published: PublishedFigure | None, decimals: int = DECIMALS) -> str:
    """Return what the file prints, such as "the file prints 190.40, pass".

    "" where that is nothing.
    """
    if published is None:
        return ""
    value = None if published.value is None else figure_shown(published.value, decimals=decimals)
    parts = [part for part in (value, published.status) if part is not None]
    return f"the file prints {', '.join(parts)}" if parts else ""


def doubtful_words(judged: JudgedTest) -> str:
    """Why a status is doubtful, such as "doubtful: the file prints 190.40, pass".

    "" where it is not.
    """
    if not judged.doubtful:
        return ""
    if is_contradicted(judged):
        return f"doubtful: {printed_words(judged.published)}"
    printed = printed_words(judged.published)
    return "doubtful: its inputs miss more par than its cushion bears" + (f", and {printed}" if printed else "")
