"""POST /calculations/validate, GET /functions and /translate over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import core.formula.functions.families  # noqa: F401 - fills the catalogue
from core.formula.functions.catalogue import FUNCTIONS
from service.calculations import evaluation_actions
from service.calculations.actions import NO_BOOKS
from service.calculations.evaluation_actions import EncodedEvaluation, EvaluateOrder
from service.calculations.schema import Options
from tests.conftest import Member

VALIDATE = "/api/v1/calculations/validate"
LISTED = {
    "math": "SUM SUMIF SUMIFS SUMPRODUCT ABS ROUND ROUNDUP ROUNDDOWN INT MOD POWER SQRT",
    "logical": "IF IFS IFERROR AND OR NOT SWITCH CHOOSE",
    "lookup": "VLOOKUP HLOOKUP XLOOKUP INDEX MATCH XMATCH OFFSET",
    "statistical": "AVERAGE AVERAGEIF AVERAGEIFS COUNT COUNTA COUNTIF COUNTIFS MIN MAX MEDIAN",
    "text": "CONCATENATE CONCAT TEXTJOIN LEFT RIGHT MID LEN TRIM UPPER LOWER",
    "date": "DATE TODAY NOW YEAR MONTH DAY DATEDIF EDATE EOMONTH",
}
"""What the specification lists, by category."""


def validated(member: Member, formula: str, **more: Any) -> dict[str, Any]:
    answer = member.post(VALIDATE, json={"formula": formula, **more})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def listed(member: Member, **query: str) -> dict[str, Any]:
    answer = member.get("/api/v1/calculations/functions", params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


# Validation ---------------------------------------------------------------------------------------------------------


def test_a_valid_formula_is_taken_apart(shared_owner: Member) -> None:
    result = validated(shared_owner, "=IF(Sheet2!$A$1>0,SUM(B1:B3),SUM(B1:B3)*rate)")
    assert result.keys() == {"valid", "formula", "functions_used", "cell_references", "complexity_score", "warnings"}
    assert result["valid"] is True
    assert result["functions_used"] == ["IF", "SUM"]
    assert result["cell_references"] == ["Sheet2!A1", "B1:B3", "rate"]
    assert result["warnings"] == []
    assert type(result["complexity_score"]) is int
    assert result["complexity_score"] > validated(shared_owner, "=A1")["complexity_score"] >= 1


@pytest.mark.parametrize(
    ("formula", "position", "hint"),
    [
        ("SUM(A1)", 0, "=SUM(A1)"),
        ("=SUM(A1", 7, "=SUM(A1)"),
        ("=SUMIFFS(A1:A2,A1:A2,1)", 1, "SUMIFS"),
        ("=SUM(A1;A2)", 7, "=SUM(A1,A2)"),
        ("=RTD(1)", 1, ""),
        ("=ABS(1,2)", 1, ""),
    ],
)
def test_an_invalid_formula_says_where_and_what_may_be_meant(
    shared_owner: Member, formula: str, position: int, hint: str
) -> None:
    result = validated(shared_owner, formula)
    assert result.keys() == {"valid", "formula", "error", "error_position", "suggestions"}
    assert (result["valid"], result["formula"], result["error_position"]) == (False, formula, position)
    assert result["error"]
    assert hint in " ".join(result["suggestions"])


def test_the_opening_of_an_unclosed_parenthesis_is_named(shared_owner: Member) -> None:
    assert "unclosed parenthesis opened at 6" in validated(shared_owner, "=1+SUM(A1")["error"]


def test_strict_does_not_let_a_warning_pass(shared_owner: Member) -> None:
    relaxed = validated(shared_owner, "=NOW()+1")
    assert relaxed["valid"] is True
    assert "NOW" in relaxed["warnings"][0]
    strict = validated(shared_owner, "=NOW()+1", strict=True)
    assert (strict["valid"], strict["error"]) == (False, relaxed["warnings"][0])
    assert validated(shared_owner, "=A1+1", strict=True)["valid"] is True


def test_a_function_whose_answer_may_differ_from_excels_says_so_everywhere(shared_owner: Member) -> None:
    formula = "=FORECAST.ETS(8,{10,12,14,16,18,20},{1,2,3,4,5,6})"
    order = EvaluateOrder(
        formula=formula, context={}, sheet_name=None, options=Options(), debug=False,
        now=datetime(2026, 1, 1, tzinfo=UTC), seconds=60.0,
    )  # fmt: skip
    answer = evaluation_actions.answer(order, NO_BOOKS, evaluation_actions.without_limit)
    assert isinstance(answer, EncodedEvaluation)
    (warning,) = answer.warnings
    assert validated(shared_owner, formula)["warnings"] == [warning.message]
    help_text = listed(shared_owner, search="FORECAST.ETS.STAT")["functions"][0]["description"]
    assert help_text.endswith(warning.message.removeprefix("FORECAST.ETS: "))


# The catalogue ------------------------------------------------------------------------------------------------------


def test_every_function_is_listed_with_its_help(shared_owner: Member) -> None:
    result = listed(shared_owner)
    assert result["total"] == len(result["functions"]) == len(FUNCTIONS) >= 502
    assert [row["name"] for row in result["functions"]] == sorted(FUNCTIONS)
    assert set(LISTED) | {"information"} <= set(result["categories"])
    assert {row["category"] for row in result["functions"]} <= set(result["categories"])
    for row in result["functions"]:
        assert row.keys() == {"name", "category", "description", "syntax", "arguments", "examples"}
        assert row["syntax"].startswith(row["name"] + "(")
        assert row["description"]
        assert row["examples"]
        assert all(example.startswith("=") for example in row["examples"])
        for argument in row["arguments"]:
            assert argument.keys() == {"name", "type", "required", "description"}


@pytest.mark.parametrize("category", LISTED)
def test_the_specifications_functions_stand_in_their_categories(shared_owner: Member, category: str) -> None:
    result = listed(shared_owner, category=category)
    names = {row["name"] for row in result["functions"]}
    assert set(LISTED[category].split()) <= names
    assert {row["category"] for row in result["functions"]} == {category}
    assert result["total"] == len(names)
    assert set(LISTED) <= set(result["categories"])


def test_search_is_part_of_the_name_in_any_case(shared_owner: Member) -> None:
    names = [row["name"] for row in listed(shared_owner, search="sumif")["functions"]]
    assert names == ["SUMIF", "SUMIFS"]
    assert listed(shared_owner, search="no such function")["total"] == 0
    assert [row["name"] for row in listed(shared_owner, search="COUNT", category="math")["functions"]] == []


def test_an_unknown_category_is_refused(shared_owner: Member) -> None:
    answer = shared_owner.get("/api/v1/calculations/functions?category=poetry")
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", "category"])


def test_the_examples_of_the_list_can_be_evaluated_as_they_stand(shared_owner: Member) -> None:
    """Over HTTP, with the cells that they refer to."""
    row = next(row for row in listed(shared_owner, search="ROUNDUP")["functions"] if row["name"] == "ROUNDUP")
    body = {"formula": row["examples"][0], "context": {"A1": 1.5}}
    assert shared_owner.post("/api/v1/calculations/evaluate", json=body).status_code == 200


# Translation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["python", "numpy", "pandas"])
def test_a_translation_has_code_imports_and_notes(shared_owner: Member, target: str) -> None:
    answer = shared_owner.get(
        "/api/v1/calculations/translate", params={"formula": "=ROUND(SUM(A1:A3)/2,1)", "target": target}
    )
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body.keys() == {"formula", "target", "code", "imports", "full_code", "notes"}
    assert (body["formula"], body["target"]) == ("=ROUND(SUM(A1:A3)/2,1)", target)
    assert body["code"] in body["full_code"]
    assert all(line in body["full_code"] for line in body["imports"])
    compile(body["full_code"], "translated", "exec")


def test_pandas_is_the_default_and_imports_can_be_left_out(shared_owner: Member) -> None:
    query = {"formula": "=SUM(A1:A3)"}
    whole = shared_owner.get("/api/v1/calculations/translate", params=query).json()
    assert whole["target"] == "pandas"
    bare = shared_owner.get("/api/v1/calculations/translate", params={**query, "include_imports": "false"}).json()
    assert bare["code"] == whole["code"]
    assert not any(line.startswith("import") for line in bare["full_code"].splitlines())


@pytest.mark.parametrize(
    ("formula", "detail"),
    [("=SUM(1", "Invalid formula"), ("=NOSUCH(1)", "Unsupported function"), ("=CUBEVALUE(1)", "Unsupported function")],
)
def test_what_cannot_be_translated(shared_owner: Member, formula: str, detail: str) -> None:
    answer = shared_owner.get("/api/v1/calculations/translate", params={"formula": formula})
    body = answer.json()
    assert (answer.status_code, body["detail"], body["error_code"]) == (400, detail, "VALIDATION_ERROR")
    assert body["errors"][0]["loc"] == ["query", "formula"]


def test_an_unknown_target_is_refused(shared_owner: Member) -> None:
    answer = shared_owner.get("/api/v1/calculations/translate?formula=%3DA1&target=cobol")
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", "target"])
