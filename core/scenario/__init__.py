"""What-if trades: every test before and after buys and sells.

In: a portfolio, a suite and trades. Out: both results of each test, and what was assumed. Start with `trades`,
`holdings` (the change of rows) and `simulate`.

- A small portfolio is copied and run again. For a large one `after` takes the touched loans' old sums off and adds
  the new ones; every loan of a touched obligor counts as touched. `base` keeps what is ranked in order.
- The measures are the same code: a pool after trades is a `Pool` whose sums come from elsewhere.
- A full pass is made where a rule ranks loans, affiliates are known by name, or a bought loan brings a column. It is
  also made where so little is left of a sum that rounding would show.
- `optimize` proposes trades by a mixed-integer program, exact for quotients of sums and a tangent for what bends. The
  simulation has the last word. HiGHS releases the interpreter, so it runs in a thread.
"""
