"""What a caller brings from elsewhere, as plain values and arrays.

NumPy, pandas, Decimal, frames of any make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ROWS_MAX: Final = 10_000_000
"""Rows of a frame that is taken in."""

COLUMNS_MAX: Final = 16_384
"""Columns of a frame that is taken in, as many as a sheet has."""


def cell_value(value: Any) -> float | str | bool | date | None:
    """Return a value as a cell knows it.

    A number, a text, a boolean, a day, a moment, or None for a blank.

    NumPy's scalars are their values, a Decimal is the nearest double; NaN, NaT, NA and what is masked are blank. A
    moment with a time zone is what its clock shows, since cells have no zones.

    Raises:
        TypeError: it is none of these; the message says what would be.
        ValueError: a moment outside the years 1 to 9999.
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufUM":
        value = (moments(value) if value.dtype.kind == "M" else value).item()
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return None
    if isinstance(value, str):
        return str.__str__(value)  # a subclass without what it adds
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return float(value)
    if isinstance(value, float | np.longdouble):
        return None if value != value else float(value)
    if isinstance(value, Decimal):
        return None if value.is_nan() else float(value)
    if isinstance(value, date):
        if value != value:  # NaT
            return None
        return value.replace(tzinfo=None) if isinstance(value, datetime) else value
    raise TypeError(f"a value is a number, a text, a boolean, a date or null, not {type(value).__name__}")


def moments(values: Any) -> Any:
    """datetime64 of any unit in microseconds.

    Raises:
        ValueError: one is outside the years 1 to 9999: a larger unit holds moments that microseconds would wrap.
    """
    years = values.astype("datetime64[Y]").astype(np.int64) + 1970
    if not (np.isnat(values) | ((years >= 1) & (years <= 9999))).all():
        raise ValueError("a moment is in a year from 1 to 9999")
    return values.astype("datetime64[us]")


def listed(values: Any) -> Any:
    """Return an array (of NumPy, or a column or frame that can be one) as a list of its values, of rows where it has
    two dimensions; anything else as it is."""
    if values is np.ma.masked:
        return None
    if isinstance(values, np.generic) or not hasattr(values, "__array__"):
        return values
    array: Any = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.dtype.kind == "M":
        array = moments(array)
    return _unmask(array.astype(object), None).tolist() if isinstance(array, np.ma.MaskedArray) else array.tolist()


def column_of(name: str, values: Any) -> NDArray[Any]:
    """One column that is given by itself, as `columns_of` has those of a frame.

    An array, a list, or a Series.

    Raises:
        TypeError: it is none of these, or holds what no cell can; the message has its name.
    """
    if isinstance(values, np.ndarray):
        return _plain(name, values)
    if hasattr(values, "iloc"):
        return _plain(name, _of_pandas(values))
    for listing in ("to_list", "to_pylist"):
        if hasattr(values, listing):
            return _plain(name, _objects(getattr(values, listing)()))
    if hasattr(values, "__array__"):
        return _plain(name, np.asarray(values, object))
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence):
        raise TypeError(f"column {name!r} is an array, a list or a Series of values, not {type(values).__name__}")
    return _plain(name, _objects(list(values)))


def table_of(source: Any, argument: str) -> Mapping[str, Any]:
    """Return what was given for a table as columns by name.

    A mapping as it is, of a frame its columns.

    Raises:
        TypeError, ValueError: as `columns_of`.
    """
    if isinstance(source, Mapping):
        return source
    if not is_frame(source):
        raise TypeError(
            f"{argument} is a dict of columns, or a frame of pandas, polars, pyarrow or DuckDB, "
            f"not {type(source).__name__}"
        )
    return columns_of(source)


def is_frame(source: object) -> bool:
    """Return whether it is a table that `columns_of` takes.

    Of pandas, polars, pyarrow, DuckDB, or any that gives Arrow.
    """
    return not isinstance(source, Mapping | np.ndarray) and (
        _is_pandas(source)
        or _is_relation(source)
        or (hasattr(source, "collect_schema") and hasattr(source, "collect"))
        or hasattr(source, "__arrow_c_stream__")
    )


def columns_of(frame: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a frame by name.

    Arrays of numbers (NaN blank), booleans, datetime64, or objects, which are texts, numbers, booleans, days and None.

    Taken are DataFrames of pandas and polars (a LazyFrame is collected), tables of pyarrow, relations of DuckDB, and
    whatever else has `__arrow_c_stream__`, which pyarrow or polars then reads. Decimals become doubles, categories
    their texts, moments with a time zone what their clock shows (DuckDB hands them over in UTC).

    Raises:
        TypeError: a column holds lists, structs, bytes or spans of time; the message has its name.
        ValueError: two columns have one name, there are too many rows or columns, or a moment is outside the years 1
            to 9999.
    """
    columns: dict[str, NDArray[Any]] = {}
    for name, values in _columns(frame):
        if name in columns:
            raise ValueError(f"two columns of the frame are called {name!r}")
        if len(columns) == COLUMNS_MAX:
            raise ValueError(f"the frame has more than {COLUMNS_MAX:,} columns")
        if len(values) > ROWS_MAX:
            raise ValueError(f"the frame has more than {ROWS_MAX:,} rows")
        columns[name] = _plain(name, values)
    return columns


def _is_pandas(source: object) -> bool:
    return hasattr(source, "iloc") and hasattr(source, "columns")


def _is_relation(source: object) -> bool:
    """Return whether it is a query of DuckDB. A connection has one, not the other."""
    return hasattr(source, "fetchnumpy") and hasattr(source, "limit")


def _of_pandas(series: Any) -> NDArray[Any]:
    values: NDArray[Any] = series.to_numpy() if series.dtype.kind in "biufM" else series.to_numpy(dtype=object)
    return values


def _columns(frame: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Name and values of each column, as the frame's own package gives them."""
    if _is_pandas(frame):
        for at, name in enumerate(frame.columns):
            yield str(name), _of_pandas(frame.iloc[:, at])
        return
    if _is_relation(frame):
        yield from frame.limit(ROWS_MAX + 1).fetchnumpy().items()
        return
    if hasattr(frame, "collect"):
        frame = frame.head(ROWS_MAX + 1).collect()
    if not hasattr(frame, "get_columns") and not hasattr(frame, "column_names"):
        frame = _read(frame)
    if hasattr(frame, "get_columns"):
        for column in frame.get_columns():
            is_plain = column.dtype.is_integer() or column.dtype.is_float()
            yield column.name, column.to_numpy() if is_plain else _objects(column.to_list())
    else:
        for name, column in zip(frame.column_names, frame.columns, strict=True):
            is_plain = str(column.type).startswith(("int", "uint", "float", "double", "halffloat"))
            yield name, column.to_numpy(zero_copy_only=False) if is_plain else _objects(column.to_pylist())


def _read(stream: Any) -> Any:
    """Return a table of whatever gives Arrow's stream of arrays, by a package that is there."""
    kind = type(stream).__name__
    try:
        if find_spec("pyarrow") is not None:
            import pyarrow  # type: ignore[import-untyped]

            return pyarrow.table(stream)
        if find_spec("polars") is not None:
            import polars

            return polars.DataFrame(stream)
    except Exception as error:
        raise TypeError(f"the Arrow stream of a {kind} cannot be read: {error}") from error
    raise TypeError(f"a {kind} is read by pyarrow or polars: pip install 'cushion[frames]'")


def _objects(values: list[Any]) -> NDArray[Any]:
    objects: NDArray[Any] = np.empty(len(values), object)
    objects[:] = values
    return objects


def _unmask(values: Any, blank: Any) -> NDArray[Any]:
    copied: NDArray[Any] = values.data.copy()
    copied[np.ma.getmaskarray(values)] = blank  # not by `filled`, to which None is its own default: "?" among objects
    return copied


def _plain(name: str, values: Any) -> NDArray[Any]:
    """Return a column with nothing but what a cell knows."""
    if values.ndim != 1:
        raise TypeError(f"column {name!r} has {values.ndim} dimensions, not one")
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind in "iuf":
            return _unmask(values.astype(np.float64), np.nan)
        is_time = values.dtype.kind == "M"
        values = _unmask(values, np.datetime64("NaT")) if is_time else _unmask(values.astype(object), None)
    if values.dtype.kind in "biufM":
        try:
            plain_values: NDArray[Any] = moments(values) if values.dtype.kind == "M" else values
        except ValueError as refused:
            raise ValueError(f"column {name!r}: {refused}") from None
        return plain_values
    if values.dtype.kind not in "OU":
        raise TypeError(f"column {name!r} holds {values.dtype}, which no cell can")
    try:
        return _to_array([cell_value(value) for value in values.tolist()])
    except TypeError as refused:
        raise TypeError(f"column {name!r}: {refused}") from None


def _to_array(plain: list[Any]) -> NDArray[Any]:
    """Cells as an array of their kind, where they have one."""
    kinds = {type(value) for value in plain} - {type(None)}
    if kinds == {float}:
        return np.array([np.nan if value is None else value for value in plain])
    if kinds == {bool} and None not in plain:
        return np.array(plain)
    if kinds and all(issubclass(kind, date) for kind in kinds):
        return np.array(plain, "datetime64[us]")
    return _objects(plain)
