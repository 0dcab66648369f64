"""Quantities by obligor, industry or another group: ranked, filtered, counted."""

from __future__ import annotations

from typing import Final

import numpy as np

from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.ratings import DEFAULTED
from core.questions.answer import ROWS_SHOWN
from core.questions.loans import Book, Group, Unavailable
from core.questions.measuring import TEXTS, Mask, compared, operation_of, par_and_share, quantity_words, unit_of
from core.questions.query import Query
from core.questions.saying import Said, capital, yes_no
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_WORDS,
    NOUNS,
    conditions_words,
)
from core.values import day_of
from core.words import counted, plural

TESTED_GROUPS_MAX: Final = 2_000
"""Groups whose measure of a test is worked out, each over its own loans."""
_ORDERED: Final = {"year", "rating", "rating_a", "rating_b", "rating_c"}


def groups(query: Query, said: Said, book: Book, mask: Mask) -> None:
    by = query.group or "obligor"
    groups = book.groups(by, mask)
    noun = NOUNS[by]
    names = [one for one in query.quantities if one != "count"]
    held = [one for one in groups if book.performing[one.rows].any()] or groups
    if "count" in query.quantities:
        names = ["count", *names]
    listed_all = groups if (query.where and query.order is None) or query.is_count else held

    def value(name: str, group: Group) -> float | None:
        if name == "rank":
            return book.measure_rows("warf", group.rows)
        if name == "maturity":
            maturity = book.number("maturity")[group.rows]
            known = maturity[np.isfinite(maturity)]
            return None if not len(known) else float(known.max() if query.order == "most" else known.min())
        if name in TEXTS:
            raise Unavailable(f"the {QUANTITIES[name].name} is of single loans")
        if QUANTITIES[name].test_id is not None and name != "price" and len(groups) > TESTED_GROUPS_MAX:
            raise Unavailable(f"a test is measured for at most {TESTED_GROUPS_MAX:,} {plural(noun)}")
        checkpoint()
        return book.measure_rows(name, group.rows, _how(query, name))

    if query.over_groups:
        sums = np.array([float(book.par[one.rows[book.performing[one.rows]]].sum()) for one in held])
        figure = float(np.median(sums) if query.aggregate == "median" else sums.mean())
        operation = (
            f"{'median' if query.aggregate == 'median' else 'plain average'} "
            f"over {plural(noun)} of the sum of par_value of performing loans"
        )
        text = said.figure(
            f"{query.aggregate} par of {plural(noun)}",
            figure,
            "amount",
            operation,
            book=book,
            rows=np.flatnonzero(mask),
        )
        said.sentences.append(
            f"{capital(query.aggregate or 'average')} par of the {counted(len(held), noun)}"
            f"{' with loans ' + conditions_words(query.where) if query.where else ''}: {text}."
        )
        return
    chosen = listed_all
    for having in query.having:
        found = [value(having.quantity, one) for one in chosen]
        kept = compared(np.array([np.nan if one is None else one for one in found]), having)
        chosen = [one for one, is_in in zip(chosen, kept.tolist(), strict=True) if is_in]
    if query.is_yes_no:
        said.sentences.append(yes_no(bool(chosen)))
    if query.is_count and query.order is None and not names:
        count = said.figure(
            f"number of {plural(noun)}",
            len(chosen),
            "count",
            f"number of distinct {plural(noun)} of loans with a par",
            book=book,
            rows=np.flatnonzero(mask),
        )
        where = conditions_words(query.where)
        said.sentences.append(
            f"{count} {noun if len(chosen) == 1 else plural(noun)}{f' with loans {where}' if where else ''}."
        )
        if len(held) != len(groups) and not query.having:
            other = said.figure(
                f"number of {plural(noun)} with performing loans",
                len(held),
                "count",
                f"number of distinct {plural(noun)} of performing loans",
                book=book,
                rows=np.flatnonzero(mask & book.performing),
            )
            said.sentences.append(f"{other} of them have performing loans.")
        return
    order_by = query.order_by or (names[0] if names else "par")
    if query.order is not None or by not in _ORDERED:
        keys = [value(order_by, one) for one in chosen]
        sign = 1.0 if query.order == "least" else -1.0
        ranked = sorted(
            (at for at in range(len(chosen)) if keys[at] is not None), key=lambda at: sign * float(keys[at] or 0.0)
        )
        missing = [at for at in range(len(chosen)) if keys[at] is None]
        if missing:
            said.warnings[
                (
                    f"{len(missing)} {noun if len(missing) == 1 else plural(noun)} without a "
                    f"{FIELD_WORDS.get(order_by, order_by)} {'is' if len(missing) == 1 else 'are'} left out"
                )
            ] = None
        chosen = [chosen[at] for at in ranked]
    else:
        chosen = sorted(chosen, key=lambda one: _place_of(by, one.label))
    total_rows = len(chosen)
    last = query.place or query.limit
    if query.order is not None and last and last < len(chosen):
        ends = [value(order_by, one) for one in chosen[last - 1 : last + 1]]
        if None not in ends and abs(float(ends[0] or 0.0) - float(ends[1] or 0.0)) < 1e-9:
            said.warnings[f"more {plural(noun)} than are shown share the last place"] = None
    if query.place:
        chosen = chosen[query.place - 1 : query.place]
    elif query.limit:
        chosen = chosen[: query.limit]
    if not chosen:
        said.figure(f"number of {plural(noun)}", 0, "count", f"number of {plural(noun)}", book=book)
        said.sentences.append(f"No {noun} is so.")
        return
    wanted = list(
        dict.fromkeys(
            [
                *([order_by] if query.order is not None else []),
                *(one.quantity for one in query.having),
                *(names or ["par", "share"]),
            ]
        )
    )
    if wanted in (["par"], ["share"]):
        wanted = ["par", "share"]
    if "rank" in wanted:
        wanted[wanted.index("rank")] = "warf"
    if query.is_count and "count" not in wanted:
        wanted = ["count", *wanted] if query.order_by in (None, "count") else [*wanted, "count"]
    if (query.having and query.order is None) or (query.where and query.order is None and not names):
        count = said.figure(f"number of {plural(noun)}", total_rows, "count", f"number of {plural(noun)}", book=book)
        said.sentences.append(f"{count} {noun if total_rows == 1 else plural(noun)}:")
    adds_up = bool(query.limit) or (bool(query.where) and query.order is None and wanted[:1] in (["par"], ["share"]))
    if len(chosen) > 1 and adds_up and order_by in ("par", "share"):
        together = np.zeros(book.portfolio.row_count, np.bool_)
        together[np.concatenate([one.rows for one in chosen])] = True
        total, share = par_and_share(said, book, together, np.flatnonzero(together), together=True)
        said.sentences.append(f"Together they are {total}, {share} of the collateral principal amount.")
    for one in chosen[:ROWS_SHOWN]:
        label = said.name(one.label)
        told = []
        for name in wanted:
            found_value = value(name, one)
            unit = unit_of(name)
            word = quantity_words(name, _how(query, name))
            if name == "count":
                text = said.figure(
                    "number of loans", found_value, "count", operation_of("count", None),
                    of=one.label, book=book, rows=one.rows,
                )  # fmt: skip
                told.append(f"{text} loan{'s' * (found_value != 1)}")
                continue
            if name == "maturity":
                text = said.figure(
                    "maturity", day_of(found_value), "date", "maturity_date", of=one.label, book=book, rows=one.rows
                )
                told.append(f"maturity {text}")
                continue
            text = said.figure(
                word, found_value, unit, operation_of(name, query.aggregate), of=one.label, book=book, rows=one.rows
            )
            told.append(text if name == "share" or word == "par" else f"{word} {text}")
        said.sentences.append(f"{label}: {', '.join(told)}.")
    if len(chosen) > ROWS_SHOWN:
        said.sentences.append(f"{len(chosen) - ROWS_SHOWN:,} more are not listed.")
    if book.defaulted[np.flatnonzero(mask)].any() and any(one in wanted for one in ("par", "share")):
        said.warnings["defaulted loans are left out of par and shares"] = None


def _how(query: Query, name: str) -> str | None:
    """How a quantity of a group is made: a total of shares and counts, whatever is averaged beside them."""
    if name == "par" and query.aggregate in ("average", "simple", "median"):
        return query.aggregate
    return None if name in ("par", "share", "count") else query.aggregate


def _place_of(by: str, label: str) -> float:
    if by == "year":
        return float(label)
    from core.portfolio.model.ratings import rank

    return float(rank(label) or DEFAULTED)
