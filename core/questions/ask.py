"""A question to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from core.checked import checked
from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.labels import LABELS, labelled
from core.questions import judging, moving, running, stating, supposing
from core.questions.answer import SUBJECTS_MAX, Answer
from core.questions.interpreting import interpret
from core.questions.loans import Unavailable
from core.questions.query import Query
from core.questions.question import Unread
from core.questions.saying import Said, distance_told
from core.questions.suggesting import suggestions
from core.questions.wording import query_words

WORDS_SHOWN: Final = 8
"""Words of a question that the answer says it does not know."""

_RUN: Final[dict[str, Callable[[Query, Subject], Said]]] = {
    "measure": running.measured,
    "tests": judging.tested,
    "what_if": supposing.supposed,
    "room": judging.room,
    "moves": moving.moved,
    "history": judging.history,
    "fact": stating.fact,
    "notes": stating.notes,
    "data": stating.data,
    "why": judging.why,
}


@checked
def ask(question: str, subjects: Sequence[Subject], *, labels: Mapping[str, str] = LABELS) -> Answer:
    """Answer a question over portfolios; one that is not understood is answered by saying so, with suggestions.

    Of several portfolios each is answered for, or those that the question names.

    Args:
        labels: what people read in place of an agency's or a trustee's name.

    Raises:
        QuestionError: it is empty or too long.
    """
    found = _answer_question(question, subjects)
    texts = {name: labelled(getattr(found, name), labels) for name in ("text", "understood")}
    return replace(found, **texts, warnings=[labelled(one, labels) for one in found.warnings])


def _answer_question(question: str, subjects: Sequence[Subject]) -> Answer:
    asked = subjects[:SUBJECTS_MAX]
    query = interpret(question, asked)
    if isinstance(query, Unread):
        return _refused(question, asked, _not_understood(query), "", None)
    if query.subjects:
        asked = [one for one in asked if one.name in query.subjects]
    words = query_words(query)
    if not asked:
        return _refused(question, asked, "There is no portfolio to ask.", words, query)
    saids: list[Said] = []
    faults: list[str] = []
    ranked: list[str] = []
    if query.kind == "deals":
        try:
            saids, ranked = judging.deals(query, asked)
        except Unavailable as reason:
            faults.append(_sentence(str(reason)))
    else:
        for subject in asked:
            try:
                saids.append(_RUN[query.kind](query, subject))
            except Unavailable as reason:
                faults.append(_sentence(f"{plain(subject.name)}: {reason}" if len(asked) > 1 else str(reason)))
    if not saids:
        return _refused(question, asked, " ".join(faults), words, query)
    warnings = dict.fromkeys(faults)
    for said in saids:
        if _looks_back(query) and (distance := distance_told(said.subject)):
            said.warnings[distance] = None
        warnings.update(
            {f"{plain(said.subject.name)}: {one}" if len(asked) > 1 else one: None for one in said.warnings}
        )
    if len(subjects) > SUBJECTS_MAX:
        warnings[f"only the first {SUBJECTS_MAX} portfolios were asked, of {len(subjects):,}"] = None
    paragraphs = [" ".join(ranked)] if ranked else []
    for said in saids:
        text = " ".join(said.sentences)
        paragraphs.append(f"{plain(said.subject.name)}: {text}" if len(asked) > 1 else text)
    head = f"Note: {'; '.join(warnings)}.\n" if warnings else ""
    return Answer(
        question=question,
        answered=True,
        text=head + "\n".join(paragraphs),
        understood=words,
        query=query.as_data(),
        figures=[one for said in saids for one in said.figures],
        names=list(
            dict.fromkeys(
                [
                    *(plain(one.name) for one in asked if len(asked) > 1),
                    *(name for said in saids for name in said.names),
                ]
            )
        ),
        warnings=list(warnings),
        suggestions=[],
    )


def _looks_back(query: Query) -> bool:
    """Whether the deal's earlier file is asked."""
    return query.period != "now" or query.kind in ("moves", "why")


def _not_understood(unread: Unread) -> str:
    words = [f"'{plain(word, 40)}'" for word in dict.fromkeys(unread.words)][:WORDS_SHOWN]
    if words and unread.reason:
        return f"I cannot answer that: {listed(words)}: {unread.reason}."
    if words:
        return (
            f"I cannot answer that: {listed(words)} {'has' if len(words) == 1 else 'have'} no meaning "
            f"that I know here, nor {'is it a name' if len(words) == 1 else 'are they names'} in the data."
        )
    if unread.reason:
        return f"I cannot answer that: {unread.reason}."
    return "I cannot answer that: I know the words and not the question that they make."


def _refused(question: str, subjects: Sequence[Subject], text: str, words: str, query: Query | None) -> Answer:
    suggested = suggestions(subjects)
    return Answer(
        question=question,
        answered=False,
        text=" ".join([text, *(["I can answer:"] if suggested else []), *suggested]),
        understood=words,
        query=None if query is None else query.as_data(),
        figures=[],
        names=[],
        warnings=[],
        suggestions=suggested,
    )


def _sentence(text: str) -> str:
    return f"I cannot answer that: {text[:1].lower() + text[1:] if not text[:2].isupper() else text}."
