# Which characters make names, numbers and references: shared by parser.pyx and shape.pyx.


cdef inline bint _blank(Py_UCS4 c) noexcept nogil:
    return c == 32 or c == 10 or c == 13 or c == 9


cdef inline bint _digit(Py_UCS4 c) noexcept nogil:
    return 48 <= c <= 57


cdef inline bint _letter(Py_UCS4 c) noexcept nogil:
    return 97 <= (<unsigned int> c | 32) <= 122


cdef bint _foreign(Py_UCS4 c) noexcept:
    """Whether a character past ASCII may stand in a name: letters and marks of any script, no punctuation or space."""
    if c < 0x300:
        return c.isalnum()
    return not (0x2000 <= c <= 0x2BFF or 0x3000 <= c <= 0x3004 or 0x3008 <= c <= 0x3020 or 0xFF00 <= c <= 0xFF0F
                or 0xD800 <= c <= 0xF8FF or c == 0xFEFF or c.isspace())


cdef inline bint _opens_name(Py_UCS4 c) noexcept:
    return _letter(c) or c == u"_" or c == u"\\" or (c > 127 and _foreign(c))


cdef inline bint _in_name(Py_UCS4 c) noexcept:
    return _letter(c) or _digit(c) or c == u"_" or c == u"." or c == u"\\" or c == u"?" or (c > 127 and _foreign(c))


cdef inline bint _ends_reference(Py_UCS4 c, Py_UCS4 following) noexcept:
    """Whether a cell's digits or a column's letters may end before these characters; if not, they belong to a name. The
    dot of `.:` is an operator."""
    return not (_in_name(c) or c == u"(" or c == u"!" or c == u"[" or c == u"$") or (c == u"." and following == u":")
