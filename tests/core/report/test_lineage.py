"""Where figures come from.

The file, what was read of it, and the deal's own rules in words.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from core.compliance.run import run_suite
from core.definition import Definition, parse
from core.files.read import read
from core.generate import generate
from core.labels import label
from core.portfolio import Portfolio
from core.report.compliance import compliance_content
from core.report.content import Origin
from core.report.lineage import rules_of
from tests.core.report.conftest import WHEN


def test_a_file_and_what_was_read_of_it(tmp_path: Path) -> None:
    path = tmp_path / "holdings.xlsx"
    generate(200, 7, messy=["totals_row"]).write(path)
    portfolio = Portfolio.from_workbook(read(path))
    origin = Origin(
        name="A deal", file_name="holdings.xlsx", file_sha256="ab" * 32, file_size_bytes=12_345,
        uploaded_at=datetime(2026, 4, 1, 8, 5, tzinfo=UTC), mapping="Standard CLO", run_id="run_1",
    )  # fmt: skip
    results = run_suite(portfolio)
    lineage = compliance_content(results, portfolio, origin=origin, generated_at=WHEN).lineage
    source = {item.label: item.value for item in lineage.source}
    assert source == {
        "File": "holdings.xlsx", "SHA-256": "ab" * 32, "Size": "12,345 bytes", "Uploaded": "2026-04-01 08:05 UTC",
        "Run": "run_1", "Sheet of the loans": "Holdings", "Mapping": "Standard CLO",
    }  # fmt: skip
    rows = {row.label: row.value for row in lineage.rows}
    assert (rows["Loans"], rows["Totals"]) == ("200", "1")
    columns = {column.label: column.value for column in lineage.columns}
    header, cells = portfolio.notes.matched_columns["par_value"], portfolio.source_cells["par_value"]
    assert columns["par value"] == f"{header} ({cells})"
    assert set(columns) == {label(name).replace("_", " ") for name in portfolio.notes.matched_columns}


def test_methods_name_formula_cells_and_whose_limit_it_is(tmp_path: Path) -> None:
    path = tmp_path / "holdings.xlsx"
    generate(200, 7).write(path)
    portfolio = Portfolio.from_workbook(read(path))
    methods = {method.test_id: method for method in compliance_content(
        run_suite(portfolio), portfolio, origin=Origin(name="x"), generated_at=WHEN).methods}  # fmt: skip
    average_rating_factor = methods["average_rating_factor"]
    assert average_rating_factor.formula == "sum(par x rating factor) / PAR"
    assert average_rating_factor.cells[0] == portfolio.source_cells["par_value"]
    assert (average_rating_factor.source, methods["oc_ratio"].source) == ("suite", "sheet")


def test_rules_are_what_differs_from_the_standard() -> None:
    rules = parse({
        "name": "A deal",
        "conventions": {"reference_coupon": 3.5, "home_countries": ["FR", "DE"], "decimals": {"percent": 2}},
        "ratings": {"unrated_is_ccc": False, "b": {"masked": "left_out"}},
        "classes": [{"name": "A/B", "oc_trigger": 130.08}, {"name": "C", "ic_trigger": 110}],
        "tests": [{"id": "own", "name": "Own", "measure": "wal", "max": 7.0}],
    })  # fmt: skip
    by_key = {rule.key: rule.value for rule in rules_of(rules)}
    assert by_key == {
        "conventions: reference coupon": "3.5",
        "conventions: home countries": "FR, DE",
        "conventions: decimals": "percent 2",
        "ratings: unrated is ccc": "no",
        "ratings: b: masked": "left_out",
        "classes 1": "A/B: oc trigger 130.08",
        "classes 2": "C: ic trigger 110",
    }
    assert all(rule.meaning and "`" not in rule.meaning for rule in rules_of(rules))
    assert list(rules_of(Definition())) == []
