"""A database extract in the way of Wall Street Office.

Names of columns as in SQL, NULL, bits, days as 20180531.

Layout known from queries that managers publish on the tables of Wall Street Office, and from exports of Everest: one
row for each asset, no titles, columns in no order that a reader would choose, many that carry no field.
"""

from __future__ import annotations

from random import Random

from tests.made_reports.cells import Habits
from tests.made_reports.deal import Deal, make_foreign
from tests.made_reports.model import Report, Rows
from tests.made_reports.styles.build import AMOUNTS_APART, FOREIGN_SHARE, Build, with_native_par
from tests.made_reports.words import PHRASES

MARKET = "libor"

_ITEMS = (
    "borrower", "facility", "cusip", "isin", "loanx", "issuer_id", "par", "unfunded", "price", "purchase_price",
    "fixed", "index", "base_level", "spread", "floor", "all_in", "frequency", "maturity", "average_life",
    "moodys_cfr", "moodys_dp", "moodys_facility", "sp_issuer", "sp_facility", "fitch", "watch_moodys", "watch_sp",
    "recovery_moodys", "recovery_sp", "recovery_fitch", "industry_moodys", "industry_sp", "industry_fitch", "country",
    "currency", "lien", "defaulted", "default_date", "cov_lite", "dip", "current_pay", "deferring", "participation",
    "delayed_draw", "revolver", "facility_size", "quote_depth",
)  # fmt: skip
_NEEDED = ("borrower", "par", "facility", "currency")
_SINKS = (
    "record_key", "load_date", "accrued", "next_payment", "trade_date", "mark_date", "market_value_amount", "region",
    "asset_type", "pik_margin", "analyst", "original_face",
)  # fmt: skip


def make(rng: Random, deal: Deal, seed: int) -> Report:
    """Make a report of one table."""
    habits = Habits(
        rate=rng.choice(("bare", "bare", "percent")),
        flag=rng.choice(("bits", "letters", "texts")),
        lien=rng.choice(("words", "senior")),
        date=rng.choice(("digits", "iso", "american")),
        coupon_type=rng.choice(("words", "codes")),
        country=rng.choice(("codes", "names")),
        blank=rng.choice(("NULL", None)),
        capitals=rng.random() < 0.3,
    )
    is_foreign = rng.random() < FOREIGN_SHARE
    if is_foreign:
        make_foreign(rng, deal)
    build = Build(rng, deal, habits, ("database",))
    items = [item for item in _ITEMS if item in _NEEDED or rng.random() < 0.8]
    items += build.optional(*_SINKS, share=0.6)
    has_day = rng.random() < 0.7
    items += ["report_date"] if has_day else []
    rng.shuffle(items)
    if is_foreign:
        items = [item for item in items if item not in AMOUNTS_APART]
    page = build.page(rng.choice(("AssetExtract", "vw_Positions", "Holdings_Extract")), [], items, build.reordered())
    if is_foreign:
        with_native_par(build, page)
    report = Report("wso", seed, deal, [page], habits, carrier="csv", file_name=f"{page.name}_{deal.as_of:%Y%m%d}.csv")
    report.says_day = has_day
    if rng.random() < 0.25:
        caption(rng, report)
    return report


def caption(rng: Random, report: Report) -> None:
    """Put some fields into columns of the user's own, whose captions stand in a table of their own."""
    page = report.pages[0]
    rows: Rows = [["Table", "Field", "Caption"]]
    for kind, items in (("UserString", _CAPTIONED), ("UserFlag", ("cov_lite", "dip", "current_pay"))):
        columns = [column for column in page.columns if column.item in items]
        for number, column in enumerate(rng.sample(columns, min(len(columns), 2)), 1):
            words = rng.choice(PHRASES[column.item]["trustee"])
            rows.append([page.name, f"{kind}{number}", words])
            column.heading = f"{kind}{number}"
    report.carrier = "workbook"
    report.others.append(("UserFieldCaptions", rows))


_CAPTIONED = ("industry_moodys", "industry_sp", "frequency", "watch_moodys", "watch_sp")
