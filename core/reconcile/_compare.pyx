"""Pairs of loans to severities, one field at a time."""

# Every function walks the pairs that differ somewhere: row `tape_rows[i]` of the tape beside row `book_rows[i]` of the
# portfolio. It gives the severity of each pair's difference, 0 for none. NaN and the code -1 are blank.

from libc.math cimport INFINITY, fabs, floor, isfinite, rint
from libc.stdint cimport int32_t, uint8_t, uint64_t

import numpy as np

cdef double ROUNDING = 1e6      # differences are told apart to six decimals: 99.125 - 99.0 is within 0.125
cdef double SHARE_ROUNDING = 1e-9   # percent: 61,728.3945 of 1,234,567.89 is five, whatever the last bit says


cdef inline double _rounded(double difference) noexcept nogil:
    return rint(difference * ROUNDING) / ROUNDING if difference < 1e9 else difference


def _check_rows(const int32_t[::1] rows, const int32_t[::1] other_rows, Py_ssize_t count, Py_ssize_t other_count):
    cdef Py_ssize_t at
    cdef bint sound = rows.shape[0] == other_rows.shape[0]
    if sound:
        for at in range(rows.shape[0]):
            sound &= 0 <= rows[at] < count and 0 <= other_rows[at] < other_count
    if not sound:
        raise ValueError("rows leave their columns")


def number_severities(
    const double[::1] tape, const double[::1] book, const int32_t[::1] tape_rows, const int32_t[::1] book_rows,
    double tolerance, bint whole, uint8_t severity,
    const double[::1] above, const uint8_t[::1] inclusive, const uint8_t[::1] worse,
):
    """Severities of two number columns that are further apart than `tolerance`, differences rounded to six decimals.

    Args:
        whole: compare the whole part only (days).
        severity: of a difference that no band holds; of any, where there are no bands.
        above, inclusive, worse: bands by the difference in percent of the tape's figure, the largest first. A tape of 0
            and a blank on either side fall into the first.

    Raises:
        ValueError: rows leave their columns.
    """
    cdef Py_ssize_t at, count = tape_rows.shape[0]
    cdef int band, bands = <int> above.shape[0]
    cdef double ours, theirs, difference, share
    _check_rows(tape_rows, book_rows, tape.shape[0], book.shape[0])
    found = np.zeros(count, np.uint8)
    cdef uint8_t[::1] found_view = found
    with nogil:
        for at in range(count):
            theirs = tape[tape_rows[at]]
            ours = book[book_rows[at]]
            if not (isfinite(theirs) and isfinite(ours)):
                if isfinite(theirs) or isfinite(ours):
                    found_view[at] = worse[0] if bands else severity
                continue
            if whole:
                theirs = floor(theirs)
                ours = floor(ours)
            difference = _rounded(fabs(theirs - ours))
            if difference <= tolerance:
                continue
            found_view[at] = severity
            share = difference * 100 / fabs(theirs) if theirs != 0 else INFINITY
            for band in range(bands):
                if share > above[band] + (-SHARE_ROUNDING if inclusive[band] else SHARE_ROUNDING):
                    found_view[at] = worse[band]
                    break
    return found


def state_severities(
    const uint8_t[::1] tape, const uint8_t[::1] book, const int32_t[::1] tape_rows, const int32_t[::1] book_rows,
    uint8_t first, uint8_t last, uint8_t severity, uint8_t lesser,
):
    """Severities of two columns of states: `lesser` where both lie outside `first` to `last`, else `severity`.

    Raises:
        ValueError: rows leave their columns.
    """
    cdef Py_ssize_t at, count = tape_rows.shape[0]
    cdef uint8_t theirs, ours
    _check_rows(tape_rows, book_rows, tape.shape[0], book.shape[0])
    found = np.zeros(count, np.uint8)
    cdef uint8_t[::1] found_view = found
    with nogil:
        for at in range(count):
            theirs = tape[tape_rows[at]]
            ours = book[book_rows[at]]
            if theirs != ours:
                found_view[at] = severity if first <= theirs <= last or first <= ours <= last else lesser
    return found


def name_severities(
    const int32_t[::1] tape, const int32_t[::1] book, const int32_t[::1] tape_rows, const int32_t[::1] book_rows,
    const int32_t[::1] tape_same, const int32_t[::1] book_same,
    const int32_t[::1] tape_alike, const int32_t[::1] book_alike,
    const uint8_t[::1] tape_open, const uint8_t[::1] book_open, uint8_t severity, uint8_t lesser,
):
    """Severities of two text columns whose strings have shared numbers.

    Args:
        tape_same, book_same: for each string and at the end for blank, a number that equal names share.
        tape_alike, book_alike: a number that names of one family share.
        tape_open, book_open: 1 for a name that may stand for any of its family: beside it the severity is `lesser`.

    Raises:
        ValueError: rows leave their columns, or codes their tables.
    """
    cdef Py_ssize_t at, count = tape_rows.shape[0]
    cdef Py_ssize_t tape_blank = tape_same.shape[0] - 1, book_blank = book_same.shape[0] - 1, theirs, ours
    cdef bint in_range = True
    _check_rows(tape_rows, book_rows, tape.shape[0], book.shape[0])
    if tape_blank < 0 or book_blank < 0 or not (
            tape_alike.shape[0] == tape_open.shape[0] == tape_blank + 1
            and book_alike.shape[0] == book_open.shape[0] == book_blank + 1):
        raise ValueError("the tables of names differ in length")
    found = np.zeros(count, np.uint8)
    cdef uint8_t[::1] found_view = found
    with nogil:
        for at in range(count):
            theirs = tape[tape_rows[at]]
            ours = book[book_rows[at]]
            if theirs >= tape_blank or ours >= book_blank:
                in_range = False
                break
            theirs = theirs if theirs >= 0 else tape_blank
            ours = ours if ours >= 0 else book_blank
            if tape_same[theirs] != book_same[ours]:
                found_view[at] = lesser if tape_alike[theirs] == book_alike[ours] and (
                    tape_open[theirs] or book_open[ours]) else severity
    if not in_range:
        raise ValueError("a text code is not below the size of the pool")
    return found


def text_differs(
    const int32_t[::1] tape, const int32_t[::1] book, const int32_t[::1] tape_rows, const int32_t[::1] book_rows,
    const uint64_t[::1] tape_hashes, const uint64_t[::1] book_hashes, bint with_blanks,
):
    """1 for pairs whose texts differ, by the hash of each string (and of blank, at the end).

    A blank beside a text counts where `with_blanks`.

    Raises:
        ValueError: rows leave their columns, or codes their tables.
    """
    cdef Py_ssize_t at, count = tape_rows.shape[0]
    cdef Py_ssize_t tape_blank = tape_hashes.shape[0] - 1, book_blank = book_hashes.shape[0] - 1, theirs, ours
    cdef bint in_range = tape_blank >= 0 and book_blank >= 0
    _check_rows(tape_rows, book_rows, tape.shape[0], book.shape[0])
    found = np.zeros(count, np.uint8)
    cdef uint8_t[::1] found_view = found
    if in_range:
        with nogil:
            for at in range(count):
                theirs = tape[tape_rows[at]]
                ours = book[book_rows[at]]
                if theirs >= tape_blank or ours >= book_blank:
                    in_range = False
                    break
                if theirs < 0 or ours < 0:
                    found_view[at] = with_blanks and (theirs < 0) != (ours < 0)
                else:
                    found_view[at] = tape_hashes[theirs] != book_hashes[ours]
    if not in_range:
        raise ValueError("a text code is not below the size of the pool")
    return found
