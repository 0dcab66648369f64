"""Families by the page of the largest obligors.

Sums to the cent, and what is chance.
"""

from __future__ import annotations

import numpy as np

from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts, FactSubject
from core.portfolio.model.notes import Notes
from core.portfolio.model.portfolio import Names
from core.portfolio.pages.families import with_families
from tests.rows import every

NAMES = ("ALLIED UNIVERSAL HOLDCO", "ALLIED UNVL HOLDCO", "INDY US BIDCO", "NIELSEN CONSUMER", "BOLUDA TOWAGE", "CARE")
PAR = [3_273_633.81, 2_000_000.0, 1_663_700.0, 2_999_000.0, 2_000_000.0, 2_000_000.0]


def joined(amount: float, par: list[float] | None = None) -> list[list[str]]:
    """Return the obligors that count as one where a page prints an amount."""
    fact = Fact(kind="list", label="Parent", subject=FactSubject(measure="obligors"), value=amount, place="'Top'!B3")
    loans = np.array(par or PAR)
    codes = np.arange(len(NAMES), dtype=np.int32)
    portfolio = Portfolio(
        len(NAMES), {"par_value": loans}, {"obligor": Names(codes, NAMES)}, {}, {}, facts=Facts(all=(fact,)),
        notes=Notes(),
    )  # fmt: skip
    with_obligors = with_families(portfolio, loans)
    by_code: dict[int, list[str]] = {}
    for name, code in zip(NAMES, with_obligors.names["obligor"].codes.tolist(), strict=True):
        by_code.setdefault(code, []).append(name)
    families = [names for names in by_code.values() if len(names) > 1]
    assert [warning.code for warning in with_obligors.notes.warnings] == ["obligor_families"] * len(families)
    return families


@every("amount, members", [
    # Three of 2,000,000 would do by amount: the shared first word decides.
    (5_273_633.81, ["ALLIED UNIVERSAL HOLDCO", "ALLIED UNVL HOLDCO"]),
    (4_662_700.0, ["INDY US BIDCO", "NIELSEN CONSUMER"]),
    (4_662_700.02, None),
    # One obligor has it alone; two sets make it; a round amount is met by chance.
    (3_273_633.81, None),
    (3_663_700.0, None),
    (4_000_000.0, None),
])  # fmt: skip
def test_families(amount: float, members: list[str] | None) -> None:
    assert joined(amount) == ([members] if members else [])


def test_a_page_in_whole_units() -> None:
    """Where all its amounts are whole and par is not, the nearest unit does.

    A few whole amounts are no such page.
    """
    amounts = [5_273_634.0, 2_999_000.0, 2_000_000.0, 1_663_700.0, 2_000_000.0]
    for count, families in ((5, 1), (4, 0)):
        facts = tuple(
            Fact(kind="list", label="Parent", subject=FactSubject(measure="obligors"), value=amount, place="'Top'!B3")
            for amount in amounts[:count]
        )
        par = np.array(PAR)
        portfolio = Portfolio(
            len(NAMES), {"par_value": par}, {"obligor": Names(np.arange(len(NAMES), dtype=np.int32), NAMES)}, {}, {},
            facts=Facts(all=facts), notes=Notes(),
        )  # fmt: skip
        with_obligors = with_families(portfolio, par)
        assert len(with_obligors.notes.warnings) == families


def test_loans_of_nothing_are_in_no_family() -> None:
    assert joined(5_273_633.81, [3_273_633.81, 0.0, 1.0, 1.0, 2_000_000.0, 1.0]) == [
        ["ALLIED UNIVERSAL HOLDCO", "BOLUDA TOWAGE"]
    ]
