"""The columnar evaluator: a formula that is filled down runs as whole chunks of rows over registers.

`plan` turns a tree into a `Plan`, a flat list of instructions over registers (three at most in, one out). `Plan.run`
walks down a span of rows in chunks that stay in the processor's cache and does one instruction for a whole chunk, most
of them without the GIL. A chunk that holds only numbers takes a plain vectorised loop; any other goes row by row over
the kinds. A formula that reads its own column above runs in chunks no longer than its nearest such distance, and sees
what it wrote.
"""

cimport cython
from cpython.float cimport PyFloat_CheckExact
from cpython.object cimport PyObject
from libc.float cimport DBL_MIN
from libc.math cimport INFINITY, copysign, fabs, isfinite, pow, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcmp, memcpy, memset

from datetime import date
from functools import partial

import numpy as np

from core.formula.values.coerce cimport add, compare, compare_numbers, power, subtract, to_logical, to_number, to_text
from core.formula.ranges.environment cimport Environment
from core.formula.ranges.reduce cimport round_down, round_half_away, round_up, whole_below
from core.formula.language.tree cimport (
    Area, ArrayLiteral, Binary, Call, Cell, Empty, Literal, Name, Node, Spill, Structured, Unary,
)
from core.formula.values.value cimport Array, Error, TextPool, Reference, Span, cell_of, enter_environment
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT

from core.formula.functions import families  # noqa: F401 - fills the catalogue
from core.formula.columns.bodies import COLUMN_BODIES, NotColumnar
from core.formula.functions.catalogue import FUNCTIONS
from core.formula.functions.catalogue import Takes
from core.formula.ranges.environment import CELLS_MAX
from core.formula.language.errors import ContextError, FormulaError
from core.formula.machine.machine import call, compile
from core.formula.native.recipe import NO_LOOP, NUMBERS_AND_BLANKS, STEPS_MAX, LoopRecipe
from core.formula.native.steps import LoopStep
from core.native.loops import LOOPS, ROWS_MIN
from core.formula.values.value import DIV0, NA, NUM, OMITTED, VALUE, Date, Failure
from core.grid.address import COLUMNS_MAX, ROWS_MAX, column_index
from core.frames.given import cell_value, moments
from core.formula.values.days import SECONDS_PER_DAY, SERIAL_MAX
from core.threads import by_threads
from core.values import DAYS_BETWEEN_SYSTEMS, ERRORS, SERIAL_OF_1970, to_serial

cdef extern from "loops.h" nogil:
    bint loop_add(double *, const double *, const double *, Py_ssize_t)
    bint loop_subtract(double *, const double *, const double *, Py_ssize_t)
    bint loop_multiply(double *, const double *, const double *, Py_ssize_t)
    bint loop_divide(double *, const double *, const double *, Py_ssize_t)
    bint loop_equal(double *, const double *, const double *, Py_ssize_t)
    bint loop_unequal(double *, const double *, const double *, Py_ssize_t)
    bint loop_less(double *, const double *, const double *, Py_ssize_t)
    bint loop_greater(double *, const double *, const double *, Py_ssize_t)
    bint loop_less_equal(double *, const double *, const double *, Py_ssize_t)
    bint loop_greater_equal(double *, const double *, const double *, Py_ssize_t)
    void loop_select(double *, const double *, const double *, const double *, Py_ssize_t)
    int loop_hold(const double *, Py_ssize_t)
    void loop_sum(double *, const double *, Py_ssize_t)
    void loop_least(double *, const double *, Py_ssize_t)
    void loop_most(double *, const double *, Py_ssize_t)
    bint loop_uniform(const uint8_t *, Py_ssize_t)
    bint loop_either(const uint8_t *, uint8_t, uint8_t, Py_ssize_t)
    bint loop_finite(const double *, Py_ssize_t)
    bint loop_round(double *, const double *, const double *, double, double, Py_ssize_t)
    bint loop_round_up(double *, const double *, const double *, double, double, Py_ssize_t)
    bint loop_round_down(double *, const double *, const double *, double, double, Py_ssize_t)
    bint loop_whole(double *, const double *, Py_ssize_t)
    void loop_unmark()
    bint loop_marked()
    bint loop_marks()

MARKS_SUBNORMALS = bool(loop_marks())
"""Whether this processor marks that a subnormal number was read, see loops.h."""

CHUNK_ROWS = 4_096
"""Rows that one instruction takes at once: some registers of so many numbers fit into the first-level cache."""

COLUMN_CHUNK_ROWS = 32_768
"""The same for a plan that calls a body with whole columns, where each call has a price of its own: what the bodies make
is small enough to be taken from memory that the process has already."""

REGISTERS_BYTES_MAX = 64 << 20
"""Memory that such a plan's registers may take; with more registers its chunks are shorter."""

WINDOW_CELLS_MAX = 100_000
"""Cells of one window that moves with the row; a larger one is left to the one-value evaluator."""

cdef enum Opcode:
    ADD
    SUBTRACT
    MULTIPLY
    DIVIDE
    EQUAL
    UNEQUAL
    LESS
    GREATER
    LESS_EQUAL
    GREATER_EQUAL
    POWER
    JOIN
    FUNCTION  # of numbers: `extra` says which
    SELECT
    INSTEAD
    CHOOSE
    INVERT
    ASK  # the kind: `extra` says what
    AGGREGATE  # `c` says which
    CALL
    OWN_ROW

cdef enum Question:
    IS_NUMBER
    IS_BLANK
    IS_ERROR
    IS_ERROR_BUT_MISSING
    IS_MISSING
    IS_TEXT
    IS_NO_TEXT
    IS_LOGICAL

cdef enum NumberFunction:
    NEGATE
    PERCENT
    ABSOLUTE
    SIGN
    WHOLE
    ROOT
    ROUND
    ROUND_UP
    ROUND_DOWN
    YEAR
    MONTH
    DAY

cdef enum AggregateFunction:
    SUM
    AVERAGE
    COUNT
    COUNT_ANY
    MINIMUM
    MAXIMUM
    PRODUCT
    ALL_TRUE
    ANY_TRUE
    ODD_TRUE

cdef enum ArgumentSource:
    ROW_ARGUMENT
    FIXED_ARGUMENT
    GIVEN_ARGUMENT
    WINDOW_ARGUMENT

cdef enum Place:
    # Where a part of a plain cell formula stands: a range is cut to one cell but in RANGE and ANY_SHAPE. What a name
    # holds shows only when it runs: where one value is wanted an array is refused then; inside the expressions of a
    # RANGE nobody would notice.
    ONE_VALUE
    RANGE
    WITHIN_RANGE
    ANY_SHAPE

cdef enum Origin:
    FROM_CELL
    COMPUTED
    FROM_EITHER  # a number or an error, which count the same either way

DEPTH_MAX = 256
"""How deep operations of a plan may stand in one another."""


cdef class _Run
cdef class _Planner
cdef class Plan
cdef class _Fused

include "registers.pxi"
include "numbers.pxi"
include "choices.pxi"
include "aggregates.pxi"
include "calls.pxi"
include "run.pxi"
include "plan.pxi"
include "fused.pxi"
include "map.pxi"
