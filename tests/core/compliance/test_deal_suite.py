"""The suite `deal`: measures with their parameters, shares, values, limits that step, matrices, precedence."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compliance import deal_suite
from core.compliance.deal_suite import ROWS, step_of
from core.compliance.limits import check_threshold
from core.compliance.measures import NO_TRANCHES
from core.compliance.result import Threshold
from core.compliance.run import NO_TRIGGER, UnknownSuite, run_suite
from core.compliance.verdicts import rounded_half_away
from core.definition import READY, DefinitionError, parse, parse_toml, to_document
from core.definition.definition import DealTest, Definition
from core.definition.terms import DENOMINATORS, MEASURES
from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from tests.core.compliance.conftest import G1_NOTES, g1_columns, portfolio_of, tranches_of
from tests.core.naive_deal import AMONG, Book, Unknown, printed, suite_figures
from tests.core.naive_deal import figure as naive_figure
from tests.rows import every

M = 1e6
EXAMPLES = Path(__file__).parents[3] / "core/definition/examples"
SHARED = Path(__file__).parents[3] / "../shared/data"


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def g1(**columns: Any) -> Portfolio:
    return portfolio_of(
        g1_columns() | columns,
        tranches=tranches_of(
            G1_NOTES, coupon=[6.5, 7.0, 7.6, 9.2, 12.0], oc={"B": 121.5, "E": 104.2}, ic={"B": 120.0, "D": 110.0}
        ),
        deal=Deal(principal_cash=5e6, base_rate=4.30, as_of=20544.0),
    )


def deal(*tests: dict[str, Any], **sections: Any) -> Definition:
    return parse({"tests": [{"name": test["id"], **test} for test in tests], **sections})


def test_every_measure_of_the_catalogue_has_its_row() -> None:
    assert set(ROWS) == set(MEASURES)


@every(
    "test, value",
    [
        ({"measure": "obligor"}, 10.0),
        ({"measure": "obligor", "nth": 12}, 2.5),
        ({"measure": "obligor", "nth": 99}, 0.0),
        ({"measure": "obligor", "of": "par"}, 40 / 395 * 100),
        ({"measure": "top_obligors", "nth": 3}, 30.0),
        ({"measure": "industry", "nth": 9}, 7.5),
        ({"measure": "ccc"}, 11.25),
        ({"measure": "ccc", "agency": "b"}, 11.25),
        ({"measure": "warf", "agency": "a"}, 3041.367089),
        ({"measure": "oc", "class": "A/B"}, 129.883333),
        ({"measure": "oc", "class": "C"}, 119.892308),
        ({"measure": "ic", "class": "E"}, 123.712936),
        ({"measure": "price_below", "line": 85}, 25 / 395 * 100),
        ({"measure": "was"}, 3.99367089),
        ({"measure": "diversity"}, 10.30),
        ({"share": "=price<85"}, 25 / 400 * 100),
        ({"share": "=price<=85"}, 75 / 400 * 100),
        ({"share": '=industry="media"'}, 5.0),
        ({"share": '=OR(industry={"Media","Retail"})'}, 12.5),
        ({"share": "=AND(rank_a>=17,NOT(price<80))"}, 5.0),
        ({"share": "=rank_a>rank_b"}, 40 / 400 * 100),
        ({"share": "=obligor_par>=40000000", "of": "par"}, 320 / 395 * 100),
        ({"share": "=purchase_price<80"}, 7.5),
        ({"share": "=is_discount"}, 7.5),
        ({"value": "=par/cpa*100"}, 98.75),
        ({"value": "=ROUND(adjusted/1000000,2)", "unit": "amount"}, 389.65),
    ],
)  # fmt: skip
def test_figures(test: dict[str, Any], value: float) -> None:
    """Of the pool that is worked by hand: 12 performing loans of 395, cash 5."""
    ran = run_suite(g1(), "deal", definition=deal({"id": "one_test", "max": 1e9, **test}))
    assert [item.reason for item in ran.skipped] == []
    assert ran[0].current_value == pytest.approx(value, abs=1e-6)


def test_a_blank_leaves_a_loan_open_and_the_coverage_says_so() -> None:
    """Loans of 60 at 90, 30 at 99, 10 without a price.

    Neither below nor not below; a flag decides an OR.
    """
    loans = portfolio_of(
        {"par_value": [60 * M, 30 * M, 10 * M], "price": [90.0, 99.0, None], "is_dip": [0, 0, 1],
         "country": ["US", None, "CA"]}
    )  # fmt: skip
    rows = (
        ("=price<95", 60.0, 90.0), ("=NOT(price<95)", 30.0, 90.0), ("=OR(is_dip,price<95)", 70.0, 100.0),
        ("=AND(is_dip,price<95)", 0.0, 90.0), ("=ISBLANK(price)", 10.0, 100.0), ('=country<>"US"', 10.0, 70.0),
        ("=AND(NOT(is_dip),price<95)", 60.0, 100.0), ("=TRUE", 100.0, 100.0), ("=price/0>1", 0.0, 0.0),
        ("=IF(is_dip,TRUE,price>95)", 40.0, 90.0),
    )  # fmt: skip
    tests = [{"id": f"test_{at}x", "share": text, "max": 100} for at, (text, _, _) in enumerate(rows)]
    ran = run_suite(loans, "deal", definition=deal(*tests))
    result = [(item.current_value, item.details.breakdown["coverage_pct"]) for item in ran if item.details is not None]
    answer = [(close(value), close(covered)) for _, value, covered in rows]
    answer[-1] = (close(30.0), close(90.0))  # IF needs the price of every row, as a formula down the columns does
    assert result == answer


@every(
    "test, words",
    [
        ({"share": "=is_bridge"}, "is_bridge"),
        ({"share": '=lien="bond"'}, "lien"),
        ({"share": "=facility_size<1"}, "facility_size"),
        ({"share": "=is_dip", "of": "target_par"}, "is_dip"),
        ({"measure": "industry", "classification": "c"}, "industry_c"),
        ({"measure": "warf", "agency": "c"}, "no ratings of Fitch"),
        ({"measure": "oc", "class": "Z"}, "no notes of class Z"),
        ({"value": "=cpa/0"}, "#DIV/0!"),
        ({"value": "=target_par"}, "target_par"),
        ({"measure": "wac"}, "all_in_rate"),
    ],
)
def test_what_the_file_lacks_is_skipped_by_name(test: dict[str, Any], words: str) -> None:
    ran = run_suite(g1(), "deal", definition=deal({"id": "one_test", "max": 1, **test}))
    assert list(ran) == []
    assert words in ran.skipped[0].reason


def test_tests_read_one_another_in_whatever_order_they_stand() -> None:
    """What needs an unmeasurable figure is unmeasurable.

    What has no limit is a figure and no result.
    """
    definition = deal(
        {"id": "third", "value": "=second*2+first", "max": 100},
        {"id": "second", "value": "=first+1"},
        {"id": "first", "measure": "obligor", "max": 2},
        {"id": "lost", "value": "=gone", "max": 1},
        {"id": "gone", "share": "=is_bridge"},
        {"id": "off", "share": "=is_dip", "max": 1, "enabled": False},
    )
    ran = run_suite(g1(), "deal", definition=definition)
    assert [item.test_id for item in ran] == ["third", "first"]
    assert ran.figures == {"first": 10.0, "second": 11.0, "third": 32.0}
    assert [item.test_id for item in ran.skipped] == ["lost", "gone"]
    only = run_suite(g1(), "deal", definition=definition, test_ids=["third"])
    assert [(item.test_id, item.current_value) for item in only] == [("third", 32.0)]
    with pytest.raises(UnknownSuite):
        run_suite(g1(), "deal")


def test_a_formula_reads_a_test_whose_id_looks_like_a_cell() -> None:
    """There are no cells here: ob1 and ob01 are two tests."""
    definition = deal(
        {"id": "ob1", "measure": "obligor"},
        {"id": "ob01", "value": "=ob1+1"},
        {"id": "xfe9", "value": "=3"},
        {"id": "top10", "value": '=IF(Ob1>ob01,"ob1",OB01*100+ob1)+xfe9', "max": 2000},
    )
    ran = run_suite(g1(), "deal", definition=definition)
    assert ran.figures == {"ob1": 10.0, "ob01": 11.0, "xfe9": 3.0, "top10": 1113.0}
    step = {"id": "m1", "rows": [10], "columns": [11], "values": [[7]], "row": "=ob1", "column": "=ob01",
            "modifier": "=ob1/10"}  # fmt: skip
    limited = deal(
        {"id": "ob1", "measure": "obligor"}, {"id": "ob01", "value": "=ob1+1"},
        {"id": "top10", "measure": "top_obligors", "matrix": "m1", "matrix_limit": "max"},
        quality={"matrices": [step]},
    )  # fmt: skip
    assert run_suite(g1(), "deal", definition=limited)[0].threshold_value == 8.0


def test_a_share_reads_a_field_of_a_mapping_that_looks_like_a_cell() -> None:
    """co2 is a field of the mapping's own; a2 is none, and there are no cells."""
    loans = g1(co2=[float(at) for at in range(13)])
    document = {"tests": [{"id": "ob1", "name": "X", "share": "=AND(co2>=10,CO2<=11)", "of": "par", "max": 100}]}
    ran = run_suite(loans, "deal", definition=parse(document, own_fields=["co2"]))
    assert ran[0].current_value == pytest.approx(25 / 395 * 100, abs=1e-6)
    assert run_suite(g1(), "deal", definition=parse(document, own_fields=None)).skipped[0].reason.startswith("Skipped")
    with pytest.raises(DefinitionError, match=r"tests\[0\].share: reads CO2: a definition has names and no cells"):
        parse(document)


def test_interest_coverage_of_a_class_without_a_trigger() -> None:
    """Classes list what is tested; any other class of the notes has its ratio, too."""
    listed = [{"name": "B", "ic_trigger": 120}, {"name": "E", "oc_trigger": 104.2}]
    ratios = [{"id": f"ic_{item.lower()}", "measure": "ic", "class": item, "min": 1} for item in "BCE"]
    ran = run_suite(g1(), "deal", definition=deal(*ratios, classes=listed))
    assert [item.current_value for item in ran] == [161.822785, 147.621247, 123.712936]
    figure = deal({"id": "ic_e", "measure": "ic", "class": "E"}, {"id": "x_x", "value": "=ic_e", "min": 1},
                  classes=listed[:1])  # fmt: skip
    assert run_suite(g1(), "deal", definition=figure).figures["ic_e"] == close(123.712936)


def test_rounding_before_the_comparison() -> None:
    """129.8833 is 129.88 to two decimals; a half goes away from zero."""
    shared = {"measure": "oc", "class": "B"}
    definition = deal(
        {"id": "plain", "min": 129.884, **shared}, {"id": "rounded", "min": 129.88, "decimals": 2, **shared}
    )
    assert [(item.status, item.cushion) for item in run_suite(g1(), "deal", definition=definition)] == [
        ("fail", close(-0.000667)),
        ("pass", close(0.0)),
    ]
    assert [rounded_half_away(item, 2) for item in (2.675, -2.675, 1.005, 7.494999)] == [2.68, -2.68, 1.01, 7.49]
    assert [rounded_half_away(item, 12) for item in (1e300, -1e300, 12345.5)] == [1e300, -1e300, 12345.5]


def test_who_sets_the_limit() -> None:
    """Request, workbook, deal, definition, sheet, tenant, suite.

    A market's standard comes after the tenant.
    """

    def at(value: float) -> dict[str, Threshold]:
        return {"oc_ratio": Threshold(test_id="oc_ratio", threshold_value=value)}

    own = deal({"id": "oc_ratio", "measure": "oc", "class": "E", "min": 104.0})
    layers = [
        ("request", {"request_thresholds": at(101)}), ("workbook", {"workbook_thresholds": at(102)}),
        ("deal", {"deal_thresholds": at(103)}), ("definition", {"definition": own}), ("sheet", {}),
    ]  # fmt: skip
    for first, (source, _) in enumerate(layers):
        options: dict[str, Any] = {}
        for _, more in layers[first:]:
            options |= more
        ran = run_suite(g1(), test_ids=["oc_ratio"], tenant_thresholds=at(105), **options)
        assert ran[0].threshold_source == source
    lien: dict[str, Any] = {"lien_type": [1] * 13}
    limits = {
        "non_senior_secured_concentration": Threshold(test_id="non_senior_secured_concentration", threshold_value=3)
    }
    test = {"id": "non_senior_secured_concentration", "measure": "non_senior_secured", "max": 8}
    for standard, tenant, source in ((True, limits, "tenant"), (True, {}, "definition"), (False, limits, "definition")):
        definition = deal(test, standard=standard)
        ran = run_suite(g1(**lien), test_ids=[test["id"]], definition=definition, tenant_thresholds=tenant)
        assert ran[0].threshold_source == source


def test_triggers_of_the_definitions_classes_replace_the_sheets() -> None:
    classes = [{"name": "A/B", "oc_trigger": 125, "ic_trigger": 118}, {"name": "D", "oc_trigger": 111}]
    definition = parse({"classes": classes, "reinvestment_oc": {"class": "D", "trigger": 111.9}})
    ran = {item.test_id: item for item in run_suite(g1(), "enhanced", definition=definition)}
    by_name = {
        name: (ran[name].current_value, ran[name].threshold_value) for name in ran if "oc" in name or "div" in name
    }
    assert by_name["oc_ratio_senior"] == (close(129.883333), 125)
    assert by_name["oc_ratio"] == (close(112.291066), 111)
    assert by_name["interest_diversion_ratio"] == (close(112.291066), 111.9)
    assert {ran[name].threshold_source for name in ("oc_ratio", "ic_ratio_senior", "interest_diversion_ratio")} == {
        "definition"
    }


def test_limits_step_with_the_days() -> None:
    test = parse(
        {"conventions": {"reinvestment_end": "2026-01-15"},
         "tests": [{"id": "wal", "name": "Life", "measure": "wal", "max": 7, "steps": [
            {"from": "2025-06-01", "limit": 6.5}, {"from": "reinvestment_end", "limit": 4, "warning": 3.5},
        ]}]}
    ).tests[0]  # fmt: skip
    end = date(2026, 1, 15)
    assert [step_of(test, date(*day), end) for day in ((2025, 5, 31), (2025, 6, 1), (2026, 1, 14), (2026, 1, 15))] == [
        (7, None), (6.5, None), (6.5, None), (4, 3.5)
    ]  # fmt: skip
    assert step_of(test, None, end) == (7, None)
    assert step_of(test, date(2030, 1, 1), None) == (6.5, None)


@every(
    "was, score, limit",
    [(3.0, 50, 2500), (4.0, 60, 2900), (3.5, 55, 2700), (3.25, 60, 2675), (2.0, 10, 2500), (9.0, 99, 2900)],
)
def test_a_matrix_gives_the_limit_between_its_rows_and_columns(was: float, score: float, limit: float) -> None:
    """On the line between neighbours, at the edge beyond it.

    And 30 for each point of recovery above 43, at most 17.
    """
    matrix = {"id": "grid", "rows": [3, 4], "columns": [50, 60], "values": [[2500, 2600], [2800, 2900]],
              "row": "=a_was", "column": "=a_score", "modifier": "=MAX(0,MIN(a_warr,60)-43)*30"}  # fmt: skip
    for interpolation, expected in (("linear", limit), ("none", None)):
        definition = deal(
            {"id": "a_was", "value": f"={was}"}, {"id": "a_score", "value": f"={score}"},
            {"id": "a_warr", "value": "=45"},
            {"id": "factor", "measure": "warf", "agency": "a", "matrix": "grid", "matrix_limit": "max"},
            quality={"matrices": [matrix | {"interpolation": interpolation}]},
        )  # fmt: skip
        ran = run_suite(g1(), "deal", definition=definition)
        lower = [[2500, 2600], [2800, 2900]][was >= 4][score >= 60]
        assert ran[0].threshold_value == close((lower if expected is None else expected) + 60)
        assert ran[0].threshold_source == "definition"


def test_tests_of_a_definition_come_after_what_they_need() -> None:
    definition = deal({"id": "b_b", "value": "=a_a"}, {"id": "a_a", "value": "=cpa"})
    assert [test.test_id for test in deal_suite.tests_of(definition)] == ["a_a", "b_b"]
    assert isinstance(definition.tests[0], DealTest)


def test_a_ready_made_definition_tests_the_classes_that_the_file_has() -> None:
    """By the file's own triggers.

    A class without one, and a file without notes, with the reason.
    """
    loans = g1()
    ran = {item.test_id: item for item in run_suite(loans, "deal", definition=READY["us_bsl"])}
    ratios = {"oc_class_ab": (129.883333, 121.5), "oc_class_e": (106.753425, 104.2), "ic_class_ab": (161.822785, 120.0),
              "ic_class_d": (135.000422, 110.0)}  # fmt: skip
    by_name = {
        name: (item.current_value, item.threshold_value)
        for name, item in ran.items()
        if name.startswith(("oc_", "ic_"))
    }
    assert by_name == {name: (pytest.approx(ratio, abs=1e-6), trigger) for name, (ratio, trigger) in ratios.items()}
    assert {ran[name].threshold_source for name in by_name} == {"sheet"}
    assert ran["oc_class_ab"].test_name == "Class A/B overcollateralisation"
    diverted = replace(loans, deal=replace(loans.deal, reinvestment_oc_trigger=104.7))
    last = {item.test_id: item for item in run_suite(diverted, "deal", definition=READY["us_bsl"])}["reinvestment_oc"]
    assert (last.current_value, last.threshold_value) == (pytest.approx(106.753425, abs=1e-6), 104.7)

    assert loans.tranches is not None
    blank = np.full(len(G1_NOTES), np.nan)
    silent = replace(loans, tranches=replace(loans.tranches, oc_trigger=blank, ic_trigger=blank))
    by_test_id = {item.test_id: item.reason for item in run_suite(silent, "deal", definition=READY["us_bsl"]).skipped}
    assert {by_test_id[name] for name in ("oc_class_ab", "oc_class_c", "ic_class_e")} == {NO_TRIGGER}
    limit = Threshold(test_id="oc_class_c", threshold_value=118.0)
    for name in ("oc_class_c", "oc_class_d_5", "reinvestment_oc"):
        assert check_threshold(name, 118.0, definition=READY["us_bsl"]).threshold_type == "min"
    chosen = run_suite(silent, "deal", definition=READY["us_bsl"], deal_thresholds={"oc_class_c": limit})
    assert {item.test_id: item.threshold_source for item in chosen}["oc_class_c"] == "deal"
    none = run_suite(replace(loans, tranches=None), "deal", definition=READY["us_bsl"])
    assert {item.test_id for item in none.skipped if item.reason == NO_TRANCHES} == {"oc_by_class", "ic_by_class"}
    assert not [
        item for item in run_suite(loans, "deal", definition=parse({"base": "us_bsl"})) if "class" in item.test_id
    ]


CAIRN = SHARED / "cairn-xvii"
PRINTED = {
    "oc_ab": 139.20, "oc_c_class": 128.85, "oc_d_class": 118.72, "oc_e_class": 112.96, "oc_f_class": 108.49,
    "reinvestment_oc": 108.49, "ic_ab": 180.24, "ic_c_class": 162.99, "ic_d_class": 143.33,
    "single_obligor_concentration": 1.75, "sp_industry_largest": 10.23, "sp_industry_second": 10.06,
    "sp_industry_third": 9.09, "fitch_industry_largest": 10.06, "fitch_industry_second": 9.84,
    "cov_lite_concentration": 0.58, "fixed_rate_concentration": 7.43, "unsecured_and_junior": 0.25,
    "sp_ccc_concentration": 2.75, "fitch_ccc_concentration": 4.62, "was": 4.07, "wal": 4.32,
}  # fmt: skip
"""What the report of 16 December 2024 prints, by the tests of its definition."""
BEYOND_THE_PAGES = {"fitch_ccc_concentration", "wal"}
"""Loans behind masked ratings; a life that no page gives."""
MONITOR = {"sp_obligor_diversity": 141.2186, "sp_industry_diversity": 17.16394, "sp_regional_diversity": 1.21400}


def is_printed(figure: float | None, published: float) -> bool:
    return figure is not None and rounded_half_away(figure, 2) == published


@pytest.mark.parametrize("file", [CAIRN / "report-2024-12-16.xlsx"] if CAIRN.exists() else [])
def test_the_rules_of_a_real_report(file: Path) -> None:
    """As delivered, with its definition.

    20 of 22 figures to the digit; the two that no page gives are warned of.
    """
    definition = parse_toml((EXAMPLES / "cairn_xvii.toml").read_text(encoding="utf-8"))
    ran = run_suite(Portfolio.from_workbook(read(file)), "deal", definition=definition)
    assert {name for name in PRINTED if not is_printed(ran.figures.get(name), PRINTED[name])} == BEYOND_THE_PAGES
    assert {warning.code for warning in ran.warnings} >= {"masked_ratings", "lives_by_maturity"}
    assert all(item.threshold_source == "definition" for item in ran)
    assert {name: ran.figures[name] for name in MONITOR} == pytest.approx(MONITOR, abs=6e-5)


@pytest.mark.parametrize("file", [CAIRN / "report-2024-12-16.xlsx"] if CAIRN.exists() else [])
def test_a_real_report_without_a_definition(file: Path) -> None:
    """As delivered: 15 of 22 figures to the digit by the European standard.

    What is not has its warning.
    """
    ran = run_suite(Portfolio.from_workbook(read(file)), "enhanced")
    by_test_id = {item.test_id: item.details.breakdown for item in ran if item.details is not None}
    figures = {item.test_id: item.current_value for item in ran}
    oc = {note_class["class"]: note_class["ratio"] for note_class in by_test_id["oc_ratio"]["classes"]}
    ic = [note_class["ratio"] for note_class in by_test_id["ic_ratio"]["classes"]]
    by_name = by_test_id["industry_concentration"]["classifications"]
    result = {
        **dict(zip(("oc_ab", "oc_c_class", "oc_d_class", "oc_e_class", "oc_f_class"), oc.values(), strict=True)),
        **dict(zip(("ic_ab", "ic_c_class", "ic_d_class"), ic, strict=True)),
        "reinvestment_oc": figures["interest_diversion_ratio"],
        "sp_ccc_concentration": by_test_id["ccc_bucket_pct"]["agencies"]["rating_agency_b"],
        "fitch_ccc_concentration": by_test_id["ccc_bucket_pct"]["agencies"]["rating_agency_c"],
        "unsecured_and_junior": figures["non_senior_secured_concentration"],
        **{f"sp_industry_{nth}": by_name["industry_b"][at]["share_pct"]
           for at, nth in enumerate(("largest", "second", "third"))},
        **{f"fitch_industry_{nth}": by_name["industry_c"][at]["share_pct"]
           for at, nth in enumerate(("largest", "second"))},
        **{name: figures[name] for name in
           ("single_obligor_concentration", "cov_lite_concentration", "fixed_rate_concentration", "was", "wal")},
    }  # fmt: skip
    wrong = {name for name in PRINTED if not is_printed(result[name], PRINTED[name])}
    assert wrong == BEYOND_THE_PAGES | {"ic_ab", "ic_c_class", "ic_d_class", "was", "unsecured_and_junior"}
    assert {warning.code for warning in ran.warnings} >= {
        "masked_ratings", "lives_by_maturity", "interest_estimated", "reference_coupon_unknown", "bonds_secured",
    }  # fmt: skip


MAG17 = {
    "single_obligor_concentration": 1.796, "industry_concentration": 10.469, "second_industry_concentration": 9.242,
    "fourth_industry_concentration": 5.853, "cov_lite_concentration": 20.466, "foreign_country_concentration": 10.925,
    "dip_concentration": 2.5, "caa_concentration": 2.736, "less_than_quarterly": 1.119, "senior_secured": 97.164,
    "fixed_rate_concentration": 0.0, "average_rating_factor": 2575.70, "weighted_average_recovery_rate": 50.137,
    "wal": 5.05, "was": 4.024, "diversity_score": 59.44, "oc_ratio": 108.131,
}  # fmt: skip
"""What the deal published for 23 March 2016."""


@pytest.mark.parametrize("file", [SHARED / "mag17.xlsx"] if (SHARED / "mag17.xlsx").exists() else [])
def test_the_rules_of_an_american_deal(file: Path) -> None:
    definition = parse_toml((EXAMPLES / "mag17.toml").read_text(encoding="utf-8"))
    ran = run_suite(Portfolio.from_workbook(read(file)), "deal", definition=definition)
    assert ran.skipped == []
    for name, value in MAG17.items():
        digits = len(str(value).partition(".")[2])
        assert ran.figures[name] == pytest.approx(value, abs=0.6 * 10**-digits), name


@every("name", ["cairn_xvii", "mag17"])
def test_the_examples_come_back_from_their_documents(name: str) -> None:
    definition = parse_toml((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    assert parse(to_document(definition)) == definition


@every("measure", ["sdr", "spwarf", "default_rate_dispersion", "cdo_monitor_wal", "cdo_monitor"])
def test_the_monitor_without_a_borrower_is_skipped_with_its_reason(measure: str) -> None:
    loans = {"par_value": [M, M], "rating": [15, 15], "rating_agency_b": [15, 15], "country": ["US", "US"],
             "industry": ["A", "B"], "average_life": [4.0, 5.0], "maturity_date": [20000.0, 20000.0],
             "spread": [400.0, 400.0], "recovery_rate_b": [40.0, 40.0]}  # fmt: skip
    document = {"quality": {"cdo_monitor": {"c0": 0.15, "c1": 4.0, "c2": 0.9}},
                "tests": [{"id": "monitor", "name": "Monitor", "measure": measure, "max": 100}]}  # fmt: skip
    ran = run_suite(portfolio_of(loans), "deal", definition=parse(document))
    assert "required column(s) borrower_name or issuer_id not found" in ran.skipped[0].reason


# The plain twin, under random rules.

RATED = ["BBB-", "BB-", "B+", "B", "B-", "CCC+", "CCC", "CCC-", "D", "NR", "***", "B *-", "B- *+"]
RATED_A = ["Baa3", "Ba3", "B1", "B2", "B3", "Caa1", "Caa2", "Ca", "NR", "*", "B2 *-", "Caa1 *+", ""]
POLICIES = ["Caa3", "B3", 5000.0, "left_out"]
TAKES_OF = [name for name, measure in MEASURES.items() if "of" in measure.takes]


@st.composite
def books(draw: st.DrawFn) -> Portfolio:
    """Loans with the columns that a definition may ask for, blanks in all of them."""
    count = draw(st.integers(2, 20))

    def many(*values: Any) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))

    def maybe(**columns: list[Any]) -> dict[str, list[Any]]:
        return {name: values for name, values in columns.items() if draw(st.integers(0, 4))}

    columns: dict[str, list[Any]] = {
        "par_value": many(1e6, 2e6, 2.5e6, 4e6, 7e6, -1e6, None),
        "obligor": many("Ash", "Birch", "Cedar", "Doum", "Elm", "Fir", None),
        "industry": many("Steel", "Wood", "Glass", None),
        "country": many("US", "CA", "FR", "DE", "JP", None),
        "maturity_date": many(900.0, 1800.0, 2600.0, 4000.0, None),
        "rating_agency_b": many(*RATED),
        "rating_agency_a": many(*RATED_A),
        "cov_lite": many(0, 1),
        "is_fixed": many(0, 0, 1),
        "lien_type": many(0, 1, 1, 2, 3, 4, 5),
        "cusip": [f"{at:09d}" for at in range(count)],
        "price": many(40.0, 55.5, 69.0, 75.0, 84.0, 88.0, 92.0, 99.0, 103.0, None),
        "spread": many(300.0, 425.0, None),
        "all_in_rate": many(5.0, 7.5, None),
    } | maybe(
        rating_agency_a_derived=many(*RATED_A), rating_agency_c=many(*RATED), rating=many(0, 15, 17, 22),
        facility_rating_agency_a=many(0, 13, 15, 17), industry_a=many("Iron", "Oak", "Ice"),
        industry_b=many("Ore", "Ash tree", None), average_life=many(2.0, 4.5, 6.0, None),
        purchase_price=many(65.0, 72.0, 78.0, 99.0, None), recovery_rate=many(20.0, 45.0, 60.0, None),
        recovery_rate_a=many(25.0, 50.0, None), recovery_rate_b=many(15.0, 40.0, None),
        recovery_rate_c=many(30.0, 65.0, None), default_date=many(-500.0, 950.0, 1200.0, None, None),
        days_past_due=many(0.0, 45.0, 90.0, None), facility_size=many(1e8, 2e8, 3e8, None),
        quote_depth=many(0.0, 1.0, 2.0, 5.0, None), purchased_accrued_interest=many(1e4, 3e4, None),
        is_defaulted=many(0, 0, 0, 0, 1), is_dip=many(0, 0, 0, 1), is_deferring=many(0, 0, 0, 1),
        is_current_pay=many(0, 0, 1), is_long_dated=many(0, 0, 1), unfunded=many(0.0, 5e5, 1e6, None),
        participation=many(0, 0, 1), is_pik=many(0, 1), is_revolving=many(0, 0, 1),
        payment_frequency=many("Quarterly", "6 Months", "annually", "3M", "Semi-Annual", "by agreement", None),
    )  # fmt: skip
    notes = (("A", 20e6), ("B", 4e6), ("C", 3e6), ("D", 2e6), ("Sub", 5e6))
    deal = Deal(
        principal_cash=draw(st.sampled_from([None, 1e6, -2e6, 40e6])),
        base_rate=4.0,
        as_of=1000.0,
        reference_coupon=draw(st.sampled_from([None, 6.0])),
        payment_days=draw(st.sampled_from([None, 91.0, 184.0])),
        interest_collected=draw(st.sampled_from([None, 2e6])),
        interest_receivable=draw(st.sampled_from([None, 1e6])),
        next_payment=draw(st.sampled_from([None, 1036.0])),
        senior_fees=draw(st.sampled_from([None, 2e5])),
    )
    tranches = tranches_of(
        notes, coupon=[5.0, 6.0, None, 9.0, None], spread=[None, None, 250.0, None, None],
        deferred_interest=[None, None, None, 1e5, None], oc={"B": 120.0, "D": 105.0}, ic={"B": 110.0, "C": 105.0},
    )  # fmt: skip
    return portfolio_of(columns, tranches=tranches, deal=deal)


@st.composite
def rules(draw: st.DrawFn) -> dict[str, Any]:
    """A definition that says something of everything, and a test of every measure."""

    def of(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    def agency(name: str) -> dict[str, Any]:
        others = [item for item in "abc" if item != name]
        return {
            "columns": of(["derived", "any"], ["any"]), "notched_from": of([], others[:1], others, others[::-1]),
            "notches_investment_grade": of(0, 1), "notches_below": of(0, 1, 2), "watch_negative": of(0, 1, 2),
            "watch_positive": of(0, 1), "unrated": of(*POLICIES), "masked": of(*POLICIES, "other_agency", "D"),
        }  # fmt: skip

    tests = []
    for name, measure in MEASURES.items():
        test: dict[str, Any] = {"id": f"m_{name}x", "name": name, "measure": name, "max": 1e9}
        if "group" in measure.needs:
            test["group"] = of("listed", "rated", "low")
        if "among" in measure.takes and draw(st.booleans()):
            test["among"] = of(*AMONG)
        if "adds" in measure.takes and draw(st.booleans()):
            test["adds"] = ["unfunded"] if "nth" in measure.takes else of(["unfunded"], ["cash"], ["cash", "unfunded"])
        if measure.needs == ("class",):
            test["class"] = of("A/B", "C", "D")
        if "line" in measure.needs:
            test["line"] = of(80.0, 88.0, 92.0)
        if "agency" in measure.takes and (name == "warf" or draw(st.booleans())):
            test["agency"] = of("a", "b", "c")
        if "nth" in measure.takes and draw(st.booleans()):
            test["nth"] = of(1, 2, 3, 7)
        if "classification" in measure.takes and draw(st.booleans()):
            test["classification"] = of("any", "a", "b")
        if name in TAKES_OF and draw(st.booleans()):
            test["of"] = of(*DENOMINATORS)
        tests.append(test)
    return {
        "conventions": {
            "home_countries": of(["US"], ["US", "CA"], ["FR", "DE", "GB"]), "reference_coupon": of(3.0, 7.0),
            "day_count": of("actual/360", "actual/365", "30/360"), "target_par": 30e6,
            "principal_cash": of("all", "positive", "none"), "defaulted_in_denominator": of("none", "carried", "par"),
            "small_facility_home": of(1.5e8, 2.5e8), "minimum_spread": of(2.0, 6.0),
            "excess_coupon": of("always", "floored", "while_spread_fails", "none"),
        },
        "ratings": {
            **{name: agency(name) for name in "abc"}, "unrated_is_ccc": of(True, False),
            "bonds_secured": of(True, False), "recovery": of([], ["a"], ["b"], ["b", "c"], ["c", "a"]),
        },
        "classifications": {
            "industry": of("any", "a", "b"),
            "families": of([], [{"name": "Trees", "obligors": ["Ash", "Birch"]}]),
        },
        "par_value": {
            "ccc_limit": of(0.0, 5.0, 20.0), "ccc_agencies": of(["a"], ["b", "c"], ["a", "b", "c"]),
            "ccc_excess": of(True, True, False), "ccc_unpriced": of(60.0, 70.0), "discount": of(True, False),
            "discount_below": of(75.0, 80.0), "discount_below_fixed": of(70.0, 80.0),
            "discount_release": of(85.0, 90.0), "deferring": of(True, False),
            "defaulted": of("lower", "market_value", "recovery", "none"),
            "defaulted_zero_after_years": of(1.0, 3.0, 10.0),
            "long_dated": of("par", "excess_at_zero", "zero"), "long_dated_limit": of(0.0, 5.0, 30.0),
            "current_pay": of("par", "excess_at_market", "market_value"), "current_pay_limit": of(0.0, 10.0),
            "purchased_accrued_interest": of(True, False),
        },
        "interest_coverage": {
            "interest": of("collected_and_receivable", "collected_and_period", "period"),
            "senior_fee_cap": of(1e5, 1e9), "hedge_receipts": of(0.0, 5e4), "hedge_payments": of(0.0, 2e4),
            **of({}, {"receivable": 5e5}), **of({}, {"senior_fees": 1e5}, {"expenses": {"amount": 2e3}, "fees": [
                {"name": "A", "rate": 0.15, "of": of("cpa", "par", "denominator", "target_par")},
                {"name": "B", "rate": 0.01, "day_count": of("actual/365", "30/360")},
            ]}, {"expenses": {"cap_rate": 0.02, "cap_amount": 5e3, "of": of("cpa", "par"), **of({}, {"amount": 3e3})}}),
        },
        "country_ceilings": [
            {"agency": "a", "rating": "Aaa", "countries": ["US", "CA"]},
            {"agency": "a", "rating": "Aa3", "countries": ["FR"]},
            {"agency": "a", "rating": "A1", "countries": ["JP"]},
            {"agency": "b", "rating": "AAA", "countries": ["JP", "FR"]},
        ],
        "country_groups": [
            {"id": "listed", "countries": ["France", "JP"]},
            {"id": "rated", "agency": "a", "ceiling_below": "Aa2", "ceiling_least": "Aa3"},
            {"id": "low", "agency": "a", "ceiling_below": of("Aaa", "Aa3")},
        ],
        "reinvestment_oc": {"class": "D", "trigger": 105.0},
        "event_of_default": {"class": "A", "trigger": 102.5},
        "quality": {
            "spwarf_cut_off": of("CCC-", "CCC-", "D", "B-"),
            "cdo_monitor": {"c0": 0.15, "c1": 4.0, "c2": 0.9, **of({}, {"spread": 4.0}, {"recovery": 40.0})},
        },
        "tests": tests,
    }  # fmt: skip


def spoken(pool: Portfolio, definition: Definition, bound: str = "value") -> dict[str, float]:
    """The plain twin's figures, without those that the loans do not give."""
    plain, result = Book(pool, definition, bound), {}
    for test in definition.tests:
        try:
            result[test.id] = naive_figure(plain, test)
        except (Unknown, KeyError):
            continue
    return result


@settings(max_examples=30, deadline=None)
@given(books(), rules())
def test_every_measure_is_what_the_plain_twin_says(loans: Portfolio, document: dict[str, Any]) -> None:
    """Whatever the rules.

    And a test without a figure has one in the twin only where the coverage is too small.
    """
    definition = parse(document)
    plain = Book(loans, definition)
    if plain.par <= 0 or min(plain.cpa, plain.denominator()) <= 0:
        return
    ran = run_suite(loans, "deal", definition=definition, details=False)
    expected = spoken(loans, definition)
    for test_id, value in ran.figures.items():
        assert test_id in expected, test_id
        assert value == pytest.approx(expected[test_id], rel=1e-9, abs=2e-6), test_id
    missing = {item.test_id: item.reason for item in ran.skipped if item.test_id in expected}
    lacking = ("not found", "covers", "has no values", "is negative", "no floating-rate par")
    assert {name: why for name, why in missing.items() if not any(words in why for words in lacking)} == {}


@settings(max_examples=30, deadline=None)
@given(books(), rules())
def test_the_suites_run_under_the_conventions_of_a_definition(loans: Portfolio, document: dict[str, Any]) -> None:
    definition = parse({**document, "tests": []})
    plain = Book(loans, definition)
    if plain.par <= 0 or min(plain.cpa, plain.denominator()) <= 0:
        return
    ran = {
        item.test_id: item.current_value for item in run_suite(loans, "enhanced", definition=definition, details=False)
    }
    for test_id, value in suite_figures(plain).items():
        if test_id in ran:
            assert ran[test_id] == pytest.approx(value, rel=1e-9, abs=2e-6), test_id


@settings(max_examples=30, deadline=None)
@given(
    books(),
    rules(),
    st.sampled_from("abc"),
    st.sampled_from([None, 0, 1, 2, 4]),
    st.sampled_from([-0.6, 0.0, 0.6]),
    st.sampled_from([("masked",), ("unrated",), ("masked", "unrated")]),
    st.sampled_from([{}, {"_value": "B-"}]),
)
def test_rounding_and_bounds_are_what_the_plain_twin_says(
    loans: Portfolio, document: dict[str, Any], agency: str, decimals: int | None, off: float,
    kinds: tuple[str, ...], value: dict[str, str],
) -> None:  # fmt: skip
    """A limit at the figure as it is printed, or a part of a digit beside it.

    Ratings that are masked or missing at both of their ends.
    """
    ends = {"": "bounds", "_best": "BB", "_worst": "CCC-", **value}
    bounds = {f"{kind}{name}": end for name, end in ends.items() for kind in kinds}
    ratings = document["ratings"] | {agency: document["ratings"][agency] | bounds}
    tests = [
        {"id": "factor", "name": "f", "measure": "warf", "agency": agency},
        {"id": "bucket", "name": "b", "measure": "ccc", "agency": agency},
        {"id": "cover", "name": "o", "measure": "oc", "class": "D"},
    ]
    plain = parse({**document, "ratings": ratings, "tests": tests})
    if min(Book(loans, plain).par, Book(loans, plain).cpa, Book(loans, plain).denominator()) <= 0:
        return
    spans = [spoken(loans, plain, bound) for bound in ("value", "best", "worst")]
    step = 10.0 ** -(2 if decimals is None else decimals)
    limits = {name: printed(value, decimals) + off * step for name, value in spans[0].items()}
    current = [test | {"max": limits[str(test["id"])]} for test in tests if test["id"] in limits]
    current = [test if decimals is None else test | {"decimals": decimals} for test in current]
    ran = run_suite(loans, "deal", definition=parse({**document, "ratings": ratings, "tests": current}), details=False)
    by_test_id = {item.test_id: (item.status == "fail", item.low, item.high) for item in ran}
    left = {item.test_id: (item.low, item.high) for item in ran.skipped if "leave it open" in item.reason}
    for name, limit in limits.items():
        values = [span[name] for span in spans]
        fails = [printed(value, decimals) > limit + 1e-9 for value in values]
        ends = (pytest.approx(min(values), abs=2e-6), pytest.approx(max(values), abs=2e-6))
        if len(set(fails)) > 1:
            assert left[name] == ends, name
        elif max(values) - min(values) > 1e-9:
            assert by_test_id[name] == (fails[0], *ends), name
        else:
            assert by_test_id[name][0] == fails[0], name


@settings(max_examples=15, deadline=None)
@given(books(), rules(), st.randoms(use_true_random=False))
def test_whatever_the_numbers_are_a_run_ends_with_figures_or_reasons(
    loans: Portfolio, document: dict[str, Any], chance: Any
) -> None:
    """The largest and the smallest numbers, infinities and blanks in every column.

    Columns that are not there.
    """
    extremes = [1e308, -1e308, 1e200, 5e-324, 0.0, np.inf, -np.inf, np.nan, -1.0]

    def wild(values: Any) -> Any:
        return np.where([chance.random() < 0.25 for _ in values], chance.choice(extremes), values)

    def some(columns: dict[str, Any]) -> dict[str, Any]:
        return {name: column for name, column in columns.items() if name == "par_value" or chance.random() > 0.1}

    deal = replace(
        loans.deal, as_of=chance.choice([1000.0, None, np.nan, 1e300]),
        principal_cash=chance.choice([None, 1e6, -1e300, np.inf]),
    )  # fmt: skip
    broken = replace(
        loans, numbers=some({name: wild(number) for name, number in loans.numbers.items()}), names=some(loans.names),
        flags=some(loans.flags), ranks=some(loans.ranks), deal=deal,
    )  # fmt: skip
    for suite in ("deal", "enhanced"):
        ran = run_suite(broken, suite, definition=parse(document))
        assert all(np.isfinite(item.current_value) for item in ran)
        assert len(ran) + len(ran.skipped) == (len(MEASURES) if suite == "deal" else 25)


def test_defaulted_loans_without_a_price_count_nothing_in_an_event_of_default() -> None:
    """90 of performing par over 50 of notes; 10 in default are worth 4 at 40."""
    test = {"id": "eod", "measure": "event_of_default", "min": 102.5}
    definition = deal(test, event_of_default={"class": "A", "trigger": 102.5})
    columns: dict[str, Any] = {"par_value": [90.0, 10.0], "is_defaulted": [0, 1]}
    for prices, value in (({}, 180.0), ({"price": [99.0, 40.0]}, 188.0), ({"price": [99.0, None]}, 180.0)):
        portfolio = portfolio_of(columns | prices, tranches=tranches_of([("A", 50.0)]))
        (result,) = run_suite(portfolio, "deal", definition=definition)
        assert result.current_value == close(value)
