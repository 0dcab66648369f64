"""What a confined child does for a report.

Redacts what is personal in its texts, and sets it as pages or as sheets.

It imports nothing of the service: that would take it longer than most reports do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import typst  # noqa: F401 - a confined process opens no packages any more
from msgspec import Struct

import core
from core.confined.table import GIGABYTE, ConfinedWork, texts
from core.redact.replace import Policy
from core.report.content import ComplianceReport
from core.report.files import Cleaner, Format, write_compliance, write_reconciliation
from core.report.reconciliation import ComparedSides, IssueLine
from core.report.tables import Looks

CONTENT: Final = "content.json"
"""What a report is made of: a line of JSON, and for a reconciliation one for each of its issues."""
FILE: Final = "report"
"""What the child writes."""
TEMPLATES: Final = tuple(str(Path(core.__file__).parent / room) for room in ("report", "typeset"))
"""Folders that the child reads besides."""


class ReportFailed(Exception):
    """The report cannot be made; the message says why, for its user."""


class ReportOrder(Struct, frozen=True, kw_only=True):
    """A report to be made."""

    content: str
    """Path of the `CONTENT`."""
    report_type: Literal["compliance", "reconciliation"]
    format: Format
    policy: Policy | None
    """None: nothing is redacted."""
    looks: Looks
    labels: dict[str, str]
    """What people read in place of an agency's or a trustee's name."""


class ReportResult(Struct, frozen=True, kw_only=True):
    """What was made."""

    redacted: dict[str, int]
    """Personal data that was found in the distinct texts, by kind."""


MAKE: Final = ConfinedWork(
    does="service.reports.child.make_report",
    order=ReportOrder,
    answer=ReportResult,
    refusals=("service.reports.child.ReportFailed",),
    texts=texts("The report"),
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=300.0,
)


def make_report(order: ReportOrder, folder: Path) -> ReportResult:
    """Write a report into a folder.

    Raises:
        OSError: the machine's fault.
    """
    cleaner = Cleaner(order.policy, order.labels)
    how: dict[str, Any] = {"format": order.format, "cleaner": cleaner, "looks": order.looks}
    content, path = Path(order.content), folder / FILE
    if order.report_type == "compliance":
        write_compliance(path, msgspec.json.decode(content.read_bytes(), type=ComplianceReport), **how)
    else:
        with content.open("rb") as lines:
            compared = msgspec.json.decode(lines.readline(), type=ComparedSides)
        write_reconciliation(path, compared, partial(_issues, content), **how)
    return ReportResult(redacted=cleaner.counts)


def _issues(content: Path) -> Iterator[IssueLine]:
    decode = msgspec.json.Decoder(IssueLine).decode
    with content.open("rb") as lines:
        lines.readline()
        yield from map(decode, lines)
