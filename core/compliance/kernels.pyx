# One pass over the loans that feeds every compliance test, and the small tails that finish it.
#
# The rows are walked in blocks that stay in the first-level cache. `_weigh` first settles what each row weighs: its par
# where it performs, 0.0 where it is defaulted or blank. Every other function then adds the block up for one family of
# tests, reading only its own columns; a family whose columns are absent is left out. What varies by a category of few
# values (rating, lien, flags) is added up in a small table by category, and the tests read the table.
#
# A number that is not finite is blank. A column that is absent is a NULL pointer.

from functools import partial

import numpy as np

from core.portfolio.model.portfolio import DAYS_PAST_DUE_DEFAULTED
from core.portfolio.model.ratings import DEFAULTED, UNBUCKETED
from core.threads import by_threads

from cpython.object cimport PyObject_GenericSetAttr
from libc.math cimport NAN, fabs, floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from "_rounded.h" nogil:
    double round_to_six(double number) noexcept

cdef extern from "_block.h" nogil:
    const double LARGEST
    enum:
        BLOCK
        DIP_KIND
        COV_LITE
        FIXED
        DIP
        CURRENT_PAY
        DEFERRING
    void add_products(const double* weight, const double* value, Py_ssize_t rows, double* par, double* total) noexcept
    void add_below(
        const double* weight, const double* value, double line, Py_ssize_t rows, double* par, double* below
    ) noexcept
    void mark_flag(const uint8_t* column, int bit, Py_ssize_t rows, uint8_t* bits) noexcept
    void mark_rank(const uint8_t* column, uint8_t rank, Py_ssize_t rows, uint8_t* bad) noexcept
    void mark_reached(const double* column, double line, Py_ssize_t rows, uint8_t* bad) noexcept
    void mark_low(
        const double* bought, double line, const uint8_t* flags, uint8_t wanted, Py_ssize_t rows, uint8_t* low
    ) noexcept
    Py_ssize_t next_marked(const uint8_t* marks, uint8_t wanted, Py_ssize_t row, Py_ssize_t rows) noexcept
    Py_ssize_t find_weights(
        const double* par, const uint8_t* bad, Py_ssize_t rows, double* weight, Py_ssize_t* others
    ) noexcept
    uint8_t find_cells(
        const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* own, Py_ssize_t rows,
        uint16_t* cell, uint8_t* buckets
    ) noexcept
    void find_kinds(
        const uint8_t* lien, const uint8_t* flags, const uint8_t* rank, const uint8_t* facility_rank, Py_ssize_t rows,
        uint8_t* kind
    ) noexcept
    void add_recoveries(
        const double* weight, const double* recovery, const uint8_t* kind, const double* by_kind, Py_ssize_t rows,
        double* par, double* total
    ) noexcept
    void add_income(
        const double* spread, const double* floor_rate, const double* base_rate, const double* coupon, double deal_base,
        const uint8_t* flags, const double* weight, Py_ssize_t rows,
        double* interest_par, double* interest_sum, double* spread_par, double* contractual_sum, double* spread_sum
    ) noexcept
    Py_ssize_t add_lives(
        const double* average, const double* scheduled, const double* maturity, double as_of, const double* weight,
        Py_ssize_t rows, double* par, double* total
    ) noexcept
    void add_abroad(
        const int32_t* country, int32_t home, const double* size, double line_home, double line_abroad,
        const double* weight, Py_ssize_t rows,
        double* country_par, double* foreign_par, double* sized_par, double* small_par
    ) noexcept
    size_t HUGE_PAGE
    void* open_room(size_t size) noexcept
    void close_room(void* room, size_t size) noexcept
    ctypedef struct obligor_t:
        double par
        uint64_t mark
    uint64_t MARK(int32_t industry) noexcept
    bint IS_SEVERAL(uint64_t mark) noexcept
    int add_obligors(
        const int32_t* code, const int32_t* industry, const double* weight, Py_ssize_t rows, Py_ssize_t left,
        int32_t obligors, int32_t none, obligor_t* table
    ) noexcept
    void add_units(const obligor_t* table, Py_ssize_t obligors, double inverse, double* units) noexcept

cdef enum:
    TOP = 10
    LIENS = 8
    WALKS = 2  # that may go on at once
    ROWS_APART = 131_072  # that a walk of its own is worth
    SHARES = 4  # tables that rows take in turn: adding to one entry row after row waits for the entry to be stored
    CARRIED_AT_LOWER = 0
    CARRIED_AT_MARKET = 1
    CARRIED_AT_NOTHING = 3  # 2 is the recovery alone
    RANKS = 32  # room in a table by rank: _block.h keeps five bits of one

ROOM_KEPT_MAX = 128 << 20
"""Bytes of one room for a tally's tables that stays for the next: what the system takes back it has to clear again."""

cdef size_t _ROOM_KEPT_MAX = ROOM_KEPT_MAX
cdef void* _kept_room = NULL
cdef size_t _kept_size = 0

cdef double DAYS_A_YEAR = 365.25
cdef uint8_t DEFAULTED_RANK = DEFAULTED
cdef double DEFAULTED_DAYS = DAYS_PAST_DUE_DEFAULTED
cdef double OVER_30_DAYS = 30.000000000000004  # the least number of days that is more than 30
cdef uint8_t WORST_CODE = UNBUCKETED
cdef double DIP_RECOVERY = 50.0
cdef double QUOTES = 2.0

FLAGS = ("cov_lite", "is_fixed", "is_dip", "is_current_pay", "is_deferring", "is_long_dated", "participation")
BUCKETS = ("rating_agency_a", "rating_agency_b", "rating_agency_c")

assert (BLOCK, DIP_KIND) == (1024, 48)  # an array's length must stand here as a number
# What a column without a source reads as: blank ranks, liens, numbers.
cdef uint8_t NOTHING[1024]
cdef double BLANK[1024]
BLANK[:] = [NAN] * 1024


cdef struct Rules:
    # What a deal's definition decides; percent of par, years, money.
    double discount  # bought below, for a floating loan
    double discount_fixed
    double release  # the price that ends it
    double release_fixed
    double worthless_years  # a default older than that is carried at nothing
    double unquoted_ccc_price
    double small_home
    double small_abroad
    bint defers  # whether a deferring loan is carried like a defaulted one
    int defaulted_at  # see core.compliance.conventions.DEFAULTED_AT


cdef struct Columns:
    Rules rules
    const double* par
    const double* price
    const double* purchase_price
    const double* spread
    const double* floor_rate
    const double* base_rate
    const double* all_in_rate
    const double* recovery
    const double* carrying_recovery  # by which defaulted and deferring loans are carried
    const double* carried_at  # percent of par that a rule beside the others carries a loan at
    const double* maturity
    const double* average_life
    const double* scheduled_life
    const double* default_date
    const double* days_past_due
    const double* facility_size
    const double* quote_depth
    const int32_t* obligor
    const int32_t* industry
    const int32_t* country
    const uint8_t* lien
    const uint8_t* defaulted
    const uint8_t* rank[4]  # agencies A, B, C, then the deal's own
    const uint8_t* flag[7]
    const uint8_t* default_rank  # agency A's, of the borrower's default
    const uint8_t* facility_rank  # and of the loan
    double* weights  # where to write what each row weighs; NULL for nowhere
    double recovery_by_kind[49]  # 6 notch differences, from 3 worse to 2 better, by 8 liens; then DIP
    int32_t obligors
    int32_t industries
    int32_t countries
    int32_t home
    double as_of
    double deal_base_rate


cdef struct Block:
    Py_ssize_t start
    Py_ssize_t rows
    double weight[1024]  # BLOCK of each
    uint8_t is_default[1024]
    uint8_t flags[1024]
    uint8_t low[1024]
    uint8_t buckets[1024]
    uint8_t kind[1024]
    uint16_t cell[1024]


cdef enum Category:
    # Why a row is carried below par before the CCC rule.
    OTHER_CATEGORY
    DISCOUNT_CATEGORY
    DEFERRING_CATEGORY


cdef struct Candidate:
    # A row of some CCC bucket: its price (70 where it has none), its par, and percent of par at which it is carried.
    double price
    double par
    double value
    int32_t row
    uint8_t buckets  # bits 0 to 2: of A, B, C
    uint8_t is_unpriced


cdef inline bint _has_value(double number) noexcept nogil:
    """Whether a number is there and finite."""
    return fabs(number) <= LARGEST


cdef inline double _carried(double price, double recovery, double asset_recovery, int at) noexcept nogil:
    """Percent of par at which a defaulted or deferring loan is carried: the lesser of price and recovery, which is that of
    its kind where none is given, or the one of them that `at` says; never below nothing or above par."""
    cdef double value = recovery if _has_value(recovery) else asset_recovery
    if at == CARRIED_AT_NOTHING:
        return 0.0
    if _has_value(price) and (at == CARRIED_AT_MARKET or (at == CARRIED_AT_LOWER and price < value)):
        value = price
    return min(max(value, 0.0), 100.0)


cdef class Tally:
    """The sums of one pass; par and money in the deal's currency. Made by `tally`."""

    cdef readonly Py_ssize_t row_count, performing_rows, defaulted_rows, blank_rows, negative_rows, past_maturity
    cdef readonly double par, defaulted_par, defaulted_carried
    cdef readonly double obligor_blank
    cdef readonly Py_ssize_t obligor_count
    cdef readonly tuple top_obligors  # codes and par of the ten largest, largest first
    cdef readonly object industry_par  # float64, the last for blank
    cdef readonly tuple par_by_rank  # 25 sums, by the rank that gives the rating factor; see core.portfolio.model.ratings.MASKED
    cdef readonly tuple par_by_bucket  # 4 sums: the CCC buckets of A, B, C; par whose rank is another agency's than A's
    cdef readonly tuple par_by_lien  # 8 sums
    cdef readonly tuple par_by_flag  # 7 sums
    cdef readonly double recovery_sum, recovery_given
    cdef readonly double priced_par, price_sum, par_below_80, par_below_90
    cdef readonly double discount_par, discount_haircut, deferring_haircut, category_haircut
    cdef readonly double coupon_par, coupon_sum, spread_par, spread_sum, contractual_sum
    cdef readonly double interest_par, interest_sum
    cdef readonly double life_par, life_sum
    cdef readonly double foreign_par, country_par, small_par, sized_par, quoted_par, depth_par
    cdef readonly double past_due_par, aged_par
    cdef double _unquoted_par, _timely_par
    cdef Candidate* _candidates  # room for one of each row
    cdef Py_ssize_t _candidate_count
    cdef obligor_t* _obligor_table
    cdef void* _room
    cdef size_t _room_size
    cdef double[::1] _industry_table
    cdef double _rating_table[SHARES][RANKS][16]  # by rank and the bits of `_add_ratings`
    cdef double _category_table[SHARES][LIENS][4]  # by lien, and whether cov-lite and fixed
    cdef double _rare_flags[7]
    cdef uint8_t _worst_rank
    cdef list _owners  # what keeps the columns' memory alive
    cdef Columns _columns

    def __init__(self, *args, **kwargs):
        raise TypeError("a Tally is made by core.compliance.kernels.tally")

    def __dealloc__(self):
        global _kept_room, _kept_size
        if HUGE_PAGE <= self._room_size <= _ROOM_KEPT_MAX:
            self._room, _kept_room = _kept_room, self._room
            self._room_size, _kept_size = _kept_size, self._room_size
        close_room(self._room, self._room_size)


cdef class _Source:
    """Takes columns out of a portfolio's dicts, checked, as pointers."""

    cdef Py_ssize_t rows
    cdef list owners

    cdef const double* numbers(self, dict columns, str name) except? NULL:
        column = columns.get(name)
        if column is None:
            return NULL
        cdef const double[::1] view = column
        self._check(view.shape[0], name)
        self.owners.append(column)
        return &view[0]

    cdef const uint8_t* bytes(self, object column, str name) except? NULL:
        if column is None:
            return NULL
        cdef const uint8_t[::1] view = column
        self._check(view.shape[0], name)
        self.owners.append(column)
        return &view[0]

    cdef const int32_t* codes(self, object column, str name) except? NULL:
        if column is None:
            return NULL
        cdef const int32_t[::1] view = column
        self._check(view.shape[0], name)
        self.owners.append(column)
        return &view[0]

    cdef int _check(self, Py_ssize_t length, str name) except -1:
        if length != self.rows:
            raise ValueError(f"column {name} has {length} rows instead of {self.rows}")
        return 0


cdef int _check_sizes(Py_ssize_t row_count, const double[:, ::1] recovery_by_kind) except -1:
    if row_count < 1:
        raise ValueError("a tally needs at least one row")
    if row_count > 2147483647:
        raise ValueError("a tally counts rows in 32 bits")
    if recovery_by_kind.shape[0] != 6 or recovery_by_kind.shape[1] != LIENS:
        raise ValueError("recovery_by_kind is 6 by 8")


def tally(
    Py_ssize_t row_count, dict numbers not None, dict names not None, dict flags not None, dict ranks not None, lien,
    const double[:, ::1] recovery_by_kind not None, *, rules not None, double as_of, double base_rate, int32_t home,
    scheduled_life=None, double[::1] weights=None,
):
    _check_sizes(row_count, recovery_by_kind)
    cdef Tally self = Tally.__new__(Tally)
    cdef _Source source = _Source.__new__(_Source)
    cdef Columns* columns = &self._columns
    cdef int at
    source.rows = self.row_count = row_count
    source.owners = self._owners = []
    columns.par = source.numbers(numbers, "par_value")
    if columns.par == NULL:
        raise ValueError("a tally needs par_value")
    columns.price = source.numbers(numbers, "price")
    columns.purchase_price = source.numbers(numbers, "purchase_price")
    columns.spread = source.numbers(numbers, "spread")
    columns.floor_rate = source.numbers(numbers, "floor")
    columns.base_rate = source.numbers(numbers, "base_rate_level")
    columns.all_in_rate = source.numbers(numbers, "all_in_rate")
    columns.recovery = source.numbers(numbers, "recovery_rate")
    columns.carrying_recovery = columns.recovery
    if "carrying_recovery" in numbers:
        columns.carrying_recovery = source.numbers(numbers, "carrying_recovery")
    columns.carried_at = source.numbers(numbers, "carried_at")
    columns.maturity = source.numbers(numbers, "maturity_date")
    columns.average_life = source.numbers(numbers, "average_life")
    columns.default_date = source.numbers(numbers, "default_date")
    columns.days_past_due = source.numbers(numbers, "days_past_due")
    columns.facility_size = source.numbers(numbers, "facility_size")
    columns.quote_depth = source.numbers(numbers, "quote_depth")
    columns.scheduled_life = NULL
    if scheduled_life is not None:
        columns.scheduled_life = source.numbers({"scheduled_life": scheduled_life}, "scheduled_life")
    columns.obligor = _names(source, names, "obligor", &columns.obligors)
    columns.industry = _names(source, names, "industry", &columns.industries)
    columns.country = _names(source, names, "country", &columns.countries)
    columns.lien = source.bytes(lien, "lien")
    columns.defaulted = source.bytes(flags.get("is_defaulted"), "is_defaulted")
    for at, name in enumerate((*BUCKETS, "rating")):
        columns.rank[at] = source.bytes(ranks.get(name), name)
    for at, name in enumerate(FLAGS):
        columns.flag[at] = source.bytes(flags.get(name), name)
    columns.default_rank = columns.rank[0]
    if "default_rank" in ranks:
        columns.default_rank = source.bytes(ranks["default_rank"], "default_rank")
    columns.facility_rank = source.bytes(ranks.get("facility_rating_agency_a"), "facility_rating_agency_a")
    _read_rules(&columns.rules, rules)
    memcpy(columns.recovery_by_kind, &recovery_by_kind[0, 0], 6 * LIENS * sizeof(double))
    columns.recovery_by_kind[DIP_KIND] = DIP_RECOVERY
    columns.home = home
    columns.weights = NULL
    columns.as_of = as_of
    columns.deal_base_rate = base_rate
    if weights is not None:
        source._check(weights.shape[0], "weights")
        columns.weights = &weights[0]
        source.owners.append(weights.base)
    _make_room(self)
    outcomes = []
    by_threads(partial(_walk_apart, self, outcomes), WALKS, row_count // ROWS_APART)
    if not all(outcomes):
        raise ValueError("a name's code is not below the number of names")
    _read_tables(self)
    self.quoted_par = self.depth_par - self._unquoted_par
    self.past_due_par = self.aged_par - self._timely_par
    _rank_obligors(self)
    return self


cdef int _read_rules(Rules* rules, values) except -1:
    rules.discount, rules.discount_fixed, rules.release, rules.release_fixed = values[:4]
    rules.worthless_years, rules.unquoted_ccc_price, rules.small_home, rules.small_abroad = values[4:8]
    rules.defers, rules.defaulted_at = values[8:]
    return 0


cdef const int32_t* _names(_Source source, dict names, str name, int32_t* count) except? NULL:
    column = names.get(name)
    if column is None:
        count[0] = 0
        return NULL
    count[0] = len(column.values)
    return source.codes(column.codes, name)


cdef int _make_room(Tally self) except -1:
    global _kept_room, _kept_size
    self.industry_par = np.zeros(self._columns.industries + 1)
    self._industry_table = self.industry_par
    cdef size_t table_size = (<size_t>self._columns.obligors + 1) * sizeof(obligor_t)
    cdef size_t size = table_size + <size_t>self.row_count * sizeof(Candidate)
    if _kept_size // 2 <= size <= _kept_size:  # a small pool that stays must not hold the room of a large one
        self._room, _kept_room = _kept_room, NULL
        self._room_size, _kept_size = _kept_size, 0
        memset(self._room, 0, table_size)
    else:
        self._room = open_room(size)
        if self._room == NULL:
            raise MemoryError
        self._room_size = size
    self._obligor_table = <obligor_t*>self._room
    self._candidates = <Candidate*>(<char*>self._room + table_size)
    return 0


cdef int _read_tables(Tally self) except -1:
    """The margins of the two tables by category."""
    cdef double ranks[RANKS]
    cdef double bucket[4]
    cdef double lien[LIENS]
    cdef double par
    cdef int share, rank, bits, at
    if self._worst_rank > WORST_CODE:
        raise ValueError(f"a rating rank is above {DEFAULTED_RANK}")
    ranks[:] = [0.0] * 32
    bucket[:] = [0.0] * 4
    lien[:] = [0.0] * 8
    for share in range(SHARES):
        for rank in range(WORST_CODE + 1):
            for bits in range(16):
                par = self._rating_table[share][rank][bits]
                if par != 0.0:
                    ranks[rank] += par
                    for at in range(4):
                        bucket[at] += par if bits >> at & 1 else 0.0
        for at in range(LIENS):
            for bits in range(4):
                par = self._category_table[share][at][bits]
                lien[at] += par
                self._rare_flags[0] += par if bits & COV_LITE else 0.0
                self._rare_flags[1] += par if bits & FIXED else 0.0
    self.par_by_rank = tuple([ranks[at] for at in range(WORST_CODE + 1)])
    self.par_by_bucket = tuple(bucket)
    self.par_by_lien = tuple(lien)
    self.par_by_flag = tuple(self._rare_flags)
    return 0


def _walk_apart(Tally self, list outcomes, int first, int last):
    """One or both of the walks; each sums its own families, so that two threads give the bits of one."""
    cdef bint is_whole, has_names = first == 0, has_others = last == WALKS
    with nogil:
        is_whole = _walk(self, &self._columns, has_names, has_others)
    outcomes.append(is_whole)


cdef bint _walk(Tally self, const Columns* columns, bint has_names, bint has_others) noexcept nogil:
    """The pass over all rows, for obligors, industries and rates, for the others, or for all; stopped, and False, at a
    code that is out of its range."""
    cdef Block block
    cdef Py_ssize_t bad = 0
    block.start = 0
    while block.start < self.row_count:
        block.rows = min(<Py_ssize_t>BLOCK, self.row_count - block.start)
        _mark(&block, columns)
        if has_others:
            _weigh(self, &block, columns)
        else:
            find_weights(columns.par + block.start, block.is_default, block.rows, block.weight, &bad)
        if has_names and not _add_names(self, &block, columns):
            return False
        if has_others:
            _add_others(self, &block, columns)
        block.start += block.rows
    return True


cdef bint _add_names(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """What waits for tables at random places, and as many of the other families as take both walks to one time."""
    if columns.obligor != NULL and not _add_obligors(self, block, columns):
        return False
    if columns.industry != NULL and not _add_industries(self, block, columns):
        return False
    _add_income(self, block, columns)
    _add_life(self, block, columns)
    return True


cdef void _add_others(Tally self, Block* block, const Columns* columns) noexcept nogil:
    _add_ratings(self, block, columns)
    _add_categories(self, block, columns)
    if columns.price != NULL:
        _add_prices(self, block, columns)
    _add_liquidity(self, block, columns)
    _add_places(self, block, columns)
    _add_carrying(self, block, columns)
    _add_recoveries(self, block, columns)
    _add_candidates(self, block, columns)
    _add_defaults(self, block, columns)


cdef void _mark(Block* block, const Columns* columns) noexcept nogil:
    """The flags of each row as bits, and whether it is defaulted."""
    cdef Py_ssize_t i, start = block.start, rows = block.rows
    cdef uint8_t* bad = block.is_default
    cdef uint8_t* bits = block.flags
    cdef int at
    memset(bits, 0, rows)
    memset(bad, 0, rows)
    for at in range(7):
        if columns.flag[at] != NULL:
            mark_flag(columns.flag[at] + start, 1 << at, rows, bits)
    _mark_defaults(block, columns)
    if columns.flag[3] != NULL:
        for i in range(rows):
            bad[i] &= (bits[i] & CURRENT_PAY) == 0


cdef void _mark_defaults(Block* block, const Columns* columns) noexcept nogil:
    """Whether each row is defaulted, by its flag, its ratings, or the days that have passed."""
    cdef Py_ssize_t i, start = block.start, rows = block.rows
    cdef uint8_t* bad = block.is_default
    cdef const double* number
    cdef int at
    cdef double as_of = columns.as_of
    if columns.defaulted != NULL:
        mark_flag(columns.defaulted + start, 1, rows, bad)
    for at in range(1, 4):  # the scale of agency A has no rank for a default
        if columns.rank[at] != NULL:
            mark_rank(columns.rank[at] + start, DEFAULTED_RANK, rows, bad)
    if columns.days_past_due != NULL:
        mark_reached(columns.days_past_due + start, DEFAULTED_DAYS, rows, bad)
    if columns.default_date != NULL:
        number = columns.default_date + start
        for i in range(rows):
            # Without a day to compare with (NaN), a default date is one that has come.
            if fabs(number[i]) <= LARGEST and not number[i] > as_of:
                bad[i] = 1


cdef void _weigh(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """What each row weighs: its par where it performs, else 0.0."""
    cdef const double* par = columns.par + block.start
    cdef Py_ssize_t i, bad = 0, blank = find_weights(par, block.is_default, block.rows, block.weight, &bad)
    cdef double short = 0.0
    if columns.weights != NULL:
        memcpy(columns.weights + block.start, block.weight, block.rows * sizeof(double))
    add_below(block.weight, block.weight, 0.0, block.rows, &self.par, &short)
    if short < 0.0:
        for i in range(block.rows):
            self.negative_rows += block.weight[i] < 0.0
    self.blank_rows += blank
    self.defaulted_rows += bad
    self.performing_rows += block.rows - blank - bad


cdef void _add_defaults(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """The defaulted rows; after the other families, when their columns are in the cache."""
    cdef Py_ssize_t i = next_marked(block.is_default, 1, 0, block.rows)
    while i < block.rows:
        if _has_value(columns.par[block.start + i]):
            _add_default(self, block.start + i, columns, block.flags[i])
        i = next_marked(block.is_default, 1, i + 1, block.rows)


cdef void _add_default(Tally self, Py_ssize_t row, const Columns* columns, uint8_t flags) noexcept nogil:
    cdef double par = columns.par[row]
    cdef double dated = columns.default_date[row] if columns.default_date != NULL else NAN
    self.defaulted_par += par
    if _has_value(dated) and (columns.as_of - dated) / DAYS_A_YEAR > columns.rules.worthless_years:
        return
    self.defaulted_carried += par * _carrying(row, columns, flags, columns.rules.defaulted_at) / 100.0


cdef double _carrying(Py_ssize_t row, const Columns* columns, uint8_t flags, int at) noexcept nogil:
    """Percent of par of a defaulted or deferring row."""
    cdef uint8_t kind
    find_kinds(
        columns.lien + row if columns.lien != NULL else NOTHING, &flags,
        columns.default_rank + row if columns.default_rank != NULL else NOTHING,
        columns.facility_rank + row if columns.facility_rank != NULL else NOTHING, 1, &kind,
    )
    return _carried(
        columns.price[row] if columns.price != NULL else NAN,
        columns.carrying_recovery[row] if columns.carrying_recovery != NULL else NAN,
        columns.recovery_by_kind[kind], at,
    )


cdef bint _add_obligors(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Par by obligor, and the one industry of each, or that there are several."""
    return add_obligors(
        columns.obligor + block.start, columns.industry + block.start if columns.industry != NULL else NULL,
        block.weight, block.rows, self.row_count - block.start, columns.obligors, columns.industries,
        self._obligor_table,
    )


cdef bint _add_industries(Tally self, Block* block, const Columns* columns) noexcept nogil:
    cdef const int32_t* code = columns.industry + block.start
    cdef double* table = &self._industry_table[0]
    cdef Py_ssize_t i
    cdef int32_t name
    for i in range(block.rows):
        name = code[i] if code[i] >= 0 else columns.industries
        if name > columns.industries or (code[i] >= 0 and name == columns.industries):
            return False
        table[name] += block.weight[i]
    return True


cdef void _add_ratings(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Par by the cells of `find_cells`."""
    cdef const uint8_t* a = columns.rank[0] + block.start if columns.rank[0] != NULL else NOTHING
    cdef const uint8_t* b = columns.rank[1] + block.start if columns.rank[1] != NULL else NOTHING
    cdef const uint8_t* c = columns.rank[2] + block.start if columns.rank[2] != NULL else NOTHING
    cdef const uint8_t* own = columns.rank[3] + block.start if columns.rank[3] != NULL else NOTHING
    cdef Py_ssize_t i
    self._worst_rank = max(self._worst_rank, find_cells(a, b, c, own, block.rows, block.cell, block.buckets))
    for i in range(block.rows):
        (&self._rating_table[i & (SHARES - 1)][0][0])[block.cell[i]] += block.weight[i]


cdef void _add_candidates(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Note the rows of the CCC buckets, after the other families, when their columns are in the cache."""
    cdef Candidate* candidate
    cdef Py_ssize_t i, row
    cdef Category category
    i = next_marked(block.buckets, 7, 0, block.rows)
    while i < block.rows:
        if block.weight[i] > 0.0:
            row = block.start + i
            candidate = &self._candidates[self._candidate_count]
            candidate.row = <int32_t>row
            candidate.par = block.weight[i]
            candidate.buckets = block.buckets[i]
            candidate.is_unpriced = columns.price == NULL or not _has_value(columns.price[row])
            candidate.price = columns.rules.unquoted_ccc_price if candidate.is_unpriced else columns.price[row]
            candidate.value = _value(row, columns, block.flags[i], &category)
            self._candidate_count += 1
        i = next_marked(block.buckets, 7, i + 1, block.rows)


cdef void _add_categories(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Par by lien, cov-lite and fixed; by the other flags, which few rows have."""
    cdef const uint8_t* lien = columns.lien + block.start if columns.lien != NULL else NOTHING
    cdef Py_ssize_t i
    cdef int at
    for i in range(block.rows):
        self._category_table[i & (SHARES - 1)][lien[i] & (LIENS - 1)][block.flags[i] & 3] += block.weight[i]
        if block.flags[i] > 3:
            for at in range(2, 7):
                if block.flags[i] >> at & 1:
                    self._rare_flags[at] += block.weight[i]


cdef void _add_prices(Tally self, Block* block, const Columns* columns) noexcept nogil:
    cdef const double* price = columns.price + block.start
    cdef double again = 0.0
    add_products(block.weight, price, block.rows, &self.priced_par, &self.price_sum)
    add_below(block.weight, price, 80.0, block.rows, &again, &self.par_below_80)
    add_below(block.weight, price, 90.0, block.rows, &again, &self.par_below_90)


cdef inline bint _is_discount(Py_ssize_t row, const Columns* columns, uint8_t flags) noexcept nogil:
    """Bought below 80 (fixed 75) and not marked at 90 (85) or above since."""
    cdef double bought
    if columns.purchase_price == NULL:
        return False
    bought = columns.purchase_price[row]
    if not (0.0 <= bought < (columns.rules.discount_fixed if flags & FIXED else columns.rules.discount)):
        return False
    return columns.price == NULL or not (
        LARGEST >= columns.price[row] >= (columns.rules.release_fixed if flags & FIXED else columns.rules.release)
    )


cdef double _value(Py_ssize_t row, const Columns* columns, uint8_t flags, Category* category) noexcept nogil:
    """Percent of par at which a performing row is carried before the CCC rule: the lowest of what applies to it."""
    cdef double value = 100.0, lower
    category[0] = OTHER_CATEGORY
    if _is_discount(row, columns, flags):
        value = columns.purchase_price[row]
        category[0] = DISCOUNT_CATEGORY
    if flags & DEFERRING and columns.rules.defers:
        lower = _carrying(row, columns, flags, CARRIED_AT_LOWER)
        if lower < value:
            value = lower
            category[0] = DEFERRING_CATEGORY
    if columns.carried_at != NULL:
        lower = columns.carried_at[row]
        if lower < value:
            value = max(lower, 0.0)
            category[0] = OTHER_CATEGORY
    return value


cdef void _add_carrying(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Haircuts of discount obligations, of deferring loans and of those that another rule carries below par; a row that
    is several of these counts once, at the lowest value."""
    cdef uint8_t* low = block.low
    cdef Py_ssize_t i
    cdef double haircut, line = max(columns.rules.discount, columns.rules.discount_fixed)
    cdef Category category
    if columns.purchase_price == NULL and columns.flag[4] == NULL and columns.carried_at == NULL:
        return
    mark_low(_numbers(columns.purchase_price, block), line, block.flags, DEFERRING, block.rows, low)
    if columns.carried_at != NULL:
        for i in range(block.rows):
            low[i] |= columns.carried_at[block.start + i] < 100.0
    i = next_marked(low, 1, 0, block.rows)
    while i < block.rows:
        haircut = block.weight[i] * (1.0 - _value(block.start + i, columns, block.flags[i], &category) / 100.0)
        if category == DISCOUNT_CATEGORY:
            self.discount_par += block.weight[i]
            self.discount_haircut += haircut
        elif category == DEFERRING_CATEGORY:
            self.deferring_haircut += haircut
        else:
            self.category_haircut += haircut
        i = next_marked(low, 1, i + 1, block.rows)


cdef inline const double* _numbers(const double* column, Block* block) noexcept nogil:
    """A column's part in the block; blanks for an absent one."""
    return column + block.start if column != NULL else BLANK


cdef void _add_recoveries(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Recovery of each row: its own, else that of its kind."""
    cdef const double* recovery = _numbers(columns.recovery, block)
    cdef const uint8_t* lien = columns.lien + block.start if columns.lien != NULL else NOTHING
    cdef const uint8_t* rank = columns.default_rank + block.start if columns.default_rank != NULL else NOTHING
    cdef const uint8_t* facility = columns.facility_rank + block.start if columns.facility_rank != NULL else NOTHING
    find_kinds(lien, block.flags, rank, facility, block.rows, block.kind)
    add_recoveries(
        block.weight, recovery, block.kind, columns.recovery_by_kind, block.rows,
        &self.recovery_given, &self.recovery_sum,
    )


cdef void _add_income(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Spread with floor credit of floating rows, coupon of fixed ones, and a year's interest of all."""
    cdef const double* coupon = _numbers(columns.all_in_rate, block)
    cdef Py_ssize_t i
    if columns.spread == NULL and columns.all_in_rate == NULL:
        return
    add_income(
        _numbers(columns.spread, block), _numbers(columns.floor_rate, block), _numbers(columns.base_rate, block),
        coupon, columns.deal_base_rate, block.flags, block.weight, block.rows,
        &self.interest_par, &self.interest_sum, &self.spread_par, &self.contractual_sum, &self.spread_sum,
    )
    i = next_marked(block.flags, FIXED, 0, block.rows)
    while i < block.rows:
        if _has_value(coupon[i]):
            self.coupon_par += block.weight[i]
            self.coupon_sum += block.weight[i] * coupon[i]
        i = next_marked(block.flags, FIXED, i + 1, block.rows)


cdef void _add_life(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Years of each row: its average life, else that of its schedule, else until its maturity."""
    if columns.average_life == NULL and columns.scheduled_life == NULL and columns.maturity == NULL:
        return
    self.past_maturity += add_lives(
        _numbers(columns.average_life, block), _numbers(columns.scheduled_life, block),
        _numbers(columns.maturity, block), columns.as_of, block.weight, block.rows, &self.life_par, &self.life_sum,
    )


cdef void _add_places(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Country and facility size."""
    if columns.country != NULL:
        add_abroad(
            columns.country + block.start, columns.home, _numbers(columns.facility_size, block),
            columns.rules.small_home, columns.rules.small_abroad, block.weight, block.rows,
            &self.country_par, &self.foreign_par, &self.sized_par, &self.small_par,
        )


cdef void _add_liquidity(Tally self, Block* block, const Columns* columns) noexcept nogil:
    """Quotes and days past due."""
    if columns.quote_depth != NULL:
        add_below(
            block.weight, columns.quote_depth + block.start, QUOTES, block.rows, &self.depth_par, &self._unquoted_par
        )
    if columns.days_past_due != NULL:
        add_below(
            block.weight, columns.days_past_due + block.start, OVER_30_DAYS, block.rows, &self.aged_par, &self._timely_par
        )


cdef int _rank_obligors(Tally self) except -1:
    """One walk over the obligors: how many have par, which are the largest, whether one has several industries."""
    cdef const obligor_t* table = self._obligor_table
    cdef double best[TOP]
    cdef Py_ssize_t code[TOP]
    cdef Py_ssize_t name, at, kept = 0
    cdef double par, least = 0.0
    cdef bint several = False
    with nogil:
        for name in range(1, self._columns.obligors + 1):
            par = table[name].par
            several |= IS_SEVERAL(table[name].mark)
            if not par > 0.0:
                continue
            self.obligor_count += 1
            if par <= least:
                continue
            at = kept if kept < TOP else TOP - 1
            while at > 0 and best[at - 1] < par:
                best[at] = best[at - 1]
                code[at] = code[at - 1]
                at -= 1
            best[at] = par
            code[at] = name - 1
            if kept < TOP:
                kept += 1
            if kept == TOP:
                least = best[TOP - 1]
    self.obligor_blank = table[0].par
    self.top_obligors = [code[at] for at in range(kept)], [best[at] for at in range(kept)]
    if several:
        _settle_industries(self)
    return 0


cdef int _settle_industries(Tally self) except -1:
    """Give each obligor with facilities in several industries that of its largest one; a tie goes to the smaller code,
    which is the industry that the source names first, a blank last."""
    cdef obligor_t* table = self._obligor_table
    cdef Columns* columns = &self._columns
    cdef Py_ssize_t name, row, several = 0
    for name in range(1, columns.obligors + 1):
        if IS_SEVERAL(table[name].mark):
            several += 1
            table[name].mark = <uint64_t>several << 32 | several  # its place below; still a mark of several
    cdef double[::1] largest = np.zeros(several + 1)
    cdef int32_t[::1] owner = np.zeros(several + 1, np.int32)
    cdef Block block
    cdef double par
    cdef int32_t own
    cdef Py_ssize_t at, i
    with nogil:
        block.start = 0
        while block.start < self.row_count:
            block.rows = min(<Py_ssize_t>BLOCK, self.row_count - block.start)
            _mark(&block, columns)
            for i in range(block.rows):
                row = block.start + i
                par = columns.par[row]
                if columns.obligor[row] < 0 or block.is_default[i] or not (0.0 < par <= LARGEST):
                    continue
                name = columns.obligor[row] + 1
                if not IS_SEVERAL(table[name].mark):
                    continue
                at = <Py_ssize_t>(table[name].mark >> 32)
                own = columns.industry[row] if columns.industry[row] >= 0 else columns.industries
                if par > largest[at] or (par == largest[at] and own < owner[at]):
                    largest[at] = par
                    owner[at] = own
            block.start += block.rows
        for name in range(1, columns.obligors + 1):
            if IS_SEVERAL(table[name].mark):
                table[name].mark = MARK(owner[<Py_ssize_t>(table[name].mark >> 32)])
    return 0


def units(Tally tallied not None, double average_par):
    """Equivalent units by industry, the last for blank."""
    if not average_par > 0.0:
        raise ValueError("the average par of an obligor must be positive")
    sums = np.zeros(tallied._columns.industries + 1)
    cdef double[::1] table = sums
    with nogil:
        add_units(tallied._obligor_table, tallied._columns.obligors, 1.0 / average_par, &table[0])
    return sums


def diversity(const double[::1] units not None, const double[::1] scores not None):
    """The score of units by industry; `scores` is the 201-row table of scores."""
    if scores.shape[0] != 201:
        raise ValueError("the diversity table has 201 rows")
    cdef Py_ssize_t name, step
    cdef double score = 0.0
    for name in range(units.shape[0]):
        # The lower of the two neighbours in steps of 0.1 that start at 0.05; the tolerance lets a sum that is
        # exactly a step, but for its rounding, reach it.
        step = <Py_ssize_t>floor((min(units[name], 20.0) + 0.05 + 1e-9) * 10.0)
        score += scores[min(max(step, 0), 200)]
    return score


def obligors(Tally tallied not None):
    """(par, industry) of each obligor by its code; the industry is that of its largest loan, and after the last one's
    code for a blank."""
    cdef Py_ssize_t name, count = tallied._columns.obligors
    cdef const obligor_t* table = tallied._obligor_table
    par_array, industry_array = np.zeros(count), np.zeros(count, np.int32)
    cdef double[::1] par = par_array
    cdef int32_t[::1] industry = industry_array
    with nogil:
        for name in range(count):
            par[name] = table[name + 1].par
            industry[name] = <int32_t>table[name + 1].mark
    return par_array, industry_array


def obligor_par(Tally tallied not None):
    """Par of each obligor by its code, the last of no obligor."""
    cdef Py_ssize_t name, count = tallied._columns.obligors
    cdef const obligor_t* table = tallied._obligor_table
    par_array = np.empty(count + 1)
    cdef double[::1] par = par_array
    with nogil:
        for name in range(count):
            par[name] = table[name + 1].par
    par[count] = tallied.obligor_blank
    return par_array


def fill_excess(Tally tallied not None, int bucket, double excess, identifier):
    """Haircut of the CCC excess: the bucket's rows are taken from the lowest price up until the excess is filled, the
    last one in part, and each slice is carried at its price (70 where it has none) if that is below what the row is
    carried at already. `identifier(row)` orders rows of one price where the order matters.

    Returns (haircut, rows without a price). `excess` must not be above the par of the bucket's rows. Reorders the
    tally's candidates, so not for two threads at once.
    """
    cdef Candidate* rows = tallied._candidates
    cdef Py_ssize_t at, count = 0, unpriced = 0
    cdef Candidate swapped
    with nogil:
        for at in range(tallied._candidate_count):
            if rows[at].buckets >> bucket & 1:
                unpriced += rows[at].is_unpriced
                swapped = rows[at]
                rows[at] = rows[count]
                rows[count] = swapped
                count += 1
    return _fill(rows, count, excess, identifier), unpriced


def candidates(Tally tallied not None, int bucket):
    """(row, price, par, value, whether it has no price) of the rows of a CCC bucket, in no order; the price stands in
    where there is none, and the value is percent of par at which a row is carried before the CCC rule."""
    cdef const Candidate* rows = tallied._candidates
    cdef Py_ssize_t at, count = 0
    table = np.zeros((5, tallied._candidate_count))
    cdef double[:, ::1] columns = table
    for at in range(tallied._candidate_count):
        if rows[at].buckets >> bucket & 1:
            columns[0, count] = rows[at].row
            columns[1, count] = rows[at].price
            columns[2, count] = rows[at].par
            columns[3, count] = rows[at].value
            columns[4, count] = rows[at].is_unpriced
            count += 1
    return table[:, :count].copy()


def all_candidates(Tally tallied not None):
    """(price, par, value, buckets, whether it has no price) of the rows of any CCC bucket, in the rows' order; bits 0 to 2
    of the buckets are those of A, B, C. For a tally whose candidates nobody has reordered."""
    cdef const Candidate* rows = tallied._candidates
    cdef Py_ssize_t at, count = tallied._candidate_count
    table, marks = np.empty((3, count)), np.empty((2, count), np.uint8)
    rows_array = np.empty(count, np.int32)
    cdef double[:, ::1] columns = table
    cdef uint8_t[:, ::1] bits = marks
    cdef int32_t[::1] places = rows_array
    with nogil:
        for at in range(count):
            columns[0, at] = rows[at].price
            columns[1, at] = rows[at].par
            columns[2, at] = rows[at].value
            bits[0, at] = rows[at].buckets
            bits[1, at] = rows[at].is_unpriced
            places[at] = rows[at].row
    return table[0], table[1], table[2], marks[0], marks[1], rows_array


def fill_alike(double price, const double[::1] par not None, const double[::1] value not None, double excess, identifier):
    """Haircut of an excess that rows of one price fill, as far as it reaches; `identifier(at)` orders them."""
    cdef Py_ssize_t at, count = par.shape[0]
    if value.shape[0] != count:
        raise ValueError("par and value must be equally long")
    room = bytearray(max(count, 1) * sizeof(Candidate))
    cdef unsigned char[::1] room_view = room
    cdef Candidate* rows = <Candidate*>&room_view[0]
    for at in range(count):
        rows[at].row = <int32_t>at
        rows[at].price = price
        rows[at].par = par[at]
        rows[at].value = value[at]
    return _fill(rows, count, excess, identifier)


def fill_levels(
    const double[::1] price not None, const double[::1] par not None, const double[::1] value not None, double excess,
    identifier,
):
    """Haircut of an excess that rows of several prices fill, from the lowest price up; `identifier(at)` orders rows of one
    price where the order matters."""
    cdef Py_ssize_t at, count = par.shape[0]
    if not price.shape[0] == value.shape[0] == count:
        raise ValueError("price, par and value must be equally long")
    room = np.empty(max(count, 1) * sizeof(Candidate), np.uint8)
    cdef unsigned char[::1] room_view = room
    cdef Candidate* rows = <Candidate*>&room_view[0]
    with nogil:
        for at in range(count):
            rows[at].row = <int32_t>at
            rows[at].price = price[at]
            rows[at].par = par[at]
            rows[at].value = value[at]
    return _fill(rows, count, excess, identifier)


cdef double _fill(Candidate* rows, Py_ssize_t count, double excess, identifier) except? -1.0:
    """Fill the excess by halves: rows below a middle price are taken whole when they fit, else looked at alone."""
    cdef Py_ssize_t low, high, first = 0, last = count  # rows[first:last] are yet to be taken or left
    cdef double par, haircut = 0.0
    while first < last and excess > 0.0:
        with nogil:
            low, high = first, last
            _part(rows, &low, &high)
            par = _par(rows, first, low)
        if par > excess:
            last = low
            continue
        haircut += _taken(rows, first, low, &excess)
        if _par(rows, low, high) > excess:
            _order(rows, low, high, identifier)
        haircut += _taken(rows, low, high, &excess)
        first = high
    return haircut


cdef void _part(Candidate* rows, Py_ssize_t* low, Py_ssize_t* high) noexcept nogil:
    """Part rows[low:high] by a middle price: cheaper rows, then from `low` to `high` those of that price, then dearer."""
    cdef Py_ssize_t at = low[0], middle = (low[0] + high[0]) // 2
    cdef double start = rows[low[0]].price, centre = rows[middle].price, end = rows[high[0] - 1].price
    cdef double price = max(min(start, centre), min(max(start, centre), end))
    cdef Candidate swapped
    while at < high[0]:
        if rows[at].price < price:
            swapped = rows[at]
            rows[at] = rows[low[0]]
            rows[low[0]] = swapped
            low[0] += 1
            at += 1
        elif rows[at].price > price:
            high[0] -= 1
            swapped = rows[at]
            rows[at] = rows[high[0]]
            rows[high[0]] = swapped
        else:
            at += 1


cdef double _par(const Candidate* rows, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef double par = 0.0
    cdef Py_ssize_t at
    for at in range(first, last):
        par += rows[at].par
    return par


cdef double _taken(const Candidate* rows, Py_ssize_t first, Py_ssize_t last, double* excess) noexcept nogil:
    """Haircut of rows that are taken in their order, as far as the excess reaches."""
    cdef double part, haircut = 0.0
    cdef Py_ssize_t at
    for at in range(first, last):
        part = min(rows[at].par, excess[0])
        excess[0] -= part
        haircut += part * max(0.0, rows[at].value - max(0.0, rows[at].price)) / 100.0
    return haircut


cdef int _order(Candidate* rows, Py_ssize_t first, Py_ssize_t last, identifier) except -1:
    """Bring rows of one price, not all of which are taken, into the order of their identifiers; where these leave it
    open the value settles it, so that the order of the sheet's rows never matters."""
    cdef Py_ssize_t at
    cdef bint matters = False
    for at in range(first + 1, last):
        matters |= rows[at].value != rows[first].value
    if not matters:
        return 0
    cdef bytes copy = (<const char*>(rows + first))[: (last - first) * sizeof(Candidate)]
    cdef const Candidate* source = <const Candidate*><const char*>copy
    ordered = sorted([
        (identifier(rows[at].row), rows[at].value, rows[at].par, at - first) for at in range(first, last)
    ])
    for at in range(first, last):
        rows[at] = source[<Py_ssize_t>ordered[at - first][3]]
    return 0


def scheduled_life(
    const double[::1] par not None, maturity, double as_of,
    const int64_t[::1] row not None, const double[::1] days not None, const double[::1] amount not None,
):
    """Average life in years of each loan that has a payment schedule, NaN for the others.

    Payments before `as_of` are made already and left out; what the schedule leaves of the par falls due at maturity.
    """
    if not row.shape[0] == days.shape[0] == amount.shape[0]:
        raise ValueError("row, days and amount must be equally long")
    cdef const double[::1] due = maturity
    if due is not None and due.shape[0] != par.shape[0]:
        raise ValueError("par and maturity must be equally long")
    years_array = np.zeros(par.shape[0])
    cdef double[::1] years = years_array
    cdef double[::1] paid = np.zeros(par.shape[0])
    cdef Py_ssize_t at
    cdef double rest
    for at in range(row.shape[0]):
        if not 0 <= row[at] < par.shape[0]:
            raise ValueError("a payment names a row that is not there")
        if amount[at] > 0.0 and _has_value(amount[at]) and _has_value(days[at]) and days[at] >= as_of:
            paid[row[at]] += amount[at]
            years[row[at]] += amount[at] * (days[at] - as_of) / DAYS_A_YEAR
    for at in range(par.shape[0]):
        rest = max(0.0, par[at] - paid[at]) if _has_value(par[at]) else 0.0
        if paid[at] == 0.0 or (rest > 0.0 and (due is None or not _has_value(due[at]))):
            years[at] = NAN
            continue
        if rest > 0.0:
            years[at] += rest * max(0.0, (due[at] - as_of) / DAYS_A_YEAR)
        years[at] /= paid[at] + rest
    return years_array


def rounded(double number):
    """The number to 6 decimals, as results return it, with no negative zero."""
    return round_to_six(number)


def put(record, tuple names not None, tuple values not None):
    """Set fields of a frozen record: what `object.__setattr__` does, in a fraction of its time."""
    cdef Py_ssize_t at
    if len(names) != len(values):
        raise ValueError("as many values as names are needed")
    for at in range(len(names)):
        PyObject_GenericSetAttr(record, names[at], values[at])
