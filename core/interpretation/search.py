"""Search the readings that a file's figures tie by.

Solved and scored to the cent, accepted by independent figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final, NamedTuple

import numpy as np

from core.compliance.pool_sums import Pool, Unmeasurable
from core.definition.terms import AGENCIES
from core.interpretation.candidates import Candidate, Readings
from core.interpretation.evidence import Evidence, Used
from core.portfolio.model.interpretation import Part, State

COMBINATIONS_MAX: Final = 2_000
"""Readings of one group of choices that are tried."""

ROUNDS_MAX: Final = 3
"""Times that the groups are searched one after the other: what one decides may let another tie."""

TAKEN_LEAST: Final = 2
"""Independent amounts, each to the cent, that take a reading."""

TELLING: Final = 1_000_000.0
"""Currency units, seven digits, of an amount that alone proposes a reading."""

ROUND: Final = 1_000.0
"""Currency units: a multiple of it is met by chance."""

DENOMINATORS_MAX: Final = 4
"""Different printed denominators of shares that are looked at while readings of the collateral are tried."""

_OC: Final = ("oc", "reinvestment_oc", "event_of_default", "parts", "interval")
_RATED: Final = ("ccc", "warf", "spwarf", "share", "oc", "reinvestment_oc", "parts", "interval")
_NO_SHARE: Final = (*_OC, "ic", "warf", "warr", "wal", "was", "wac", "spwarf", "diversity")


class ChoiceGroup(NamedTuple):
    """Choices that move the same figures, and these figures."""

    choices: tuple[str, ...]
    measures: tuple[str, ...]
    with_shares: bool = False
    """Whether what shares divide by is among them."""
    agency: str | None = None
    """Whose figures alone; those of no agency, too."""


_PAR_VALUE: Final = (
    "defaulted_carried_at", "recovery_agency", "ccc_agencies", "ccc_excess", "discount_obligations",
    "purchased_accrued_interest",
)  # fmt: skip

GROUPS: Final = (
    ChoiceGroup(("principal_cash", "denominator", *_PAR_VALUE[:2]), (*_OC, "warr"), with_shares=True),
    *(ChoiceGroup((f"rating_columns_{agency}", f"masked_{agency}"), _RATED, agency=agency) for agency in AGENCIES),
    ChoiceGroup(("principal_cash", *_PAR_VALUE), (*_OC, "warr"), with_shares=True),
    ChoiceGroup(("industry",), ("industry", "diversity", "share")),
    ChoiceGroup(("families",), ("obligor", "top_obligors", "diversity")),
    ChoiceGroup(("interest", "senior_fees"), ("ic",)),
)  # fmt: skip
"""In the order in which they are searched: what others divide by first."""

Ties = frozenset[tuple[int, Part]]
"""Figures by their places, with the part of each that ties."""


@dataclass(frozen=True, slots=True)
class ChoiceResult:
    """A choice, the reading that is used, and the one that comes next."""

    used: Candidate
    state: State
    ties: Ties
    """Those that tie by the reading used and by no other."""
    runner_up: Candidate | None
    runner_up_ties: Ties
    """Those that tie by the runner-up and not by the reading used."""
    lost: int
    """Parts that tie by the reading used and not by the runner-up."""


@dataclass
class Search:
    """One search over a file's figures, or over all but those that are left out."""

    evidence: Evidence
    readings: Readings
    left_out: frozenset[int] = frozenset()
    """Figures that take no part, by their places."""
    start: dict[str, Candidate] = field(default_factory=dict)
    """Readings to begin with; those that are used where nothing decides, unless said."""
    _different: dict[tuple[str, ...], dict[str, tuple[Candidate, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.start = self.start or {choice: listed[0] for choice, listed in self.readings.items()}

    def run(self) -> dict[str, Candidate]:
        """Return the readings that the figures decide.

        Of the other choices those of the start.
        """
        used = dict(self.start)
        for _ in range(ROUNDS_MAX):
            before = dict(used)
            for group in GROUPS:
                used = self._searched(group, used)
            if used == before:
                break
        return used

    # ---- one group

    def _searched(self, group: ChoiceGroup, used: dict[str, Candidate]) -> dict[str, Candidate]:
        """Return the best reading of a group's choices, the others as they are."""
        listed = self._candidates(group, used)
        if not listed:
            return used
        figures = self.figures_of(group)
        now = self.amounts(self.ties(used, figures))
        if now == self.amounts(frozenset((at, part) for at in figures for part in self.evidence.figures[at].printed)):
            return used  # no other reading can tie more
        best, most = used, len(now)
        for combination in product(*listed.values()):
            tried = {**used, **{candidate.choice: candidate for candidate in combination}}
            ties = self.ties(tried, figures)
            count = len(self.amounts(ties))
            if count < most or tried == used:
                continue
            changes = _changes(tried, used)
            if count > most or (best is not used and changes < _changes(best, used)):
                best, most = tried, count
        if best is used:
            return used
        kept = self._drop_unproved(best, used, listed)
        return kept if self._loses_none(used, kept) else used

    def _candidates(self, group: ChoiceGroup, used: Used) -> dict[str, tuple[Candidate, ...]]:
        """Return the candidates of a group's choices that differ for these loans, no more than can be tried."""
        listed = {}
        for choice in group.choices:
            different = self.different(choice, used)
            if len(different) > 1:
                listed[choice] = different
        if prod(map(len, listed.values())) > COMBINATIONS_MAX and "principal_cash" in listed:
            solving = [candidate for candidate in listed["principal_cash"] if self._solves(candidate, used)]
            listed["principal_cash"] = tuple(dict.fromkeys((used["principal_cash"], *solving)))
        while prod(map(len, listed.values())) > COMBINATIONS_MAX:
            longest = max(listed, key=lambda choice: len(listed[choice]))
            listed[longest] = listed[longest][:-1]
        return listed

    def _solves(self, cash: Candidate, used: Used) -> bool:
        """Return whether some reading of the denominator makes a printed one with this cash."""
        figures = [at for at in self.figures_of(GROUPS[0]) if "denominator" in self.evidence.figures[at].printed]
        tried = [
            {**used, "principal_cash": cash, "denominator": candidate}
            for candidate in self.readings.get("denominator", ())
        ]
        return any(
            part == "denominator"
            for each in tried or [{**used, "principal_cash": cash}]
            for _, part in self.ties(each, figures)
        )

    def different(self, choice: str, used: Used) -> tuple[Candidate, ...]:
        """Return the candidates of a choice that give other sums, the one that is used first."""
        if choice not in self.readings:
            return ()
        candidates: dict[object, Candidate] = {}
        for candidate in (used[choice], *self.readings[choice]):
            candidates.setdefault(_sums(self.evidence.pool({**used, choice: candidate}), choice), candidate)
        return tuple(candidates.values())

    def _drop_unproved(
        self, best: dict[str, Candidate], used: dict[str, Candidate], listed: Mapping[str, Sequence[Candidate]]
    ) -> dict[str, Candidate]:
        """Return the best reading without the changes that its figures do not decide."""
        kept = dict(best)
        while True:
            open_ones = [
                choice
                for choice in listed
                if kept[choice] != used[choice] and self.state(self.alone(choice, kept)) == "open"
            ]
            if not open_ones:
                return kept
            for choice in open_ones:
                kept[choice] = used[choice]

    def _loses_none(self, before: Used, after: Used) -> bool:
        every = self.every
        return before == after or not self.ties(before, every) - self.ties(after, every)

    def readings_of_oc(self) -> Iterator[dict[str, Candidate]]:
        """Every reading that may move the OC numerator.

        Those of the collateral together, with each of the ratings.
        """
        alone: dict[str, Candidate] = {}
        ratings = [alone] + [
            {choice: candidate}
            for group in GROUPS
            if group.agency is not None
            for choice in group.choices
            for candidate in self.different(choice, self.start)[1:]
        ]
        for group in (each for each in GROUPS if "oc" in each.measures and each.agency is None):
            listed = self._candidates(group, self.start).values()
            for rated, combination in product(ratings, product(*listed)):
                yield self.start | rated | {each.choice: each for each in combination}

    # ---- figures

    @property
    def every(self) -> tuple[int, ...]:
        """The places of all figures that take part."""
        return tuple(at for at in range(len(self.evidence.figures)) if at not in self.left_out)

    def figures_of(self, group: ChoiceGroup) -> tuple[int, ...]:
        """Return the places of the figures that a group moves."""
        places, denominators = [], set[float]()
        for at in self.every:
            figure = self.evidence.figures[at]
            if figure.measure in group.measures and (group.agency is None or figure.agency in (None, group.agency)):
                places.append(at)
                continue
            amount = figure.printed.get("denominator")
            is_share = group.with_shares and figure.measure not in _NO_SHARE
            if is_share and amount and amount not in denominators and len(denominators) < DENOMINATORS_MAX:
                denominators.add(amount)
                places.append(at)
        return tuple(places)

    def ties(self, used: Used, figures: Iterable[int]) -> Ties:
        """Return what ties under a reading."""
        return frozenset((at, part) for at in figures for part in self.evidence.ties(at, used))

    def amounts(self, ties: Ties) -> set[float]:
        """Return the independent amounts among what ties.

        A number that is printed twice is one.
        """
        return {amount for at, part in ties for amount in self.evidence.figures[at].amounts(part)}

    def divided(self, ties: Ties) -> set[float]:
        """Return the printed numerators of shares whose denominator and value tie.

        Each of them is a figure of its own, though all divide by one amount.
        """
        figures = self.evidence.figures
        return {
            figures[at].printed["numerator"]
            for at, part in ties
            if part == "denominator"
            and (at, "value") in ties
            and figures[at].amounts("numerator")
            and figures[at].measure not in _NO_SHARE
        }

    def alone(self, choice: str, used: Used) -> Ties:
        """Return what ties by the reading used of a choice, and by no other."""
        own = self.ties(used, self.every)
        for candidate in self.different(choice, used)[1:]:
            own -= self.ties({**used, choice: candidate}, self.every)
        return self.telling(choice, used, own)

    def telling(self, choice: str, used: Used, ties: Ties) -> Ties:
        """Return the ties that say something of a choice.

        OC ratios without a CCC excess say nothing of masked ratings.

        What they rule out is that all of these are CCC; what they do count as, no OC ratio reads.
        """
        if not choice.startswith("masked_") or self.evidence.pool(used).adjustments["ccc_haircut"]:
            return ties
        return frozenset((at, part) for at, part in ties if self.evidence.figures[at].measure not in _OC)

    def state(self, ties: Ties) -> State:
        """Return what ties by one reading alone decides."""
        amounts = self.amounts(ties)
        figures = max(len(amounts), len(self.divided(ties)))
        if figures >= TAKEN_LEAST and any(amount % ROUND for amount in amounts):
            return "taken"
        return "proposed" if any(abs(amount) >= TELLING and amount % ROUND for amount in amounts) else "open"

    def decided(self, choice: str, used: Used) -> ChoiceResult:
        """Return a choice as it came out, with its runner-up."""
        own = self.ties(used, self.every)
        others = [
            (candidate, self.ties({**used, choice: candidate}, self.every))
            for candidate in self.different(choice, used)[1:]
        ]
        alone = self.telling(choice, used, own.difference(*(ties for _, ties in others)) if others else frozenset())
        runner_up, theirs = max(
            others, key=lambda pair: (len(self.amounts(pair[1] - own)), -len(own - pair[1])), default=(None, own)
        )
        if own == theirs:
            runner_up = None
        return ChoiceResult(used[choice], self.state(alone), alone, runner_up, theirs - own, len(own - theirs))


def _changes(tried: Used, used: Used) -> int:
    return sum(tried[choice] != used[choice] for choice in tried)


def _sums(pool: Pool, choice: str) -> object:
    """Return what tells one reading of a choice from another: the sums that it moves."""
    if choice.startswith(("rating_columns", "masked")):
        return tuple(_by_rank(pool, agency) for agency in AGENCIES), pool.buckets
    return _SUMS.get(choice, _collateral)(pool)


def _by_rank(pool: Pool, agency: str) -> tuple[float, ...]:
    name = f"rating_agency_{agency}"
    ranks = pool.view.ranks.get(f"{name}_ladder", pool.view.ranks.get(name))
    return () if ranks is None else tuple(np.bincount(ranks, pool.weights).round(4).tolist())


def _collateral(pool: Pool) -> object:
    return (
        round(pool.cash, 4),
        round(pool.denominator, 4),
        round(pool.adjustments["adjusted"], 4),
        round(pool.tally.recovery_sum, 4),
        pool.view.recovery_agency,
    )


def _industries(pool: Pool) -> object:
    try:
        return tuple(round(par, 4) for par in pool.industries[2])
    except Unmeasurable:
        return ()


def _obligors(pool: Pool) -> object:
    return tuple(round(par, 4) for par in pool.obligors[2])


def _interest(pool: Pool) -> object:
    return round(pool.interest["available"], 4)


_SUMS: Final = {"industry": _industries, "families": _obligors, "interest": _interest, "senior_fees": _interest}
