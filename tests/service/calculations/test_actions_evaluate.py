"""POST /calculations/evaluate and /batch.

Values, types, error modes, refusals, limits, over HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import xlsxwriter

from tests.conftest import Member, Stack, register, wait_until

EVALUATE = "/api/v1/calculations/evaluate"
BATCH = "/api/v1/calculations/batch"


def evaluated(member: Member, formula: str, context: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    answer = member.post(EVALUATE, json={"formula": formula, "context": context or {}, "options": options})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def refused(answer: httpx.Response, status: int, detail: str, code: str) -> list[dict[str, Any]]:
    body = answer.json()
    assert (answer.status_code, body["detail"], body["error_code"]) == (status, detail, code), answer.text
    errors: list[dict[str, Any]] = body["errors"]
    return errors


# Values -------------------------------------------------------------------------------------------------------------


def test_the_whole_answer(shared_owner: Member) -> None:
    before = datetime.now().astimezone()
    answer = evaluated(shared_owner, "=SUM(A1:A3)*Rate+$B$1", {"A1": 1, "A2": 2, "a3": 3.5, "rate": 2, "B1": None})
    assert answer.keys() == {
        "value", "type", "formula", "evaluated_at", "execution_time_ms", "cell_references", "functions_used"
    }  # fmt: skip
    assert (answer["value"], answer["type"], answer["formula"]) == (13, "number", "=SUM(A1:A3)*Rate+$B$1")
    assert answer["cell_references"] == ["A1:A3", "Rate", "B1"]
    assert answer["functions_used"] == ["SUM"]
    assert type(answer["execution_time_ms"]) is int
    assert before.timestamp() - 60 < datetime.fromisoformat(answer["evaluated_at"]).timestamp() < time.time() + 60


@pytest.mark.parametrize(
    ("formula", "context", "value", "kind"),
    [
        ("=1/4", {}, 0.25, "number"),
        ('="a"&1', {}, "a1", "string"),
        ("=1=1", {}, True, "boolean"),
        ("=1/0", {}, "#DIV/0!", "error"),
        ("=NA()", {}, "#N/A", "error"),
        ('=VALUE("x")', {}, "#VALUE!", "error"),
        ("=SQRT(-1)", {}, "#NUM!", "error"),
        ("=A1:A2 B1:B2", {"A1": 1, "B1": 1}, "#NULL!", "error"),
        ("=DATE(2024,2,29)", {}, "2024-02-29", "date"),
        ("=DATE(2024,2,29)+0.5", {}, "2024-02-29T12:00:00", "date"),
        ("=DATE(2024,3,1)-DATE(2024,2,1)", {}, 29, "number"),
        ("=IF(A1,EDATE(DATE(2024,1,31),1),0)", {"A1": True}, "2024-02-29", "date"),
        ("={1,2;3,4}*2", {}, [[2, 4], [6, 8]], "array"),
        ("=A1", {"A1": None}, None, "blank"),
        ("=A1", {"A1": "2024-01-31"}, "2024-01-31", "string"),
        ("=DATEVALUE(A1)=DATE(2024,1,31)", {"A1": "2024-01-31"}, True, "boolean"),
        ("=SUM('My Sheet'!A1:B2)", {"'My Sheet'!A1:B2": [[1, 2], [3, 4]]}, 10, "number"),
        ("=Sheet1!A1+sheet1!b1", {"Sheet1!A1": 1, "SHEET1!$B$1": 2}, 3, "number"),
        ("=SUM(A1:A3)", {"A2": 5}, 5, "number"),
        ("=LET(x,A1,MAP(SEQUENCE(2),LAMBDA(n,n*x)))", {"A1": 3}, [[3], [6]], "array"),
        ('=XLOOKUP("b",A1:A2,B1:B2)', {"A1:A2": [["a"], ["B"]], "B1:B2": [[1], [2]]}, 2, "number"),
    ],
)
def test_values_and_their_types(
    shared_owner: Member, formula: str, context: dict[str, Any], value: Any, kind: str
) -> None:
    answer = evaluated(shared_owner, formula, context)
    assert (answer["value"], answer["type"]) == (value, kind)


@pytest.mark.parametrize(("mode", "value"), [("excel", "#DIV/0!"), ("null", None)])
def test_an_error_is_a_successful_evaluation(shared_owner: Member, mode: str, value: Any) -> None:
    answer = evaluated(shared_owner, "=1/A1", {"A1": 0}, error_handling=mode)
    assert (answer["value"], answer["type"]) == (value, "error")


def test_an_error_that_is_thrown_names_itself_and_its_place(shared_owner: Member) -> None:
    answer = shared_owner.post(
        EVALUATE, json={"formula": "=1+1/A1", "context": {"A1": 0}, "options": {"error_handling": "throw"}}
    )
    (fault,) = refused(answer, 422, "Evaluation error", "CALCULATION_ERROR")
    assert "#DIV/0!" in fault["message"]
    assert "1/A1" in fault["message"]


def test_null_stands_for_what_is_not_given(shared_owner: Member) -> None:
    """As error_handling it is the word null.

    As options or a context, also a batch's, it says that there are none.
    """
    bare = {"formula": "=1+1", "context": None, "options": None}
    assert shared_owner.post(EVALUATE, json=bare).json()["value"] == 2
    answer = evaluated(shared_owner, "=1/A1", {"A1": 0}, error_handling=None)
    assert (answer["value"], answer["type"]) == (None, "error")
    batch = {"formulas": [{"formula": "=1/0", "context": None}], "shared_context": None}
    for options, value in ((None, "#DIV/0!"), ({"error_handling": None}, None)):
        (item,) = shared_owner.post(BATCH, json={**batch, "options": options}).json()["results"]
        assert (item["value"], item["type"], item["status"]) == (value, "error", "success")


def test_an_errors_text_in_a_context_is_that_error(shared_owner: Member) -> None:
    answer = evaluated(shared_owner, "=IFERROR(A1,ERROR.TYPE(A1))", {"A1": "#NAME?"})
    assert answer["value"] == 5


def test_texts_are_read_and_written_by_the_locale(shared_owner: Member) -> None:
    """On either way to a value, and in a batch.

    The answer tells of one that is not en-US.
    """
    for formula in ('="31.1.2024"+A1', '=CHOOSE(1,"31.1.2024"+A1,SEQUENCE(1))'):
        answer = evaluated(shared_owner, formula, {"A1": 0.5}, locale="de-DE")
        assert (answer["value"], answer["locale"]) == (45_322.5, "de-DE")
        answer = evaluated(shared_owner, formula, {"A1": 0.5}, locale="en-US")
        assert (answer["value"], "locale" in answer) == ("#VALUE!", False)
    batch = {"formulas": [{"formula": '=A1&""'}, {"formula": '=COUNTIF(B1:B2,">1,5")', "context": {"B1": 1.6}}]}
    answer = shared_owner.post(BATCH, json={**batch, "shared_context": {"A1": 0.5}, "options": {"locale": "fr-FR"}})
    assert [item["value"] for item in answer.json()["results"]] == ["0,5", 1]


def test_an_unknown_locale_is_refused(shared_owner: Member) -> None:
    for body in ({"formula": "=1"}, {"formulas": [{"formula": "=1"}]}):
        answer = shared_owner.post(EVALUATE if "formula" in body else BATCH, json={**body, "options": {"locale": "xx"}})
        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "options", "locale"])


@pytest.mark.parametrize(("precision", "value"), [(15, 0.333333333333333), (3, 0.333), (1, 0.3)])
def test_precision_is_significant_digits(shared_owner: Member, precision: int, value: float) -> None:
    assert evaluated(shared_owner, "=1/3", precision=precision)["value"] == value


@pytest.mark.parametrize(
    ("date_format", "value"), [("ISO8601", "2024-02-29"), ("%d.%m.%Y", "29.02.2024"), ("DD/MM/YYYY", "29/02/2024")]
)
def test_date_formats(shared_owner: Member, date_format: str, value: str) -> None:
    assert evaluated(shared_owner, "=DATE(2024,2,29)", date_format=date_format)["value"] == value


def test_debug_adds_the_sub_expressions(shared_owner: Member) -> None:
    answer = evaluated(shared_owner, "=SUM(A1:A2)*(1+A3)", {"A1": 1, "A2": 2, "A3": 3}, debug=True)
    steps = {step["expression"]: step["value"] for step in answer["trace"]}
    assert (steps["SUM(A1:A2)"], steps["1+A3"], steps["SUM(A1:A2)*(1+A3)"]) == (3, 4, 12)
    for step in answer["trace"]:
        assert answer["formula"][step["start"] : step["end"]] == step["expression"]


def test_debug_may_stand_beside_the_options(shared_owner: Member) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": "=A1+1", "context": {"A1": 1}, "debug": True}).json()
    assert [step["value"] for step in answer["trace"]] == [1, 2]


def test_now_is_the_services(shared_owner: Member) -> None:
    answer = evaluated(shared_owner, "=NOW()")
    assert abs(datetime.fromisoformat(answer["value"] + "+00:00").timestamp() - time.time()) < 60


def test_now_is_that_of_the_tenants_clocks(owner: Member) -> None:
    """At once when the time zone changes, for keys and batches too.

    Moments of the answer stay in UTC.
    """
    for caller in (owner, owner.key("calculations:execute")):
        evaluated(caller, "=NOW()")
        for zone, hours in (("Pacific/Kiritimati", 14), ("Pacific/Pago_Pago", -11)):
            assert owner.patch("/api/v1/admin/tenant", json={"settings": {"timezone": zone}}).status_code == 200
            answer = evaluated(caller, "=NOW()")
            batch = caller.post(BATCH, json={"formulas": [{"formula": "=NOW()"}]}).json()["results"][0]
            for value in (answer["value"], batch["value"]):
                ahead = datetime.fromisoformat(value + "+00:00").timestamp() - time.time()
                assert abs(ahead - hours * 3600) < 60, (zone, value)
            lines = datetime.fromisoformat(answer["evaluated_at"])
            assert (lines.utcoffset(), abs(lines.timestamp() - time.time()) < 60) == (timedelta(0), True)


# Over a workbook ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workbook_id(shared_owner: Member, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("book") / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        loans = book.add_worksheet("Loans")
        loans.write_column("A1", [10, 20, 30])
        loans.write_formula("B1", "=A1*2", None, 21)  # what the file carries is what counts until recalculated
        second = book.add_worksheet("Other Sheet")
        second.write("A1", "there")
        book.define_name("Pool", "=Loans!$A$1:$A$3")
    return str(shared_owner.uploaded(path)["id"])


@pytest.mark.parametrize(
    ("formula", "sheet", "context", "value"),
    [
        ("=SUM(A1:A3)", None, {}, 60),
        ("=SUM(A1:A3)", "loans", {"A1": 0}, 50),
        ("=B1", "Loans", {}, 21),
        ("=A1", "Other Sheet", {}, "there"),
        ("='Other Sheet'!A1&Loans!A2", None, {}, "there20"),
        ("=SUM(Pool)", None, {}, 60),
        ("=Z99+1", None, {}, 1),
        ("=SUM(Loans!A:A)", None, {}, 60),
    ],
)
def test_cells_of_a_workbook_stand_behind_the_context(
    shared_owner: Member, workbook_id: str, formula: str, sheet: str | None, context: dict[str, Any], value: Any
) -> None:
    body = {"formula": formula, "workbook_id": workbook_id, "sheet_name": sheet, "context": context}
    answer = shared_owner.post(EVALUATE, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["value"] == value


def test_a_workbook_that_is_not_there_or_not_mine(stranger: Member, shared_owner: Member, workbook_id: str) -> None:
    for member, wanted in ((shared_owner, str(uuid4())), (stranger, workbook_id)):
        answer = member.post(EVALUATE, json={"formula": "=A1", "workbook_id": wanted})
        assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    answer = shared_owner.post(EVALUATE, json={"formula": "=A1", "workbook_id": workbook_id, "sheet_name": "Nowhere"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "Sheet not found")


# Refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "position"), [("SUM(1)", 0), ("=SUM(1", 6), ("=1+", 3), ("=A1 B1)", 6), ("=", 1), ("", 0), ('="a', 3)]
)
def test_what_is_no_formula_is_refused_where_it_breaks(shared_owner: Member, formula: str, position: int) -> None:
    faults = refused(shared_owner.post(EVALUATE, json={"formula": formula}), 400, "Invalid formula", "VALIDATION_ERROR")
    assert faults[0]["loc"] == ["body", "formula"]
    assert faults[0]["message"].endswith(f"(at {position})")


@pytest.mark.parametrize("formula", ["=WEBSERVICE(A1)", "=IFERROR(RTD(1),0)", "=CUBEVALUE(1)", "=SUMMIFS(1)"])
def test_an_unsupported_function_is_refused_before_evaluation(shared_owner: Member, formula: str) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": formula})
    refused(answer, 400, "Unsupported function", "VALIDATION_ERROR")


def test_a_misspelt_function_gets_a_suggestion(shared_owner: Member) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": "=SUMIFFS(A1:A2,A1:A2,1)"})
    faults = refused(answer, 400, "Unsupported function", "VALIDATION_ERROR")
    assert any("SUMIFS" in fault["message"] for fault in faults)


@pytest.mark.parametrize(
    ("formula", "context", "named"),
    [("=A1+B2", {"A1": 1}, "B2"), ("=Rate*2", {}, "Rate"), ("=SUM(A1:A3)", {}, "A1:A3")],
)
def test_missing_cells_are_named(shared_owner: Member, formula: str, context: dict[str, Any], named: str) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": formula, "context": context})
    (fault,) = refused(answer, 400, "Missing context", "VALIDATION_ERROR")
    assert fault["loc"] == ["body", "context"]
    assert named in fault["message"]


@pytest.mark.parametrize("context", [{"A1": {"a": 1}}, {"A1": [[1], [2, 3]]}, {"not a key!!": 1}, {"A1": "x" * 40_000}])
def test_a_value_that_no_cell_holds(shared_owner: Member, context: dict[str, Any]) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": "=A1", "context": context})
    assert answer.status_code in (400, 422)
    if answer.status_code == 422:
        assert answer.json()["errors"][0]["loc"] == ["body", "context"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"precision": 0}, "precision"),
        ({"precision": 16}, "precision"),
        ({"error_handling": "ignore"}, "error_handling"),
        ({"date_format": ""}, "date_format"),
        ({"date_format": "x" * 65}, "date_format"),
    ],
)
def test_options_out_of_their_range(shared_owner: Member, options: dict[str, Any], field: str) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": "=1", "options": options})
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "options", field])


# Limits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("=" + "1+" * 4_096 + "1", "8,192 characters"),
        ("=" + "ABS(" * 65 + "1" + ")" * 65, "64"),
        ("=SUM(" + "1," * 255 + "1)", "255"),
    ],
)
def test_a_formula_past_excels_limits_is_none(shared_owner: Member, formula: str, message: str) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": formula})
    faults = refused(answer, 400, "Invalid formula", "VALIDATION_ERROR")
    assert message in faults[0]["message"]


def test_a_whole_sheet_without_a_cell_is_missing(shared_owner: Member) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": "=SUM(A1:XFD1048576)"})
    refused(answer, 400, "Missing context", "VALIDATION_ERROR")


@pytest.fixture(scope="module")
def hurried(stack: Stack) -> Iterator[Member]:
    """The owner of a tenant at an API where formulas have half a second and little memory."""
    with stack.another_api(CUSHION_EVALUATION_SECONDS="0.5", CUSHION_EVALUATION_MEMORY_MB="256") as url:
        yield register(url)


@pytest.fixture(scope="module")
def narrow(stack: Stack) -> Iterator[Member]:
    """The owner of a tenant at an API where formulas have little memory, and more time than it takes to use it up."""
    with stack.another_api(CUSHION_EVALUATION_SECONDS="60", CUSHION_EVALUATION_MEMORY_MB="256") as url:
        yield register(url)


def soon(who: Member, formula: str, value: Any) -> None:
    """Wait for the value: on a busy machine half a second may be too short for a formula behind a new child's start."""
    wait_until(lambda: who.post(EVALUATE, json={"formula": formula}).json().get("value") == value, what=formula)


ENDLESS = "=SUM(NETWORKDAYS(1,SEQUENCE(1000000),SEQUENCE(100000)))"
"""An hour's work in loops that never look at the time."""


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("=SEQUENCE(1000000,1000000)", "over the limit of 5,000,000"),
        ("=REDUCE(0,SEQUENCE(1000000),LAMBDA(a,b,a+SUM(SEQUENCE(1000))))", "longer than it may"),
        ("=LET(f,LAMBDA(s,n,IF(n<2,1,s(s,n-1)+s(s,n-2))),f(f,60))", "longer than it may"),
        (ENDLESS, "longer than it may"),
        ("=SUM(SORT(RANDARRAY(3000000)))", "longer than it may"),
        ("=SEQUENCE(4000000)", "than it may"),
    ],
)
def test_what_would_take_too_much(hurried: Member, formula: str, message: str) -> None:
    """It is refused soon, the process goes on unharmed, and its memory does not grow."""

    def is_refused() -> bool:
        started = time.monotonic()
        answer = hurried.post(EVALUATE, json={"formula": formula})
        assert time.monotonic() - started < 30
        return message in refused(answer, 422, "Evaluation error", "CALCULATION_ERROR")[0]["message"]

    wait_until(is_refused, what=message)  # a busy machine's time may be over first
    soon(hurried, "=1+1", 2)
    soon(hurried, "=SEQUENCE(2)", [[1], [2]])


def test_what_would_take_too_much_memory(narrow: Member) -> None:
    answer = narrow.post(EVALUATE, json={"formula": '=SUM(LEN(REPT("a",SEQUENCE(100000,1,32000,0))))'})
    faults = refused(answer, 422, "Evaluation error", "CALCULATION_ERROR")
    assert "more memory than it may" in faults[0]["message"]
    assert evaluated(narrow, "=SEQUENCE(2)")["value"] == [[1], [2]]


def test_others_are_served_while_formulas_take_their_time(hurried: Member) -> None:
    """More endless formulas than there are evaluators, and small ones and the health view in between."""
    url, headers = f"{hurried.http.base_url}{EVALUATE}", dict(hurried.http.headers)

    def endless(_: int) -> int:
        return httpx.post(url, json={"formula": ENDLESS}, headers=headers, timeout=60).status_code

    with ThreadPoolExecutor(4) as pool:
        waiting = pool.map(endless, range(4))
        slowest, end = 0.0, time.monotonic() + 1.0
        while time.monotonic() < end:
            started = time.monotonic()
            assert evaluated(hurried, "=1+1")["value"] == 2
            assert hurried.get("/health/live").status_code == 200
            slowest = max(slowest, time.monotonic() - started)
        assert list(waiting) == [422] * 4
    assert slowest < 1.0  # alone it takes a hundredth


def test_one_bad_formula_does_not_fail_its_batch(hurried: Member) -> None:
    formulas = [
        {"formula": formula} for formula in ("=1+1", ENDLESS, '=LEN(REPT("a",100))', "=SEQUENCE(1E6,1E6)", "=3")
    ]
    answer = hurried.post(BATCH, json={"formulas": formulas})
    assert answer.status_code == 200, answer.text
    items = answer.json()["results"]
    assert [item["value"] for item in items] == [2, None, 100, None, 3]
    assert [item["error"]["code"] for item in items if item["status"] == "error"] == ["LIMIT_EXCEEDED"] * 2


def test_an_answer_has_a_largest_size(shared_owner: Member) -> None:
    answer = shared_owner.post(EVALUATE, json={"formula": '=EXPAND("",1500,1,REPT("a",30000))'})
    faults = refused(answer, 422, "Evaluation error", "CALCULATION_ERROR")
    assert "larger than 33,554,432 bytes" in faults[0]["message"]


def test_a_formula_is_worth_the_same_on_either_way(shared_owner: Member) -> None:
    """Evaluated in the API's own process or, because of a function that may take long, in another."""
    for formula, options in (
        ("=1/0", {}),
        ("=1/0", {"error_handling": "null"}),
        ("=DATE(2024,1,31)+A1", {"date_format": "DD/MM/YYYY"}),
        ('=A1&"\u00e9\U0001f600"', {}),
        ("=A1/3", {"precision": 4}),
        ("={1,2;3,4}*A1", {"debug": True}),
    ):
        here = evaluated(shared_owner, formula, {"A1": 2}, **options)
        there = evaluated(shared_owner, f"=CHOOSE(1,{formula[1:]},SEQUENCE(1))", {"A1": 2}, **options)
        assert (here["value"], here["type"]) == (there["value"], there["type"])
        assert ("trace" in here) == ("trace" in there) == ("debug" in options)


def test_a_text_past_a_cells_length_is_an_error_value(shared_owner: Member) -> None:
    assert evaluated(shared_owner, '=REPT("a",1E9)')["value"] == "#VALUE!"


# Batches ------------------------------------------------------------------------------------------------------------


def test_a_batch_comes_back_in_order_with_its_ids(shared_owner: Member) -> None:
    formulas = [
        {"id": "double", "formula": "=A1*2"},
        {"formula": "=$a$1+B1", "context": {"A1": 10, "b1": 1}},
        {"id": "broken", "formula": "=SUM(1"},
        {"id": "unknown", "formula": "=NOSUCH(1)"},
        {"id": "missing", "formula": "=Z9"},
        {"id": "error", "formula": "=1/0"},
        {"id": "date", "formula": "=DATE(2024,1,1)"},
        {"id": "long", "formula": "=SEQUENCE(1E6,1E6)"},
        {"id": "bad", "formula": "=A1", "context": {"A1": {"a": 1}}},
    ]
    answer = shared_owner.post(BATCH, json={"formulas": formulas, "shared_context": {"$A$1": 4}})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["summary"] == {"total": 9, "succeeded": 4, "failed": 5}
    assert type(body["execution_time_ms"]) is int
    double, own, broken, unknown, missing, error, day, long, bad = body["results"]
    assert double == {"id": "double", "formula": "=A1*2", "value": 8, "type": "number", "status": "success"}
    assert own == {"id": None, "formula": "=$a$1+B1", "value": 11, "type": "number", "status": "success"}
    for item, code in (
        (broken, "SYNTAX_ERROR"),
        (unknown, "UNSUPPORTED_FUNCTION"),
        (missing, "MISSING_CONTEXT"),
        (long, "LIMIT_EXCEEDED"),
        (bad, "VALIDATION_ERROR"),
    ):
        assert (item["value"], item["type"], item["status"], item["error"]["code"]) == (None, "error", "error", code)
        assert item["error"]["message"]
    assert broken["error"]["position"] == 6
    assert unknown["error"]["position"] == 1
    assert "position" not in missing["error"]
    assert (error["value"], error["type"], error["status"]) == ("#DIV/0!", "error", "success")
    assert (day["value"], day["type"]) == ("2024-01-01", "date")


def test_a_thrown_error_fails_its_item_alone(shared_owner: Member) -> None:
    body = {"formulas": [{"formula": "=1/0"}, {"formula": "=1"}], "options": {"error_handling": "throw"}}
    first, second = shared_owner.post(BATCH, json=body).json()["results"]
    assert (first["status"], first["error"]["code"]) == ("error", "CALCULATION_ERROR")
    assert second["value"] == 1


def test_ten_thousand_formulas_are_a_batch_and_one_more_is_not(shared_owner: Member) -> None:
    formulas = [{"formula": f"=A1+{number}"} for number in range(10_000)]
    answer = shared_owner.post(BATCH, json={"formulas": formulas, "shared_context": {"A1": 1}})
    assert answer.status_code == 200
    assert answer.json()["results"][9_999]["value"] == 10_000
    answer = shared_owner.post(BATCH, json={"formulas": [*formulas, {"formula": "=1"}]})
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "formulas"])


def test_eight_megabytes_are_the_most(shared_owner: Member) -> None:
    body = b'{"formulas": [{"formula": "=1"}]' + b" " * 8_388_608 + b"}"
    answer = shared_owner.post(BATCH, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error_code"]) == (413, "PAYLOAD_TOO_LARGE")
    body = b'{"formulas": []' + b" " * 2_000_000 + b"}"
    assert shared_owner.post(BATCH, content=body, headers={"content-type": "application/json"}).status_code == 200


# What is counted and recorded ---------------------------------------------------------------------------------------


def test_the_month_of_a_tier_is_metered(stack: Stack) -> None:
    """A batch counts its formulas, a refused call counts nothing, and a viewer cannot use the month up."""
    with stack.another_api(CUSHION_DEFAULT_TIER="free", CUSHION_CALCULATIONS_PER_MONTH="5 10 20 -1") as url:
        owner = register(url)
        batch = {"formulas": [{"formula": "=1"}] * 4}
        assert owner.post(BATCH, json=batch).status_code == 200
        answer = owner.post(BATCH, json=batch)
        body = answer.json()
        assert (answer.status_code, body["detail"]) == (429, "Calculation quota exceeded")
        assert (body["error"], body["error_code"]) == ("rate_limit_exceeded", "RATE_LIMIT_EXCEEDED")
        assert 0 < int(answer.headers["retry-after"]) == body["retry_after"] <= 31 * 86_400
        viewer = owner.invite("viewer")
        assert viewer.post(EVALUATE, json={"formula": "=1"}).status_code == 403
        assert owner.post(EVALUATE, json={"formula": "=1"}).status_code == 200
        answer = owner.post(EVALUATE, json={"formula": "=1"})
        assert (answer.status_code, answer.json()["detail"]) == (429, "Calculation quota exceeded")
        assert "x-ratelimit-limit" in answer.headers


def test_the_evaluations_of_a_stretch_of_time_are_one_entry_of_each_caller_and_workbook(
    stack: Stack, owner: Member, tmp_path: Path
) -> None:
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as file:
        file.add_worksheet().write("A1", 1)
    key, book = owner.key("calculations:execute", "workbooks:read"), owner.uploaded(path)
    for _ in range(3):
        evaluated(owner, "=1")
        evaluated(key, "=1")
    owner.post(BATCH, json={"formulas": [{"formula": "=1"}, {"formula": "=2"}]})
    assert owner.post(EVALUATE, json={"formula": "=A1", "workbook_id": book["id"]}).status_code == 200
    entries = "/api/v1/admin/audit-logs?action=calculation.completed&page_size=100"

    def stored_steps() -> list[dict[str, Any]] | None:
        result: list[dict[str, Any]] = owner.get(entries).json()["items"]
        return result if sum(entry["details"]["calls"] for entry in result) == 8 else None

    size_and_hash = wait_until(stored_steps, what="the entries")
    groups: dict[tuple[Any, ...], list[int]] = {}
    for entry in size_and_hash:
        who = (entry["user_email"], entry["api_key_id"] is not None, entry["resource_id"], entry["resource_name"])
        sums = groups.setdefault(who, [0, 0])
        sums[0] += entry["details"]["calls"]
        sums[1] += entry["details"]["formulas"]
        assert entry["resource_type"] == "formula", "else alerts would look at the workbook"
        assert entry["ip_address"] == "127.0.0.1"
    assert groups == {
        (owner.email, False, None, None): [4, 5],
        (owner.email, True, None, None): [3, 3],
        (owner.email, False, book["id"], book["name"]): [1, 1],
    }
    assert len(size_and_hash) <= 6, "of at most two seconds"


def test_an_evaluation_with_its_own_context_asks_no_database(stack: Stack) -> None:
    """It is answered while PostgreSQL cannot be reached."""
    with stack.another_api() as url:
        member = register(url)
        evaluated(member, "=1")  # the tenant is known to the gate now
    with stack.another_api(CUSHION_DATABASE_CONNECTIONS="2") as url:
        for _ in range(3):
            answer = httpx.post(
                url + EVALUATE, json={"formula": "=A1", "context": {"A1": 1}}, headers=dict(member.http.headers)
            )
            assert answer.json()["value"] == 1
        assert stack.sql(
            "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query ILIKE '%%calculations%%'"
            " AND pid <> pg_backend_pid()"
        ) == [(0,)]
