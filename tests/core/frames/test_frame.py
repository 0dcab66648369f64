"""Frames as pandas has them, days that no calendar has, and the words where a package is absent."""

from __future__ import annotations

import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

from core.frames.frame import Frame, FrameColumn, day_column, number_column, text_column
from tests.core.frames.test_arrow import whole


def test_pandas_has_its_own_types() -> None:
    result = whole().to_pandas()
    assert result.attrs == {"told": "über"}
    kinds = {name: str(kind) for name, kind in result.dtypes.items()}
    assert kinds == {
        "number": "float64", "day": "datetime64[s]", "moment": "datetime64[ms]", "text": "str", "flag": "bool",
        "doubt": "boolean", "count": "int64", "rank": "UInt8",
    }  # fmt: skip
    for name, column in whole().columns.items():
        taken = column.taken(np.arange(4))
        assert result[name].isna().tolist() == [item is None for item in taken], name
        assert [item for item in result[name] if item is not pd.NA and item == item] == [
            pd.Timestamp(item) if isinstance(item, date) else item for item in taken if item is not None
        ], name


def test_what_pandas_changes_is_its_own() -> None:
    values = np.arange(3.0)
    result = Frame({"v": FrameColumn(values)}, 3).to_pandas()
    result.loc[0, "v"] = 9.0
    assert values[0] == 0.0


def test_columns_by_name() -> None:
    frame = whole()
    assert (len(frame), [*frame][:2], "day" in frame, "dya" in frame) == (4, ["number", "day"], True, False)
    assert frame["day"].dtype == np.dtype("datetime64[D]")
    assert frame["text"].tolist() == ["naïve", None, "x" * 300, "naïve"]
    assert frame["doubt"].tolist() == [True, False, None, False]
    assert np.array_equal(frame["rank"], [0, 1, np.nan, 3], equal_nan=True)
    with pytest.raises(KeyError, match=r"^there is no column 'numbr'; near: 'number'$"):
        frame["numbr"]
    assert repr(frame) == "Frame(4 rows, 8 columns)"


def test_days_that_no_calendar_has_are_null() -> None:
    days = np.array([0.0, 0.9, -719_162, -719_163, 2_932_896, 2_932_897, np.nan, np.inf, 1e300])
    ends = [date(1970, 1, 1), date(1970, 1, 1), date(1, 1, 1), None, date(9999, 12, 31), None, None, None, None]
    assert day_column(days).taken(np.arange(9)) == ends


def test_blanks() -> None:
    assert text_column(["", None, "a"]).taken(np.arange(3)) == [None, None, "a"]
    assert number_column([None, 1, float("nan")]).taken(np.arange(3)) == [None, 1.0, None]


@pytest.mark.parametrize(
    ("method", "package"), [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "pyarrow")]
)
def test_an_absent_package_is_named_with_what_to_install(
    method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"^{method} needs {package}, .*pip install 'cushion\[frames\]'$"):
        getattr(whole(), method)()
