"""What a pool's figures rest on that a reader has to know: masked ratings, obligors of like names, coupons left out."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Final

import numpy as np

from core.compliance.conventions import DEFAULT, masked_rows
from core.compliance.measures import Pool
from core.definition.terms import AGENCIES
from core.portfolio.fields import Lien
from core.portfolio.notes import DataWarning

AGENCY_NAMES: Final = {"a": "Moody's", "b": "S&P", "c": "Fitch"}

LIKE_OBLIGORS_MAX: Final = 30
"""Obligors, the largest first, whose names are compared."""

LEADING_LETTERS_MIN: Final = 4
"""Letters of a first word that tells groups apart; a shorter one is shared by chance."""


def findings(pool: Pool) -> list[DataWarning]:
    """Warnings that follow from the loans and the definition, in a fixed order; without a definition, of what is masked
    alone."""
    if pool.definition is DEFAULT:
        return _masked(pool)
    return [*_masked(pool), *_joined(pool), *_alike(pool), *_bonds(pool), *_coupons(pool), *_lives(pool)]


def _bonds(pool: Pool) -> list[DataWarning]:
    """A warning where bonds count as senior secured because nothing says otherwise."""
    bonds = pool.tally.par_by_lien[Lien.BOND]
    if not bonds or not pool.definition.ratings.bonds_secured:
        return []
    return [
        DataWarning(
            "bonds_secured",
            f"bonds of {pool.share(bonds):.2f} % count as senior secured: the file does not say whether one is not",
        )
    ]


def _joined(pool: Pool) -> list[DataWarning]:
    """A warning where obligors count as one by their names."""
    joined = pool.view.affiliates
    if not joined:
        return []
    shown = ", ".join(f"{name} with {other}" for name, other in joined[:5])
    more = f" and {len(joined) - 5} more" if len(joined) > 5 else ""
    return [DataWarning("affiliates_by_name", f"obligors count as one by their names: {shown}{more}", len(joined))]


def _lives(pool: Pool) -> list[DataWarning]:
    """A warning where lives are taken to maturity."""
    if "average_life" in pool.portfolio.numbers or pool.portfolio.amortization is not None or not pool.tally.life_par:
        return []
    return [
        DataWarning(
            "lives_by_maturity",
            "the file has no average lives and no scheduled payments: each loan is taken to its maturity",
        )
    ]


def _masked(pool: Pool) -> list[DataWarning]:
    """A warning for each agency some of whose ratings are not shown."""
    found = []
    for agency in AGENCIES:
        field = f"rating_agency_{agency}"
        if field not in pool.portfolio.ranks:
            continue
        par, rows = pool.summed(("masked", field), partial(_masked_par, field=field))
        if not rows:
            continue
        way = getattr(pool.definition.ratings, agency).masked
        found.append(
            DataWarning(
                "masked_ratings",
                f"{AGENCY_NAMES[agency]}'s rating of {pool.covered(par):.2f} % of par is masked: it counts as "
                f"{_told(way)}, and never as CCC unless the definition says so",
                int(rows),
            )
        )
    return found


def _masked_par(pool: Pool, field: str) -> tuple[float, ...]:
    """(par, number) of the loans whose rating is masked in a column."""
    rows = masked_rows(pool.portfolio, field)
    return (0.0, 0.0) if rows is None else (float(pool.weights @ rows), float(np.count_nonzero(rows)))


def _told(way: str | float) -> str:
    words = {
        "other_agency": "another agency's rating, or is left out where there is none", "left_out": "left out",
        "bounds": "anything between the definition's best and worst",
    }  # fmt: skip
    return words.get(way, way) if isinstance(way, str) else f"the factor {way:g}"


def _alike(pool: Pool) -> list[DataWarning]:
    """A warning where obligors of like names together would be the largest obligor."""
    if "obligor" not in pool.view.names or "issuer_id" in pool.portfolio.names:
        return []
    par = pool.par_by_name("obligor")[:-1]
    if len(par) < 2:
        return []
    most = (
        np.argpartition(par, -LIKE_OBLIGORS_MAX)[-LIKE_OBLIGORS_MAX:]
        if len(par) > LIKE_OBLIGORS_MAX
        else range(len(par))
    )
    groups: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for at in most:
        name = pool.name("obligor", at)
        word = name.split(" ", 1)[0].upper()
        if len(word) >= LEADING_LETTERS_MIN and word.isalpha():
            groups[word].append((float(par[at]), name))
    largest = float(par.max())
    like = [
        (total, [name for _, name in sorted(members, reverse=True)])
        for members in groups.values()
        if len(members) > 1 and (total := sum(amount for amount, _ in members)) > largest > 0
    ]
    if not like:
        return []
    amount, members = max(like)
    return [
        DataWarning(
            "obligors_alike",
            f"{', '.join(members[:5])} count as {len(members)} obligors; as one they would be the largest with "
            f"{pool.share(amount):.2f} %: name families of obligors in the definition",
            len(members),
        )
    ]


def _coupons(pool: Pool) -> list[DataWarning]:
    """A warning where fixed-rate loans have coupons and nothing says against which they are measured."""
    reference = pool.definition.conventions.reference_coupon
    if reference is None:
        reference = pool.portfolio.deal.reference_coupon
    tally = pool.tally
    if reference is not None or not tally.coupon_par > 0 or pool.share(pool.fixed_par) < 1.0:
        return []
    coupon, share = tally.coupon_sum / tally.coupon_par, pool.share(pool.fixed_par)
    return [
        DataWarning(
            "reference_coupon_unknown",
            f"{share:.2f} % of the loans are fixed at {coupon:.2f} % on average and no reference coupon is known"
            ": the weighted average spread counts no excess coupon",
        )
    ]
