"""A question to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from core.checked import checked
from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.labels import LABELS, labelled
from core.portfolio.model.notes import READING_CODES
from core.questions.answer import SUBJECTS_MAX, Answer
from core.questions.answers import changes, limits, loans, movements, stated, supposed, tests
from core.questions.answers.book import Unavailable
from core.questions.answers.statement import Statement, describe_distance
from core.questions.grammar.interpreting import interpret
from core.questions.grammar.question import Unread
from core.questions.query import Query
from core.questions.suggesting import suggest
from core.questions.wording import query_words

WORDS_SHOWN: Final = 8
"""Words of a question that the answer says it does not know."""

Answerer = Callable[[Query, Subject], Statement]

_ANSWERERS: Final[dict[str, Answerer]] = {
    "measure": loans.answer_measure,
    "tests": tests.answer_tests,
    "what_if": supposed.answer_what_if,
    "room": limits.answer_room,
    "moves": changes.answer_moves,
    "overview": movements.answer_overview,
    "history": movements.answer_history,
    "fact": stated.answer_fact,
    "notes": stated.answer_notes,
    "data": stated.answer_data,
    "why": movements.answer_why,
}


@checked
def ask(question: str, subjects: Sequence[Subject], *, labels: Mapping[str, str] = LABELS) -> Answer:
    """Answer a question over portfolios, or say why not and what can be asked.

    Of several portfolios each is answered for, or those that the question names.

    Args:
        labels: what people read in place of an agency's or a trustee's name.

    Raises:
        QuestionError: it is empty or too long.
    """
    answer = _answer(question, subjects)
    texts = {name: labelled(getattr(answer, name), labels) for name in ("text", "understood")}
    return replace(answer, **texts, warnings=[labelled(warning, labels) for warning in answer.warnings])


MESSAGE_CHARACTERS: Final = 400
"""Of a warning that stands in front of an answer."""


def _answer(question: str, subjects: Sequence[Subject]) -> Answer:
    asked = subjects[:SUBJECTS_MAX]
    query = interpret(question, asked)
    if isinstance(query, Unread):
        return _refuse(question, asked, _refusal_words(query), None, query)
    if query.subjects:
        asked = [subject for subject in asked if subject.name in query.subjects]
    if not asked:
        return _refuse(question, asked, "There is no portfolio to ask.", query)
    statements, faults, ranked = _state(query, asked)
    if not statements:
        return _refuse(question, asked, " ".join(faults), query)
    warnings = dict.fromkeys(faults)
    paragraphs = [" ".join(ranked)] if ranked else []
    for statement in statements:
        if (query.period != "now" or query.kind in ("moves", "overview")) and (
            distance := describe_distance(statement.subject)
        ):
            statement.warn(distance)
        notes = statement.subject.portfolio.notes
        statement.warn(
            *(plain(warning.message, MESSAGE_CHARACTERS) for warning in notes.warnings if warning.code in READING_CODES)
        )
        start = f"{plain(statement.subject.name)}: " if len(asked) > 1 else ""
        warnings |= {f"{start}{warning}": None for warning in statement.warnings}
        paragraphs.append(f"{start}{' '.join(statement.sentences)}")
    if len(subjects) > SUBJECTS_MAX:
        warnings[f"only the first {SUBJECTS_MAX} portfolios were asked, of {len(subjects):,}"] = None
    head = f"Note: {'; '.join(warnings)}.\n" if warnings else ""
    names = [plain(subject.name) for subject in asked if len(asked) > 1]
    names += [name for statement in statements for name in statement.names]
    return Answer(
        question=question,
        answered=True,
        text=head + "\n".join(paragraphs),
        understood=query_words(query),
        query=query.as_data(),
        figures=[figure for statement in statements for figure in statement.figures],
        names=list(dict.fromkeys(names)),
        warnings=list(warnings),
        suggestions=[],
    )


def _state(query: Query, subjects: Sequence[Subject]) -> tuple[list[Statement], list[str], list[str]]:
    """(what is stated of each portfolio, why nothing is of some)."""
    statements: list[Statement] = []
    faults: list[str] = []
    ranked: list[str] = []
    if query.kind == "deals":
        try:
            statements, ranked = limits.answer_deals(query, subjects)
        except Unavailable as reason:
            faults.append(_sentence(str(reason)))
        return statements, faults, ranked
    for subject in subjects:
        try:
            statements.append(_answerer(query)(query, subject))
        except Unavailable as reason:
            faults.append(_sentence(f"{plain(subject.name)}: {reason}" if len(subjects) > 1 else str(reason)))
    return statements, faults, ranked


def _answerer(query: Query) -> Answerer:
    if query.kind != "tests":
        return _ANSWERERS[query.kind]
    if query.period == "change":
        return movements.answer_changes
    return limits.answer_classes if query.classes else tests.answer_tests


def _refusal_words(unread: Unread) -> str:
    words = [f"'{plain(word, 40)}'" for word in dict.fromkeys(unread.words)][:WORDS_SHOWN]
    if words and unread.reason:
        return f"I cannot answer that: {listed(words)}: {unread.reason}."
    if words:
        is_known = "has no meaning that I know here, nor is it a name in the data"
        are_known = "have no meaning that I know here, nor are they names in the data"
        return f"I cannot answer that: {listed(words)} {is_known if len(words) == 1 else are_known}."
    reason = unread.reason or "I know the words and not the question that they make"
    return f"I cannot answer that: {reason}."


def _refuse(
    question: str, subjects: Sequence[Subject], text: str, query: Query | None, unread: Unread | None = None
) -> Answer:
    suggested = suggest(subjects, unread, lambda nearest: bool(_state(nearest, subjects)[0]))
    return Answer(
        question=question,
        answered=False,
        text=" ".join([text, *(["I can answer:"] if suggested else []), *suggested]),
        understood="" if query is None else query_words(query),
        query=None if query is None else query.as_data(),
        figures=[],
        names=[],
        warnings=[],
        suggestions=suggested,
    )


def _sentence(text: str) -> str:
    return f"I cannot answer that: {text if text[:2].isupper() else text[:1].lower() + text[1:]}."
