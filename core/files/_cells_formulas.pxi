# The formulas of a sheet in the order in which they are met, and the groups that share one text.

cdef struct Found:
    # One formula cell; `text` is -1 for a shared member until its origin is known, `shared` -1 outside shared groups.
    int32_t row
    int32_t column
    int32_t text
    int32_t shared
    int32_t origin
cdef struct Formulas:
    Pool pool                        # the distinct texts
    Found *found
    int64_t count
    int64_t room
    int32_t *origins                 # shared group -> index in `found` of the cell it was filled from
    int64_t origins_room
    int64_t last_key                 # place of the last formula, to know whether they came in order
    bint ordered


cdef bint formulas_open(Formulas *formulas, uint64_t seed) noexcept nogil:
    formulas.last_key = -1
    formulas.ordered = True
    return pool_open(&formulas.pool, seed, TEXT_LIMIT) >= 0


cdef void formulas_close(Formulas *formulas) noexcept nogil:
    free(formulas.found)
    free(formulas.origins)
    pool_close(&formulas.pool)


cdef int formulas_add(Formulas *formulas, int64_t row, int32_t column, Run *text, int64_t group) noexcept nogil:
    """Note one formula cell, of a shared group unless `group` is -1; its text may be empty in a group. OK or the
    problem."""
    cdef Found *entry
    cdef void *moved
    cdef int64_t key = row * COLUMNS_LIMIT + column
    if formulas.count == formulas.room:
        moved = realloc(formulas.found, (formulas.room * 2 + 64) * sizeof(Found))
        if moved == NULL:
            return NO_MEMORY
        formulas.found = <Found *> moved
        formulas.room = formulas.room * 2 + 64
    if group >= formulas.origins_room:
        if group >= SHARED_INDEX_MAX:
            return SHARED_FORMULAS
        if not origins_grow(formulas, group):
            return NO_MEMORY
    entry = &formulas.found[formulas.count]
    entry.row = <int32_t> row
    entry.column = column
    entry.shared = <int32_t> group
    entry.text = -1
    if text.size:
        entry.text = run_code(&formulas.pool, text)
        entry.origin = <int32_t> formulas.count
        if entry.text < 0:
            return pool_problem(entry.text)
        if group >= 0:
            formulas.origins[group] = <int32_t> formulas.count
    else:
        entry.origin = formulas.origins[group]
    formulas.ordered = formulas.ordered and key > formulas.last_key
    formulas.last_key = key
    formulas.count += 1
    return OK


cdef bint origins_grow(Formulas *formulas, int64_t group) noexcept nogil:
    """Make room for a shared group's number."""
    cdef int64_t room = formulas.origins_room * 2
    cdef void *moved
    if room < group + 64:
        room = group + 64
    moved = realloc(formulas.origins, room * sizeof(int32_t))
    if moved == NULL:
        return False
    formulas.origins = <int32_t *> moved
    memset(formulas.origins + formulas.origins_room, 0xFF, (room - formulas.origins_room) * sizeof(int32_t))
    formulas.origins_room = room
    return True


cdef tuple formula_arrays(Formulas *formulas):
    """(rows, columns, texts, origins), one element per formula."""
    cdef int64_t at, count = formulas.count
    cdef int32_t[::1] rows = np.empty(count, np.int32)
    cdef int32_t[::1] columns = np.empty(count, np.int32)
    cdef int32_t[::1] texts = np.empty(count, np.int32)
    cdef int32_t[::1] origins = np.empty(count, np.int32)
    cdef Found *entry
    for at in range(count):
        entry = &formulas.found[at]
        # A member that came before its origin finds it now.
        if entry.origin < 0 and entry.shared >= 0:
            entry.origin = formulas.origins[entry.shared]
        rows[at] = entry.row
        columns[at] = entry.column
        origins[at] = entry.origin
        texts[at] = formulas.found[entry.origin].text if entry.origin >= 0 else -1
    return rows.base, columns.base, texts.base, origins.base
