"""Pairs of loans to severities, one field at a time."""

# Every function walks the pairs that differ somewhere: row `tape_rows[i]` of the tape beside row `book_rows[i]` of the
# portfolio. It gives the severity of each pair's difference, 0 for none. NaN and the code -1 are blank.

from libc.math cimport INFINITY, fabs, floor, isfinite, rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcmp

import numpy as np

cdef extern from *:
    """
    #define PREFETCH(address) __builtin_prefetch((const void *)(address))
    """
    void PREFETCH(const void *address) noexcept nogil

cdef enum:
    AHEAD = 24                  # pairs between a prefetch and its use

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
    severities = np.zeros(count, np.uint8)
    cdef uint8_t[::1] severity_view = severities
    with nogil:
        for at in range(count):
            if at + AHEAD < count:
                PREFETCH(&tape[tape_rows[at + AHEAD]])
                PREFETCH(&book[book_rows[at + AHEAD]])
            theirs = tape[tape_rows[at]]
            ours = book[book_rows[at]]
            if not (isfinite(theirs) and isfinite(ours)):
                if isfinite(theirs) or isfinite(ours):
                    severity_view[at] = worse[0] if bands else severity
                continue
            if whole:
                theirs = floor(theirs)
                ours = floor(ours)
            difference = _rounded(fabs(theirs - ours))
            if difference <= tolerance:
                continue
            severity_view[at] = severity
            share = difference * 100 / fabs(theirs) if theirs != 0 else INFINITY
            for band in range(bands):
                if share > above[band] + (-SHARE_ROUNDING if inclusive[band] else SHARE_ROUNDING):
                    severity_view[at] = worse[band]
                    break
    return severities


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
    severities = np.zeros(count, np.uint8)
    cdef uint8_t[::1] severity_view = severities
    with nogil:
        for at in range(count):
            theirs = tape[tape_rows[at]]
            ours = book[book_rows[at]]
            if theirs != ours:
                severity_view[at] = severity if first <= theirs <= last or first <= ours <= last else lesser
    return severities


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
    severities = np.zeros(count, np.uint8)
    cdef uint8_t[::1] severity_view = severities
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
                severity_view[at] = lesser if tape_alike[theirs] == book_alike[ours] and (
                    tape_open[theirs] or book_open[ours]) else severity
    if not in_range:
        raise ValueError("a text code is not below the size of the pool")
    return severities


cdef bint _take(
    const int32_t[::1] codes, const int32_t[::1] rows, Py_ssize_t pool_size, int32_t[::1] into
) noexcept nogil:
    """The codes of some rows; False where one leaves its pool."""
    cdef Py_ssize_t at
    cdef bint fits = True
    for at in range(rows.shape[0]):
        into[at] = codes[rows[at]]
        fits &= into[at] < pool_size
    return fits


cdef inline void _prefetch(
    const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] codes, Py_ssize_t at
) noexcept nogil:
    """Ask for what the strings of later codes will be read from: a string's place first, then its bytes."""
    if at + 2 * AHEAD < codes.shape[0] and codes[at + 2 * AHEAD] >= 0:
        PREFETCH(&offsets[codes[at + 2 * AHEAD]])
    if at + AHEAD < codes.shape[0] and codes[at + AHEAD] >= 0 and data.shape[0]:
        PREFETCH(&data[0] + offsets[codes[at + AHEAD]])


def text_differs(
    const int32_t[::1] tape, const int64_t[::1] tape_offsets, const uint8_t[::1] tape_data,
    const int32_t[::1] book, const int64_t[::1] book_offsets, const uint8_t[::1] book_data,
    const int32_t[::1] tape_rows, const int32_t[::1] book_rows, bint with_blanks,
):
    """1 for pairs whose texts differ; a blank beside a text counts where `with_blanks`.

    Raises:
        ValueError: rows leave their columns, or codes or their strings the pools.
    """
    cdef Py_ssize_t at, count = tape_rows.shape[0]
    cdef int64_t begin, end, other_begin, other_end
    cdef bint fits
    _check_rows(tape_rows, book_rows, tape.shape[0], book.shape[0])
    severities = np.zeros(count, np.uint8)
    cdef uint8_t[::1] severity_view = severities
    cdef int32_t[::1] theirs = np.empty(count, np.int32), ours = np.empty(count, np.int32)
    with nogil:
        fits = _take(tape, tape_rows, tape_offsets.shape[0] - 1, theirs)
        fits = _take(book, book_rows, book_offsets.shape[0] - 1, ours) and fits
        for at in range(count if fits else 0):
            _prefetch(tape_offsets, tape_data, theirs, at)
            _prefetch(book_offsets, book_data, ours, at)
            if theirs[at] < 0 or ours[at] < 0:
                severity_view[at] = with_blanks and (theirs[at] < 0) != (ours[at] < 0)
                continue
            begin, end = tape_offsets[theirs[at]], tape_offsets[theirs[at] + 1]
            other_begin, other_end = book_offsets[ours[at]], book_offsets[ours[at] + 1]
            if not (0 <= begin <= end <= tape_data.shape[0] and 0 <= other_begin <= other_end <= book_data.shape[0]):
                fits = False
                break
            severity_view[at] = end - begin != other_end - other_begin or (
                end > begin and memcmp(&tape_data[begin], &book_data[other_begin], end - begin) != 0)
    if not fits:
        raise ValueError("a text code or its place leaves the pool")
    return severities
