"""Sets of loans beside each other, parts of sets, and the month before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.insights.words import plain
from core.questions.answer import ROWS_SHOWN
from core.questions.loans import Book, Unavailable
from core.questions.measuring import (
    NAMED,
    TEXTS,
    Mask,
    cell,
    change_unit,
    flat,
    operation_of,
    quantity_words,
    ratings_of,
    tell_defaulted,
    unit_of,
)
from core.questions.query import Query
from core.questions.saying import Said, capital, previous_of, yes_no
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    NOUNS,
    condition_words,
    conditions_words,
)
from core.words import plural


def each(query: Query, said: Said, book: Book) -> None:
    names = list(query.quantities) or ["par", "share"]
    if names == ["par"] or names == ["share"]:
        names = ["par", "share"]
    found: dict[str, list[float]] = {}
    labels = [plain(", ".join(one.values)) if one.op == "in" else condition_words(one) for one in query.each]
    for one, label in zip(query.each, labels, strict=True):
        mask = book.chosen((*query.where, one))
        rows = np.flatnonzero(mask)
        told = []
        for name in names:
            value = book.measure(name, mask, query.aggregate if name not in ("par", "share") else None)
            text = said.figure(
                quantity_words(name, query.aggregate),
                value,
                unit_of(name),
                operation_of(name, query.aggregate),
                of=label,
                book=book,
                rows=rows,
            )
            told.append(f"{quantity_words(name, query.aggregate)} {text}")
            found.setdefault(name, []).append(np.nan if value is None else value)
        said.names[label] = None
        said.sentences.append(f"{capital(label)}: {', '.join(told)}.")
    if len(query.each) == 2:
        for name in names:
            gap = found[name][0] - found[name][1]
            if np.isfinite(gap):
                text = said.figure(
                    f"difference in {quantity_words(name, query.aggregate)}",
                    gap,
                    change_unit(name),
                    "the first less the second",
                    sign=True,
                )
                said.sentences.append(
                    f"{capital(labels[0])} less {labels[1]} in {quantity_words(name, query.aggregate)}: {text}."
                )
    if query.order is not None:
        values = found[names[0]]
        best = max(
            range(len(values)),
            key=lambda at: (
                (values[at] if query.order == "most" else -values[at]) if np.isfinite(values[at]) else -np.inf
            ),
        )
        said.sentences.insert(0, f"{capital(labels[best])}.")


def part(query: Query, said: Said, book: Book) -> None:
    """The share of a set within another."""
    whole, part = book.chosen(query.whole), book.chosen((*query.whole, *query.where))
    of_performing = whole & book.performing if (whole & book.performing).any() else whole
    part_performing = part & of_performing
    amount, total = float(book.par[part_performing].sum()), float(book.par[of_performing].sum())
    if total <= 0:
        raise Unavailable(f"there is no par in the loans {conditions_words(query.whole)}")
    text = said.figure(
        "share",
        amount / total * 100,
        "percent",
        "sum of par_value of the part / sum of par_value of the whole x 100, performing loans",
        book=book,
        rows=np.flatnonzero(part),
    )
    par = said.figure("par", amount, "amount", operation_of("par", None), book=book, rows=np.flatnonzero(part))
    rest = said.figure(
        "par of the whole", total, "amount", operation_of("par", None), book=book, rows=np.flatnonzero(whole)
    )
    said.sentences.append(
        f"{text} of the loans {conditions_words(query.whole)} (by "
        f"par) are {conditions_words(query.where)}: {par} of {rest}."
    )
    tell_defaulted(said, book, whole, ())


def change(query: Query, said: Said, book: Book) -> None:
    """Quantities of a set of loans in two months."""
    subject = said.subject
    before = Book(subject, previous_of(subject).portfolio)
    if query.group not in (None, "loan") and query.is_count:
        _count_changes(query, said, before, book)
        return
    if query.group not in (None, "loan"):
        _group_changes(query, said, before, book)
        return
    names = list(query.quantities) or (["count"] if query.is_count else ["par", "share"])
    if query.is_count and "count" not in names:
        names = ["count", *names]
    if names == ["par"]:
        names = ["par", "share"]
    if names == ["share"]:
        names = ["share", "par"]
    where = conditions_words(query.where)
    whose = f"the loans {where}" if where else "the portfolio"
    if any(one.field not in NAMED | {"industry", "country"} for one in flat(query.where)):
        said.warnings[
            "the loans that are so in each of the two months are compared, which need not be the same ones"
        ] = None
    masks = [one.chosen(query.where) for one in (before, book)]
    for name in names:
        if name in TEXTS:
            _text_changes(said, before, book, masks, name)
            continue
        values = [
            one.measure(name, mask, query.aggregate if name not in ("par", "share", "count") else None)
            for one, mask in zip((before, book), masks, strict=True)
        ]
        if name in ("par", "share", "count"):
            values = [0.0 if value is None else value for value in values]
        word, unit = quantity_words(name, query.aggregate) if name != "count" else "number of loans", unit_of(name)
        rows = np.flatnonzero(masks[1])
        if values[0] is None or values[1] is None:
            raise Unavailable(f"one of the months has no {word} of {whose}")
        change = said.figure(
            f"change of {word}",
            values[1] - values[0],
            change_unit(name),
            "the newer month less the earlier",
            book=book,
            rows=rows,
            sign=True,
        )
        now = said.figure(word, values[1], unit, operation_of(name, query.aggregate), book=book, rows=rows)
        then = said.figure(
            f"{word} in the month before",
            values[0],
            unit,
            operation_of(name, query.aggregate) + ", of the earlier file",
            book=before,
            rows=np.flatnonzero(masks[0]),
        )
        if query.is_yes_no and query.direction in ("up", "down") and name == names[0]:
            said.sentences.append(
                yes_no((values[1] > values[0]) == (query.direction == "up") and values[1] != values[0])
            )
        said.sentences.append(f"{capital(word)} of {whose} moved by {change}: from {then} to {now}.")
        if name in ("par", "share"):
            held = [float(one.par[mask].sum()) for one, mask in zip((before, book), masks, strict=True)]
            performing = [
                float(one.par[mask & one.performing].sum()) for one, mask in zip((before, book), masks, strict=True)
            ]
            if name == "par" and held != performing:
                said.figure(
                    "change of par with defaulted loans",
                    held[1] - held[0],
                    "amount",
                    "sum of par_value of the newer month less the earlier",
                    sign=True,
                )
    said.warnings.update(before.remarks)


def _text_changes(said: Said, before: Book, book: Book, masks: Sequence[Mask], name: str) -> None:
    for one, mask, when in ((before, masks[0], "in the month before"), (book, masks[1], "now")):
        for row in np.flatnonzero(mask)[:ROWS_SHOWN].tolist():
            told = (
                ratings_of(said, one, row)
                if name == "rating"
                else [f"{QUANTITIES[name].name} {cell(said, one, row, name)}"]
            )
            said.sentences.append(f"{said.name(one.name_of(row))} {when}: {', '.join(told)}.")


def _count_changes(query: Query, said: Said, before: Book, book: Book) -> None:
    """How many groups there are in two months."""
    noun = plural(NOUNS[query.group or "obligor"])
    then, now = (len(one.groups(query.group or "obligor", one.chosen(query.where))) for one in (before, book))
    change = said.figure(
        f"change of number of {noun}", now - then, "count", "the newer month less the earlier", sign=True
    )
    first = said.figure(
        f"number of {noun} in the month before", then, "count", f"number of distinct {noun}", book=before
    )
    last = said.figure(f"number of {noun}", now, "count", f"number of distinct {noun}", book=book)
    said.sentences.append(f"The number of {noun} moved by {change}, from {first} to {last}.")


def _group_changes(query: Query, said: Said, before: Book, book: Book) -> None:
    by = query.group or "obligor"
    name = query.quantities[0] if query.quantities else "share"
    sides = []
    for one in (before, book):
        mask = one.chosen(query.where)
        values = {}
        for group in one.groups(by, mask):
            of = np.zeros(one.portfolio.row_count, np.bool_)
            of[group.rows] = True
            values[group.label] = one.measure(
                name, of, query.aggregate if name not in ("par", "share", "count") else None
            )
        sides.append(values)
    nothing = 0.0 if name in ("par", "share", "count") else None
    moves = []
    for label in dict.fromkeys((*sides[1], *sides[0])):
        now, then = sides[1].get(label, nothing), sides[0].get(label, nothing)
        if now is not None and then is not None and abs(now - then) > 1e-9:
            moves.append((now - then, label, then, now))
    if query.direction in ("up", "down"):
        moves = [one for one in moves if (one[0] > 0) == (query.direction == "up")]
    if (query.order is not None and query.direction != "down") or query.direction == "up":
        moves.sort(key=lambda one: -one[0] if query.order != "least" else one[0])
    elif query.direction == "down":
        moves.sort(key=lambda one: one[0])
    else:
        moves.sort(key=lambda one: -abs(one[0]))
    end = query.place or query.limit or ROWS_SHOWN
    chosen = moves[end - 1 : end] if query.place else moves[:end]
    if query.order is not None and end < len(moves) and abs(moves[end - 1][0] - moves[end][0]) < 1e-9:
        said.warnings[f"more {plural(NOUNS[by])} than are shown share the last place"] = None
    if not chosen:
        said.sentences.append(f"No {NOUNS[by]} has moved so.")
    for change, label, then, now in chosen:
        shown_label = said.name(label)
        text = said.figure(
            f"change of {quantity_words(name, None)}",
            change,
            change_unit(name),
            "the newer month less the earlier",
            of=label,
            book=book,
            sign=True,
        )
        first = said.figure(
            f"{quantity_words(name, None)} in the month before",
            then,
            unit_of(name),
            operation_of(name, query.aggregate),
            of=label,
            book=before,
        )
        last = said.figure(
            quantity_words(name, None), now, unit_of(name), operation_of(name, query.aggregate), of=label, book=book
        )
        said.sentences.append(f"{shown_label}: {text}, from {first} to {last}.")
