"""The compliance tests: suites as rows, measures, compiled kernels, and runs.

In: a `Portfolio`, a suite's name, limits, and perhaps a deal's definition. Out: `Results`, one `TestResult` a test.
Start with `suites` (a row for each test), `measures` (what a test divides), and `run.run_suite`.

- One fused pass over the columns (`kernels.pyx`) sums what most tests need. Small steps follow: the largest obligors,
  the CCC excess from the lowest price up, diversity, coverage by class. Nothing is compiled at run time.
- A definition changes which columns the pass reads (`conventions`, `ladders`): an agency's ladder, obligors of a family
  as one, countries of the home. So the kernels know no definition. `stated` puts a definition's amounts and corrections
  into the portfolio first, once.
- An atom of a share's formula that reads a field of few values is evaluated once for each value. A blank is the third
  value of its logic. A loan that the formula cannot decide is in the figure's coverage and not in the figure.
- Where masked ratings may be anything between two, the run is made three times. A test that the ends decide
  differently is skipped.
- `matching` sets a file's printed figures beside a run's tests, one to one, by what they are about. Of two figures
  for one subject neither is used. `agreement` compares: numerators and denominators to the cent, else a value to half
  a unit of its last printed digit. `published` is stricter and takes a printed limit only where unit and side leave
  no doubt.
- A small portfolio's `TestResult` builds its message and details when somebody reads them (`result`), so it is a
  dataclass and not a Struct.
"""
