"""Keys of loans, and the pairing of two sides by them."""

# An identifier of at most twelve signs packs into 64 bits without loss, in base 40, so that a join compares numbers.
# Longer text gets the code of a pool that both sides share. Key 0 says that a row has none. A join first parts both
# sides by some bits of the keys' hash, so that the table of one part (open addressing over the portfolio's keys, at most
# a third full) stays in the second-level cache, and that threads can share the parts out; the hash is seeded per
# process, because the keys come from strangers.
#
# Pairing by nearest par walks the closest neighbours of a sorted list: see `pair_nearest`.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from core.seed import SEED

from core.grid._intern cimport Pool, pool_close, pool_code, pool_open

cdef extern from "_fold.h" nogil:
    uint64_t fold "cushion_fold"(uint64_t a, uint64_t b) noexcept
    uint64_t word "cushion_word"(const uint8_t *text, int64_t length) noexcept

cdef extern from *:
    """
    #define PREFETCH(address) __builtin_prefetch((const void *)(address))
    #define PREFETCH_TO_WRITE(address) __builtin_prefetch((const void *)(address), 1)
    """
    uint64_t big_endian "__builtin_bswap64"(uint64_t word) noexcept nogil
    void PREFETCH(const void *address) noexcept nogil
    void PREFETCH_TO_WRITE(const void *address) noexcept nogil

cdef extern from "../portfolio/cells/_identifiers.h" nogil:
    const uint8_t SIGN[256]
    bint cusip_fits(const uint8_t *text)
    bint isin_fits(const uint8_t *text)
    bint loanx_fits(const uint8_t *text, int64_t length)

cdef enum:
    SIZE_MAX = 0x7FFFFFFF    # bytes of distinct text in one pool
    PACKED_MAX = 12          # signs that fit a key: 40 ** 12 < 2 ** 64
    ANY_KIND = 0
    CUSIP_KIND = 1
    LOANX_KIND = 2
    ISIN_KIND = 3
    EMBEDDED_KIND = 4
    SEVERAL = -1             # in a slot: more than one row of that side
    PART_KEYS = 2048         # keys of one part of a join: a table of 128 KB
    PARTS_MAX = 1024
    SCATTERED = 4            # where a pool has as many strings for each row, the rows' strings lie far apart
    AHEAD = 8                # rows between a prefetch and its use
    LINE = 64                # bytes that memory moves at once
    GROUP_BITS = 40          # of a key's number within its part

ANY = ANY_KIND
CUSIP = CUSIP_KIND
LOANX = LOANX_KIND
ISIN = ISIN_KIND
EMBEDDED = EMBEDDED_KIND

cdef uint64_t ODD = 0x9E3779B97F4A7C15u

# ---- check digits and packed keys ----------------------------------------------------------------------------------

cdef inline bint _digit(uint8_t sign) noexcept nogil:
    return 48 <= sign <= 57


cdef inline uint64_t _packed(const uint8_t *text, int64_t length) noexcept nogil:
    """The text as a number that keeps its order; 0 where a sign does not fit or it is too long."""
    cdef uint64_t key = 0
    cdef int64_t at
    cdef bint fits = True
    if length > PACKED_MAX:
        return 0
    for at in range(length):
        fits = fits and SIGN[text[at]] != 0
        key = key * 40 + SIGN[text[at]]
    for at in range(length, PACKED_MAX):
        key *= 40
    return key if fits else 0


cdef inline uint64_t _cusip_key(const uint8_t *text) noexcept nogil:
    """The eight signs that the check digit of a sound CUSIP follows from, as a number that keeps their order."""
    return big_endian(word(text, 8))


cdef inline uint64_t _identifier_key(const uint8_t *text, int64_t length, int kind) noexcept nogil:
    if kind == CUSIP_KIND:
        return _cusip_key(text) if length == 9 and cusip_fits(text) else 0
    if kind == LOANX_KIND:
        return _packed(text, length) if loanx_fits(text, length) else 0
    if kind == ANY_KIND:
        return _packed(text, length)
    if length != 12 or not isin_fits(text):
        return 0
    if kind == ISIN_KIND:
        return _packed(text, length)
    # A US ISIN holds the CUSIP from its third sign on.
    return _cusip_key(text + 2) if text[0] == 85 and text[1] == 83 and cusip_fits(text + 2) else 0


cdef bint _whole(const int64_t[::1] offsets, const uint8_t[::1] data) noexcept nogil:
    """Whether every string of the pool lies inside its data: checked before any of its bytes is read."""
    cdef Py_ssize_t code
    cdef bint fits = offsets.shape[0] > 0 and offsets[0] >= 0 and offsets[offsets.shape[0] - 1] <= data.shape[0]
    for code in range(offsets.shape[0] - 1):
        fits &= offsets[code] <= offsets[code + 1]
    return fits


cdef inline void _prefetch(
    const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] codes, Py_ssize_t row
) noexcept nogil:
    """Ask for what the strings of later rows will be read from: a string's place first, then its bytes."""
    cdef int32_t code
    if row + 2 * AHEAD < codes.shape[0]:
        PREFETCH(&offsets[0] + codes[row + 2 * AHEAD])
    if row + AHEAD < codes.shape[0]:
        code = codes[row + AHEAD]
        if 0 <= code < offsets.shape[0] and data.shape[0]:
            PREFETCH(&data[0] + offsets[code])


def identifier_keys(
    const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] codes, int kind, keys=None
):
    """The key of each row's identifier where it is sound: check digit (CUSIP, ISIN) or shape (LOANX); else 0.

    EMBEDDED gives the key of the CUSIP in a US ISIN; ANY packs whatever fits, unchecked. Keys of one text are equal
    whatever their kind, and ordered as text of equal length is (0 to 9, A to Z, * @ #). Rows that have one of `keys`
    already keep it; these are written to, and returned.

    Raises:
        ValueError: offsets or codes do not fit the data, or keys the codes.
    """
    cdef Py_ssize_t row, count = codes.shape[0], pool_size = offsets.shape[0] - 1, size = data.shape[0]
    cdef int64_t begin, end
    cdef int32_t code
    cdef bint in_range = True, are_scattered = count < pool_size // SCATTERED
    cdef bint is_new = keys is None
    if is_new:
        keys = np.empty(count, np.uint64)
    cdef uint64_t[::1] keys_view = keys
    if keys_view.shape[0] != count:
        raise ValueError("keys and codes differ in length")
    with nogil:
        for row in range(count):
            if are_scattered:
                _prefetch(offsets, data, codes, row)
            code = codes[row]
            if is_new:
                keys_view[row] = 0
            if code < 0 or keys_view[row] != 0:
                continue
            if code >= pool_size or not 0 <= offsets[code] <= offsets[code + 1] <= size:
                in_range = False
                break
            begin = offsets[code]
            end = offsets[code + 1]
            keys_view[row] = _identifier_key(&data[begin], end - begin, kind) if end > begin else 0
    if not in_range:
        raise ValueError("a text code or its place leaves the pool")
    return keys


cdef int _intern_all(
    Pool *pool, const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] codes, int32_t[::1] into
) noexcept nogil:
    """0, -1 when memory ends, -2 when a code leaves the pool."""
    cdef Py_ssize_t row
    cdef int32_t code
    for row in range(codes.shape[0]):
        code = codes[row]
        into[row] = -1
        if code < 0:
            continue
        if code >= offsets.shape[0] - 1:
            return -2
        if offsets[code + 1] > offsets[code]:
            into[row] = pool_code(pool, <const char *> &data[offsets[code]], offsets[code + 1] - offsets[code])
            if into[row] < 0:
                return -1
    return 0


def shared_codes(
    const int64_t[::1] offsets, const uint8_t[::1] data, const int32_t[::1] codes,
    const int64_t[::1] other_offsets, const uint8_t[::1] other_data, const int32_t[::1] other_codes,
):
    """The rows of two text columns as codes of one pool: equal where the text is equal; -1 stays blank.

    Raises:
        ValueError: offsets or codes do not fit the data.
        MemoryError: no memory, or more than 2 GiB of text.
    """
    if not (_whole(offsets, data) and _whole(other_offsets, other_data)):
        raise ValueError("the pool's offsets leave its data")
    own = np.empty(codes.shape[0], np.int32)
    second = np.empty(other_codes.shape[0], np.int32)
    cdef int32_t[::1] own_view = own, second_view = second
    cdef Pool pool
    cdef int state
    if pool_open(&pool, <uint64_t> SEED, SIZE_MAX) < 0:
        pool_close(&pool)
        raise MemoryError
    with nogil:
        state = _intern_all(&pool, offsets, data, codes, own_view)
        if state == 0:
            state = _intern_all(&pool, other_offsets, other_data, other_codes, second_view)
    pool_close(&pool)
    if state == -1:
        raise MemoryError("too much distinct text in one column")
    if state == -2:
        raise ValueError("a text code is not below the size of the pool")
    return own, second


def folded(const int64_t[::1] offsets, const uint8_t[::1] data):
    """The strings of a pool in upper case, every run of other signs than letters and digits one space: (offsets, data)
    with a string for each of the pool's, so that codes stay as they are. Letters beyond ASCII pass as they stand.

    Raises:
        ValueError: the offsets do not fit the data.
    """
    if not _whole(offsets, data):
        raise ValueError("the pool's offsets leave its data")
    cdef Py_ssize_t code, count = offsets.shape[0] - 1
    cdef int64_t at, size = 0, begin
    cdef uint8_t sign
    new_offsets = np.zeros(count + 1, np.int64)
    new_data = np.empty(data.shape[0], np.uint8)
    cdef int64_t[::1] offsets_view = new_offsets
    cdef uint8_t[::1] data_view = new_data
    with nogil:
        for code in range(count):
            begin = size
            for at in range(offsets[code], offsets[code + 1]):
                sign = data[at]
                if 97 <= sign <= 122:
                    sign -= 32
                if not (_digit(sign) or 65 <= sign <= 90 or sign >= 0x80):
                    if size == begin or data_view[size - 1] == 32:
                        continue
                    sign = 32
                data_view[size] = sign
                size += 1
            if size > begin and data_view[size - 1] == 32:
                size -= 1
            offsets_view[code + 1] = size
    return new_offsets, new_data[:size]


# ---- joins ---------------------------------------------------------------------------------------------------------

cdef packed struct Entry:
    uint64_t key
    int32_t row

cdef struct Slot:
    uint64_t key
    int32_t book      # 1 + the row, 0 for none, SEVERAL
    int32_t tape


cdef inline uint64_t _hash(uint64_t key, uint64_t seed) noexcept nogil:
    return fold(key ^ seed, ODD)


cdef inline Slot *_find(Slot *slots, uint64_t mask, uint64_t seed, uint64_t key) noexcept nogil:
    """The slot of a key, or the empty one where it would stand."""
    cdef uint64_t at = _hash(key, seed) & mask
    while slots[at].key != 0 and slots[at].key != key:
        at = (at + 1) & mask
    return &slots[at]


def parts_of(Py_ssize_t count):
    """Into how many `Parts` a join parts its two sides, of which the portfolio's has so many keys."""
    cdef Py_ssize_t parts = 1
    while count > parts * PART_KEYS and parts < PARTS_MAX:
        parts *= 2
    return parts


cdef class Parts:
    """Keys of one side with their rows, parted by the top bits of the keys' hash."""

    cdef readonly Py_ssize_t count
    """Of the parts."""
    cdef Py_ssize_t row_count
    cdef uint64_t seed
    cdef object memory
    cdef Entry *entries
    cdef Py_ssize_t starts[PARTS_MAX + 1]      # part p is `starts[p]` to `starts[p + 1]`

    def __init__(
        self, const uint64_t[::1] keys, const int32_t[::1] rows, Py_ssize_t row_count, Py_ssize_t count, uint64_t seed
    ):
        """Args:
            keys, rows: keys, 0 for none, and the rows they belong to.
            row_count: what all rows are below.
            count: as `parts_of` says; both sides of a join take the same, and the same seed.

        Raises:
            ValueError: lengths differ, or a row or the count is out of bounds.
        """
        cdef uint8_t[::1] bytes
        cdef bint sound
        if not 1 <= count <= PARTS_MAX or count & (count - 1) or keys.shape[0] != rows.shape[0]:
            raise ValueError("keys and rows do not fit")
        self.memory = bytes = np.empty((keys.shape[0] + 1) * sizeof(Entry), np.uint8)
        self.entries = <Entry *> &bytes[0]
        self.row_count, self.count, self.seed = row_count, count, seed
        with nogil:
            sound = self.fill(keys, rows)
        if not sound:
            raise ValueError("keys and rows do not fit")

    cdef bint fill(self, const uint64_t[::1] keys, const int32_t[::1] rows) noexcept nogil:
        """False for a row out of bounds."""
        cdef Py_ssize_t at, part
        cdef Py_ssize_t next_of[PARTS_MAX]
        cdef Entry *entry
        cdef int shift = 63
        cdef bint sound = True
        while self.count >> (63 - shift) > 1:
            shift -= 1
        memset(self.starts, 0, sizeof(self.starts))
        for at in range(keys.shape[0]):
            sound &= 0 <= rows[at] < self.row_count
            if keys[at] != 0:
                self.starts[((_hash(keys[at], self.seed) >> 1) >> shift) + 1] += 1
        for part in range(self.count):
            self.starts[part + 1] += self.starts[part]
            next_of[part] = self.starts[part]
        for at in range(keys.shape[0]):
            if keys[at] == 0:
                continue
            part = (_hash(keys[at], self.seed) >> 1) >> shift
            entry = &self.entries[next_of[part]]
            next_of[part] += 1
            PREFETCH_TO_WRITE(<uint8_t *> entry + LINE)
            entry.key, entry.row = keys[at], rows[at]
        return sound

    cdef Py_ssize_t keys(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """How many keys some parts have."""
        return self.starts[last] - self.starts[first]


cdef uint64_t _mask(Py_ssize_t count) noexcept nogil:
    """One less than the slots of the table for so many keys."""
    cdef uint64_t mask = 15
    while mask < 3 * <uint64_t> count:
        mask = 2 * mask + 1
    return mask


cdef Py_ssize_t _join_part(
    Slot *slots, uint64_t mask, uint64_t seed, const Entry *tape, Py_ssize_t tape_count, const Entry *book,
    Py_ssize_t book_count, int32_t[::1] tape_pair, int32_t[::1] book_pair, bint *shared,
) noexcept nogil:
    """Pair the rows whose key stands once on each side; the number of pairs, and whether another key is on both."""
    cdef Py_ssize_t at, pairs = 0
    cdef Slot *slot
    for at in range(book_count):
        PREFETCH_TO_WRITE(&book_pair[book[at].row])
        slot = _find(slots, mask, seed, book[at].key)
        slot.book = book[at].row + 1 if slot.key == 0 else SEVERAL
        slot.key = book[at].key
    for at in range(tape_count):
        PREFETCH_TO_WRITE(&tape_pair[tape[at + AHEAD].row] if at + AHEAD < tape_count else NULL)
        slot = _find(slots, mask, seed, tape[at].key)
        if slot.key == 0:
            continue
        if slot.tape == 0:
            slot.tape = tape[at].row + 1
            if slot.book == SEVERAL:
                shared[0] = True
            else:
                tape_pair[tape[at].row] = slot.book - 1
                book_pair[slot.book - 1] = tape[at].row
                pairs += 1
            continue
        shared[0] = True
        if slot.tape != SEVERAL and slot.book != SEVERAL:     # the second row with the key: the first was no pair
            tape_pair[slot.tape - 1] = -1
            book_pair[slot.book - 1] = -1
            pairs -= 1
        slot.tape = SEVERAL
    return pairs


cdef Py_ssize_t _members(
    Slot *slots, uint64_t mask, uint64_t seed, const Entry *entries, Py_ssize_t count, int64_t first_group,
    int64_t *rows, int64_t *groups,
) noexcept nogil:
    """Append the rows of one side whose key is on both sides and shared, with a number for each key; how many."""
    cdef Py_ssize_t at, shared_count = 0
    cdef Slot *slot
    for at in range(count):
        slot = _find(slots, mask, seed, entries[at].key)
        if slot.key != 0 and slot.tape != 0 and (slot.tape == SEVERAL or slot.book == SEVERAL):
            rows[shared_count] = entries[at].row
            groups[shared_count] = first_group + (slot - slots)
            shared_count += 1
    return shared_count


def join(
    Parts tape, Parts book, Py_ssize_t first, Py_ssize_t last, int32_t[::1] tape_pair, int32_t[::1] book_pair
):
    """Pair the rows whose key stands once on each side, into `tape_pair` and `book_pair` (row of the other side).

    Args:
        first, last: only the parts from `first` to `last - 1`; others may be joined at the same time.

    Returns:
        The number of pairs, and for either side the rows whose key is on both sides and shared by several rows of one,
        with a number for each key, the same for both sides.

    Raises:
        ValueError: sides that are parted differently, no such parts, or a pair array that has not all rows.
        MemoryError: no memory.
    """
    cdef Py_ssize_t pairs = 0, part, tape_size, book_size, tape_found = 0, book_found = 0
    cdef const Entry *tape_part
    cdef const Entry *book_part
    cdef uint64_t mask = 0
    cdef bint shared
    if tape.count != book.count or tape.seed != book.seed or not 0 <= first <= last <= tape.count or (
            tape_pair.shape[0] < tape.row_count or book_pair.shape[0] < book.row_count):
        raise ValueError("sides of a join do not fit")
    for part in range(first, last):
        mask = max(mask, _mask(book.keys(part, part + 1)))
    table = np.empty(2 * (mask + 1), np.uint64)
    cdef uint64_t[::1] table_view = table
    cdef Slot *slots = <Slot *> &table_view[0]
    # Memory that no shared key asks for is never touched.
    members = np.empty((4, 1 + max(tape.keys(first, last), book.keys(first, last))), np.int64)
    cdef int64_t[:, ::1] members_view = members
    with nogil:
        for part in range(first, last):
            tape_part, book_part = tape.entries + tape.starts[part], book.entries + book.starts[part]
            tape_size, book_size = tape.keys(part, part + 1), book.keys(part, part + 1)
            mask = _mask(book_size)
            shared = False
            memset(slots, 0, (mask + 1) * sizeof(Slot))
            pairs += _join_part(
                slots, mask, tape.seed, tape_part, tape_size, book_part, book_size, tape_pair, book_pair, &shared
            )
            if shared:
                tape_found += _members(
                    slots, mask, tape.seed, tape_part, tape_size, <int64_t> part << GROUP_BITS,
                    &members_view[0, tape_found], &members_view[1, tape_found],
                )
                book_found += _members(
                    slots, mask, tape.seed, book_part, book_size, <int64_t> part << GROUP_BITS,
                    &members_view[2, book_found], &members_view[3, book_found],
                )
    tape_members, book_members = members[:2, :tape_found].copy(), members[2:, :book_found].copy()
    return pairs, (tape_members[0], tape_members[1]), (book_members[0], book_members[1])


def unpaired(const int32_t[::1] rows, const int32_t[::1] pair):
    """Those of some rows that have no partner: `pair[row]` is -1.

    Raises:
        ValueError: a row is outside its pair array.
    """
    cdef Py_ssize_t at, kept_count = 0
    cdef bint sound = True
    kept = np.empty(rows.shape[0], np.int32)
    cdef int32_t[::1] kept_view = kept
    with nogil:
        for at in range(rows.shape[0]):
            if not 0 <= rows[at] < pair.shape[0]:
                sound = False
                break
            kept_view[kept_count] = rows[at]
            kept_count += pair[rows[at]] < 0
    if not sound:
        raise ValueError("a row is outside its pairs")
    return kept[:kept_count].copy()


def paired(const int32_t[::1] pair):
    """The rows that have a partner, ascending, and their partners."""
    cdef Py_ssize_t row, pair_count = 0, match_count = 0
    with nogil:
        for row in range(pair.shape[0]):
            pair_count += pair[row] >= 0
    rows = np.empty(pair_count + 1, np.int32)     # one more, which the last rows without a partner are written to
    partners = np.empty(pair_count + 1, np.int32)
    cdef int32_t[::1] rows_view = rows, partners_view = partners
    with nogil:
        for row in range(pair.shape[0]):
            rows_view[match_count], partners_view[match_count] = <int32_t> row, pair[row]
            match_count += pair[row] >= 0
    return rows[:pair_count], partners[:pair_count]


# ---- nearest par ---------------------------------------------------------------------------------------------------

cdef struct Near:
    double distance
    int64_t left
    int64_t right


cdef inline bint _before(Near a, Near b) noexcept nogil:
    if a.distance != b.distance:
        return a.distance < b.distance
    return a.left < b.left if a.left != b.left else a.right < b.right


cdef void _sift_up(Near *heap, int64_t at) noexcept nogil:
    cdef Near near = heap[at]
    while at > 0 and _before(near, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = near


cdef Near _pop(Near *heap, int64_t size) noexcept nogil:
    """The least of `size` entries, taken out."""
    cdef Near least = heap[0], last = heap[size - 1]
    cdef int64_t at = 0, child = 1
    size -= 1
    while child < size:
        if child + 1 < size and _before(heap[child + 1], heap[child]):
            child += 1
        if not _before(heap[child], last):
            break
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = last
    return least


cdef int64_t _push_near(
    Near *heap, int64_t size, const double[::1] par, const uint8_t[::1] is_book, int64_t left, int64_t right
) noexcept nogil:
    """Enter two neighbours of different sides; the new size."""
    if left < 0 or right < 0 or is_book[left] == is_book[right]:
        return size
    heap[size].distance = par[right] - par[left]
    heap[size].left = left
    heap[size].right = right
    _sift_up(heap, size)
    return size + 1


def pair_nearest(const int64_t[::1] groups, const double[::1] par, const uint8_t[::1] is_book):
    """Pair rows of the tape with rows of the portfolio within each group, the closest par first; each row once.

    Rows are sorted by group, then par, which is finite; equal par by what makes the answer the same whatever the
    order of the sources. The closest two of different sides are always neighbours in what is left of the list, so a
    heap of neighbours finds them in n log n: a million loans of one name take a second, not a day.

    Returns:
        The partner's place for each row, -1 without one.

    Raises:
        ValueError: lengths differ.
        MemoryError: no memory.
    """
    cdef Py_ssize_t count = par.shape[0], at
    cdef int64_t size = 0, left, right
    cdef Near near
    if groups.shape[0] != count or is_book.shape[0] != count:
        raise ValueError("groups, par and sides differ in length")
    partner = np.full(count, -1, np.int64)
    before = np.empty(count, np.int64)
    after = np.empty(count, np.int64)
    cdef int64_t[::1] partner_view = partner, before_view = before, after_view = after
    cdef Near *heap = <Near *> malloc((2 * count + 1) * sizeof(Near))
    if heap == NULL:
        raise MemoryError
    with nogil:
        for at in range(count):
            before_view[at] = at - 1 if at > 0 and groups[at - 1] == groups[at] else -1
            after_view[at] = at + 1 if at + 1 < count and groups[at + 1] == groups[at] else -1
            size = _push_near(heap, size, par, is_book, before_view[at], at)
        while size:
            near = _pop(heap, size)
            size -= 1
            if partner_view[near.left] >= 0 or partner_view[near.right] >= 0:
                continue
            partner_view[near.left] = near.right
            partner_view[near.right] = near.left
            left = before_view[near.left]
            right = after_view[near.right]
            if left >= 0:
                after_view[left] = right
            if right >= 0:
                before_view[right] = left
            size = _push_near(heap, size, par, is_book, left, right)
    free(heap)
    return partner
