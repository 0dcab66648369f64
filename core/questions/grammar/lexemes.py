"""The words of a question in phrases.

What each can mean, by the vocabulary, by the data or by its form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.portfolio.model.ratings import CCC, SCALE_A, SCALE_B
from core.questions.grammar.named import Named, NameMatch
from core.questions.tokens import Token, names
from core.questions.vocabulary import Meaning, longest_phrase, phrases

MONTH_NAMES: Final = names("january february march april may june july august september october november december")
_LETTER: Final = re.compile(
    r"(aaa|aa[123]|a[123]|baa[123]|ba[123]|b[123]|caa[123]|bbb|bb|cc|ca|[abcd]|(?:aa|a|bbb|bb|b|ccc)[+-])s?"
)
_CLASS: Final = re.compile(r"[a-fx](?:\d[a-z]?)?")
_RANKS_A: Final = {symbol.lower(): rank for rank, symbol in enumerate(SCALE_A, 1)}
_RANKS_B: Final = {symbol.lower(): rank for rank, symbol in enumerate(SCALE_B, 1)}
_FAMILIES: Final = {
    "aa": (2, 4), "a": (5, 7), "bbb": (8, 10), "bb": (11, 13), "b": (14, 16), "ccc": (CCC, 21), "cc": (20, 20),
}  # fmt: skip
"""Letters without a sign stand for all of their signs."""
_IDLE: Final = frozenset(("filler", "ask"))
_RATERS: Final = frozenset(("rated", "rating", "to", "moodys", "sp", "fitch"))


@dataclass(slots=True)
class Lexeme:
    """A phrase of the question."""

    tokens: tuple[Token, ...]
    meanings: tuple[Meaning, ...] = ()
    raw: str = field(init=False)
    """As it was written."""
    text: str = field(init=False)
    """As the vocabulary has it."""

    def __post_init__(self) -> None:
        self.raw = " ".join(token.raw for token in self.tokens)
        self.text = " ".join(token.text for token in self.tokens)

    @property
    def before(self) -> str:
        """The punctuation before it."""
        return self.tokens[0].before

    @property
    def is_plural(self) -> bool:
        last = self.tokens[-1]
        raw = last.raw.lower()
        return raw.endswith("s") and not raw.endswith(("'s", "’s")) and last.text != raw

    @property
    def is_idle(self) -> bool:
        """Whether it can mean nothing that a query has."""
        return bool(self.meanings) and all(meaning.kind in _IDLE for meaning in self.meanings)

    @property
    def may_be_idle(self) -> bool:
        return any(meaning.kind in _IDLE for meaning in self.meanings)

    def get(self, kind: str) -> Any:
        """What it means as this kind."""
        return next((meaning.value for meaning in self.meanings if meaning.kind == kind), None)


@dataclass(frozen=True, slots=True)
class Letter:
    """A rating as it is written."""

    best: int
    worst: int
    agency: str | None
    symbol: int
    """The rank of the symbol itself, where letters without a sign stand for several."""


def segment(tokens: Sequence[Token], named: Named) -> list[Lexeme]:
    """Split a question into its longest phrases."""
    lexemes: list[Lexeme] = []
    at = 0
    while at < len(tokens):
        length, meanings = _meanings_at(tokens, at, named)
        lexemes.append(Lexeme(tuple(tokens[at : at + length]), meanings))
        at += length
    return lexemes


def _meanings_at(tokens: Sequence[Token], at: int, named: Named) -> tuple[int, tuple[Meaning, ...]]:
    if classes := _classes(tokens, at):
        return classes
    token = tokens[at]
    if at and token.raw == "May":  # the month, and no verb
        return 1, _by_form(token, "")
    known, meanings = _phrase(tokens, at)
    name = named.at(tokens, at)
    if name is not None and (name.length > known or (name.length == known and _yields(meanings, name))):
        return name.length, (Meaning("name", name),)
    if known <= 1 and (letter := _letter(tokens, at)) is not None:
        return 1, (Meaning("letter", letter),)
    if known:
        number = (Meaning("number", token),) if token.kind == "number" and known == 1 else ()
        return known, (*number, *meanings)
    return 1, _by_form(token, tokens[at - 1].text if at else "")


def _by_form(token: Token, before: str) -> tuple[Meaning, ...]:
    if token.kind == "number":
        return (Meaning("number", token),)
    if token.kind == "period":
        return (Meaning("days", token.days),)
    if re.fullmatch(r"\d+th", token.text):
        return (Meaning("ordinal", int(token.value)),)
    if token.text in MONTH_NAMES and (token.raw[:1].isupper() or before in ("since", "vs", "versus", "from", "to")):
        return (Meaning("month", MONTH_NAMES.index(token.text) + 1),)
    return ()


def _yields(meanings: tuple[Meaning, ...], name: NameMatch) -> bool:
    """Return whether a name goes before a phrase of as many words."""
    if any(meaning.kind == "group" for meaning in meanings):
        return False
    return name.field in ("industry", "country", "currency", "cusip", "loanx", "isin") or (
        name.is_whole and all(meaning.kind in _IDLE for meaning in meanings)
    )


def _phrase(tokens: Sequence[Token], at: int) -> tuple[int, tuple[Meaning, ...]]:
    for length in range(min(longest_phrase(), len(tokens) - at), 0, -1):
        window = tokens[at : at + length]
        words = tuple(word for token in window for word in token.text.split())
        if any(mark in token.before for token in window[1:] for mark in ",;:?()"):
            continue
        if window[-1].kind in ("period", "quoted"):
            continue
        if words[0] == "and" and length > 1 and at + length < len(tokens) and tokens[at + length].kind == "number":
            continue  # over 400 and under 500
        if _goes_on(words, tokens[at + length].text if at + length < len(tokens) else ""):
            continue
        meanings = phrases().get(words)
        if meanings is not None:
            if words == ("was",):
                verb = "filler" if _is_the_spread(tokens, at) else "quantity"
                meanings = tuple(meaning for meaning in meanings if meaning.kind != verb)
            return length, meanings
    return 0, ()


def _goes_on(words: tuple[str, ...], following: str) -> bool:
    """Return whether the last words of a phrase belong to what follows."""
    if words == ("not", "rated"):  # not rated B3
        return bool(_LETTER.fullmatch(following)) or following in ("ccc", "caa", "below", "above")
    if words == ("not", "priced"):
        return following in ("below", "above", "under", "over", "at", "between", "less", "more")
    if words[-1] == "at":  # priced at least
        return following in ("least", "most")
    return words[-1] == "next" and len(words) > 1 and following in ("year", "month", "quarter")


def _is_the_spread(tokens: Sequence[Token], at: int) -> bool:
    """Return whether "was" is the weighted average spread and no verb."""
    before = tokens[at - 1].text if at else ""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return tokens[at].raw == "WAS" or (
        before in ("the", "our", "current") and after in ("", "test", "level", "covenant", "limit", "cushion")
    )


def _classes(tokens: Sequence[Token], at: int) -> tuple[int, tuple[Meaning, ...]] | None:
    """Read classes of notes: class B, classes A and B, class A/B, the D notes."""
    texts = [token.text for token in tokens[at : at + 8]]
    raws = [token.raw for token in tokens[at : at + 8]]
    if texts[0] in ("class", "tranche"):
        length, names = _class_names(tokens, at, texts, raws)
        return (length, (Meaning("class", names),)) if names else None
    is_letter = re.fullmatch(r"[A-F]", raws[0])
    if is_letter and len(texts) > 1 and texts[1] in ("note", "tranche", "oc", "ic", "class"):
        return (1 if texts[1] in ("oc", "ic") else 2), (Meaning("class", (raws[0],)),)
    if is_letter and len(texts) > 2 and re.fullmatch(r"[A-F]", raws[1]) and tokens[at + 1].before == "/":
        return 2, (Meaning("class", (raws[0], raws[1])),)
    if texts[:2] in (["subordinated", "note"], ["sub", "note"], ["income", "note"]) or texts[0] == "equity":
        return (1 if texts[0] == "equity" else 2), (Meaning("class", ("SUB",)),)
    return None


def _class_names(
    tokens: Sequence[Token], at: int, texts: Sequence[str], raws: Sequence[str]
) -> tuple[int, tuple[str, ...]]:
    place, names = 1, []
    while place < len(texts) and _CLASS.fullmatch(texts[place]):
        names.append(raws[place].upper())
        place += 1
        if place < len(texts) and tokens[at + place].before == "-" and texts[place].isdigit():
            names[-1] += f"-{texts[place]}"
            place += 1
        if place + 1 < len(texts) and texts[place] in ("and", "or") and _CLASS.fullmatch(texts[place + 1]):
            place += 1
        elif not (place < len(texts) and tokens[at + place].before == "/"):
            break
    while names and place < len(texts) and texts[place] in ("note", "debt", "tranche"):
        place += 1
    return place, tuple(names)


def _letter(tokens: Sequence[Token], at: int) -> Letter | None:
    token = tokens[at]
    if token.kind not in ("word", "rating") or not (match := _LETTER.fullmatch(token.text)):
        return None
    text = match[1]
    if text in ("a", "c", "d", "ca", "cc", "b", "bb", "aa") and not token.raw[:1].isupper():
        return None
    around = {near.text for near in (*tokens[max(0, at - 3) : at], *tokens[at + 1 : at + 2])}
    if text in ("a", "c", "d", "ca") and not around & _RATERS:
        return None
    symbol = _RANKS_B.get(text) or _RANKS_A[text]
    if text in _FAMILIES:
        return Letter(*_FAMILIES[text], "b" if text in _RANKS_B else None, symbol)
    if any(sign.isdigit() for sign in text) or text in ("aaa", "ca"):
        return Letter(_RANKS_A[text], _RANKS_A[text], "a" if token.raw != "AAA" else "b", _RANKS_A[text])
    return Letter(_RANKS_B[text], _RANKS_B[text], "b", _RANKS_B[text])
