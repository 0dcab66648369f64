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
ctypedef int (*UnknownOf)(void*, int) noexcept nogil
ctypedef int (*ModeOf)(void*) noexcept nogil


def read_characters(
    uintptr_t page,
    int count,
    uintptr_t unicode_of,
    uintptr_t box_of,
    uintptr_t origin_of,
    uintptr_t angle_of,
    uintptr_t object_of,
    uintptr_t unknown_of,
    uintptr_t mode_of,
):
    """Return a row for each character, and the text object of each.

    A row has its code, the left, bottom, right and top of its box, the x and y of its origin, its angle, whether its
    font does not say what it means, and how it is drawn (ISO 32000-1, table 106; -1 where no text object has it).
    """
    table = np.zeros((count, 10), np.float64)
    objects = np.zeros(count, np.uint64)
    cdef double[:, ::1] rows = table
    cdef unsigned long long[::1] own = objects
    cdef void* text = <void*> page
    cdef Box box
    cdef double x, y
    cdef int at
    cdef int mode = -1
    cdef void* item
    cdef void* last = NULL
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
            rows[at, 8] = (<UnknownOf> unknown_of)(text, at)
            item = (<ObjectOf> object_of)(text, at)
            if item != last or item == NULL:
                last = item
                mode = -1 if item == NULL else (<ModeOf> mode_of)(item)
            rows[at, 9] = mode
            own[at] = <uintptr_t> item
    return table, objects
