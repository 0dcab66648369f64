"""Obligors that a file counts as one: parents on its page of largest obligors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.facts import Fact
from core.portfolio.model.notes import DataWarning, ObligorFamily
from core.portfolio.model.portfolio import AnyPortfolio, Names
from core.portfolio.pages.report.adding import LINE_TOLERANCE

OBLIGORS_MAX: Final = 1_000
"""Obligors of a portfolio among which families are looked for."""

PRINTED_MAX: Final = 50
"""Rows of a page of the largest obligors that are looked at."""

LETTERS_MIN: Final = 4
"""Letters of a first word that may name a family: a shorter one is shared by chance."""

ROUND: Final = 50_000.0
"""Currency units: a sum that is a multiple of it is met by chance, and says nothing."""

WHOLE_LEAST: Final = 5
"""Amounts, all of them whole, from which a page is taken to print whole units."""

WHOLE_MAX: Final = 250
"""Obligors among which two make up a whole amount by chance once in five hundred times."""

_WORD: Final = re.compile(r"[A-Z0-9]+")


def with_families(portfolio: AnyPortfolio, par: NDArray[np.float64]) -> AnyPortfolio:
    """Give each family of the page of largest obligors one obligor.

    A printed amount that no single obligor reaches is a family's where just one set of obligors makes it to the cent,
    or to the unit where the page prints whole ones: all that share a first word, else two of them.

    Args:
        par: performing par of each loan.
    """
    obligor = portfolio.names.get("obligor")
    printed = portfolio.facts.of("list", "obligors")[:PRINTED_MAX]
    if obligor is None or not printed or not 1 < len(obligor.values) <= OBLIGORS_MAX:
        return portfolio
    sums = np.bincount(obligor.codes + 1, par, len(obligor.values) + 1)[1:].tolist()
    named = {code: name for code, name in enumerate(obligor.values) if sums[code] > 0.0}
    families = list(_Search(sums, _precision(printed, sums)).families(printed, named))
    if not families:
        return portfolio
    table = np.arange(-1, len(obligor.values), dtype=np.int32)
    for _, members in families:
        table[[code + 1 for code in members]] = members[0]
    for fact, members in families:
        issuers = tuple(named[code] for code in members)
        portfolio.notes.families.append(ObligorFamily(fact.label, issuers, fact.place))
        portfolio.notes.warnings.append(_warning(fact, issuers))
    names = portfolio.names | {"obligor": Names(table[obligor.codes + 1], obligor.values)}
    return replace(portfolio, names=names)


def _precision(printed: Sequence[Fact], sums: Sequence[float]) -> float:
    """Return by how much a printed amount may differ from a sum, in units."""
    amounts = [fact.value for fact in printed if fact.value]
    is_whole = len(amounts) >= WHOLE_LEAST and all(amount % 1.0 == 0.0 for amount in amounts)
    rounds = is_whole and any(sum_value % 1.0 != 0.0 for sum_value in sums)
    return 0.5 + LINE_TOLERANCE if rounds else 2 * LINE_TOLERANCE


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for obligors that make up printed amounts."""

    sums: Sequence[float]
    """Par of each obligor."""
    precision: float

    def families(self, printed: Sequence[Fact], named: dict[int, str]) -> Iterator[tuple[Fact, tuple[int, ...]]]:
        """Yield (printed row, its obligors) of each family; each obligor is in one."""
        free = dict(named)
        for fact in printed:
            amount = fact.value or 0.0
            is_round = amount % ROUND < LINE_TOLERANCE
            if amount <= 0.0 or is_round or any(abs(self.sums[code] - amount) <= self.precision for code in free):
                continue
            for sets in (list(self._by_first_word(free, amount)), list(self._pairs(free, amount))):
                if len(sets) == 1:
                    for code in sets[0]:
                        del free[code]
                    yield fact, sets[0]
                if sets:
                    break

    def _is(self, own: float, printed: float) -> bool:
        return abs(own - printed) <= self.precision

    def _by_first_word(self, named: dict[int, str], amount: float) -> Iterator[tuple[int, ...]]:
        groups: dict[str, list[int]] = defaultdict(list)
        for code, name in named.items():
            word = _WORD.search(name.upper())
            if word is not None and len(word[0]) >= LETTERS_MIN:
                groups[word[0]].append(code)
        for members in groups.values():
            if len(members) > 1 and self._is(sum(self.sums[code] for code in members), amount):
                yield tuple(members)

    def _pairs(self, named: dict[int, str], amount: float) -> Iterator[tuple[int, ...]]:
        if len(named) > WHOLE_MAX and self.precision > 2 * LINE_TOLERANCE:
            return
        codes = np.fromiter(named, np.int64, len(named))
        own = np.asarray(self.sums, np.float64)[codes]
        order = np.argsort(own, kind="stable")
        low = np.searchsorted(own[order], amount - own - 2 * self.precision)
        high = np.searchsorted(own[order], amount - own + 2 * self.precision, side="right")
        for at in np.flatnonzero(high > low).tolist():
            for second_at in sorted(order[low[at] : high[at]].tolist()):
                first, second = int(codes[at]), int(codes[second_at])
                if at < second_at and self._is(self.sums[first] + self.sums[second], amount):
                    yield first, second


def _warning(fact: Fact, names: Sequence[str]) -> DataWarning:
    return DataWarning(
        "obligor_families",
        f"{' and '.join(names)} count as one obligor: together they are the {fact.value or 0.0:,.2f} that {fact.place} "
        f"prints of {fact.label}",
        len(names),
    )
