"""Load every compiled kernel and see that it calculates.

Called by the build and by a process before it is ready.
"""

from __future__ import annotations

_warm = False


class KernelError(RuntimeError):
    """A compiled kernel is missing or gives a wrong answer.

    The build does not fit this machine or this source.
    """


def warm() -> None:
    """Run the enhanced suite over three loans and a formula over three cells, and check figures worked out by hand.

    It also builds the index that the first misspelt function would wait for.

    Raises:
        KernelError: a kernel cannot be loaded or miscalculates.
    """
    global _warm
    if _warm:
        return
    try:
        from core.compliance.run import run_suite
        from core.files import read  # noqa: F401 - loads the scanner
        from core.formula import did_you_mean
        from core.formula.blocks import TEMPLATES, check
        from core.formula.evaluate import evaluate
        from core.portfolio import Portfolio
    except ImportError as error:
        raise KernelError(f"{error}; compile the kernels: make setup") from error
    portfolio = Portfolio.from_columns(
        {
            "borrower_name": ["Acme Corp.", "ACME CORP", "Beta LLC"],
            "par_value": [3_000_000.0, 1_000_000.0, 4_000_000.0],
            "spread": [300.0, 300.0, 500.0],
        }
    )
    values = {result.test_id: result.current_value for result in run_suite(portfolio, "enhanced")}
    if abs(values.get("single_obligor_concentration", 0.0) - 50.0) > 1e-9 or abs(values.get("was", 0.0) - 4.0) > 1e-9:
        raise KernelError(f"the kernels miscalculate: {values}")
    answer = evaluate("=SUM(A1:A3)*rate", {"A1": 1, "A2": 2, "A3": 3, "rate": 0.5}).value
    if answer != 3.0:
        raise KernelError(f"the formula engine miscalculates: {answer}")
    if check(TEMPLATES["ratio"].graph).formula is None:
        raise KernelError("a formula of blocks does not compile")
    did_you_mean("SUMIFFS")
    _warm = True


def warm_calculations() -> None:
    """Load what long calculations need, those parts too that they load late.

    A tiny portfolio goes through each.
    """
    from core.compliance.run import run_suite
    from core.deals.movements import movements  # noqa: F401 - these load a reconciliation
    from core.deals.tie_out import tie_out
    from core.definition import parse
    from core.insights.analyst import analyse
    from core.insights.subject import Subject
    from core.portfolio import Portfolio
    from core.questions.ask import ask
    from core.scenario.optimize import Constraints, optimize
    from core.scenario.simulate import Simulator
    from core.scenario.trades import Trade

    warm()
    loans = {
        "cusip": ["12345ABC1", "12345ABC2"],
        "borrower_name": ["Acme Corp.", "Beta LLC"],
        "par_value": [3_000_000.0, 1_000_000.0],
        "price": [99.0, 98.0],
        "spread": [300.0, 500.0],
    }
    portfolio = Portfolio.from_columns(loans)
    subject = Subject(name="Acme", portfolio=portfolio)
    share = {"id": "own", "name": "Own", "share": '=ISNUMBER(SEARCH("a",borrower_name))', "max": 100.0}
    definition = parse({"tests": [share]})
    run_suite(portfolio, "deal", definition=definition)
    tie_out(portfolio, definition)
    analyse([subject])
    ask("What is the total par?", [subject])
    offer = Trade(trade_type="buy", cusip="12345ABC3", borrower_name="Gamma", par_value=1e6, price=97.0, spread=600.0)
    simulator = Simulator(portfolio, "enhanced", details=False)
    optimize(simulator, "was", [offer], Constraints(tests="free"), seconds=1.0)


def is_warm() -> bool:
    """Return whether `warm` has succeeded in this process."""
    return _warm


if __name__ == "__main__":
    warm()
