"""Every style by name, and the report of a seed."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Final

from tests.made_reports.deal import draw_deal
from tests.made_reports.model import Report
from tests.made_reports.styles import blotter, bny, borrowing_base, euro, private, us_bank, virtus, wso

STYLES: Final[dict[str, ModuleType]] = {
    "us_bank": us_bank,
    "bny": bny,
    "virtus": virtus,
    "wso": wso,
    "blotter": blotter,
    "private": private,
    "euro": euro,
    "borrowing_base": borrowing_base,
}
"""Name -> its module: `MARKET`, and `make` of a report."""


def report_of(seed: int, style: str | None = None) -> Report:
    """Make the report of a seed; the styles take turns where none is named."""
    name = style or list(STYLES)[seed % len(STYLES)]
    module = STYLES[name]
    rng = Random(f"report {name} {seed}")
    size = int(rng.triangular(60, 200, 65))
    report: Report = module.make(rng, draw_deal(seed, module.MARKET, size), seed)
    return report
