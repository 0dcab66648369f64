"""Runs a formula for one cell: its tree compiled to operations that call each other, with values as they are.

An operation answers three questions. `run`: the value, a reference read (one cell to its value, more to an Array).
`refer`: the Reference where the operation names cells, else the value. `supply`: what a function that takes ranges
gets, cells always as an Array with its `reference`. None of them raises for an Excel error: an Error is a value.

In a cell formula of a file from before dynamic arrays (`arrays=False`) a reference of several cells that stands where
one value is expected is cut with the formula's own row or column. That is decided here, while compiling: such a place
gets an `_Intersect`. Arrays that are no references are worked through element by element in both modes.
"""

cimport cython
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject
from libc.math cimport fabs, isfinite

from core.formula.values.coerce cimport add, compare, equal, power, subtract, to_logical, to_number, to_text
from core.formula.ranges.environment cimport Environment
from core.formula.language.tree cimport (
    Area, ArrayLiteral, Binary, Call, Cell, Empty, Invoke, Literal, Name, Node, Spill, Structured, Unary,
)
from core.formula.values.value cimport (
    ERROR_CALC, ERROR_DIV0, ERROR_NA, ERROR_NAME, ERROR_NULL, ERROR_NUM, ERROR_REF, ERROR_VALUE, OMITTED_VALUE, Array,
    Error, Lambda, Omitted, Reference, enter_environment,
)

from core.grid.address cimport SHEET_COLUMNS, SHEET_ROWS

from core.formula.functions.catalogue import FUNCTIONS, Takes
from core.formula.language.errors import BodyFault, FormulaError, LimitExceeded, SyntaxFault, UnsupportedFunction
from core.formula.suggest import did_you_mean
from core.formula.values.value import Date as _DateClass
from core.formula.values.value import Failure

cdef extern from "float.h":
    double DBL_MIN

TEXT_LENGTH_MAX = 32_767
"""Characters of a text value; a longer one is #VALUE!."""

DEPTH_MAX = 12_000
"""How deep operations may stand in one another while lambdas call lambdas; deeper is #NUM!. A factorial by recursion
reaches about 2,000."""

cdef enum:
    TEXT_MAX = 32_767
    SLOTS_OF_AN_AREA_MAX = 256

cdef long _DEPTH_MAX = DEPTH_MAX
cdef object Date = _DateClass

# The kinds of arguments as numbers; those up to ANY are lifted over arrays.
cdef enum:
    K_NUMBER
    K_INTEGER
    K_TEXT
    K_LOGICAL
    K_VALUE
    K_ANY
    K_RANGE
    K_TABLE  # RANGE of which the body reads a part
    K_ARRAY
    K_VECTOR  # ARRAY of which the body reads a part
    K_REFERENCE
    K_OPERAND
    K_LAMBDA

cdef dict _KINDS = {
    Takes.NUMBER: K_NUMBER, Takes.INTEGER: K_INTEGER, Takes.TEXT: K_TEXT, Takes.LOGICAL: K_LOGICAL, Takes.VALUE: K_VALUE,
    Takes.ANY: K_ANY, Takes.RANGE: K_RANGE, Takes.ARRAY: K_ARRAY, Takes.REFERENCE: K_REFERENCE, Takes.OPERAND: K_OPERAND,
    Takes.LAMBDA: K_LAMBDA,
}
assert len(_KINDS) == len(Takes)
cdef dict _PARTLY = {K_RANGE: K_TABLE, K_ARRAY: K_VECTOR}

cdef enum:
    ADD
    SUBTRACT
    MULTIPLY
    DIVIDE
    POWER

cdef enum:
    EQUAL
    UNEQUAL
    LESS
    GREATER
    AT_MOST
    AT_LEAST

cdef dict _ARITHMETIC = {"+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "^": POWER}
cdef dict _COMPARISON = {"=": EQUAL, "<>": UNEQUAL, "<": LESS, ">": GREATER, "<=": AT_MOST, ">=": AT_LEAST}


include "values.pxi"
include "references.pxi"
include "operators.pxi"
include "calls.pxi"
include "forms.pxi"
include "lambdas.pxi"
include "compiler.pxi"


cdef Environment _NOWHERE = Environment()


@cython.no_gc
cdef class CompiledTree:
    """A compiled formula. It holds no values and may run in any environment, at any cell.

    `functions`: the names that it calls, in order of appearance; `unknown`: (name, position) of calls that are no
    functions of the catalogue; `volatile`: it calls RAND, NOW and the like;
    `positional`: what it gives depends on its own cell beyond its relative references (ROW()); `slots`: what `environment.slots` must
    hold, a tree.Cell for cells and a string for names, in order (empty unless asked for), `needs`: the slot of each
    cell and name and the tuple of slots of each area that the formula mentions.
    """

    def run(self, Environment environment):
        """The value of a cell with this formula: blank is 0, a 1 x 1 Array its value; else value or Array.

        Raises:
            FormulaError: LimitExceeded, or what the environment says (MissingContext).
        """
        value = self.value(environment)
        if value is None:
            return 0.0
        if isinstance(value, Array) and None in (<Array> value).cells():
            cells = [0.0 if cell is None else cell for cell in (<Array> value).cells()]
            return _array((<Array> value).rows, (<Array> value).columns, cells)
        return value

    cpdef object value(self, Environment environment):
        """As `run`, blanks as None."""
        cdef object value
        cdef PyObject *before = enter_environment(<PyObject *> environment)
        try:
            value = _single(self.operation.run(environment, None))
        except RecursionError:
            return ERROR_NUM
        except MemoryError:
            raise LimitExceeded("the evaluation needs more memory than it may take") from None
        finally:
            enter_environment(before)
        if not self.arrays and isinstance(value, Array):
            value = (<Array> value).at(0, 0)
        if isinstance(value, Array) and (<Array> value)._cells is not None and _holds_lambda((<Array> value)._cells):
            cells = [ERROR_CALC if isinstance(cell, Lambda) else cell for cell in (<Array> value)._cells]
            return _array((<Array> value).rows, (<Array> value).columns, cells)
        return ERROR_CALC if isinstance(value, Lambda) else value

    def refer(self, Environment environment):
        """The Reference (or Lambda) that the formula gives where it gives one (a defined name), else its value."""
        cdef PyObject *before = enter_environment(<PyObject *> environment)
        try:
            return self.operation.refer(environment, None)
        except RecursionError:
            return ERROR_NUM
        finally:
            enter_environment(before)


def compile(Node tree, *, bint arrays=True, str text="", bint unknown_as_name=False, bint slots=False, list trace=None):
    """The CompiledTree of a parsed formula.

    `arrays`: everything lifts over arrays; else a plain cell formula of a file, with implicit intersection.
    `unknown_as_name`: a call of an unknown function looks for a defined name when it runs (NAME where there is none).
    `slots`: small references and names are read by place from `environment.slots`.
    `trace`: gets (start, end, value) of every sub-expression when the program runs.

    Raises:
        SyntaxFault: a function is given too few or too many arguments, or a name is missing where one is bound.
        UnsupportedFunction: a function is not in the catalogue.
    """
    return compile_tree(tree, text, arrays, unknown_as_name, slots, trace)


cdef CompiledTree compile_tree(Node tree, str text, bint arrays, bint unknown_as_name, bint slots, list trace):
    """`compile` for the other compiled modules."""
    cdef CompiledTree program = CompiledTree.__new__(CompiledTree)
    cdef Compiler compiler = Compiler.__new__(Compiler)
    compiler.arrays, compiler.text, compiler.unknown_as_name = arrays, text, unknown_as_name
    compiler.slotted, compiler.record = slots, trace
    program.operation = compiler.compiled(tree, True)
    program.tree, program.text, program.arrays = tree, text, arrays
    program.volatile, program.positional = compiler.volatile, compiler.positional
    program.functions = tuple(dict.fromkeys(compiler.functions)) if compiler.functions else ()
    program.unknown = tuple(compiler.unknown)
    program.slots, program.needs = tuple(compiler.entries), tuple(compiler.needs)
    program.record = trace
    return program
