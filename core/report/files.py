"""A report's file: its texts without personal data, as pages or as sheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from core.labels import LABELS, label, labelled
from core.redact.book import redact_text
from core.redact.replace import Policy
from core.report.content import ComplianceReport
from core.report.document import compliance_pdf
from core.report.reconciliation import TEXTS, ComparedSides, IssueLine, Tally, reconciliation_pdf
from core.report.tables import Looks, compliance_tables, reconciliation_tables, write_tables

T = TypeVar("T")
Format = Literal["pdf", "xlsx"]
_DATES = (date, datetime)


@dataclass(slots=True)
class Cleaner:
    """Takes personal data out of contents, and puts labels in the place of names.

    Each text is looked at once.
    """

    policy: Policy | None
    """None: nothing is taken out."""
    labels: Mapping[str, str] = field(default_factory=lambda: LABELS)
    """What people read in place of an agency's or a trustee's name."""
    counts: Counter[str] = field(default_factory=Counter)
    """What was found in the distinct texts, by kind."""
    _known: dict[str, str] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader is to know of what was taken out."""
        text = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in sorted(self.counts.items()))
        return (f"Personal data in texts was redacted: {text}.",) if text else ()

    def all_of(self, content: T) -> T:
        """Return the content with all of its texts cleaned."""
        return msgspec.convert(self._walked(msgspec.to_builtins(content, builtin_types=_DATES)), type=type(content))

    def issue(self, issue: IssueLine) -> IssueLine:
        """Return the same of an issue, of which there may be a million."""
        names = TEXTS if self.policy is not None else ()
        texts = ((name, getattr(issue, name)) for name in (*names, "field_name"))
        changed = {name: clean for name, text in texts if text and (clean := self._text(text)) != text}
        return replace(issue, **changed) if changed else issue

    def _walked(self, content: Any) -> Any:
        if isinstance(content, str):
            return self._text(content)
        if isinstance(content, dict):
            return {name: self._walked(value) for name, value in content.items()}
        return [self._walked(each) for each in content] if isinstance(content, list | tuple) else content

    def _text(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            clean, counts = (text, {}) if self.policy is None else redact_text(text, self.policy)
            self.counts.update(counts)
            known = self._known[text] = labelled(clean, self.labels)
        return known


def write_compliance(
    path: Path,
    report: ComplianceReport,
    *,
    format: Format,  # noqa: A002 - the option's name
    cleaner: Cleaner,
    looks: Looks,
) -> None:
    """Write a report on a run.

    Raises:
        OSError: the file cannot be written.
    """
    report = cleaner.all_of(report)
    origin = replace(report.origin, remarks=(*report.origin.remarks, *cleaner.remarks))
    report = replace(report, origin=origin)
    if format == "pdf":
        path.write_bytes(compliance_pdf(report))
    else:
        write_tables(path, compliance_tables(report), looks)


def write_reconciliation(
    path: Path,
    compared: ComparedSides,
    issues: Callable[[], Iterable[IssueLine]],
    *,
    format: Format,  # noqa: A002 - the option's name
    cleaner: Cleaner,
    looks: Looks,
) -> None:
    """Write a report on a comparison.

    Args:
        issues: gives all of them, in the order in which they are to stand; called once or twice.

    Raises:
        OSError: the file cannot be written.
    """
    tally = Tally()
    for issue in _clean(issues(), cleaner):
        tally.add(issue)
    compared = cleaner.all_of(compared)
    named = {label(name, cleaner.labels): why for name, why in compared.not_compared.items()}
    compared = replace(compared, not_compared=named)
    report = tally.report(replace(compared, remarks=(*compared.remarks, *cleaner.remarks)))
    if format == "pdf":
        path.write_bytes(reconciliation_pdf(report))
    else:
        write_tables(path, reconciliation_tables(report, _clean(issues(), cleaner)), looks)


def _clean(issues: Iterable[IssueLine], cleaner: Cleaner) -> Iterator[IssueLine]:
    return map(cleaner.issue, issues)
