"""The text of a question to its query, or to the phrases that no query takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.insights.subject import Subject
from core.questions.answer import QUESTION_LENGTH_MAX, QuestionError
from core.questions.grammar.chart import PhraseChart
from core.questions.grammar.conditions import DATED, Context
from core.questions.grammar.frames import read, refuse
from core.questions.grammar.lexemes import segment
from core.questions.grammar.named import Named
from core.questions.grammar.phrases import RULES
from core.questions.grammar.question import Question, Unread
from core.questions.query import Query
from core.questions.tokens import TOKENS_MAX, tokens_of

_ADVICE = frozenset(("should", "recommend", "advise"))


def interpret(question: str, subjects: Sequence[Subject]) -> Query | Unread:
    """Return the query of a question, or the words that have no part in one.

    Raises:
        QuestionError: it is empty or too long.
    """
    if not question.strip():
        raise QuestionError("a question has at least one word")
    if len(question) > QUESTION_LENGTH_MAX:
        raise QuestionError(f"a question has at most {QUESTION_LENGTH_MAX:,} characters")
    tokens = tokens_of(question)
    if not tokens or len(tokens) > TOKENS_MAX:
        return Unread((), f"it has more than {TOKENS_MAX} words" if tokens else "it has no word that can be read")
    lexemes = segment(tokens, Named(subjects, tokens))
    context = Context(lexemes, subjects)
    unknown = [at for at, lexeme in enumerate(lexemes) if not lexeme.meanings]
    if unknown:
        return refuse(Question(PhraseChart(lexemes, {}, context), context), unknown)
    if any(token.text in _ADVICE for token in tokens):
        return Unread(("should",), "it asks for advice")
    asked = Question(PhraseChart(lexemes, RULES, context), context)
    strange = [at for at, lexeme in enumerate(lexemes) if lexeme.get("unknown")]
    if strange:
        return refuse(asked, strange)
    answer = read(asked)
    if isinstance(answer, Unread) and not answer.reason and (unknown_days := _unknown_days(asked, answer)):
        return replace(answer, words=unknown_days, reason="the data do not say which day that is")
    return answer


def _unknown_days(asked: Question, unread: Unread) -> tuple[str, ...]:
    """Return the days of the deal among the unread phrases that no portfolio has."""
    deals = [subject.measured.deal for subject in asked.context.subjects]
    facts = {lexeme.raw: lexeme.get("fact") for lexeme in asked.context.lexemes}
    return tuple(
        words
        for words, fact in facts.items()
        if fact in DATED
        and all(getattr(deal, fact) is None for deal in deals)
        and any(words in text for text in unread.words)
    )
