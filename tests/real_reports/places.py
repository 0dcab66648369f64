"""Where the product gives each of the figures that a file prints.

The test, and the figure in its breakdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from core.compliance.result import TestResult as Result
from core.definition import Definition

Own = tuple[float, float | None, float | None]
"""A figure with its numerator and denominator."""
Where = tuple[str, Callable[[Result], Own | None]]
"""The test that gives a figure, and the figure in it."""


def breakdown(result: Result) -> dict[str, Any]:
    return {} if result.details is None else dict(result.details.breakdown)


def whole(result: Result) -> Own | None:
    parts = breakdown(result)
    if result.current_value is None:
        return None
    return result.current_value, parts.get("numerator"), parts.get("denominator")


def part(*keys: str) -> Callable[[Result], Own | None]:
    """Return a figure of the breakdown."""

    def find(result: Result) -> Own | None:
        value: Any = breakdown(result)
        for key in keys:
            value = None if value is None else value.get(key)
        return None if value is None else (float(value), None, None)

    return find


def nth(things: str, rank: int) -> Callable[[Result], Own | None]:
    """Return the share of the nth of the obligors or industries."""

    def find(result: Result) -> Own | None:
        shares = breakdown(result).get(things, [])
        if len(shares) < rank:
            return None
        return shares[rank - 1]["share_pct"], shares[rank - 1]["par"], breakdown(result)["denominator"]

    return find


def of_class(letter: str, key: str = "ratio") -> Callable[[Result], Own | None]:
    """The ratio or the trigger of a class, whose name ends with its letter.

    Class A Notes/Class B-1 Notes.
    """

    def find(result: Result) -> Own | None:
        for entry in breakdown(result).get("classes", []):
            letters = re.findall(r"\b([A-F])(?:-\d)?\b", entry["class"])
            if letters and letters[-1] == letter and entry.get(key) is not None:
                is_ratio = key == "ratio"
                return entry[key], entry["numerator"] if is_ratio else None, entry["denominator"] if is_ratio else None
        return None

    return find


def limit(result: Result) -> Own | None:
    return None if result.threshold_value is None else (result.threshold_value, None, None)


def agency(letter: str) -> Callable[[Result], Own | None]:
    return part("agencies", f"rating_agency_{letter}")


def _classes(ids: dict[str, str]) -> dict[str, Where]:
    return {
        name: ("oc_ratio" if name.startswith("oc") else "ic_ratio", of_class(letter)) for name, letter in ids.items()
    }


CONTEGO: dict[str, Where] = {
    "collateral_principal_amount": ("industry_concentration", part("denominator")),
    "largest_obligor": ("single_obligor_concentration", whole),
    "fourth_obligor": ("single_obligor_concentration", nth("obligors", 4)),
    "top_10_obligors": ("top_5_concentration", part("top_10_pct")),
    "largest_s_p_industry": ("industry_concentration", whole),
    "2nd_s_p_industry": ("second_industry_concentration", whole),
    "3rd_s_p_industry": ("industry_concentration", nth("industries", 3)),
    "unsecured_2nd_lien_mezz_hy": ("non_senior_secured_concentration", whole),
    "cov_lite": ("cov_lite_concentration", whole),
    "fixed_rate": ("fixed_rate_concentration", whole),
    "s_p_ccc": ("ccc_bucket_pct", agency("b")),
    "fitch_ccc": ("ccc_bucket_pct", agency("c")),
    "defaulted": ("delinquency_pct", whole),
    "s_p_warf": ("average_rating_factor", whole),
    "s_p_warr": ("weighted_average_recovery_rate", whole),
    "wal_test": ("wal", whole),
    "was_test": ("was", whole),
    "moody_s_diversity": ("diversity_score", whole),
    "wa_price_mv_par": ("weighted_average_price", whole),
    "reinvestment_oc": ("interest_diversion_ratio", whole),
    **_classes({
        "oc_a_b": "B", "oc_c": "C", "oc_d": "D", "oc_e": "E", "ic_a_b": "B", "ic_c": "C", "ic_d": "D", "ic_e": "E",
    }),
    **{
        f"{kind}_trigger_{name}": (f"{kind}_ratio", of_class(letter, "trigger"))
        for kind in ("oc", "ic")
        for name, letter in (("a_b", "B"), ("c", "C"), ("d", "D"), ("e", "E"))
    },
}  # fmt: skip

CAIRN: dict[str, Where] = {
    "reinvestment_oc": ("interest_diversion_ratio", whole),
    "single_obligor_concentration": ("single_obligor_concentration", whole),
    "sp_industry_largest": ("industry_concentration", whole),
    "sp_industry_second": ("second_industry_concentration", whole),
    "sp_industry_third": ("industry_concentration", nth("industries", 3)),
    "fitch_industry_largest": ("fitch_industry_concentration", whole),
    "fitch_industry_second": ("second_fitch_industry_concentration", whole),
    "cov_lite_concentration": ("cov_lite_concentration", whole),
    "fixed_rate_concentration": ("fixed_rate_concentration", whole),
    "unsecured_and_junior": ("non_senior_secured_concentration", whole),
    "sp_ccc_concentration": ("ccc_bucket_pct", agency("b")),
    "fitch_ccc_concentration": ("ccc_bucket_pct", agency("c")),
    "was": ("was", whole),
    "wal": ("wal", whole),
    **_classes({
        "oc_ab": "B", "oc_c_class": "C", "oc_d_class": "D", "oc_e_class": "E", "oc_f_class": "F", "ic_ab": "B",
        "ic_c_class": "C", "ic_d_class": "D",
    }),
}  # fmt: skip

LAYOUTS: dict[str, Where] = {
    "par_total": ("delinquency_pct", part("denominator")),
    "defaulted": ("delinquency_pct", part("defaulted_par")),
    "denominator": ("cov_lite_concentration", part("denominator")),
    "cash": ("oc_ratio", part("adjustments", "principal_cash")),
    "adjusted": ("oc_ratio", part("adjustments", "adjusted")),
    "warf": ("average_rating_factor", whole),
    "warr": ("weighted_average_recovery_rate", whole),
    "was": ("was", whole),
    "wac": ("was", part("weighted_average_coupon_pct")),
    "wal": ("wal", whole),
    "diversity": ("diversity_score", whole),
    "fwarf": ("fitch_rating_factor", whole),
    "fwarr": ("fitch_recovery_rate", whole),
    "caa": ("ccc_bucket_pct", agency("a")),
    "ccc": ("ccc_bucket_pct", agency("b")),
    "fccc": ("ccc_bucket_pct", agency("c")),
    "industry1": ("industry_concentration", whole),
    "industry2": ("second_industry_concentration", whole),
    "industry3": ("industry_concentration", nth("industries", 3)),
    "obligor1": ("single_obligor_concentration", whole),
    "top5": ("top_5_concentration", whole),
    "top10": ("top_5_concentration", part("top_10_pct")),
    "nonsenior": ("non_senior_secured_concentration", whole),
    "covlite": ("cov_lite_concentration", whole),
    "fixed": ("fixed_rate_concentration", whole),
    "foreign": ("foreign_country_concentration", whole),
    "dip": ("dip_concentration", whole),
    "current_pay": ("current_pay_concentration", whole),
    "discount": ("discount_concentration", whole),
    "lim_warf": ("average_rating_factor", limit),
    "lim_fwarf": ("fitch_rating_factor", limit),
    "lim_wal": ("wal", limit),
    "lim_covlite": ("cov_lite_concentration", limit),
}


def where_of(name: str, figure: str) -> Where:
    """Return the row that gives a figure."""
    if name in ("contego-xi", "cairn-xvii"):
        return (CONTEGO if name == "contego-xi" else CAIRN)[figure]
    if match := re.fullmatch(r"(lim_)?(oc|ic)_(?:\w/)?(\w)", figure):
        return f"{match[2]}_ratio", of_class(match[3], "trigger" if match[1] else "ratio")
    return LAYOUTS[figure]


TESTS: dict[str, dict[str, str]] = {
    "contego-xi": {
        "largest_obligor": "single_obligor_concentration",
        "fourth_obligor": "fourth_obligor_concentration",
        "top_10_obligors": "top_10_concentration",
        "largest_s_p_industry": "sp_industry_largest",
        "2nd_s_p_industry": "sp_industry_second",
        "3rd_s_p_industry": "sp_industry_third",
        "unsecured_2nd_lien_mezz_hy": "unsecured_and_junior",
        "cov_lite": "cov_lite_concentration",
        "fixed_rate": "fixed_rate_concentration",
        "s_p_ccc": "sp_ccc_concentration",
        "fitch_ccc": "fitch_ccc_concentration",
        "s_p_warf": "spwarf_figure",
        "wal_test": "wal",
        "was_test": "was",
        "reinvestment_oc": "reinvestment_oc",
        **{
            f"{kind}_{'a_b' if letter == 'ab' else letter}": f"{kind}_{letter}_class"
            for kind in ("oc", "ic")
            for letter in ("ab", "c", "d", "e")
        },
    },
    "layouts": {
        "par_total": "par_total_amount",
        "defaulted": "defaulted_amount",
        "cash": "principal_cash_amount",
        "denominator": "cpa_amount",
        "adjusted": "acpa_amount",
        "top5": "top5_obligors",
        "top10": "top10_obligors",
        **{f"{kind}_{letter}": f"{kind}_{letter.replace('/', '').lower()}" for kind in ("oc", "ic") for letter in (
            "A/B", "C", "D", "E", "F",
        )},
    },
}  # fmt: skip
"""Figure -> the test of the deal's own definition, where that has another id."""


def tests_of(name: str, definition: Definition) -> dict[str, Where]:
    """The tests of a definition that give figures, and the limits that it has for them."""
    ids = {test.id for test in definition.tests}
    named = TESTS.get(name, TESTS["layouts"] if name not in ("contego-xi", "cairn-xvii") else {})
    places = {test_id: (test_id, whole) for test_id in ids} | {
        figure: (test_id, whole) for figure, test_id in named.items() if test_id in ids
    }
    triggers = {re.sub("^(oc|ic)_", r"\1_trigger_", figure): (where[0], limit) for figure, where in places.items()}
    return {f"lim_{figure}": (where[0], limit) for figure, where in places.items()} | triggers | places
