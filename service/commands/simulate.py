"""The simulate command: what trades would do to every test, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from service.commands.compliance import read_day
from service.commands.limits import limited
from service.commands.output import Output, counted, emit
from service.commands.progress import busy
from service.commands.reading import (
    DayOption,
    DealOption,
    MappingOption,
    SuiteOption,
    chosen_suite,
    read_interpreted,
    read_rules,
    read_trades,
)
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.scenario.trades import Trade

EXIT_FAILS_ANEW = 1

# Heavy imports (NumPy, core) stand inside the command, so that `cushion --help` answers at once.


def simulate(  # noqa: PLR0913 - a command's options
    file: Path,
    /,
    *,
    trade: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    trades: Path | None = None,
    suite: SuiteOption = None,
    deal: DealOption = None,
    mapping: MappingOption = None,
    as_of: DayOption = None,
    fail_on_new: Annotated[bool, Parameter(negative=())] = False,
    output: Output | None = None,
) -> int:
    """Buy and sell on paper: print every test before and after trades.

    The suite's tests have the change of their cushions.

    The exit code is 0 when the trades could be made, also with tests that fail by them. With --fail-on-new it is 1 for
    such a test. It is 2 when a file cannot be read or a trade cannot be made. The JSON has file, suite, as_of, message,
    total_tests, new_failures, impact_summary, results, skipped and warnings. The last line counts a test as the same
    where its cushion stays at the decimals that are shown; the JSON counts the full figures.

    Parameters
    ----------
    file:
        The workbook with the loans, as `cushion compliance` takes it. It stays as it is.
    trade:
        A trade, such as "sell 3,000,000 CUSIP 12345ABC9 at 98.5" or "buy 2.5mm BORROWER Nova Inc at 99
        rating_agency_a=B2 spread=375". Also LOANX and ISIN; amounts may end in k, m, mm or bn. Without a price a sell
        is made at the holding's, a buy at 100. Given several times for several, which are made in their order.
    trades:
        A CSV of trades, whose header names their fields (trade_type, par_value, cusip, borrower_name, price, ...); they
        are made before those of --trade.
    fail_on_new:
        End with 1 when a test that did not fail before fails after the trades.
    """
    day = read_day(as_of)
    suite = chosen_suite(suite, deal)
    chosen, definition = read_rules(mapping, deal)
    with busy(f"Reading {file.name}"):
        from core.scenario.simulate import simulate as simulated
        from core.scenario.trades import TradeError

        trades_in_order = [*([] if trades is None else read_trades(trades)), *map(_trade, trade)]
        if not trades_in_order:
            raise Refused('no trades: add --trade "sell 2.5mm CUSIP ..." or --trades trades.csv')
        portfolio = read_interpreted(file, mapping=chosen, day=day, definition=definition)
        with limited(file):
            try:
                simulation = simulated(portfolio, trades_in_order, suite, definition=definition)
            except TradeError as error:
                raise Refused(str(error)) from error
    from service.commands.table import simulation_page

    title = f"{file.name}, {suite} suite, {counted(len(trades_in_order), 'trade')}"
    if simulation.before.as_of is not None:
        title += f", as of {simulation.before.as_of}"
    head = {"file": str(file), "suite": suite}
    emit(simulation_page(simulation, trades=len(trades_in_order), title=title, head=head), output or Output())
    return EXIT_FAILS_ANEW if fail_on_new and simulation.new_failures else 0


def _trade(text: str) -> Trade:
    """The trade of an option.

    Raises:
        Refused: it is none.
    """
    from core.scenario.written import WrittenError, trade_of_words

    try:
        return trade_of_words(text)
    except WrittenError as error:
        raise Refused(f"--trade {text[:200]!r}: {error}") from error
