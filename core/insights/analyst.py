"""The analyst: every finder over every subject, ranked for a reader, as insights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from msgspec.structs import replace

from core.checked import checked
from core.insights import limits, makeup, months, quality, stress
from core.insights.across import between
from core.insights.insight import Insight, Stakeholder
from core.insights.ranking import EVERYWHERE, PRIORITY, VIEWS, confidence_of, ranked, rests_on
from core.insights.study import NotKnown, Study, StudyFinding
from core.insights.subject import Subject
from core.insights.words import plain
from core.labels import LABELS, labelled
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.notes import WARNING_CODES

SUBJECTS_MAX: Final = 20
"""Portfolios that are looked at together."""

MOST: Final = 8
"""Insights of a list where nobody asks for another number."""

REMARK_CHARACTERS: Final = 4_000
"""Of a remark: a warning that names all it is about is not cut."""

FINDERS: Final[tuple[Callable[[Study], Iterable[StudyFinding]], ...]] = (
    *limits.FINDERS, *months.FINDERS, *stress.FINDERS, *makeup.FINDERS, *quality.FINDERS,
)  # fmt: skip


WITHOUT_PAR: Final[tuple[Callable[[Study], Iterable[StudyFinding]], ...]] = (
    limits.verdict, quality.skipped, quality.gaps, quality.warned, quality.breaks,
)  # fmt: skip
"""What can be said of a portfolio whose performing par, or that and cash, is zero or negative: it has no shares."""


@checked
def analyse(
    subjects: Sequence[Subject],
    *,
    stakeholder: Stakeholder = "analyst",
    angle: int = 0,
    most: int = MOST,
    labels: Mapping[str, str] = LABELS,
) -> list[Insight]:
    """Return what a reader should know of these portfolios, the most important first.

    Args:
        subjects: at most `SUBJECTS_MAX`.
        stakeholder: for whom: it decides on what is shown, in which order and with which second sentence.
        angle: 0 for the first list; 1 to 3 for lists that show what those before did not.
        most: how many at most.
        labels: what people read in place of an agency's or a trustee's name.

    Raises:
        ValueError: too many subjects, or an angle below 0.
    """
    if len(subjects) > SUBJECTS_MAX:
        raise ValueError(f"{len(subjects)} portfolios are more than {SUBJECTS_MAX}")
    if angle < 0:
        raise ValueError("an angle is 0 or more")
    studies = [None if subject.pool is None else Study(subject, subject.pool) for subject in subjects]
    known = [study for study in studies if study is not None]
    findings = [
        (at, finding)
        for at, study in enumerate(studies)
        if study is not None
        for finder in (FINDERS if _has_par(study) else WITHOUT_PAR)
        for finding in _findings_of(finder, study)
    ]
    if len(known) > 1:
        findings += [(-1, finding) for finding in _findings_of(between, known)]
    shown = ranked(findings, VIEWS[stakeholder], angle, most)
    insights = [_empty(subject) for subject, study in zip(subjects, studies, strict=True) if study is None]
    for at, finding in shown:
        several = len(subjects) > 1
        insights.append(_insight(finding, known if at < 0 else [studies[at]], stakeholder, named=several and at >= 0))  # type: ignore[list-item]
    return [_label(insight, labels) for insight in insights[:most]]


def _label(insight: Insight, labels: Mapping[str, str]) -> Insight:
    """Return an insight with labels in the place of names."""
    texts = {name: labelled(getattr(insight, name), labels) for name in ("title", "summary", "methodology")}
    lists = {name: [labelled(each, labels) for each in getattr(insight, name)] for name in ("names", "remarks")}
    return replace(insight, **texts, **lists)


Looked = TypeVar("Looked")


def _findings_of(finder: Callable[[Looked], Iterable[StudyFinding]], looked_at: Looked) -> Iterator[StudyFinding]:
    checkpoint()
    with suppress(NotKnown):
        yield from finder(looked_at)


def _has_par(study: Study) -> bool:
    return min(study.pool.par, study.pool.cpa, study.pool.denominator) > 0


def _insight(finding: StudyFinding, studies: Sequence[Study], stakeholder: Stakeholder, *, named: bool) -> Insight:
    subject = studies[0].subject
    words = {key: figure.text for key, figure in finding.figures.items()} | finding.names
    name = ", ".join(plain(study.subject.name) for study in studies)
    title = finding.title.format_map(words)
    summary = " ".join(part.format_map(words) for part in (finding.headline, finding.more.get(stakeholder, "")) if part)
    rests = [rest for study in studies for rest in rests_on(study, finding)]
    names = [*dict.fromkeys(finding.names.values())]
    messages = [*(rest.message for rest in rests), *_doubts(finding, studies)]
    cares = [*dict.fromkeys(WARNING_CODES[rest.code] for rest in rests if rest.code not in EVERYWHERE)]
    if cares:
        summary += f" Read with care: {'; '.join(cares)}."
    return Insight(
        key=finding.key,
        subject=name,
        workbook_id=subject.workbook_id if len(studies) == 1 else None,
        category=finding.category,
        title=f"{name}: {title}" if named else title,
        summary=summary,
        confidence=confidence_of(finding, len(rests)),
        priority=PRIORITY[finding.urgency],
        methodology=finding.methodology,
        figures=[*finding.figures.values()],
        names=[*names, *cares, *([name] if named else [])],
        tests=finding.tests,
        loans=finding.loans,
        loans_in_all=finding.loans_in_all,
        columns={
            field: subject.portfolio.source_cells[field]
            for field in finding.columns
            if field in subject.portfolio.source_cells
        }
        if len(studies) == 1
        else {},
        as_of=subject.day if len(studies) == 1 else None,
        remarks=[
            *dict.fromkeys(plain(each, REMARK_CHARACTERS) for each in (*subject.remarks, *finding.remarks, *messages))
        ],
    )


def _doubts(finding: StudyFinding, studies: Sequence[Study]) -> Iterator[str]:
    """Why the figures of a finding's tests may be wrong."""
    for study in studies:
        for test_id in finding.tests:
            if (test_result := study.by_id.get(test_id)) is not None:
                yield from (f"{test_result.test_name}: {doubt.message}" for doubt in test_result.doubt)


def _empty(subject: Subject) -> Insight:
    """Return what there is to say of a portfolio without loans."""
    reason = plain(subject.portfolio.notes.message or "the sheet has none below its header", 300)
    return Insight(
        key="no_loans",
        subject=plain(subject.name),
        workbook_id=subject.workbook_id,
        category="data_quality",
        title="No loans were found",
        summary=f"There is nothing to look at in {plain(subject.name)}: no loans were found.",
        confidence=0.95,
        priority=1,
        methodology=f"The portfolio as it was read: {reason}.",
        figures=[],
        names=[plain(subject.name)],
        tests=[],
        loans=[],
        loans_in_all=0,
        columns={},
        as_of=subject.day,
        remarks=[],
    )
