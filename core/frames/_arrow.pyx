"""Columns handed out by the Arrow C data interface, as a stream of one batch; what lies in memory as Arrow has it is
not copied.

The structs and the rules of their release are those of https://arrow.apache.org/docs/format/CDataInterface.html and
CStreamInterface.html. Each struct owns a reference to what it points at, since a consumer may move a child out of its
parent and release both at different times.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.errno cimport EIO
from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

import numpy as np


cdef struct ArrowSchema:
    const char* format
    const char* name
    const char* metadata
    int64_t flags
    int64_t n_children
    ArrowSchema** children
    ArrowSchema* dictionary
    void (*release)(ArrowSchema*) noexcept
    void* private_data


cdef struct ArrowArray:
    int64_t length
    int64_t null_count
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void** buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept
    void* private_data


cdef struct ArrowArrayStream:
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
    int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept
    const char* (*get_last_error)(ArrowArrayStream*) noexcept
    void (*release)(ArrowArrayStream*) noexcept
    void* private_data


cdef enum:
    NULLABLE = 2


cdef class _Source:
    """The columns of a stream: [(name, format, nulls, arrays), ...], an array None for a buffer that is left out."""

    cdef list columns
    cdef bytes metadata
    cdef bytes error
    cdef int64_t length
    cdef bint is_exported


# ---- schemas


cdef void _release_schema(ArrowSchema* schema) noexcept with gil:
    cdef int64_t at
    for at in range(schema.n_children):
        if schema.children[at].release != NULL:
            schema.children[at].release(schema.children[at])
        free(schema.children[at])
    free(schema.children)
    schema.release = NULL
    Py_DECREF(<object> <PyObject*> schema.private_data)


cdef void _begin_schema(ArrowSchema* schema, bytes name, bytes format, bytes metadata):
    cdef tuple kept = (name, format, metadata)
    memset(schema, 0, sizeof(ArrowSchema))
    schema.format, schema.name = <const char*> format, <const char*> name
    schema.metadata = NULL if metadata is None else <const char*> metadata
    Py_INCREF(kept)
    schema.private_data = <PyObject*> kept
    schema.release = _release_schema


cdef int _fill_schema(ArrowSchema* schema, _Source source) except -1:
    cdef ArrowSchema* child
    _begin_schema(schema, b"", b"+s", source.metadata)
    try:
        schema.children = <ArrowSchema**> calloc(max(1, len(source.columns)), sizeof(void*))
        if schema.children == NULL:
            raise MemoryError
        for name, format, _, _ in source.columns:
            child = <ArrowSchema*> calloc(1, sizeof(ArrowSchema))
            if child == NULL:
                raise MemoryError
            schema.children[schema.n_children] = child
            schema.n_children += 1
            _begin_schema(child, name, format, None)
            child.flags = NULLABLE
    except BaseException:
        schema.release(schema)
        raise
    return 0


# ---- arrays


cdef void _release_array(ArrowArray* array) noexcept with gil:
    cdef int64_t at
    for at in range(array.n_children):
        if array.children[at].release != NULL:
            array.children[at].release(array.children[at])
        free(array.children[at])
    free(array.children)
    free(array.buffers)
    array.release = NULL
    Py_DECREF(<object> <PyObject*> array.private_data)


cdef int _begin_array(ArrowArray* array, int64_t length, int64_t nulls, tuple arrays) except -1:
    cdef int64_t at
    memset(array, 0, sizeof(ArrowArray))
    array.length, array.null_count = length, nulls
    Py_INCREF(arrays)
    array.private_data = <PyObject*> arrays
    array.release = _release_array
    array.buffers = <const void**> calloc(max(1, len(arrays)), sizeof(void*))
    if array.buffers == NULL:
        raise MemoryError
    array.n_buffers = len(arrays)
    for at in range(array.n_buffers):
        if arrays[at] is not None:
            array.buffers[at] = <const void*> <uintptr_t> arrays[at].ctypes.data
    return 0


cdef int _fill_array(ArrowArray* array, _Source source) except -1:
    cdef ArrowArray* child
    memset(array, 0, sizeof(ArrowArray))
    try:
        _begin_array(array, source.length, 0, (None,))
        array.children = <ArrowArray**> calloc(max(1, len(source.columns)), sizeof(void*))
        if array.children == NULL:
            raise MemoryError
        for _, _, nulls, arrays in source.columns:
            child = <ArrowArray*> calloc(1, sizeof(ArrowArray))
            if child == NULL:
                raise MemoryError
            array.children[array.n_children] = child
            array.n_children += 1
            _begin_array(child, source.length, nulls, arrays)
    except BaseException:
        if array.release != NULL:
            array.release(array)
        raise
    return 0


# ---- the stream


cdef int _get_schema(ArrowArrayStream* stream, ArrowSchema* schema) noexcept with gil:
    cdef _Source source = <_Source> <PyObject*> stream.private_data
    try:
        return _fill_schema(schema, source)
    except BaseException as error:
        source.error = repr(error).encode()
        return EIO


cdef int _get_next(ArrowArrayStream* stream, ArrowArray* array) noexcept with gil:
    cdef _Source source = <_Source> <PyObject*> stream.private_data
    if source.is_exported:
        memset(array, 0, sizeof(ArrowArray))  # a released array: the end
        return 0
    try:
        _fill_array(array, source)
    except BaseException as error:
        source.error = repr(error).encode()
        return EIO
    source.is_exported = True
    return 0


cdef const char* _get_last_error(ArrowArrayStream* stream) noexcept with gil:
    cdef _Source source = <_Source> <PyObject*> stream.private_data
    return NULL if source.error is None else <const char*> source.error


cdef void _release_stream(ArrowArrayStream* stream) noexcept with gil:
    stream.release = NULL
    Py_DECREF(<object> <PyObject*> stream.private_data)


cdef void _end_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(capsule, b"arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


cdef void _end_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*> PyCapsule_GetPointer(capsule, b"arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef _Source _source(list columns, int64_t length, bytes metadata):
    cdef _Source source = _Source.__new__(_Source)
    source.columns, source.length, source.metadata = columns, length, metadata
    return source


def stream_of(list columns not None, int64_t length, bytes metadata):
    """The capsule of a stream of one batch.

    `columns` are (name, format, nulls, arrays), all arrays contiguous and as long as `length` asks in that format; they
    are shared, not copied. `metadata` is in Arrow's own encoding, None for none.
    """
    cdef ArrowArrayStream* stream = <ArrowArrayStream*> calloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError
    cdef _Source source = _source(columns, length, metadata)
    stream.get_schema, stream.get_next = _get_schema, _get_next
    stream.get_last_error, stream.release = _get_last_error, _release_stream
    Py_INCREF(source)
    stream.private_data = <PyObject*> source
    try:
        return PyCapsule_New(stream, b"arrow_array_stream", _end_stream)
    except BaseException:
        stream.release(stream)
        free(stream)
        raise


def schema_of(list columns not None, bytes metadata):
    """The capsule of these columns' schema; of each the name and the format are looked at."""
    cdef ArrowSchema* schema = <ArrowSchema*> calloc(1, sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError
    try:
        _fill_schema(schema, _source(columns, 0, metadata))
        return PyCapsule_New(schema, b"arrow_schema", _end_schema)
    except BaseException:
        if schema.release != NULL:
            schema.release(schema)
        free(schema)
        raise


# ---- text


def gathered(const int32_t[::1] codes, const int64_t[::1] offsets, const uint8_t[::1] data):
    """(offsets, data) of the strings `codes` of a pool, end to end; nothing for the code -1.

    Every code is below the number of strings, and the offsets rise within the data: the caller has checked both.
    """
    cdef Py_ssize_t count = codes.shape[0], row
    cdef int64_t at = 0, size
    cdef int32_t code
    into_offsets = np.empty(count + 1, np.int64)
    cdef int64_t[::1] ends = into_offsets
    with nogil:
        ends[0] = 0
        for row in range(count):
            code = codes[row]
            if code >= 0:
                at += offsets[code + 1] - offsets[code]
            ends[row + 1] = at
    into_data = np.empty(at, np.uint8)
    cdef uint8_t[::1] bytes_out = into_data
    with nogil:
        for row in range(count):
            size = ends[row + 1] - ends[row]
            if size:
                memcpy(&bytes_out[ends[row]], &data[offsets[codes[row]]], size)
    return into_offsets, into_data
