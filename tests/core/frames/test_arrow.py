"""The Arrow streams.

What other libraries read of them, and that each release gives back what it held.
"""

from __future__ import annotations

import sys
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from core.frames._arrow import gathered
from core.frames.frame import Frame, FrameColumn, pool_of, text_column

NUMBERS = np.array([1.5, np.nan, -0.0, 1e300])
DAYS = np.array(["1582-10-04", "NaT", "2026-08-31", "9999-12-31"], "datetime64[D]")
MOMENTS = np.array(["1970-01-01T00:00:00.001", "2026-08-31T12:00", "NaT", "1899-12-31"], "datetime64[ms]")
TEXTS = ["naïve", None, "x" * 300, "naïve"]
FLAGS = np.array([True, False, True, False])
PRESENT = np.array([True, True, False, True])


def whole() -> Frame:
    return Frame(
        {
            "number": FrameColumn(NUMBERS),
            "day": FrameColumn(DAYS),
            "moment": FrameColumn(MOMENTS),
            "text": text_column(TEXTS),
            "flag": FrameColumn(FLAGS),
            "doubt": FrameColumn(FLAGS, None, PRESENT),
            "count": FrameColumn(np.arange(4)),
            "rank": FrameColumn(np.arange(4, dtype=np.uint8), None, PRESENT),
        },
        4,
        {"told": "über"},
    )


def rows() -> dict[str, list[Any]]:
    return {name: column.taken(np.arange(4)) for name, column in whole().columns.items()}


def test_what_is_read_is_what_was_given() -> None:
    expected = rows()
    assert [expected[name][1] for name in ("number", "day", "text", "flag", "doubt")] == [
        None,
        None,
        None,
        False,
        False,
    ]
    assert (expected["doubt"][2], expected["rank"][2]) == (None, None)
    table = pa.table(whole())
    table.validate(full=True)
    assert table.to_pydict() == expected
    assert pl.DataFrame(whole()).to_dict(as_series=False) == expected
    frame = whole()
    assert duckdb.sql("select * from frame").fetchall() == list(zip(*expected.values(), strict=True)), len(frame)
    kinds = ["double", "date32[day]", "timestamp[ms]", "large_string", "bool", "bool", "int64", "uint8"]
    assert [str(item.type) for item in table.schema] == kinds
    assert pa.schema(whole()) == table.schema
    assert table.schema.metadata == {b"cushion": b'{"told": "\\u00fcber"}'}


def test_numbers_are_shared_and_not_copied() -> None:
    chunk = pa.table(whole()).column("number").chunk(0)
    assert chunk.buffers()[1].address == NUMBERS.ctypes.data


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 65])
def test_any_number_of_rows(count: int) -> None:
    values = np.where(np.arange(count) % 3 == 0, np.nan, np.arange(count, dtype=float))
    texts = [None if at % 2 else str(at) for at in range(count)]
    frame = Frame({"v": FrameColumn(values), "t": text_column(texts)}, count)
    assert pa.table(frame).to_pydict() == {"v": [None if v != v else v for v in values.tolist()], "t": texts}
    assert pl.DataFrame(Frame({}, 0)).shape == (0, 0)


def test_a_strided_column_is_made_whole() -> None:
    frame = Frame({"v": FrameColumn(np.arange(20.0)[::2]), "c": FrameColumn(np.arange(20)[::-2])}, 10)
    assert pl.DataFrame(frame)["v"].to_list() == [*range(0, 20, 2)]
    assert pl.DataFrame(frame)["c"].to_list() == [*range(19, 0, -2)]


def test_every_release_gives_back_what_was_held() -> None:
    """In whichever order.

    A capsule that nobody reads, a stream read to its end, a child that outlives its parent.
    """
    values = np.arange(1000.0)
    frame = Frame({"a": FrameColumn(values), "b": text_column(["x"] * 1000)}, 1000)
    frame.stream()
    before = sys.getrefcount(values)
    for _ in range(50):
        capsule = frame.stream()
        reader = pa.RecordBatchReader.from_stream(frame)
        schema = frame.schema()
        read = pl.DataFrame(frame)["a"]
        child = pa.table(frame).column("a")
        del reader, schema, capsule
        assert child[999].as_py() == read[999] == 999.0
        assert sys.getrefcount(values) > before
        del child, read
    assert sys.getrefcount(values) == before


def test_a_stream_is_read_once_and_a_frame_again() -> None:
    reader = pa.RecordBatchReader.from_stream(whole())
    assert [batch.num_rows for batch in reader] == [4]
    with pytest.raises(StopIteration):
        reader.read_next_batch()
    assert pa.table(whole()) == pa.table(whole())


def test_text_that_a_consumer_must_not_see_is_refused() -> None:
    """Who imports a stream takes its offsets and its UTF-8 on trust."""
    offsets, data = pool_of(["é", "b"])
    bad: dict[str, tuple[Any, Any, Any]] = {
        "a code outside": (np.array([2], np.int32), offsets, data),
        "offsets that fall": (np.array([0], np.int32), np.array([0, 3, 2]), data),
        "offsets beyond": (np.array([0], np.int32), np.array([0, 2, 9]), data),
        "no UTF-8": (np.array([0], np.int32), offsets, np.frombuffer(b"\xff\xfeb", np.uint8)),
        "cut in a letter": (np.array([0], np.int32), np.array([0, 1, 3]), data),
    }
    for name, (codes, ends, content) in bad.items():
        with pytest.raises(ValueError, match=r"damaged|utf-8"):
            FrameColumn(codes, (ends, content)).arrow(name)


def test_hostile_names() -> None:
    names = ["a\x00b", "", "x" * 10_000, "\ud800", "a"]
    table = pa.table(Frame({name: FrameColumn(np.zeros(1)) for name in names}, 1))
    assert table.column_names == ["ab", "", "x" * 10_000, "?", "a"]


def test_gathered() -> None:
    offsets, data = gathered(np.array([1, -1, 0, 1], np.int32), *pool_of(["ab", "", "c"])[:2])
    assert offsets.tolist() == [0, 0, 0, 2, 2]
    assert bytes(data) == b"ab"
