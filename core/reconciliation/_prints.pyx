"""Fingerprints of loans: a number for each, by which loans that agree in all that is compared need not be looked at."""

# A number of a row is a word of 64 bits, and its ratings are one together. Two words at a time are mixed by one wide
# multiplication, each under a secret of its own. What a row has of each column is added up, block by block, so that the
# sums stay in the first-level cache, and in the second-level one for texts, whose blocks are longer. The strings of a
# pool are hashed one after the other, just before the first block that has them: codes mostly ascend, so a hash is read
# while it is still in the cache.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

import numpy as np

cdef extern from "_fold.h" nogil:
    uint64_t fold "cushion_fold"(uint64_t a, uint64_t b) noexcept
    uint64_t word "cushion_word"(const uint8_t *text, int64_t length) noexcept

cdef extern from *:
    """
    #include <math.h>
    #define PREFETCH(address) __builtin_prefetch((const void *)(address))
    #define WHOLE 2251799813685248.0 /* 2 ** 51 */
    #define TO_WHOLE (3 * WHOLE) /* there are no fractions up there */

    /* The bits of numbers to eight decimals, so that sums of the same lots agree whatever their order; one pattern for
       every NaN, and none for a minus before zero. In C, for the compiler makes vector code of it. */
    static void number_words(const double *restrict numbers, ptrdiff_t count, uint64_t *restrict words)
    {
        for (ptrdiff_t row = 0; row < count; row++) {
            double scaled = numbers[row] * 1e8;
            double whole = (scaled + TO_WHOLE) - TO_WHOLE;
            scaled = fabs(scaled) < WHOLE ? whole : scaled;
            scaled = scaled == scaled ? scaled + 0.0 : NAN;
            memcpy(&words[row], &scaled, 8);
        }
    }
    """
    void number_words(const double *numbers, Py_ssize_t count, uint64_t *words) noexcept nogil
    void PREFETCH(const void *address) noexcept nogil

cdef enum:
    COLUMNS_MAX = 32         # of numbers, and of texts
    STATES_MAX = 8           # that make one word
    BLOCK = 1024             # rows whose words stay in the first-level cache
    TEXT_BLOCK = 8192        # rows whose sums stay in the second-level cache
    FAR = 64                 # strings between a prefetch and its use
    AHEAD = 16               # rows between the prefetch of a partner's fingerprint and its use

cdef uint64_t ODD = 0x9E3779B97F4A7C15u


cdef struct Texts:
    const int32_t *codes
    const int64_t *offsets
    const uint8_t *data
    int64_t count             # of strings
    int64_t size              # of the data
    int64_t hashed            # strings whose hash is there
    uint64_t *hashes          # of blank and of each string
    uint64_t secret
    uint64_t second_secret


cdef struct Columns:
    const double *numbers[COLUMNS_MAX + 2]      # NULL past the last
    const uint8_t *states[STATES_MAX]
    Texts texts[COLUMNS_MAX]
    int number_count
    int state_count
    int text_count


cdef inline uint64_t _secret(uint64_t seed, int64_t place) noexcept nogil:
    return fold(seed + <uint64_t> place * ODD, ODD)


# ---- numbers and ratings -------------------------------------------------------------------------------------------

cdef void _state_words(const Columns *columns, Py_ssize_t first, Py_ssize_t count, uint64_t *words) noexcept nogil:
    cdef Py_ssize_t row
    cdef int at
    memset(words, 0, count * sizeof(uint64_t))
    for at in range(columns.state_count):
        for row in range(count):
            words[row] = words[row] << 8 | columns.states[at][first + row]


cdef void _words(const Columns *columns, int at, Py_ssize_t first, Py_ssize_t count, uint64_t *words) noexcept nogil:
    """Word `at` of some rows: a number, or behind the numbers all ratings; 0 past these."""
    if at < columns.number_count:
        number_words(columns.numbers[at] + first, count, words)
    elif at == columns.number_count:
        _state_words(columns, first, count, words)
    else:
        memset(words, 0, count * sizeof(uint64_t))


# ---- text ----------------------------------------------------------------------------------------------------------

cdef inline uint64_t _text_hash(const uint8_t *text, int64_t length, uint64_t secret, uint64_t second_secret) noexcept nogil:
    """A hash of a text, sixteen bytes at a time. The last sixteen, of a shorter text the first and last eight, may be
    partly taken twice: the length, which is in the hash, says which."""
    cdef uint64_t state = secret + <uint64_t> length * ODD
    cdef bint is_long = length >= 16
    while length > 16:
        state = fold(word(text, 8) ^ state, word(text + 8, 8) ^ second_secret)
        text += 16
        length -= 16
    if is_long:
        return fold(word(text + length - 16, 8) ^ state, word(text + length - 8, 8) ^ second_secret)
    if length >= 8:
        return fold(word(text, 8) ^ state, word(text + length - 8, 8) ^ second_secret)
    return fold(state ^ (word(text, length) if length > 0 else 0), second_secret)


cdef bint _hash_until(Texts *texts, int64_t count) noexcept nogil:
    """Hash the strings before number `count` that have no hash yet; False where one leaves the pool."""
    cdef Texts own = texts[0]     # which no hash that is written can change, so that it stays in registers
    cdef int64_t begin = own.offsets[own.hashed] if own.hashed < count else 0, end, code
    for code in range(own.hashed, count):
        # Beyond the pool, as beyond the last row below, the request goes nowhere.
        PREFETCH(own.offsets + code + FAR)
        PREFETCH(own.data + begin + 8 * FAR)
        PREFETCH(own.hashes + code + FAR)
        end = own.offsets[code + 1]
        if not 0 <= begin <= end <= own.size:
            return False
        own.hashes[code + 1] = _text_hash(own.data + begin, end - begin, own.secret, own.second_secret)
        begin = end
    texts.hashed = max(own.hashed, count)
    return True


cdef bint _add_texts(Texts *texts, Py_ssize_t first, Py_ssize_t count, uint64_t *prints) noexcept nogil:
    """Add one column's part to the fingerprints of some rows; False where a code or its string leaves the pool."""
    cdef Py_ssize_t row
    cdef const int32_t *codes = texts.codes + first
    cdef const uint64_t *hashes = texts.hashes + 1
    cdef int32_t least = -1, most = -1
    for row in range(count):
        least = min(least, codes[row])
        most = max(most, codes[row])
    if least < -1 or most >= texts.count or not _hash_until(texts, most + 1):
        return False
    for row in range(count):
        prints[row] += hashes[codes[row]]
    return True


# ---- both ----------------------------------------------------------------------------------------------------------

cdef bint _add_up(Columns *columns, Py_ssize_t count, uint64_t seed, uint64_t *prints) noexcept nogil:
    """Add up what each row has of each column; False where a string leaves its pool."""
    cdef uint64_t even[BLOCK]
    cdef uint64_t odd[BLOCK]
    cdef uint64_t secret, second_secret
    cdef Py_ssize_t first = 0, size, row, begin = 0
    cdef int at
    while first < count:
        size = min(<Py_ssize_t> BLOCK, count - first)
        for at in range(0, columns.number_count + 1, 2):
            secret, second_secret = _secret(seed, at), _secret(seed, at + 1)
            _words(columns, at, first, size, even)
            _words(columns, at + 1, first, size, odd)
            for row in range(size):
                # The processor's own prefetcher stops at each page: ask for the next block's part on the side.
                PREFETCH(columns.numbers[at] + first + size + row)
                PREFETCH(columns.numbers[at + 1] + first + size + row)
                prints[first + row] += fold(even[row] ^ secret, odd[row] ^ second_secret)
        first += size
        if first - begin < TEXT_BLOCK and first < count:
            continue
        for at in range(columns.text_count):
            if not _add_texts(&columns.texts[at], begin, first - begin, prints + begin):
                return False
        begin = first
    return True


def fingerprints(Py_ssize_t count, numbers, texts, states, uint64_t seed):
    """A 64-bit number for each row that tells rows apart which differ in any of the columns given.

    Args:
        count: rows.
        numbers: float64 arrays; all NaN are one.
        texts: codes (int32, -1 for blank) with the offsets and the data of their pool.
        states: uint8 arrays.
        seed: of this comparison; both sides take the same, and their columns in the same order.

    Raises:
        ValueError: an array of another length, too many columns, or a code or its text leaves the pool.
        MemoryError: no memory.
    """
    cdef const double[::1] number_view
    cdef const int32_t[::1] code_view
    cdef const int64_t[::1] offset_view
    cdef const uint8_t[::1] byte_view
    cdef uint64_t[::1] hash_view
    cdef Columns columns
    cdef Texts *text
    cdef bint fits
    if any(len(column) != count for column in (*numbers, *(codes for codes, *_ in texts), *states)):
        raise ValueError(f"a column does not have {count} rows")
    if max(len(numbers), len(texts)) > COLUMNS_MAX or len(states) > STATES_MAX:
        raise ValueError("too many columns")
    prints = np.zeros(count, np.uint64)
    if count == 0:
        return prints
    cdef uint64_t[::1] prints_view = prints
    memset(&columns, 0, sizeof(Columns))
    for number_view in numbers:
        columns.numbers[columns.number_count] = &number_view[0]
        columns.number_count += 1
    for byte_view in states:
        columns.states[columns.state_count] = &byte_view[0]
        columns.state_count += 1
    hashes = []
    for code_view, offset_view, byte_view in texts:
        text = &columns.texts[columns.text_count]
        columns.text_count += 1
        text.count, text.size = offset_view.shape[0] - 1, byte_view.shape[0]
        hash_view = np.empty(max(text.count, 0) + 1, np.uint64)
        hashes.append(hash_view)     # kept until the end
        text.codes, text.hashes = &code_view[0], &hash_view[0]
        text.offsets = &offset_view[0] if text.count > 0 else NULL
        text.data = &byte_view[0] if text.size else NULL
        text.secret, text.second_secret = _secret(seed, -2 * columns.text_count), _secret(seed, -2 * columns.text_count - 1)
        text.hashes[0] = _text_hash(NULL, -1, text.secret, text.second_secret)     # as of a length that no text has
    with nogil:
        fits = _add_up(&columns, count, seed, &prints_view[0])
    if not fits:
        raise ValueError("a text code or its place leaves the pool")
    return prints


def differing(
    const uint64_t[::1] prints, const uint64_t[::1] other_prints, const int32_t[::1] pair, Py_ssize_t first,
    Py_ssize_t last,
):
    """The rows from `first` to `last - 1` (int32, ascending) whose partner, `pair[row]` where that is not -1, has
    another fingerprint.

    Raises:
        ValueError: rows or partners without a fingerprint.
    """
    cdef Py_ssize_t row, match_count = 0
    cdef int32_t partner
    cdef bint sound = 0 <= first <= last <= pair.shape[0] == prints.shape[0]
    rows = np.empty(last - first if sound else 0, np.int32)
    cdef int32_t[::1] rows_view = rows
    if sound:
        with nogil:
            for row in range(first, last):
                if row + AHEAD < last and pair[row + AHEAD] >= 0:
                    PREFETCH(&other_prints[pair[row + AHEAD]])
                partner = pair[row]
                if partner >= other_prints.shape[0]:
                    sound = False
                    break
                if partner >= 0 and prints[row] != other_prints[partner]:
                    rows_view[match_count] = <int32_t> row
                    match_count += 1
    if not sound:
        raise ValueError("a row or its partner has no fingerprint")
    return rows[:match_count].copy()
