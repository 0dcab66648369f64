"""The library face of Cushion.

Spreadsheets to portfolios to compliance results, and formulas, with no server.

    book = cushion.read("holdings.xlsx")
    portfolio = cushion.Portfolio.from_workbook(book)
    for result in cushion.run_suite(portfolio, "enhanced"):
        print(result.test_name, result.current_value, result.threshold_value, result.status)

    print(cushion.reconcile(tape, portfolio).summary)

    sale = cushion.Trade(trade_type="sell", cusip="12345ABC9", par_value=3_000_000, price=98.5)
    for row in cushion.simulate(portfolio, [sale]).results:
        print(row.test_name, row.current_value, row.projected_value, row.impact_direction)

    cushion.evaluate("=SUM(A1:A3)*rate", {"A1": 1, "A2": 2, "A3": 3, "rate": 0.5}).value

Names are loaded when they are first used, so that the import costs nothing. `import cushion` offers the same
ones, and goes wherever a program has a `core` of its own; `import core` is the same thing where it has none.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from threading import RLock
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
    from core.interpretation.interpret import interpret, interpreted
    from core.portfolio import Portfolio
    from core.portfolio.model.interpretation import Interpretation
    from core.portfolio.model.portfolio import Deal, Tranches
    from core.questions.ask import ask
    from core.recalc.book import Book, read
    from core.reconciliation.run import Reconciliation, reconcile
    from core.scenario.simulate import Simulation, Simulator, simulate, simulate_many
    from core.scenario.trades import Trade, TradeError
    from core.values import FormulaValue

__all__ = [
    "Book", "Deal", "Evaluation", "FormulaValue", "Graph", "GraphFault", "Interpretation", "Portfolio", "Program",
    "Reconciliation", "Results", "Sheet", "Simulation", "Simulator", "Subject", "TestResult", "Trade", "TradeError",
    "Tranches", "Workbook", "analyse", "ask", "compile", "compile_graph", "evaluate", "evaluate_batch", "interpret",
    "interpreted", "read", "reconcile", "run_suite", "simulate", "simulate_many",
]  # fmt: skip

__version__ = "0.1.0"

# A folder `core` without an __init__.py is where another's modules stay, though Python finds ours first.
__path__ += [
    folder
    for entry in sys.path
    if os.path.isdir(folder := os.path.join(os.path.abspath(entry), "core"))
    and not os.path.exists(os.path.join(folder, "__init__.py"))
]

# Two threads that load parts which need each other from different ends would find them half made.
_loading = RLock()

_HOMES = {
    "Book": "core.recalc.book",
    "Deal": "core.portfolio.model.portfolio",
    "Evaluation": "core.formula",
    "FormulaValue": "core.values",
    "Graph": "core.formula.blocks",
    "GraphFault": "core.formula.blocks",
    "Interpretation": "core.portfolio.model.interpretation",
    "Portfolio": "core.portfolio",
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
    "Tranches": "core.portfolio.model.portfolio",
    "Workbook": "core.grid.sheet",
    "analyse": "core.insights.analyst",
    "ask": "core.questions.ask",
    "compile": "core.formula",
    "compile_graph": "core.formula.blocks",
    "evaluate": "core.formula.evaluate",
    "evaluate_batch": "core.formula.evaluate",
    "interpret": "core.interpretation.interpret",
    "interpreted": "core.interpretation.interpret",
    "read": "core.recalc.book",
    "reconcile": "core.reconciliation.run",
    "run_suite": "core.compliance.run",
    "simulate": "core.scenario.simulate",
    "simulate_many": "core.scenario.simulate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    with _loading:
        value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
