"""POST /mappings/{id}/validate.

What comes of sample rows, every transform and rule over HTTP, and the limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.portfolio.mapping.normalise import SAMPLE_COLUMNS_MAX, SAMPLE_ROWS_MAX, SAMPLE_TEXT_MAX, SAMPLE_VALUES_MAX
from tests.conftest import Member, Stack
from tests.service.mappings.conftest import PATH, column

Make = Callable[..., dict[str, Any]]

FIELDS = {
    "valid",
    "rows_processed",
    "rows_valid",
    "rows_invalid",
    "mapped_data",
    "warnings",
    "errors",
    "warning_count",
    "error_count",
    "unmapped_columns",
    "missing_required_columns",
}


def trial(member: Member, mapping_id: str, rows: Any, **more: Any) -> dict[str, Any]:
    answer = member.post(f"{PATH}/{mapping_id}/validate", json={"sample_data": rows, **more})
    assert answer.status_code == 200, answer.text
    outcome: dict[str, Any] = answer.json()
    assert set(outcome) == FIELDS
    assert outcome["rows_valid"] + outcome["rows_invalid"] == outcome["rows_processed"] == len(rows)
    assert all(
        set(item) == {"row", "field", "rule", "message", "value"} for item in outcome["errors"] + outcome["warnings"]
    )
    return outcome


def refused(answer: Any, status: int, detail: str) -> list[dict[str, Any]]:
    body = answer.json()
    assert (answer.status_code, body["detail"]) == (status, detail), answer.text[:500]
    faults: list[dict[str, Any]] = body["errors"]
    return faults


def test_good_rows(owner: Member, make: Make) -> None:
    mapping = make(
        owner,
        mappings={
            "Loan": column("loan", required=True),
            "Balance (k)": column("balance", "number", required=True, aliases=["Bal"]),
            "Day": column("day", "date"),
            "Late": column("late", "boolean", default=False),
        },
        transforms=[{"field": "balance", "operation": "multiply", "parameters": {"factor": 1000}}],
    )
    outcome = trial(
        owner,
        mapping["id"],
        [
            {"Loan": "L-1", "Balance (k)": 1.5, "Day": "2026-03-31", "Late": "yes"},
            {"loan": " L-2 ", "Bal": "2,000", "Day": None},
        ],
    )
    assert outcome == {
        "valid": True,
        "rows_processed": 2,
        "rows_valid": 2,
        "rows_invalid": 0,
        "mapped_data": [
            {"loan": "L-1", "balance": 1500.0, "day": "2026-03-31", "late": True},
            {"loan": "L-2", "balance": 2_000_000.0, "day": None, "late": False},
        ],
        "warnings": [],
        "errors": [],
        "warning_count": 0,
        "error_count": 0,
        "unmapped_columns": [],
        "missing_required_columns": [],
    }


def test_bad_rows_are_named_with_what_stands_there(owner: Member, make: Make) -> None:
    mapping = make(
        owner,
        mappings={"Ref": column("ref", required=True), "Size": column("size", "number")},
        validation_rules=[{"field": "size", "rule": "positive", "message": "size is owed"}],
    )
    outcome = trial(
        owner,
        mapping["id"],
        [{"Ref": "a", "Size": 1}, {"Ref": "", "Size": "n/k"}, {"Ref": "c", "Size": -2}, {"Ref": "d"}],
    )
    assert (outcome["valid"], outcome["rows_valid"], outcome["rows_invalid"], outcome["error_count"]) == (
        False,
        2,
        2,
        3,
    )
    assert [(error["row"], error["field"], error["rule"], error["value"]) for error in outcome["errors"]] == [
        (2, "ref", "required", None),
        (2, "size", "type", "n/k"),
        (3, "size", "positive", -2.0),
    ]
    assert outcome["errors"][2]["message"] == "size is owed"
    assert [row["ref"] for row in outcome["mapped_data"]] == ["a", None, "c", "d"], "invalid rows are there as well"


def test_columns_that_nothing_wants_and_fields_that_nothing_feeds(owner: Member, make: Make) -> None:
    mapping = make(
        owner,
        mappings={
            "Ref": column("ref", required=True),
            "Size": column("size", "number", required=True),
            "Desk": column("desk", required=True, default="London"),
            "Note": column("note"),
        },
    )
    outcome = trial(owner, mapping["id"], [{"Ref": "a", "Colour": "blue", "Weight": 5}])
    assert outcome["unmapped_columns"] == ["Colour", "Weight"]
    assert outcome["missing_required_columns"] == ["size"]
    assert not outcome["valid"]
    assert outcome["mapped_data"] == [{"ref": "a", "desk": "London"}]


@pytest.mark.parametrize("more", [{}, {"strict": False}, {"strict": True}])
def test_strict_fails_on_any_warning(owner: Member, make: Make, more: dict[str, Any]) -> None:
    mapping = make(owner, mappings={"Ref": column("ref", required=True)})
    outcome = trial(owner, mapping["id"], [{"Ref": "a", "Colour": "blue"}], **more)
    assert outcome["warning_count"] == len(outcome["warnings"]) == 1
    assert (outcome["warnings"][0]["row"], outcome["warnings"][0]["field"]) == (None, "Colour")
    assert outcome["valid"] is not more.get("strict", False)
    assert trial(owner, mapping["id"], [{"Ref": "a"}], **more)["valid"] is True


@pytest.mark.parametrize(
    ("type_", "operation", "parameters", "source_value", "expected"),
    [
        ("number", "multiply", {"factor": -2.5}, 4, -10.0),
        ("number", "divide", {"divisor": 8}, "4", 0.5),
        ("number", "round", {"decimals": 2}, 2.675, 2.68),
        ("string", "uppercase", None, "straße", "STRASSE"),
        ("string", "lowercase", None, "ÉCOLE", "école"),
        ("string", "trim", None, "  a b  ", "a b"),
        ("string", "replace", {"pattern": r"(\w+), (\w+)", "replacement": r"\2 \1"}, "Doe, Jane", "Jane Doe"),
        ("date", "date_format", {"input_format": "%d.%m.%Y", "output_format": "%Y-%m-%d"}, "31.03.2026", "2026-03-31"),
        (
            "string",
            "date_format",
            {"input_format": "DD/MM/YYYY", "output_format": "YYYY-MM-DD"},
            "01/02/2026",
            "2026-02-01",
        ),
        ("string", "lookup", {"mapping": {"1L": "First Lien", "2L": "Second Lien"}}, "2l", "Second Lien"),
    ],
)
def test_each_transform(
    shared_owner: Member, make: Make, type_: str, operation: str, parameters: Any, source_value: Any, expected: Any
) -> None:
    mapping = make(
        shared_owner,
        mappings={"In": column("out", type_)},
        transforms=[{"field": "out", "operation": operation, "parameters": parameters}],
    )
    outcome = trial(shared_owner, mapping["id"], [{"In": source_value}, {"In": None}])
    assert outcome["mapped_data"] == [{"out": expected}, {"out": None}]
    assert outcome["valid"]


@pytest.mark.parametrize(
    ("type_", "rule", "parameters", "good", "bad"),
    [
        ("string", "required", None, ["a"], ["", None, "  "]),
        ("number", "positive", None, [0.01, None], [0, -1]),
        ("number", "non_negative", None, [0, 5], [-0.01]),
        ("number", "range", {"min": 1, "max": 2}, [1, 2, 1.5], [0.99, 2.01]),
        ("number", "range", {"max": 2}, [-100, 2], [3]),
        ("string", "regex", {"pattern": "^[A-Z]{2}[0-9]+$"}, ["AB1", None], ["ab1", "AB", "xAB1"]),
        ("string", "length", {"min": 2, "max": 3}, ["ab", "äöü"], ["a", "abcd"]),
        ("string", "enum", {"values": ["Aaa", "Aa1"]}, ["Aaa", None], ["Baa", "A"]),
        ("string", "unique", None, ["a", "b", None, None], []),
    ],
)
def test_each_rule(
    shared_owner: Member, make: Make, type_: str, rule: str, parameters: Any, good: list[Any], bad: list[Any]
) -> None:
    mapping = make(
        shared_owner,
        mappings={"In": column("out", type_)},
        validation_rules=[{"field": "out", "rule": rule, "parameters": parameters}],
    )
    outcome = trial(shared_owner, mapping["id"], [{"In": value} for value in good + bad])
    assert [error["row"] for error in outcome["errors"]] == list(range(len(good) + 1, len(good) + len(bad) + 1))
    assert {error["rule"] for error in outcome["errors"]} <= {rule}
    assert outcome["valid"] == (not bad)


def test_a_repeated_value_is_not_unique(owner: Member, make: Make) -> None:
    mapping = make(owner, mappings={"In": column("out")}, validation_rules=[{"field": "out", "rule": "unique"}])
    outcome = trial(owner, mapping["id"], [{"In": value} for value in ("a", "b", "a", "a")])
    assert [error["row"] for error in outcome["errors"]] == [3, 4]


@pytest.mark.parametrize("mapping_id", ["standard_clo", "standard_servicer"])
def test_built_in_mappings_can_be_tried_by_everyone(shared_owner: Member, stranger: Member, mapping_id: str) -> None:
    rows = [{"Issuer Name": "Acme", "Par Amount": "1,000,000", "Coupon Spread": "3.5%", "Loan ID": "L1", "UPB": 5}]
    for member in (shared_owner, stranger):
        outcome = trial(member, mapping_id, rows)
        assert outcome["valid"], outcome
        [row] = outcome["mapped_data"]
        if mapping_id == "standard_clo":
            assert (row["borrower_name"], row["par_value"], row["spread"]) == ("Acme", 1_000_000.0, 350.0)
        else:
            assert (row["loan_id"], row["principal_balance"]) == ("L1", 5.0)


def test_a_stored_mapping_is_tried_as_it_is_now(owner: Member, make: Make) -> None:
    mapping = make(owner, mappings={"In": column("out", "number")})
    assert trial(owner, mapping["id"], [{"In": 2}])["mapped_data"] == [{"out": 2.0}]
    for factor in (10, 100):
        transforms = [{"field": "out", "operation": "multiply", "parameters": {"factor": factor}}]
        assert owner.patch(f"{PATH}/{mapping['id']}", json={"transforms": transforms}).status_code == 200
        assert trial(owner, mapping["id"], [{"In": 2}])["mapped_data"] == [{"out": 2.0 * factor}]


def test_trying_stores_nothing(stack: Stack, owner: Member, make: Make) -> None:
    mapping = make(owner)
    trial(owner, mapping["id"], [{"Ref": "a"}])
    events = stack.sql(
        "SELECT count(*) FROM audit_log WHERE tenant_id = %s AND resource_id = %s", [owner.tenant_id, mapping["id"]]
    )
    assert events == [(1,)]
    assert owner.get(f"{PATH}/{mapping['id']}").headers["etag"] == '"1"'


# What a caller may send ---------------------------------------------------------------------------------------------


def test_no_rows_are_valid(owner: Member, make: Make) -> None:
    outcome = trial(owner, make(owner, mappings={"In": column("out")})["id"], [])
    assert (outcome["rows_processed"], outcome["mapped_data"]) == (0, [])


def test_rows_that_feed_nothing_are_there(owner: Member, make: Make) -> None:
    outcome = trial(owner, make(owner, mappings={"In": column("out")})["id"], [{"Other": 1}, {}])
    assert (outcome["valid"], outcome["mapped_data"], outcome["unmapped_columns"]) == (True, [{}, {}], ["Other"])


@pytest.mark.parametrize("value", [[1], {"a": 1}, 10**400, -(2**70), 1e308, "x" * 32_768, "\u202e", "=1+1", True, ""])
def test_a_value_of_any_kind_is_answered(shared_owner: Member, make: Make, value: Any) -> None:
    for type_ in ("string", "number", "date", "boolean"):
        mapping = make(shared_owner, mappings={"In": column("out", type_)})
        outcome = trial(shared_owner, mapping["id"], [{"In": value}, {}])
        assert [set(row) for row in outcome["mapped_data"]] == [{"out"}] * 2


@pytest.mark.parametrize("name", ["", " ", "\n", "x" * 5000, "__proto__", "'; DROP TABLE mappings; --", "éé", "=A1"])
def test_a_column_of_any_name_is_answered(shared_owner: Member, make: Make, name: str) -> None:
    mapping = make(shared_owner, mappings={"In": column("out")})
    outcome = trial(shared_owner, mapping["id"], [{name: "v", "In": "a"}])
    assert outcome["mapped_data"] == [{"out": "a"}]
    assert outcome["unmapped_columns"] == [name]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, ["sample_data"]),
        ({"sample_data": None}, ["sample_data"]),
        ({"sample_data": {}}, ["sample_data"]),
        ({"sample_data": [[]]}, ["sample_data", "0"]),
        ({"sample_data": [{}, "x"]}, ["sample_data", "1"]),
        ({"sample_data": [], "strict": "yes"}, ["strict"]),
    ],
)
def test_what_is_no_sample(shared_owner: Member, body: Any, place: list[str]) -> None:
    faults = refused(shared_owner.post(f"{PATH}/standard_clo/validate", json=body), 422, "Validation error")
    assert faults[0]["loc"] == ["body", *place]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{}] * (SAMPLE_ROWS_MAX + 1), SAMPLE_ROWS_MAX),
        ([{f"c{at}": 1 for at in range(60)}] * (SAMPLE_VALUES_MAX // 60 + 1), SAMPLE_VALUES_MAX),
        ([{f"c{at}": 1} for at in range(SAMPLE_COLUMNS_MAX + 1)], SAMPLE_COLUMNS_MAX),
        ([{"a": "x" * 10_000}] * (SAMPLE_TEXT_MAX // 10_000 + 1), SAMPLE_TEXT_MAX),
    ],
)
def test_a_sample_past_a_limit_names_it(shared_owner: Member, rows: Any, says: int) -> None:
    answer = shared_owner.post(f"{PATH}/standard_clo/validate", json={"sample_data": rows})
    [fault] = refused(answer, 422, "Validation error")
    assert fault["loc"] == ["body", "sample_data"]
    assert str(says) in fault["message"].replace(",", "")


def test_a_body_past_the_limit(stack: Stack, owner: Member) -> None:
    with stack.another_api(CUSHION_MAX_SAMPLE_BYTES="2000") as url:
        token = {"Authorization": f"Bearer {owner.tokens['access_token']}"}
        for size, status in ((100, 200), (3000, 413)):
            answer = owner.http.post(
                f"{url}{PATH}/standard_clo/validate", json={"sample_data": [{"a": "x" * size}]}, headers=token
            )
            assert answer.status_code == status


def test_an_answer_past_the_limit(owner: Member, make: Make) -> None:
    """Defaults make much of little."""
    wide = {f"C{at}": column(f"field_{at}", default="x" * 200) for at in range(300)}
    mapping = make(owner, mappings=wide)
    answer = owner.post(f"{PATH}/{mapping['id']}/validate", json={"sample_data": [{}] * 10_000})
    [fault] = refused(answer, 422, "Validation error")
    assert "33,554,432" in fault["message"]


def test_an_answer_that_grows_in_writing(owner: Member, make: Make) -> None:
    """JSON writes a control character as six."""
    wide = {f"C{at}": column(f"f{at}", default="\u0001" * 200) for at in range(50)}
    mapping = make(owner, mappings=wide)
    path = f"{PATH}/{mapping['id']}/validate"
    assert len(owner.post(path, json={"sample_data": [{}] * 400}).content) > 20_000_000
    [fault] = refused(owner.post(path, json={"sample_data": [{}] * 2_000}), 422, "Validation error")
    assert "33,554,432" in fault["message"]


def test_a_long_answer_has_every_row_in_its_place(owner: Member, make: Make) -> None:
    mapping = make(owner, mappings={"A": column("a", "number"), "B": column("b"), "C": column("c", default="none")})
    outcome = trial(owner, mapping["id"], [{"A": at, "B": f"é{at}"} for at in range(SAMPLE_ROWS_MAX)])
    assert outcome["mapped_data"] == [{"a": at, "b": f"é{at}", "c": "none"} for at in range(SAMPLE_ROWS_MAX)]


HOSTILE = [
    r"(a+)+$",
    r"(a|a)*$",
    r"(a|aa)+$",
    r"^(.*a){12}$",
    r"(.*)(.*)(.*)(.*)x$",
    r"((a?){30})a{30}",
    r"\w+\s*\w+\s*$",
]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_takes_long(owner: Member, make: Make, pattern: str) -> None:
    """Each would take a backtracking engine longer than the universe has.

    Others are answered meanwhile.
    """
    mapping = make(
        owner,
        mappings={"In": column("out"), "Other": column("other")},
        transforms=[{"field": "other", "operation": "replace", "parameters": {"pattern": pattern, "replacement": ""}}],
        validation_rules=[{"field": "out", "rule": "regex", "parameters": {"pattern": pattern}}],
    )
    text = "a" * 20_000 + "!"
    started = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(trial, owner, mapping["id"], [{"In": text, "Other": text}] * 20)
        waits = []
        while not running.done():
            asked = time.monotonic()
            assert owner.get("/api/v1/auth/me").status_code == 200
            waits.append(time.monotonic() - asked)
        running.result()
    assert time.monotonic() - started < 60
    assert max(waits, default=0.0) < 20


def growing(fields: int) -> dict[str, Any]:
    """A mapping whose steps make much of a short text, and read that again and again.

    RE2 alone does not end it.
    """
    steps = [("^", "x" * 200), ("x", "yyyy"), *[("y", "y")] * 8]
    return {
        "mappings": {f"C{at}": column(f"field_{at}") for at in range(fields)},
        "transforms": [
            {"field": f"field_{at}", "operation": "replace", "parameters": {"pattern": pattern, "replacement": text}}
            for at in range(fields)
            for pattern, text in steps
        ],
    }


def test_steps_that_make_much_of_little_are_ended(stack: Stack, owner: Member, make: Make) -> None:
    mapping = make(owner, **growing(10))
    rows = [{f"C{at}": f"{row} {at}" for at in range(10)} for row in range(1_000)]
    token = {"Authorization": f"Bearer {owner.tokens['access_token']}"}
    with stack.another_api(CUSHION_MAPPING_SECONDS="0.5") as url:
        started = time.monotonic()
        answer = owner.http.post(f"{url}{PATH}/{mapping['id']}/validate", json={"sample_data": rows}, headers=token)
        [fault] = refused(answer, 422, "Mapping takes too long")
        assert fault["message"] == "the limit is 0.5 seconds"
        assert time.monotonic() - started < 30
        few = owner.http.post(
            f"{url}{PATH}/{mapping['id']}/validate", json={"sample_data": [{"C0": "0 0"}]}, headers=token
        )
        assert (few.status_code, len(few.json()["mapped_data"][0]["field_0"])) == (200, 803)


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?=a)", r"(a)\1", "(?<!a)b", "a{1001}", "x" * 301, "", 5, None])
def test_what_is_no_pattern_is_refused(shared_owner: Member, pattern: Any) -> None:
    body = {
        "name": "Pattern",
        "source_type": "custom",
        "mappings": {"In": column("out")},
        "validation_rules": [{"field": "out", "rule": "regex", "parameters": {"pattern": pattern}}],
    }
    faults = refused(shared_owner.post(PATH, json=body), 400, "Invalid mapping configuration")
    assert faults[0]["loc"] == ["body", "validation_rules", "0", "parameters", "pattern"]
