/* Room for large tables that are read at random places. */

#ifndef CUSHION_ROOM_H
#define CUSHION_ROOM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap */
#endif

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#define HUGE_PAGE ((size_t)2 << 20)

/* Zeroed memory for `close_room`, NULL where there is none. A large room comes straight from the system and in huge pages:
   the first touch of a small page takes 2 us, 7 ms for the sums of a million obligors, and huge ones take 1 ms for all of
   them. What is never touched costs nothing. */
static void* open_room(size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE) {
        size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void* room = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) return NULL;
        madvise(room, whole, MADV_HUGEPAGE); /* a wish: where it is not granted, small pages do */
        return room;
    }
#endif
    return calloc(1, bytes);
}

static void close_room(void* room, size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE) {
        if (room != NULL) munmap(room, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
        return;
    }
#endif
    free(room);
}

/* A larger room with the bytes of another one, which is closed; NULL where there is none, and the other one stays. */
static inline void* grow_room(void* room, size_t bytes, size_t more) {
    void* larger;
#ifdef MADV_HUGEPAGE
    if (room != NULL && bytes >= HUGE_PAGE) {
        size_t whole = (more + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        larger = mremap(room, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, whole, MREMAP_MAYMOVE);
        if (larger == MAP_FAILED) return NULL;
        madvise(larger, whole, MADV_HUGEPAGE);
        return larger;
    }
#endif
    larger = open_room(more);
    if (larger == NULL) return NULL;
    if (bytes) memcpy(larger, room, bytes);
    close_room(room, bytes);
    return larger;
}

#endif
