"""Every argument of what the library offers is tried with a thing of no use.

One sentence says what would be right.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest

import core
from core.checked import checked
from core.formula.language.errors import FormulaError
from core.recalc.errors import BookError
from tests.rows import every

PORTFOLIO = core.Portfolio.from_columns({"borrower_name": ["A"], "par_value": [1e6]})
BOOK = core.Book.from_columns({"S": {"A": [1.0, 2.0]}})
SALE = core.Trade(trade_type="sell", borrower_name="A", par_value=1.0)
SUBJECT = core.Subject(name="x", portfolio=PORTFOLIO)

OFFERED: list[tuple[Callable[..., Any], list[Any]]] = [
    (core.analyse, [[SUBJECT]]),
    (core.ask, ["How many loans?", [SUBJECT]]),
    (core.compile, ["=A1"]),
    (core.compile_graph, []),
    (core.evaluate, ["=A1", {"A1": 1}]),
    (core.evaluate_batch, [["=A1"], {"A1": 1}]),
    (core.read, [b"a,b\n1,2\n"]),
    (core.reconcile, [PORTFOLIO, PORTFOLIO]),
    (core.run_suite, [PORTFOLIO, "enhanced"]),
    (core.simulate, [PORTFOLIO, [SALE]]),
    (core.simulate_many, [PORTFOLIO, [[SALE]]]),
    (core.Simulator, [PORTFOLIO]),
    (core.Portfolio.from_columns, [{"borrower_name": ["A"], "par_value": [1.0]}]),
    (core.Portfolio.from_workbook, [BOOK]),
    (core.Book.from_columns, [{"S": {"A": [1]}}]),
    (BOOK.set, ["S", "A1", 1]),
    (BOOK.set_column, ["S", "A", [1]]),
    (BOOK.value, ["S", "A1"]),
    (BOOK.formula, ["S", "A1"]),
    (BOOK.recalculate, []),
    (BOOK.save, ["x.xlsx"]),
    (core.compile("=A1").map, [{"A": [1]}]),
]
UNASKED = {"clock", "random", "debug", "date_1904", "path"}
"""Which a call may never ask for, or which are of any type: a path of a book that no file is behind."""


@every("function,arguments", OFFERED, ids=lambda row: row[0].__qualname__)
def test_an_argument_of_no_use_is_refused_in_one_sentence(function: Callable[..., Any], arguments: list[Any]) -> None:
    result = inspect.signature(function)
    bound = result.bind_partial(*arguments)
    wrong = []
    for name, parameter in result.parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        call = inspect.BoundArguments(result, bound.arguments | {name: object()})  # type: ignore[arg-type]
        call.arguments = {item: call.arguments[item] for item in result.parameters if item in call.arguments}  # type: ignore[assignment]
        try:
            function(*call.args, **call.kwargs)
        except (TypeError, FormulaError, BookError) as refused:
            if (name not in str(refused) and not isinstance(refused, BookError)) or "\n" in str(refused):
                wrong.append(f"{name}: {refused}")
        except Exception as failed:
            wrong.append(f"{name}: {failed!r}")
        else:
            if name not in UNASKED:
                wrong.append(f"{name} is taken")
    assert wrong == []


def test_what_would_be_right_is_said() -> None:
    rows: list[tuple[Callable[[], Any], str]] = [
        (lambda: core.run_suite(BOOK), "portfolio is a Portfolio, not Book; Portfolio.from_workbook makes one"),
        (lambda: core.run_suite(PORTFOLIO, sute="x"), "'sute'; near: suite"),
        (lambda: core.run_suite(PORTFOLIO, test_ids="was"), "test_ids is a list of str or None, not 'was'"),
        (lambda: core.analyse([SUBJECT], stakeholder="boss"), "stakeholder is 'executive', .* not 'boss'"),
        (lambda: core.evaluate("=1", precision="x"), "precision is a whole number, not 'x'"),  # type: ignore[arg-type]
        (lambda: core.evaluate("=1", [1]), "context is a dict"),  # type: ignore[arg-type]
        (lambda: core.simulate(PORTFOLIO, [{"par": 1}]), "trades is a list of Trade, not list of dict"),  # type: ignore[list-item]
        (lambda: core.Subject(name="x", portfolio=BOOK), "portfolio is a Portfolio, not Book"),
        (lambda: core.ask("How many?", PORTFOLIO), "subjects is a list of Subject, not Portfolio"),  # type: ignore[arg-type]
        (lambda: core.simulate_many(PORTFOLIO, [SALE]), "scenarios is a list of lists, not list of Trade"),  # type: ignore[list-item]
        (lambda: core.reconcile(PORTFOLIO, PORTFOLIO, names=("a",)), "names is a tuple of str, str, not tuple"),  # type: ignore[arg-type]
        (lambda: core.compile(5), r"compile\(\): formula is a text, not int"),  # type: ignore[arg-type]
        (lambda: core.Book(5), "workbook is a Workbook, not int"),  # type: ignore[arg-type]
        (lambda: core.ask("How many?"), "missing a required argument: 'subjects'"),  # type: ignore[call-arg]
    ]
    with pytest.raises(ValueError, match="error_handling is one of excel, null, throw, not 'exel'"):
        core.evaluate("=1", error_handling="exel")
    with pytest.raises(KeyError, match="there is no column slice"):
        PORTFOLIO[0:2]  # type: ignore[misc]
    for call, message in rows:
        with pytest.raises(TypeError, match=message):
            call()


def test_what_stands_for_a_type_is_taken() -> None:
    @checked
    def some(
        number: float, list_: Sequence[int] | None = None, dict_: Mapping[str, int] | None = None,
        kind: Literal["a", 1] = "a",
    ) -> float:  # fmt: skip
        return number

    import numpy as np

    assert some(1) == some(np.float32(1)) == some(np.int64(1), np.zeros(2), {}, 1) == 1
    for wrong in ((True, "ab"), (1, None, []), (1, None, None, True)):
        with pytest.raises(TypeError, match="some"):
            some(*wrong)
