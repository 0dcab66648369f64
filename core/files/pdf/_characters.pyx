"""What PDFium says of each character of a page, into columns.

A call of ctypes takes 0.7 us, and a page of small print wants 75,000 of them; by this loop they are 0.1 us. PDFium's
functions come as addresses, so that no header and no library is needed to compile it. Nothing is checked here: the
caller counts the characters of a page that is open, and PDFium looks at each index itself.
"""

from libc.stdint cimport uintptr_t

import numpy as np


cdef struct Box:
    float left
    float top
    float right
    float bottom


ctypedef unsigned int (*UnicodeOf)(void*, int) noexcept nogil
ctypedef int (*BoxOf)(void*, int, Box*) noexcept nogil
ctypedef int (*OriginOf)(void*, int, double*, double*) noexcept nogil
ctypedef float (*AngleOf)(void*, int) noexcept nogil
ctypedef void* (*ObjectOf)(void*, int) noexcept nogil


def read_characters(
    uintptr_t page,
    int count,
    uintptr_t unicode_of,
    uintptr_t box_of,
    uintptr_t origin_of,
    uintptr_t angle_of,
    uintptr_t object_of,
):
    """Return a row for each character, and the text object of each.

    A row has its code, the left, bottom, right and top of its box, the x and y of its origin, and its angle.
    """
    table = np.zeros((count, 8), np.float64)
    objects = np.zeros(count, np.uint64)
    cdef double[:, ::1] rows = table
    cdef unsigned long long[::1] own = objects
    cdef void* text = <void*> page
    cdef Box box
    cdef double x, y
    cdef int at
    with nogil:
        for at in range(count):
            box.left = box.bottom = box.right = box.top = 0
            x = y = 0
            (<BoxOf> box_of)(text, at, &box)
            (<OriginOf> origin_of)(text, at, &x, &y)
            rows[at, 0] = (<UnicodeOf> unicode_of)(text, at)
            rows[at, 1] = box.left
            rows[at, 2] = box.bottom
            rows[at, 3] = box.right
            rows[at, 4] = box.top
            rows[at, 5] = x
            rows[at, 6] = y
            rows[at, 7] = (<AngleOf> angle_of)(text, at)
            own[at] = <uintptr_t> (<ObjectOf> object_of)(text, at)
    return table, objects
