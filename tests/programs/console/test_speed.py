"""How soon something is seen.

The first paint of the page, and the next screen after a click.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from playwright.sync_api import Page, expect

from tests.conftest import Member
from tests.programs.console.conftest import Visits, on_enterprise
from tests.programs.console.seeds import deal_with_months
from tests.programs.console.smooth import is_crowded

ROUNDS: Final = 5
PAINT_MS: Final = 300
SWITCH_MS: Final = 100
PAINT: Final = """() => new Promise((done) => {
  const found = (list) => list.getEntriesByName("first-contentful-paint").forEach(({ startTime }) => done(startTime));
  new PerformanceObserver(found).observe({ type: "paint", buffered: true });
})"""
SWITCH: Final = """async ([place, name, heading]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const link = [...document.querySelectorAll(`${place} a`)].find((one) => one.textContent === name);
  const drawn = () => document.querySelector("main h1")?.textContent === heading
    && (place.includes("main") ? document.querySelector(`main section[aria-label="${name}"]`) : true);
  const whole = () => drawn() && !document.querySelector("main .waiting");
  await frame();
  const begun = performance.now();
  link.click();
  while (!drawn()) await frame();
  await frame(); // the one before is painted
  const seen = performance.now() - begun;
  while (!whole()) await frame();
  return [seen, performance.now() - begun];
}"""
"""Milliseconds from the click on a link to the next screen's heading, and to all that it reads."""
DEAL: Final = "Example CLO VIII"
SHOWN: Final = (
    "Loans",
    "Mapping",
    "Tie-out",
    "Movements",
    "What-if",
    "Reconciliation",
    "Ask",
    "Settings",
    "Compliance",
)
"""Screens of a deal by the link to each; the deal's name is the heading of all."""
PLACES: Final = {
    "Reconciliation": "Reconciliation",
    "Formulas": "Formulas",
    "Ask": "Ask",
    "Exports and reports": "Exports and reports",
    "Alerts": "Alerts",
    "Admin": "Administration",
    "Deals": "Deals",
}
"""Headings of the other screens by the link to each."""


def typical(taken: Sequence[float]) -> float:
    """The median; where other programs want the processors, the time that they took least from."""
    return min(taken) if is_crowded() else median(taken)


def test_something_is_seen_at_once(visits: Visits, owner: Member) -> None:
    """A browser without anything of the page: the first paint, median of five."""
    taken = []
    for _ in range(ROUNDS):
        visit = visits()
        visit.go("/")
        taken.append(visit.page.evaluate(PAINT))
        expect(visit.page.get_by_label("E-mail")).to_be_visible()
    print(f"first contentful paint: median of {ROUNDS}: {median(taken):.0f} ms, at best {min(taken):.0f} ms")
    assert typical(taken) < PAINT_MS, taken


def switches(page: Page, place: str, screens: dict[str, str]) -> dict[str, list[float]]:
    """Milliseconds to each screen of a list of links: its heading, all of it."""
    return {name: page.evaluate(SWITCH, [place, name, heading]) for name, heading in screens.items()}


def test_the_next_screen_is_there_at_once(visits: Visits, owner: Member) -> None:
    on_enterprise(owner)
    deal = deal_with_months(owner, DEAL)
    visit = visits()
    page = visit.page
    visit.sign_in(owner, f"/deals/{deal['id']}/compliance")
    expect(page.get_by_role("region", name="Tests", exact=True)).to_be_visible()
    rounds: list[dict[str, list[float]]] = []
    for _ in range(ROUNDS + 1):
        taken = switches(page, "main nav.tabs", dict.fromkeys(SHOWN, DEAL))
        taken |= {f"{name} of all": times for name, times in switches(page, "nav.side .side-places", PLACES).items()}
        visit.go(f"/deals/{deal['id']}/compliance")
        expect(page.get_by_role("region", name="Tests", exact=True)).to_be_visible()
        visit.settle()
        rounds.append(taken)
    slow = {}
    for name, first in rounds[0].items():
        seen, whole = ([taken[name][at] for taken in rounds[1:]] for at in (0, 1))
        print(f"{name}: first visit {first[0]:.0f} ms, then {median(seen):.0f} ms, all of it {median(whole):.0f} ms")
        if typical(seen) >= SWITCH_MS:
            slow[name] = seen
    assert slow == {}
