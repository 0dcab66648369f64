"""What a program asks of the place where it runs: cells, names, the time, and how much it may spend."""

from time import monotonic

from core.formula.language.errors import ContextError, FormulaError, LimitExceeded
from core.formula.values.value cimport Array, Reference
from core.formula.values.value import NAME

CELLS_MAX = 5_000_000
"""Values that one computed array may hold."""

cdef long WORK_STEP = 10_000


cdef class Environment:
    """A place without any cell: what a context or a book extends.

    `sheet`, `row` and `column` are the formula's own cell (0-based; sheet None where there is only one).
    `slots` are the values that a program compiled with slots reads by place; `depth` is how deep its calls of lambdas
    stand at the moment. `locale` is that of texts with dates and numbers, None for en-US. `deadline` is a
    time.monotonic() moment. `indexes` keeps what was built over ranges (by reference and kind of question) while their
    cells stand still; None where nothing may be kept. While `calculating`, a cell may have to wait for others, so
    nothing is read that is not needed. Not shared between threads.
    """

    def __init__(self, *, double deadline=1e300, bint date_1904=False):
        self.sheet = None
        self.row = 0
        self.column = 0
        self.date_1904 = date_1904
        self.locale = None
        self.deadline = deadline
        self.work = 0
        self.indexes = None
        self.slots = None
        self.depth = 0
        self.calculating = False

    cpdef object cell(self, str sheet, Py_ssize_t row, Py_ssize_t column):
        """The value of one cell; REF for a sheet that is not there; None outside the used cells."""
        return None

    cpdef Array array(self, Reference reference):
        """The values of one area (`more` is ignored), with `reference` set. Whole columns and rows end with the used
        cells of their sheet, at least one row and column. Raises Failure(REF) for an unknown sheet, LimitExceeded."""
        self.spend(reference.rows * reference.columns)
        return Array(reference.rows, reference.columns, [None] * (reference.rows * reference.columns), reference=reference)

    cpdef object name(self, str sheet, str name):
        """What a defined name means: a value, Array, Reference or Lambda; NAME where it is unknown."""
        return NAME

    def structured(self, node):
        """The Reference of a `tree.Structured` node. Raises Failure(REF)."""
        return NAME

    def spill(self, sheet, row, column):
        """The Reference of what spilled from a cell (A1#); REF where nothing did."""
        return None

    def formula(self, sheet, row, column):
        """The formula text of a cell with its '='; None where it has none."""
        return None

    def is_formula(self, sheet, row, column):
        """Whether a cell has a formula."""
        return self.formula(sheet, row, column) is not None

    def sheets(self):
        """The names of the sheets, in order."""
        return ["Sheet1"]

    def used(self, sheet):
        """(rows, columns) that the sheet's cells reach."""
        return (1, 1)

    def hidden(self, sheet, row):
        """None, or "manual" / "filter" for a row that is hidden so."""
        return None

    def number_format(self, sheet, row, column):
        """The format code of a cell."""
        return "General"

    def pivot(self, reference):
        """The pivot table (a `core.grid.pivot.Pivot`) that one of a reference's cells is of, the last of several; None
        where there is none. Raises ContextError where nobody knows."""
        return None

    def pivot_value(self, pivot, row, column):
        """The value of a cell of a pivot table, as it was saved."""
        return None

    def moment(self):
        """Now, as a datetime without zone (TODAY, NOW)."""
        raise FormulaError("the formula asks for the time, and there is no clock here")

    def year(self, is_cell=False):
        """The year of a date that a text names without one ("5-Jul"); None where such texts are no dates.

        `is_cell`: the text is a cell's that a criterion looks at; without a clock it is no date. Raises ContextError
        for other texts where there is no clock.
        """
        try:
            return self.moment().year
        except FormulaError:
            if is_cell:
                return None
            raise ContextError("the formula reads a date without a year, and no clock was given") from None

    def random(self):
        """A float in [0, 1) (RAND and its family)."""
        raise FormulaError("the formula asks for a random number, and there is no source of them here")

    def call(self, function, arguments):
        """Return the value of a Lambda called with values, Arrays or References; an Error where they do not fit it."""
        return function.body.call(self, function, arguments)

    cpdef int spend(self, long cells) except -1:
        """Account for an array that is about to be made, or for steps of work.

        Raises:
            LimitExceeded: the array is larger than CELLS_MAX, or the deadline has passed.
        """
        if cells > CELLS_MAX:
            raise LimitExceeded(f"an array of {cells:,} cells is over the limit of {CELLS_MAX:,}")
        self.work += cells + 1
        if self.work >= WORK_STEP:
            self.work = 0
            if monotonic() > self.deadline:
                raise LimitExceeded("the evaluation took longer than it may")
        return 0
