# The records of a worksheet in an .xlsb file, as far as they tell where cells stand ([MS-XLSB] 2.1.4, 2.5.9, 2.4.311).


cdef bint read_packed(const uint8_t **p, const uint8_t *end, int bytes_max, uint32_t *value) noexcept nogil:
    """A whole number, seven bits a byte, the last byte without its high bit."""
    cdef int at
    cdef uint8_t byte
    value[0] = 0
    for at in range(bytes_max):
        if p[0] == end:
            return False
        byte = p[0][0]
        p[0] += 1
        value[0] |= <uint32_t> (byte & 0x7F) << (7 * at)
        if byte < 0x80:
            break
    return True


def binary_extent(const uint8_t[::1] data):
    """(rows, columns) to the last cell of a worksheet part that holds something.

    Raises:
        ParseFailed: the records leave the part.
    """
    cdef const uint8_t *p
    cdef const uint8_t *end
    cdef uint32_t kind = 0, size = 0, value, row = 0
    cdef int64_t rows = 0, columns = 0
    cdef bint whole = True
    if data.shape[0] == 0:
        return 0, 0
    p = &data[0]
    end = p + data.shape[0]
    with nogil:
        while p < end:
            if not (read_packed(&p, end, 2, &kind) and read_packed(&p, end, 4, &size)) or end - p < size:
                whole = False
                break
            if kind <= 11 and size >= 4:
                memcpy(&value, p, 4)
                if kind == 0:                    # BrtRowHdr
                    row = value
                elif kind >= 2:                  # BrtCellRk to BrtFmlaError
                    rows = max(rows, <int64_t> row + 1)
                    columns = max(columns, <int64_t> value + 1)
            p += size
    if not whole:
        raise ParseFailed("A worksheet of the file is damaged: its records are cut off.")
    return rows, columns
