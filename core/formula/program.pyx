"""A formula ready to be evaluated again and again, and what an evaluation answers with."""

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyFloat_FromString
from libc.math cimport fabs, fabsl, floor, log10, rintl
from libc.stdio cimport snprintf
from libc.stdlib cimport strtod

from functools import lru_cache

import numpy as np

from core.formula.machine cimport machine
from core.formula.context cimport ContextEnvironment, Slots, plain_environment
from core.formula.language.tree cimport Area, Cell, Name, Node
from core.formula.values.value cimport Array, Error

from core.formula.functions import families  # noqa: F401 - fills the catalogue
from core.formula.language.errors import EvaluationError, FormulaError
from core.formula.values.formats import format_value
from core.formula.language.parser import functions, references
from core.formula.values.value import Date, Locally
from core.formula.columns.named import placed_names
from core.formula.columns.vector import map_columns, no_clock, plan
from core.formula.suggest import parse_or_suggest
from core.frames.given import cell_value, column_of, listed, table_of
from core.frames.brief import value_shown
from core.values import from_serial

cdef extern from "float.h":
    double LDBL_EPSILON

ERROR_HANDLING = ("excel", "null", "throw")
cdef str _EXCEL = ERROR_HANDLING[0]
"""What becomes of an Excel error: its text as the value, a null, or an exception."""

DIGITS_MAX = 15
"""Significant digits of a number: what Excel keeps."""

DATE_FORMAT = "ISO8601"
"""How date results are written unless asked otherwise: YYYY-MM-DD, with Thh:mm:ss where there is a time."""

DATE_FORMAT_LENGTH_MAX = 100


@cython.no_gc
cdef class Evaluation:
    """What a formula came to.

    `value`: float, str, bool, None (a blank, or an error under "null") or a list of rows of these; dates and errors as
    text. `type`: number, string, boolean, error, date, array or blank. `raw`: the engine's own value
    (core.formula.values.value). `trace`: where asked for, {start, end, expression, value, type} of every sub-expression in
    the order in which they were computed.
    """

    @property
    def cell_references(self):
        """The cells, ranges and names that the formula mentions, in order, without `$`."""
        return references(self.tree, self.row, self.column)

    @property
    def functions_used(self):
        """The functions that the formula calls, in order."""
        return functions(self.tree)

    def __repr__(self):
        return f"Evaluation(value={value_shown(self.value)}, type={self.type!r}, formula={value_shown(self.formula)})"


cdef object _listed(column):
    """A column's values as a context's: masked values and NaN are blank."""
    return [value if isinstance(value, (str, Error, Date)) else cell_value(value) for value in listed(column)]


cdef double[23] _TENS  # the powers that a double holds exactly
cdef int _power
for _power in range(23):
    _TENS[_power] = float(10**_power)


cdef double _rounded(double number, int precision) noexcept:
    """A number at so many significant digits (1 to 15): what reading its text with so many would give."""
    cdef char[48] text
    cdef long double scaled, whole
    cdef double size = fabs(number), tens
    cdef int shift
    if size == 0:
        return number
    if 1e-7 < size < 1e22:
        shift = precision - 1 - <int> floor(log10(size))
        tens = _TENS[abs(shift)]
        scaled = size * <long double> tens if shift >= 0 else size / <long double> tens
        whole = rintl(scaled)
        # Where the error of one operation cannot reach a tie the digits are certain, and bringing them back is one
        # operation on two exact numbers. The text took longer than the rest of a small formula.
        if scaled >= _TENS[precision - 1] and fabsl(fabsl(scaled - whole) - 0.5) > 2 * LDBL_EPSILON * scaled:
            size = <double> whole / tens if shift >= 0 else <double> whole * tens
            return size if number > 0 else -size
    snprintf(text, 48, "%.*e", precision - 1, number)
    return strtod(text, NULL)


cdef enum:
    DIGITS_MAX_C = 15

assert DIGITS_MAX == DIGITS_MAX_C


def date_text(double serial, str date_format=DATE_FORMAT, bint date_1904=False):
    """A date serial as text; None where it is no date. `date_format`: ISO8601, strftime codes (with %), or Excel's.

    Raises:
        FormulaError: the format is too long or cannot be used.
    """
    moment = from_serial(serial, date_1904=date_1904)
    if moment is None:
        return None
    if date_format == "ISO8601":
        if 60 <= serial < 61 and not date_1904:  # the day that Excel has and the calendar has not
            return "1900-02-29" + date_text(serial + 1, date_format)[10:]
        if 0 <= serial < 1:
            return moment.strftime("%H:%M:%S")
        return moment.strftime("%Y-%m-%d" if moment.time().replace(microsecond=0) == _MIDNIGHT else "%Y-%m-%dT%H:%M:%S")
    if len(date_format) > DATE_FORMAT_LENGTH_MAX:
        raise FormulaError(f"a date format may have {DATE_FORMAT_LENGTH_MAX} characters")
    if "%" in date_format:
        try:
            return moment.strftime(date_format)
        except ValueError:
            raise FormulaError(f"{date_format!r} is not a date format") from None
    text = format_value(serial, date_format, date_1904)
    if isinstance(text, Error):
        raise FormulaError(f"{date_format!r} is not a date format")
    return text


cdef object _MIDNIGHT = from_serial(1.0).time()


@cython.no_gc
cdef class Program:
    """A compiled formula, written as if it stood in A1. Made by `cushion.compile`; may be shared between threads."""

    def __init__(self, str formula, Py_ssize_t row=0, Py_ssize_t column=0):
        tree = parse_or_suggest(formula, row, column)
        self.compiled = machine.compile_tree(tree, formula, True, False, True, None)
        self.slots = Slots(self.compiled)
        self.bare = isinstance(tree, (Cell, Area, Name))

    def __repr__(self):
        return f"Program({value_shown(self.compiled.text)})"

    @property
    def formula(self):
        """The text."""
        return self.compiled.text

    @property
    def tree(self):
        """The parsed formula."""
        return self.compiled.tree

    @property
    def volatile(self):
        """Whether it calls RAND, NOW and the like."""
        return self.compiled.volatile

    def evaluate(
        self, context=None, *, str error_handling="excel", int precision=15, str date_format="ISO8601",
        ContextEnvironment environment=None, bint debug=False,
    ):
        """The Evaluation for a context: a dict of values by cell, range or name (see `ContextEnvironment`).

        `environment` in place of a context brings what stands behind it, the clock and the source of chance with it.
        `error_handling`: "excel" (an error's text is the value), "null" (None) or "throw". `precision`: significant
        digits of numbers, 1 to 15.

        Raises:
            MissingContext: cells or names were not given.
            ContextError: a key or a value of the context is none.
            LimitExceeded: it would take more memory or time than it may.
            EvaluationError: the value is an error, under "throw".
        """
        cdef Evaluation evaluation
        if environment is None:
            environment = plain_environment(context)
        if environment.locale is None:
            environment.fill(self.slots)
            value = self.compiled.value(environment)
        else:
            with Locally(environment.locale):
                environment.fill(self.slots)
                value = self.compiled.value(environment)
        evaluation = self.finished(value, environment, error_handling, precision, date_format)
        if debug:
            evaluation.trace = self.trace(environment, precision, date_format)
        return evaluation

    def evaluate_filled(
        self, list texts, list rows, list columns, ContextEnvironment environment not None, *,
        str error_handling="excel", int precision=15, str date_format="ISO8601",
    ):
        """An Evaluation (or FormulaError) for each of some texts that are this formula, filled to other cells.

        The Program was made of one of them with the cell that `shape.anchored_shapes` gives it; `rows` and `columns`
        are the cells of all.
        """
        cdef Evaluation evaluation
        cdef Py_ssize_t place
        cdef list found = []
        try:
            for place in range(len(texts)):
                try:
                    if environment.locale is None:
                        environment.fill_at(self.slots, rows[place], columns[place])
                        value = self.compiled.value(environment)
                    else:
                        with Locally(environment.locale):
                            environment.fill_at(self.slots, rows[place], columns[place])
                            value = self.compiled.value(environment)
                    evaluation = self.finished(value, environment, error_handling, precision, date_format)
                except FormulaError as error:
                    found.append(error)
                    continue
                evaluation.formula, evaluation.row, evaluation.column = texts[place], rows[place], columns[place]
                found.append(evaluation)
        finally:
            environment.row = environment.column = 0
        return found

    cdef Evaluation finished(
        self, object value, ContextEnvironment environment, str error_handling, int precision, str date_format
    ):
        """The answer that a value is."""
        cdef Evaluation evaluation = Evaluation.__new__(Evaluation)
        if value is None and not self.bare:
            value = 0.0
        evaluation.formula, evaluation.tree, evaluation.raw = self.compiled.text, self.compiled.tree, value
        if PyFloat_CheckExact(value) and 1 <= precision <= DIGITS_MAX_C and (
            error_handling is _EXCEL or error_handling in ERROR_HANDLING
        ):
            evaluation.type = "number"
            evaluation.value = _rounded(PyFloat_AS_DOUBLE(value), precision)
            return evaluation
        _check_options(error_handling, precision)
        if error_handling == "throw":
            self.refuse_errors(value, environment)
        evaluation.value, evaluation.type = presented(
            value, error_handling, precision, date_format, environment.date_1904, self.bare
        )
        return evaluation

    def refuse_errors(self, value, ContextEnvironment environment):
        """Raise an EvaluationError for the first error of a value, with the sub-expression that it comes from."""
        cells = value.cells() if isinstance(value, Array) else [value]
        for cell in cells:
            if isinstance(cell, Error):
                start, end = self.origin(cell, environment)
                raise EvaluationError(cell.text, self.compiled.text[start:end] or self.compiled.text, start)

    def origin(self, error, ContextEnvironment environment):
        """The span of the first sub-expression with this error as its value."""
        for start, end, value in self.record(environment):
            if value is error or (isinstance(value, Array) and error in (<Array> value).cells()):
                return start, end
        return 0, len(self.compiled.text)

    def record(self, ContextEnvironment environment):
        """[(start, end, value), ...]: run once more, with a note of every step."""
        cdef list record = []
        traced = machine.compile_tree(self.compiled.tree, self.compiled.text, True, False, True, record)
        with Locally(environment.locale):
            environment.fill_at(Slots(traced), environment.row, environment.column)
            traced.value(environment)
        return record

    def trace(self, ContextEnvironment environment, int precision, str date_format):
        """The steps of an evaluation as an Evaluation shows them."""
        steps = []
        for start, end, value in self.record(environment)[:TRACE_MAX]:
            shown, kind = presented(value, "excel", precision, date_format, environment.date_1904, True)
            steps.append(
                {"start": start, "end": end, "expression": self.compiled.text[start:end], "value": shown, "type": kind}
            )
        return steps

    def map(self, columns, *, clock=None):
        """The formula, written for row 1, filled down beside whole columns: `map({"A": a, "B": b})` for =A1*B1.

        `columns`: by letter or by name (`map({"Par": a, "Rate": b})` for =Par*Rate; [Par] is the whole column), NumPy
        arrays (numbers, strings, booleans, datetime64), masked arrays (masked is blank), lists or Series, all equally
        long; or a frame of pandas, polars, pyarrow or DuckDB. The result is an array: float64, booleans, or objects.
        `clock` is asked for the moment by TODAY and NOW, and for the year of a text such as 5-Jul.

        Raises:
            ContextError: there is no clock where one is asked.
            MissingContext: the formula reads columns or names that are not given.
            FormulaError: it reads another sheet or whole rows, or two names differ by case alone.
            ValueError: the columns differ in length.
        """
        columns = {
            name: column if isinstance(column, (list, tuple, np.ndarray)) else column_of(name, column)
            for name, column in table_of(columns, "columns").items()
        }
        rows = {len(column) for column in columns.values()}
        if len(rows) > 1:
            raise ValueError("the columns differ in length")
        tree, letters = placed_names(self.compiled.tree, tuple(columns), max(rows, default=0))
        columns = {letters[name]: column for name, column in columns.items()}
        columnwise = _planned(tree, self.compiled.text)
        found = None if columnwise is None else map_columns(columnwise, columns, None, clock or no_clock)
        return self.mapped(tree, columns, clock) if found is None else found

    def mapped(self, Node tree, columns, clock):
        """`map` cell by cell, for what does not run as columns."""
        program = machine.compile_tree(tree, self.compiled.text, True, False, False, None)
        rows = max([len(column) for column in columns.values()], default=0)
        place = ContextEnvironment({
            f"{name}{row + 1}": value
            for name, column in columns.items() for row, value in enumerate(_listed(column))
        }, clock=clock)
        found = np.empty(rows, object)
        for place.row in range(rows):
            value = program.run(place)
            value = value.at(0, 0) if isinstance(value, Array) else value
            found[place.row] = (<Error> value).text if isinstance(value, Error) else value
        kinds = {type(value) for value in found}
        return found.astype(np.float64) if kinds <= {float, Date} else found.astype(bool) if kinds == {bool} else found


@lru_cache(maxsize=64)
def _planned(Node tree, str text):
    """The plan of a formula that is mapped again and again."""
    return plan(tree, text=text)


TRACE_MAX = 10_000
"""Steps that a trace holds."""


cdef object _check_options(str error_handling, int precision):
    if error_handling not in ERROR_HANDLING:
        raise ValueError(f"error_handling is one of {', '.join(ERROR_HANDLING)}, not {error_handling!r}")
    if not 1 <= precision <= DIGITS_MAX_C:
        raise ValueError(f"precision is 1 to {DIGITS_MAX}, not {precision}")


def shown(value, bint date_1904=False):
    """(value, type) of a cell as an answer shows it: dates as ISO text, errors as theirs."""
    return presented(value, "excel", DIGITS_MAX, DATE_FORMAT, date_1904, True)


def presented(value, str error_handling, int precision, str date_format, bint date_1904, bint blanks):
    """(value, type) as a caller sees an engine's value. `blanks`: a blank in an array is None, not 0."""
    if PyFloat_CheckExact(value):
        return _rounded(PyFloat_AS_DOUBLE(value), precision), "number"
    if isinstance(value, str):
        return value, "string"
    if isinstance(value, bool):
        return value, "boolean"
    if value is None:
        return None, "blank"
    if isinstance(value, Error):
        return (None if error_handling == "null" else (<Error> value).text), "error"
    if isinstance(value, Date):
        text = date_text(value, date_format, date_1904)
        return (_rounded(value, precision), "number") if text is None else (text, "date")
    if isinstance(value, Array):
        rows = [
            [
                0.0 if cell is None and not blanks
                else presented(cell, error_handling, precision, date_format, date_1904, blanks)[0]
                for cell in row
            ]
            for row in value.grid()
        ]
        return rows, "array"
    return str(value), "string"
