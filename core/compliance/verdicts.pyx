# The verdict on a figure: its cushion, its status, and its result. A run makes one for each test, which takes a third of
# the time of the same in Python.

from core.compliance.coverage import TOLERANCE
from core.compliance.result import TestResult

from cpython.object cimport PyObject_GenericSetAttr as _set

from libc.math cimport copysign, fabs, floor, pow

cdef extern from "_rounded.h" nogil:
    double round_to_six(double number) noexcept

cdef object _new = TestResult.__new__
cdef double NOTHING = TOLERANCE
cdef double WHOLE = 2.0**52  # from here on a double has no half left to round away


cpdef double rounded_half_away(double value, double decimals):
    cdef double scale = pow(10.0, decimals)
    if not fabs(value) * scale < WHOLE:
        return value
    return copysign(floor(fabs(value) * scale + 0.5 + NOTHING) / scale, value)


cpdef tuple judge(double value, limit, decimals):
    if decimals is not None:
        value = rounded_half_away(value, decimals)
    cdef double cushion = cushion_of(value, limit)
    return cushion, status_of(value, cushion, limit)


cpdef double cushion_of(double value, limit):
    cdef double bound = limit.value
    direction = limit.direction
    if direction == "max":
        return bound - value
    if direction == "min":
        return value - bound
    return -fabs(value - bound)


cpdef status_of(double value, double cushion, limit):
    if cushion < -NOTHING:
        return "fail"
    warning, direction = limit.warning, limit.direction
    if warning is not None:
        if direction == "max" and value >= <double>warning - NOTHING:
            return "warning"
        if direction == "min" and value <= <double>warning + NOTHING:
            return "warning"
    return "pass"


cdef class Verdicts:
    """The results of a run, each as its figure is judged."""

    cdef readonly list results
    cdef readonly dict cushions
    cdef readonly dict exact
    cdef object _maker
    cdef bint _has_cushion

    def __init__(self, maker, bint has_cushion):
        self.results, self.cushions, self.exact = [], {}, {}
        self._maker = maker
        self._has_cushion = has_cushion

    def add(self, test, measured, limit, decimals, low, high):
        cdef double value = measured.value, bound = limit.value
        cdef tuple judgement = judge(value, limit, decimals)
        cdef double cushion = judgement[0]
        status = judgement[1]
        record = _new(TestResult)
        test_id, shown, shown_pct = test.test_id, None, None
        if self._has_cushion:
            shown = round_to_six(cushion)
            if bound != 0.0:
                shown_pct = round_to_six(cushion / bound * 100.0)
        _set(record, "test_id", test_id)
        _set(record, "test_name", test.name)
        _set(record, "category", test.category)
        _set(record, "status", status)
        _set(record, "current_value", round_to_six(value))
        _set(record, "threshold_value", limit.value)
        _set(record, "threshold_type", limit.direction)
        _set(record, "threshold_source", limit.source)
        _set(record, "cushion", shown)
        _set(record, "cushion_pct", shown_pct)
        _set(record, "_maker", self._maker)
        _set(record, "_args", (test, measured, limit, judgement, low, high))
        self.results.append(record)
        self.cushions[test_id] = judgement[0]
        self.exact[test_id] = measured.value, measured.denominator
        return status
