"""The library face of Cushion: spreadsheets to portfolios to compliance results, and formulas, with no server.

    book = core.read("holdings.xlsx")
    portfolio = core.Portfolio.from_workbook(book)
    for result in core.run_suite(portfolio, "enhanced"):
        print(result.test_name, result.current_value, result.threshold_value, result.status)

    print(core.reconcile(tape, portfolio).summary)

    sale = core.Trade(trade_type="sell", cusip="12345ABC9", par_value=3_000_000, price=98.5)
    for row in core.simulate(portfolio, [sale]).results:
        print(row.test_name, row.current_value, row.projected_value, row.impact_direction)

    core.evaluate("=SUM(A1:A3)*rate", {"A1": 1, "A2": 2, "A3": 3, "rate": 0.5}).value

Names are loaded when they are first used, so that `import core` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.compliance.result import Results, TestResult
    from core.compliance.run import run_suite
    from core.formula import Evaluation, Program, compile  # noqa: A004 - the face of the library
    from core.formula.blocks import Graph, GraphFault, compile_graph
    from core.formula.evaluate import evaluate, evaluate_batch
    from core.grid.sheet import Sheet, Workbook
    from core.insights.analyst import analyse
    from core.insights.subject import Subject
    from core.portfolio.portfolio import Deal, Portfolio, Tranches
    from core.questions.ask import ask
    from core.recalc.book import Book, read
    from core.reconciliation.run import Reconciliation, reconcile
    from core.scenario.simulate import Simulation, Simulator, simulate, simulate_many
    from core.scenario.trades import Trade, TradeError

__all__ = [
    "Book", "Deal", "Evaluation", "Graph", "GraphFault", "Portfolio", "Program", "Reconciliation", "Results", "Sheet",
    "Simulation", "Simulator", "Subject", "TestResult", "Trade", "TradeError", "Tranches", "Workbook", "analyse", "ask",
    "compile", "compile_graph", "evaluate", "evaluate_batch", "read", "reconcile", "run_suite", "simulate",
    "simulate_many",
]  # fmt: skip

__version__ = "0.1.0"

_HOMES = {
    "Book": "core.recalc.book",
    "Deal": "core.portfolio.portfolio",
    "Evaluation": "core.formula",
    "Graph": "core.formula.blocks",
    "GraphFault": "core.formula.blocks",
    "Portfolio": "core.portfolio.portfolio",
    "Program": "core.formula",
    "Reconciliation": "core.reconciliation.run",
    "Results": "core.compliance.result",
    "Sheet": "core.grid.sheet",
    "Simulation": "core.scenario.simulate",
    "Simulator": "core.scenario.simulate",
    "Subject": "core.insights.subject",
    "TestResult": "core.compliance.result",
    "Trade": "core.scenario.trades",
    "TradeError": "core.scenario.trades",
    "Tranches": "core.portfolio.portfolio",
    "Workbook": "core.grid.sheet",
    "analyse": "core.insights.analyst",
    "ask": "core.questions.ask",
    "compile": "core.formula",
    "compile_graph": "core.formula.blocks",
    "evaluate": "core.formula.evaluate",
    "evaluate_batch": "core.formula.evaluate",
    "read": "core.recalc.book",
    "reconcile": "core.reconciliation.run",
    "run_suite": "core.compliance.run",
    "simulate": "core.scenario.simulate",
    "simulate_many": "core.scenario.simulate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
