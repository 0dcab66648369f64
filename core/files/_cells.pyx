"""The hot loops over the XML of a sheet's cells and of the shared strings, over delimited text, and over the records of
.xlsb: bytes in, flat columns out, in one pass.

The contract of the boundary. `feed` takes UTF-8 chunks of any size and keeps the tail that does not yet make a whole
piece (a tag, a comment, a whole <c> or <si> element), so memory is bounded by the columns themselves. Nothing here
trusts the file: every pointer is checked against the chunk's end, every row, column and index against its limit, and a
file that breaks a rule raises ParseFailed. Element prefixes are ignored (x:row is row); elements that are not ours are
skipped.

Three states of a reader function: a pointer past what it read; NULL with `problem` 0 when the chunk ends too early
(the piece is read again with the next chunk); NULL with `problem` set when the file is refused.

The parts are included into this one extension, so that calls between them stay C calls; each needs those above it.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset, strlen

from core.files.write._numerals cimport NUMERAL_MAX, put_number, put_whole
from core.grid._intern cimport Pool, pool_arrays, pool_close, pool_code, pool_open
from core.values cimport BLANK, BOOLEAN, DATE, ERROR, NUMBER, TEXT

import numpy as np

from core.files.errors import ParseFailed
from core.files.limits import MERGED_MAX, PIECE_BYTES_MAX, TEXT_BYTES_MAX
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.seed import SEED
from core.values import ERROR_CODE

cdef enum:
    OK = 0
    NO_MEMORY
    BAD_XML
    DOCTYPE
    BAD_REFERENCE
    ROWS
    COLUMNS
    SLOTS
    TEXT_SIZE
    PIECE_SIZE
    BAD_STRING
    MERGES
    WRONG_ROOT
    TRUNCATED
    BAD_CHARACTER
    SHARED_FORMULAS
    FIELD_SIZE
    NOT_TEXT
    OPEN_QUOTE
    UNORDERED

_HINTS = {
    BAD_XML: "The XML of {part} is not well formed.",
    DOCTYPE: "The XML of {part} declares a document type or entities, which a spreadsheet never does.",
    BAD_REFERENCE: "{part} holds a cell with an address that is not one.",
    ROWS: f"{{part}} has a cell below row {ROWS_MAX:,}, the limit of rows per sheet.",
    COLUMNS: f"{{part}} has a cell past column {COLUMNS_MAX:,}, the limit of columns per sheet.",
    SLOTS: "The workbook's sheets span more cells than the limit of {slots:,}, blanks between the first and the last of "
    "each column counted; {part} passes it when {filled:,} of its cells hold something.",
    TEXT_SIZE: f"{{part}} holds more text than the limit of {TEXT_BYTES_MAX:,} bytes.",
    PIECE_SIZE: f"{{part}} holds a cell or a string longer than the limit of {PIECE_BYTES_MAX:,} bytes.",
    BAD_STRING: "{part} names a shared string by what is no number.",
    MERGES: f"{{part}} has more merged ranges than the limit of {MERGED_MAX:,}.",
    WRONG_ROOT: "{part} is not the kind of part that the workbook says it is.",
    TRUNCATED: "The XML of {part} ends too early.",
    BAD_CHARACTER: "{part} holds text that is not valid UTF-8, or a character that XML does not allow.",
    SHARED_FORMULAS: "{part} numbers its shared formulas past the limit.",
    FIELD_SIZE: "{part} holds a field longer than the limit of 131,068 bytes, from line {line:,} on; perhaps a quote is "
    "not closed.",
    NOT_TEXT: "{part} holds control characters in line {line:,}: it is no text.",
    UNORDERED: "{part} has rows or cells that are not in their order, or no place for cells; open it in a spreadsheet "
    "program and save it.",
    OPEN_QUOTE: "{part} opens a quote in line {line:,} that is never closed.",
}

cdef int64_t ROWS_LIMIT = ROWS_MAX
cdef int32_t COLUMNS_LIMIT = COLUMNS_MAX
cdef int64_t PIECE_LIMIT = PIECE_BYTES_MAX
cdef int64_t MERGED_LIMIT = MERGED_MAX
cdef int64_t TEXT_LIMIT = TEXT_BYTES_MAX
cdef int32_t SHARED_INDEX_MAX = 1 << 24
# The first serial that no date format shows: 1 January 10000.
cdef double SERIAL_MAX = 2_958_466.0
cdef double NUM_ERROR = ERROR_CODE["#NUM!"]
cdef const char *EMPTY = ""

include "_cells_text.pxi"
include "_cells_numbers.pxi"
include "_cells_tags.pxi"
include "_cells_scanner.pxi"
include "_cells_strings.pxi"
include "_cells_columns.pxi"
include "_cells_formulas.pxi"
include "_cells_sheet.pxi"
include "_cells_patch.pxi"
include "_cells_delimited.pxi"
include "_cells_binary.pxi"
