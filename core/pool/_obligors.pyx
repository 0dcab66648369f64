# Par by obligor, keyed by its name: a table that grows with the names it meets.
#
# A name is looked up by a hash of its bytes and compared byte for byte, so that two names are never taken for one. Names
# are met in blocks: all hashes of a block are worked out first and their slots asked for, since the table is larger than
# the caches, and a look-up that waits for memory takes ten times as long as the hash.
#
# A slot's place is the first bits of its tag, so that a table twice as large has its slots in the same order: it is
# filled from end to end, which takes a tenth of hashing all names anew. Tables lie in huge pages: with small ones a third
# of a look-up's time is the search for the page.
#
# Codes are given in the order in which names are first met. They do not depend on the hash.

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* Multiplies to 128 bits and folds the halves, eight bytes at a time. */
    static inline uint64_t fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    }

    static inline uint64_t eight_bytes(const uint8_t* text) {
        uint64_t bytes;
        memcpy(&bytes, text, 8);
        return bytes;
    }

    /* Up to eight bytes as one number. */
    static inline uint64_t few_bytes(const uint8_t* text, int64_t length) {
        uint32_t first, last;
        if (length == 8) return eight_bytes(text);
        if (length >= 4) {
            memcpy(&first, text, 4);
            memcpy(&last, text + length - 4, 4);
            return (uint64_t)last << 32 | first;
        }
        if (length <= 0) return 0;
        return (uint64_t)text[length - 1] << 16 | (uint64_t)text[length / 2] << 8 | text[0];
    }

    /* The last eight bytes may have some of those before them: no byte is read beyond the text. */
    static inline uint64_t hash_bytes(const uint8_t* text, int64_t length) {
        uint64_t state = 0x9E3779B97F4A7C15ULL ^ (uint64_t)length;
        const uint8_t* end = text + length;
        if (length <= 8) return fold(state ^ few_bytes(text, length), 0xA0761D6478BD642FULL);
        for (; end - text > 8; text += 8) state = fold(state ^ eight_bytes(text), 0xD6E8FEB86659FD93ULL);
        return fold(state ^ eight_bytes(end - 8), 0xA0761D6478BD642FULL);
    }

    static inline int are_equal(const uint8_t* text, const uint8_t* known, int64_t length) {
        const uint8_t* end = text + length;
        if (length <= 8) return few_bytes(text, length) == few_bytes(known, length);
        if (eight_bytes(end - 8) != eight_bytes(known + length - 8)) return 0;
        for (; end - text > 8; text += 8, known += 8)
            if (eight_bytes(text) != eight_bytes(known)) return 0;
        return 1;
    }
    """
    uint64_t hash_bytes(const uint8_t* text, int64_t length) noexcept nogil
    bint are_equal(const uint8_t* text, const uint8_t* known, int64_t length) noexcept nogil
    void __builtin_prefetch(const void* place, int write, int locality) noexcept nogil

cdef extern from "../compliance/_room.h" nogil:
    void* open_room(size_t size) noexcept
    void* grow_room(void* room, size_t size, size_t more) noexcept
    void close_room(void* room, size_t size) noexcept

cdef enum:
    BLOCK = 64
    FIRST_BITS = 10
    FIRST_SLOTS = 1 << FIRST_BITS
    FULL = 0  # what `_meet` returns
    NO_MEMORY = -1
    MET = 1

NAME_BYTES_MAX = 0xFFFF

cdef int32_t NO_INDUSTRY = INT32_MAX


class TooManyObligors(Exception):
    """The table has met more names than it may."""


cdef struct Slot:
    uint32_t tag  # the upper half of the hash
    uint32_t after  # the code's successor; 0 is free
    uint64_t place  # where its bytes start, and how many they are, which takes 16 bits


cdef struct Entry:
    double par
    double largest  # par of the largest performing loan; 0 where there is none
    int64_t rows
    int32_t industry  # that of the largest loan


cdef class Obligors:
    """What the loans of each obligor add up to. Not for two threads at once."""

    cdef Entry* _entries
    cdef Slot* _slots
    cdef int64_t* _ends  # where each name ends among the bytes
    cdef uint8_t* _bytes
    cdef int64_t _room, _end_room, _slot_count, _byte_room
    cdef int _shift  # of a tag, for its place among the slots
    cdef readonly int64_t count, limit
    cdef readonly double blank_par
    cdef readonly int64_t blank_rows

    def __cinit__(self, int64_t limit):
        if not 0 < limit < INT32_MAX:
            raise ValueError("the limit of a table of obligors is positive, and fits 32 bits")
        self.limit = limit
        self._slot_count = FIRST_SLOTS
        self._shift = 32 - FIRST_BITS
        self._slots = <Slot*>open_room(FIRST_SLOTS * sizeof(Slot))
        if self._slots == NULL:
            raise MemoryError

    def __dealloc__(self):
        close_room(self._entries, self._room * sizeof(Entry))
        close_room(self._slots, self._slot_count * sizeof(Slot))
        close_room(self._ends, self._end_room * sizeof(int64_t))
        close_room(self._bytes, self._byte_room)

    def __len__(self):
        return self.count

    def __reduce__(self):
        return _rebuilt, (self.limit, self.names(), self.sums(), self.blank_par, self.blank_rows)

    def meet(self, const int64_t[::1] offsets not None, const uint8_t[::1] data not None):
        """Return the codes of some names, those of new ones after the others.

        Name i is data[offsets[i]:offsets[i + 1]].

        Raises:
            TooManyObligors: there are more names than the limit.
        """
        cdef int64_t count = offsets.shape[0] - 1
        if count < 0 or offsets[0] < 0 or offsets[count] > data.shape[0]:
            raise ValueError("the names' offsets lie outside of their bytes")
        if count and int(np.diff(offsets).max()) > NAME_BYTES_MAX:
            raise ValueError("a name is too long for the table")
        codes_array = np.empty(count, np.int32)
        if not count:
            return codes_array
        cdef int32_t[::1] codes = codes_array
        cdef const uint8_t* text = &data[0] if data.shape[0] else NULL
        cdef int met
        with nogil:
            met = _meet(self, &offsets[0], text, count, &codes[0])
        _raise_for(self, met)
        return codes_array

    def add(
        self, const int32_t[::1] codes not None, const double[::1] weights not None, const int32_t[::1] industries,
        const int32_t[::1] order,
    ):
        """Add loans: the code of each one's obligor (-1 for none), what it weighs, its industry (-1 for none).

        An obligor has the industry of its largest loan; of equal loans the one that comes first by `order`, which has a
        place for each industry, a blank last.
        """
        cdef int64_t rows = codes.shape[0], row, past
        cdef int32_t code, own
        cdef double weight
        cdef Entry* entry
        cdef const int32_t* industry = NULL
        if weights.shape[0] != rows or (industries is not None and industries.shape[0] != rows):
            raise ValueError("codes, weights and industries must be equally long")
        if industries is not None and rows:
            industry = &industries[0]
            if order is None:
                raise ValueError("industries need an order")
        cdef int64_t industry_count = 0 if order is None else order.shape[0]
        cdef bint is_whole = True
        with nogil:
            for row in range(rows):
                past = row + 16
                if past < rows and 0 <= codes[past] < self.count:
                    __builtin_prefetch(&self._entries[codes[past]], 1, 1)
                code = codes[row]
                weight = weights[row]
                if code < 0:
                    self.blank_par += weight
                    self.blank_rows += 1
                    continue
                own = NO_INDUSTRY
                if industry != NULL and industry[row] >= 0:
                    own = industry[row]
                if code >= self.count or (own != NO_INDUSTRY and own >= industry_count):
                    is_whole = False
                    break
                entry = &self._entries[code]
                entry.rows += 1
                entry.par += weight
                if weight > 0.0 and weight >= entry.largest:
                    if weight > entry.largest or _before(own, entry.industry, order):
                        entry.industry = own
                    entry.largest = weight
        if not is_whole:
            raise ValueError("a code is not below the number of its names")

    def add_table(self, Obligors later not None, const int32_t[::1] industries, const int32_t[::1] order):
        """Add a table of later loans; its industry i is `industries[i]` here."""
        cdef int64_t at, bytes_before = 0, count = later.count
        cdef int32_t own
        cdef int met
        cdef Entry* entry
        cdef const Entry* source
        cdef int64_t industry_count = 0 if industries is None else industries.shape[0]
        self.blank_par += later.blank_par
        self.blank_rows += later.blank_rows
        if not count:
            return
        for at in range(count):
            own = later._entries[at].industry
            if own != NO_INDUSTRY and not 0 <= own < industry_count:
                raise ValueError("a code is not below the number of its names")
        codes_array = np.empty(count, np.int32)
        starts_array = np.empty(count + 1, np.int64)
        cdef int32_t[::1] codes = codes_array
        cdef int64_t[::1] starts = starts_array
        with nogil:
            starts[0] = 0
            memcpy(&starts[1], later._ends, count * sizeof(int64_t))
            met = _meet(self, &starts[0], later._bytes, count, &codes[0])
        _raise_for(self, met)
        with nogil:
            for at in range(count):
                if at + 16 < count:
                    __builtin_prefetch(&self._entries[codes[at + 16]], 1, 1)
                entry = &self._entries[codes[at]]
                source = &later._entries[at]
                entry.rows += source.rows
                entry.par += source.par
                if source.largest > 0.0 and source.largest >= entry.largest:
                    own = source.industry if source.industry == NO_INDUSTRY else industries[source.industry]
                    if source.largest > entry.largest or _before(own, entry.industry, order):
                        entry.industry = own
                    entry.largest = source.largest

    def names(self):
        """Return (offsets, bytes) of the names in the order of their codes."""
        cdef int64_t size = self._ends[self.count - 1] if self.count else 0
        offsets_array, data_array = np.zeros(self.count + 1, np.int64), np.empty(size, np.uint8)
        cdef int64_t[::1] offsets = offsets_array
        cdef uint8_t[::1] data = data_array
        if self.count:
            memcpy(&offsets[1], self._ends, self.count * sizeof(int64_t))
        if size:
            memcpy(&data[0], self._bytes, size)
        return offsets_array, data_array

    def sums(self):
        """Return (par, par of the largest loan, its industry, loans) of each obligor; -1 is no industry."""
        cdef int64_t at, count = self.count
        par_array, largest_array = np.empty(count), np.empty(count)
        industry_array, rows_array = np.empty(count, np.int32), np.empty(count, np.int64)
        cdef double[::1] par = par_array, largest = largest_array
        cdef int32_t[::1] industry = industry_array
        cdef int64_t[::1] rows = rows_array
        with nogil:
            for at in range(count):
                par[at] = self._entries[at].par
                largest[at] = self._entries[at].largest
                industry[at] = -1 if self._entries[at].industry == NO_INDUSTRY else self._entries[at].industry
                rows[at] = self._entries[at].rows
        return par_array, largest_array, industry_array, rows_array


def appearing(const int32_t[::1] codes not None, int64_t count):
    """Return the codes below `count` that are used, in the order in which they first come; a code below 0 is none."""
    order_array = np.empty(max(count, 0), np.int32)
    seen_array = np.zeros(max(count, 1), np.uint8)
    cdef int32_t[::1] order = order_array
    cdef uint8_t[::1] seen = seen_array
    cdef int64_t row, met = 0
    cdef int32_t code
    cdef bint is_whole = True
    with nogil:
        for row in range(codes.shape[0]):
            code = codes[row]
            if code >= count:
                is_whole = False
                break
            if code >= 0 and not seen[code]:
                seen[code] = 1
                order[met] = code
                met += 1
                if met == count:
                    break
    if not is_whole:
        raise ValueError("a code is not below the number of its names")
    return order_array[:met]


def _rebuilt(limit, names, sums, blank_par, blank_rows):
    """Return a table that was sent from another process."""
    cdef Obligors table = Obligors(limit)
    table.meet(*names)
    cdef const double[::1] par = sums[0], largest = sums[1]
    cdef const int32_t[::1] industry = sums[2]
    cdef const int64_t[::1] rows = sums[3]
    if not par.shape[0] == largest.shape[0] == industry.shape[0] == rows.shape[0] == table.count:
        raise ValueError("a table of obligors has as many sums as names")
    cdef int64_t at
    for at in range(table.count):
        table._entries[at].par = par[at]
        table._entries[at].largest = largest[at]
        table._entries[at].industry = NO_INDUSTRY if industry[at] < 0 else industry[at]
        table._entries[at].rows = rows[at]
    table.blank_par = blank_par
    table.blank_rows = blank_rows
    return table


cdef inline bint _before(int32_t first, int32_t second, const int32_t[::1] order) noexcept nogil:
    """Whether an industry comes before another one; none comes last."""
    if first == NO_INDUSTRY:
        return False
    return second == NO_INDUSTRY or order[first] < order[second]


cdef int _raise_for(Obligors self, int met) except -1:
    if met == NO_MEMORY:
        raise MemoryError
    if met == FULL:
        raise TooManyObligors
    return 0


cdef int _meet(
    Obligors self, const int64_t* offsets, const uint8_t* data, int64_t count, int32_t* codes
) noexcept nogil:
    cdef uint32_t tags[BLOCK]
    cdef int64_t first, at, some, start, size
    cdef uint64_t place, mask
    cdef uint32_t tag
    cdef Slot* slot
    first = -BLOCK
    while first + BLOCK < count:
        first += BLOCK
        some = min(<int64_t>BLOCK, count - first)
        if not _has_slots(self, some):
            return NO_MEMORY
        mask = <uint64_t>self._slot_count - 1
        for at in range(some):
            start = offsets[first + at]
            size = offsets[first + at + 1] - start
            tags[at] = <uint32_t>(hash_bytes(data + start, size if size > 0 else 0) >> 32)
            __builtin_prefetch(&self._slots[tags[at] >> self._shift], 0, 3)
        for at in range(some):
            slot = &self._slots[tags[at] >> self._shift]
            if slot.after:
                __builtin_prefetch(self._bytes + (slot.place >> 16), 0, 3)
        for at in range(some):
            start = offsets[first + at]
            size = offsets[first + at + 1] - start
            if size < 0:
                size = 0
            tag = tags[at]
            place = tag >> self._shift
            while True:
                slot = &self._slots[place]
                if not slot.after:
                    if self.count == self.limit:
                        return FULL
                    if not _append(self, data + start, size):
                        return NO_MEMORY
                    slot.tag = tag
                    slot.after = <uint32_t>self.count
                    slot.place = <uint64_t>(self._ends[self.count - 1] - size) << 16 | <uint64_t>size
                    break
                if slot.tag == tag and <int64_t>(slot.place & 0xFFFF) == size and are_equal(
                    data + start, self._bytes + (slot.place >> 16), size
                ):
                    break
                place = (place + 1) & mask
            codes[first + at] = <int32_t>(slot.after - 1)
    return MET


cdef bint _append(Obligors self, const uint8_t* text, int64_t size) noexcept nogil:
    cdef int64_t used = self._ends[self.count - 1] if self.count else 0
    if self.count == self._room and not _grow(<void**>&self._entries, &self._room, sizeof(Entry), 1):
        return False
    if self.count == self._end_room and not _grow(<void**>&self._ends, &self._end_room, sizeof(int64_t), 1):
        return False
    if used + size > self._byte_room and not _grow(<void**>&self._bytes, &self._byte_room, 1, size):
        return False
    if size:
        memcpy(self._bytes + used, text, size)
    self._ends[self.count] = used + size
    memset(&self._entries[self.count], 0, sizeof(Entry))
    self._entries[self.count].industry = NO_INDUSTRY
    self.count += 1
    return True


cdef bint _grow(void** room, int64_t* count, size_t size, int64_t more) noexcept nogil:
    """Make a room half as large again, and for so many more things of a size."""
    cdef int64_t larger = count[0] + count[0] // 2 + more + FIRST_SLOTS
    cdef void* moved = grow_room(room[0], count[0] * size, larger * size)
    if moved == NULL:
        return False
    room[0] = moved
    count[0] = larger
    return True


cdef bint _has_slots(Obligors self, int64_t more) noexcept nogil:
    """Make room for some more names, so that at most two slots of three are taken."""
    cdef int64_t slot_count = self._slot_count, at
    cdef int shift = self._shift
    cdef uint64_t place, mask
    cdef Slot* slots
    while 3 * (self.count + more) > 2 * slot_count:
        slot_count *= 2
        shift -= 1
    if slot_count == self._slot_count:
        return True
    slots = <Slot*>open_room(slot_count * sizeof(Slot))
    if slots == NULL:
        return False
    mask = <uint64_t>slot_count - 1
    for at in range(self._slot_count):
        if self._slots[at].after:
            place = self._slots[at].tag >> shift
            while slots[place].after:
                place = (place + 1) & mask
            slots[place] = self._slots[at]
    close_room(self._slots, self._slot_count * sizeof(Slot))
    self._slots = slots
    self._slot_count = slot_count
    self._shift = shift
    return True
