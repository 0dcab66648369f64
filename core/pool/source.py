"""A Parquet file, or a folder of them, as row groups with standard fields.

Nothing is guessed: a column is a field's by the field's own name, or by a name that the caller's mapping gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from core.pool.partitions import KeyRefused, Value, arrow_type_of, is_data, key_value, partition_keys, with_keys
from core.portfolio.assemble.columns import FIELD_TYPES, REQUIRED_FIELDS
from core.portfolio.cells.string_pool import key
from core.portfolio.model.fields import Mapping
from core.portfolio.model.ratings import AGENCY_OF
from core.words import counted

FILES_MAX: Final = 100_000
"""Files of one pool."""

ROWS_MAX: Final = 10_000_000_000
"""Loans of one pool."""

COLUMNS_MAX: Final = 16_384
"""Columns of one file, as many as a sheet has."""

SCHEMA_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of the description at the end of a file."""

READ_BYTES: Final = 1024 * 1024
"""Of one column that are read at once."""

SUFFIX: Final = ".parquet"

Kind = Literal["number", "date", "flag", "rank", "lien", "text", "blank"]
"""What a column's values are taken for; `blank` is a column without a type, which holds nulls alone."""


class PoolRefused(ValueError):
    """The pool cannot be read; the text says what to do."""


class PoolField(NamedTuple):
    """A field and the heading of its column."""

    target: str
    heading: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class PoolFile:
    """One file of a pool."""

    path: str
    name: str
    """Its path below the folder, as messages name it."""
    group_rows: tuple[int, ...]
    """Rows of each row group, as the file says."""
    fields: frozenset[str]
    """Targets that it has a column for."""
    keys: tuple[tuple[str, Value], ...] = ()
    """Fields of columns that its folders name, and the value of all its loans."""


@dataclass(frozen=True, slots=True)
class PoolSource:
    """The files of a pool by path, and the fields of their columns."""

    name: str
    files: tuple[PoolFile, ...]
    fields: tuple[PoolField, ...]
    row_count: int
    unused: tuple[str, ...]
    """Headings that name no field."""
    notes: tuple[str, ...]
    """What was left out, as warnings say it."""

    def targets(self) -> frozenset[str]:
        """Return the fields that the pool has."""
        return frozenset(field.target for field in self.fields)


class RowGroups(NamedTuple):
    """Row groups of a pool that are added up as one part, as (file, row group)."""

    groups: tuple[tuple[int, int], ...]


SPANS_MAX: Final = 16
"""Parts of a pool. They follow from the files alone, so that no sum depends on how many threads there are."""


def spans_of(source: PoolSource) -> list[RowGroups]:
    """Return the pool's row groups in parts of about equal size."""
    groups = [
        (at, group, rows) for at, file in enumerate(source.files) for group, rows in enumerate(file.group_rows) if rows
    ]
    least = -(-source.row_count // SPANS_MAX)
    spans: list[RowGroups] = []
    part: list[tuple[int, int]] = []
    rows_of_part = 0
    for at, group, rows in groups:
        part.append((at, group))
        rows_of_part += rows
        if rows_of_part >= least:
            spans.append(RowGroups(tuple(part)))
            part, rows_of_part = [], 0
    return [*spans, RowGroups(tuple(part))] if part else spans


def parquet() -> Any:
    """Return the package that reads Parquet.

    Raises:
        PoolRefused: it is not installed.
    """
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise PoolRefused("a Parquet file is read by pyarrow: pip install 'cushion[frames]'") from None
    return pyarrow.parquet


def limit_threads(count: int) -> None:
    """Let Arrow have so many threads in this process. Each takes address space."""
    parquet()
    import pyarrow

    pyarrow.set_cpu_count(count)


def is_pool(path: Path) -> bool:
    """Return whether a path is a Parquet file, or a folder that has one."""
    if not path.is_dir():
        return path.suffix.lower() == SUFFIX
    return any(_is_data(each, path) for each in path.rglob(f"*{SUFFIX}"))


def open_pool(path: Path, mapping: Mapping | None = None) -> PoolSource:
    """Read what the files of a pool say of themselves: their columns and row groups.

    Raises:
        PoolRefused: there is no file, one is damaged, a required column is missing, two files differ in a column's
            type, or there is too much of something.
        OSError: a file cannot be opened.
    """
    paths, notes = _files(path)
    names = _names_of(mapping)
    files, columns = [], dict[str, tuple[PoolField, str]]()
    unused = dict[str, None]()
    for each in paths:
        inner = Path(each.name) if each == path else each.relative_to(path)
        name = inner.as_posix()
        file, fields, others = _look_at(each, inner, names)
        _agree(columns, fields, name)
        files.append(file)
        unused |= dict.fromkeys(others)
    _refuse_missing(set(columns), path.name)
    rows = sum(sum(file.group_rows) for file in files)
    if rows > ROWS_MAX:
        raise PoolRefused(f"{path.name}: {rows:,} rows are more than {ROWS_MAX:,}")
    fields_of_pool = tuple(columns[target][0] for target in sorted(columns))
    for field in fields_of_pool:
        without = [file.name for file in files if field.target not in file.fields]
        if field.target == "par_value" and without:
            raise PoolRefused(f"{without[0]}: no column par_value, which other files of {path.name} have")
        if without:
            notes.append(
                f"{counted(len(without), 'file', 'has/have')} no column {field.heading}, such as {without[0]}: it is "
                "blank there"
            )
    return PoolSource(path.name, tuple(files), fields_of_pool, rows, tuple(unused), tuple(notes))


def _files(path: Path) -> tuple[list[Path], list[str]]:
    """Return the Parquet files of a path by name, and what was left out."""
    if not path.is_dir():
        return [path], []
    _refuse_table_format(path)
    files, others = list[Path](), 0
    for each in path.rglob("*"):
        if not _is_data(each, path):
            continue
        if each.suffix.lower() == SUFFIX:
            files.append(each)
            if len(files) > FILES_MAX:
                raise PoolRefused(f"{path.name}: more than {FILES_MAX:,} files")
        else:
            others += 1
    if not files:
        raise PoolRefused(f"{path.name}: the folder has no file that ends in {SUFFIX}")
    left_out = f"{counted(others, 'file', 'is/are')} left out: the name does not end in {SUFFIX}"
    return sorted(files, key=lambda each: each.relative_to(path).as_posix()), [left_out] if others else []


def _is_data(path: Path, folder: Path) -> bool:
    """Return whether a path below a folder is a file of data."""
    return is_data(path.relative_to(folder)) and path.is_file()


_TABLE_FORMATS: Final = {"_delta_log": "Delta", ".hoodie": "Hudi", "metadata/*.metadata.json": "Iceberg"}
"""What a folder has whose table may have dropped some of its files."""


def _refuse_table_format(path: Path) -> None:
    for pattern, table in _TABLE_FORMATS.items():
        if any(path.glob(pattern)):
            raise PoolRefused(
                f"{path.name}: a {table} table, whose folder may have files that are no longer part of it: write its "
                "loans as plain Parquet files"
            )


def _names_of(mapping: Mapping | None) -> dict[str, str]:
    """Return the fields by the names that a mapping of the caller's own gives them."""
    every = () if mapping is None else (*mapping.fields, *mapping.auxiliary)
    return {key(alias): field.target for field in every for alias in field.aliases[: field.own]}


def _look_at(path: Path, inner: Path, names: dict[str, str]) -> tuple[PoolFile, list[PoolField], list[str]]:
    """Return a file, the fields of its columns, and the headings of none.

    Args:
        inner: its path below the folder, whose folders may name columns.
    """
    name = inner.as_posix()
    with reading(name):
        file = _parquet_file(str(path))
        try:
            schema, about = file.schema_arrow, file.metadata
            group_rows = tuple(about.row_group(group).num_rows for group in range(about.num_row_groups))
        finally:
            file.close()
    if any(rows < 0 for rows in group_rows):
        raise PoolRefused(f"{name}: damaged: a row group has fewer than no rows")
    if len(schema.names) > COLUMNS_MAX:
        raise PoolRefused(f"{name}: {len(schema.names):,} columns are more than {COLUMNS_MAX:,}")
    fields, others = list[PoolField](), list[str]()
    for heading, arrow_type in zip(schema.names, schema.types, strict=True):
        target = _target_of(heading, names)
        if target is None:
            others.append(heading)
            continue
        _refuse_twice(target, heading, fields, name)
        fields.append(_field(target, heading, arrow_type, name))
    try:
        keys = _add_keys(inner, names, fields, others)
    except KeyRefused as refused:
        raise PoolRefused(f"{name}: {refused}") from None
    return PoolFile(str(path), name, group_rows, frozenset(field.target for field in fields), keys), fields, others


def _target_of(heading: str, names: dict[str, str]) -> str | None:
    """Return the field that a heading names."""
    target = heading if heading in FIELD_TYPES else names.get(key(heading))
    return target if target in FIELD_TYPES else None


def _refuse_twice(target: str, heading: str, fields: Iterable[PoolField], name: str) -> None:
    if any(field.target == target for field in fields):
        raise PoolRefused(f"{name}: two columns are {target}, one of them {heading!r}: leave one out")


def _add_keys(
    inner: Path, names: dict[str, str], fields: list[PoolField], others: list[str]
) -> tuple[tuple[str, Value], ...]:
    """Add the fields that a file's folders name, where no column of it does."""
    name, keys, of_folders = inner.as_posix(), list[tuple[str, Value]](), list[PoolField]()
    own = {field.target for field in fields} | {field.heading for field in fields}
    for heading, text in partition_keys(inner.parts[:-1]).items():
        target = _target_of(heading, names)
        if target is None:
            others.append(heading)
        elif target not in own and heading not in own:
            value = key_value(target, heading, text)
            field = _field(target, heading, arrow_type_of(value), name)
            if field.target not in own:
                _refuse_twice(field.target, heading, of_folders, name)
                of_folders.append(field)
                keys.append((field.target, value))
    fields += of_folders
    return tuple(keys)


class reading:  # noqa: N801 - used as a context manager
    """Turns what the reader of Parquet says of a file into a refusal that names it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, PoolRefused | MemoryError):
            return
        if isinstance(error, OSError) and error.errno is not None:
            return
        if isinstance(error, OSError | ValueError | TypeError | NotImplementedError):
            words = " ".join(str(error).split())[:300]
            raise PoolRefused(f"{self._name}: no Parquet file, or damaged: {words}") from error


def _field(target: str, heading: str, arrow_type: Any, name: str) -> PoolField:
    """Return the field of a column.

    Raises:
        PoolRefused: the column's type holds no values of the field.
    """
    if target == "base_rate" and _is_number(arrow_type):
        target = "base_rate_level"
    kind = _kind(target, arrow_type)
    if kind is None:
        raise PoolRefused(f"{name}: column {heading!r} holds {arrow_type}, which is no {_NOUNS[FIELD_TYPES[target]]}")
    return PoolField(target, heading, kind)


_NOUNS: Final = {"string": "text", "number": "number", "date": "date", "boolean": "flag (true or false, 0 or 1)"}


def _kind(target: str, arrow_type: Any) -> Kind | None:
    import pyarrow.types as types  # type: ignore[import-untyped]

    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_null(arrow_type):
        return "blank"
    field_type = FIELD_TYPES[target]
    is_text = types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type)
    if types.is_integer(arrow_type) and target in AGENCY_OF:
        return "rank"
    if types.is_integer(arrow_type) and target == "lien_type":
        return "lien"
    if field_type == "string":
        return "text" if is_text else None
    if field_type == "boolean":
        return "flag" if types.is_boolean(arrow_type) or _is_number(arrow_type) else None
    if field_type == "date":
        is_day = is_text or types.is_date(arrow_type) or types.is_timestamp(arrow_type) or _is_number(arrow_type)
        return "date" if is_day else None
    return "number" if _is_number(arrow_type) else None


def _is_number(arrow_type: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_decimal(arrow_type))


def _agree(columns: dict[str, tuple[PoolField, str]], fields: Iterable[PoolField], name: str) -> None:
    """Add a file's fields to those of the files before.

    Raises:
        PoolRefused: a column has values of another kind there.
    """
    for field in fields:
        known, where = columns.get(field.target, (None, ""))
        if known is None or known.kind == "blank":
            columns[field.target] = field, name
        elif field.heading != known.heading:
            raise PoolRefused(
                f"{name}: column {field.heading!r} is {field.target}, which is {known.heading!r} in {where}: give both "
                "one name"
            )
        elif field.kind not in ("blank", known.kind):
            raise PoolRefused(
                f"{name}: column {field.heading!r} holds values of kind {field.kind}, and of kind {known.kind} in "
                f"{where}: write it with one type"
            )


def _refuse_missing(targets: set[str], name: str) -> None:
    missing = [target for target in REQUIRED_FIELDS if target not in targets]
    if missing == ["borrower_name"] and "issuer_id" in targets:
        return
    if missing:
        raise PoolRefused(
            f"{name}: required column(s) {', '.join(missing)} missing: name the column so, or name it in a mapping"
        )


def batches(
    source: PoolSource, span: RowGroups, targets: frozenset[str], rows_max: int
) -> Iterator[tuple[PoolFile, Any, dict[str, PoolField]]]:
    """Yield the loans of a part of the pool, at most so many at a time.

    Each comes as (file, record batch, field by heading).

    Raises:
        PoolRefused: a file is damaged, or has other rows than it says.
    """
    open_at, file, headings, fields = -1, None, dict[str, PoolField](), dict[str, PoolField]()
    keys: list[tuple[PoolField, Value]] = []
    try:
        for at, group in span.groups:
            info = source.files[at]
            if at != open_at or file is None:
                if file is not None:
                    file.close()
                file, headings, open_at = *_opened(info, targets, source), at
                keys = _keys_of(info, targets, source)
                fields = headings | {field.heading: field for field, _ in keys}
            count = 0
            # By Arrow's threads too, or the last row groups of a pool keep one processor alone: 1.4 to 1.6 x DuckDB.
            steps = file.iter_batches(rows_max, row_groups=[group], columns=list(headings), use_threads=True)
            while True:
                with reading(info.name):
                    batch = next(steps, None)
                if batch is None:
                    break
                count += batch.num_rows
                if batch.num_rows:
                    yield info, with_keys(batch, ((field.heading, value) for field, value in keys)), fields
            if count != info.group_rows[group]:
                raise PoolRefused(
                    f"{info.name}: damaged: row group {group + 1} has {counted(count, 'row')} and says "
                    f"{info.group_rows[group]:,}"
                )
    finally:
        if file is not None:
            file.close()


def _keys_of(info: PoolFile, targets: frozenset[str], source: PoolSource) -> list[tuple[PoolField, Value]]:
    """Return the fields to read of a file that its folders name, with their values."""
    by_target = {field.target: field for field in source.fields}
    return [(by_target[target], value) for target, value in info.keys if target in targets]


DICTIONARY_BYTES_A_VALUE: Final = 3.0
"""Bytes of a text's column for each row below which its texts are few, and are read as codes."""


def _opened(info: PoolFile, targets: frozenset[str], source: PoolSource) -> tuple[Any, dict[str, PoolField]]:
    """Return an open file, and the fields to read of it by heading."""
    by_target = {field.target: field for field in source.fields if field.target in targets}
    with reading(info.name):
        file = _parquet_file(info.path)
        headings = {}
        schema = file.schema_arrow
        about = file.metadata
        few = []
        for heading in schema.names:
            field = next((each for each in by_target.values() if each.heading == heading), None)
            if field is None:
                continue
            headings[heading] = field
            if field.kind == "text" and _has_few_texts(about, heading):
                few.append(heading)
        if few:
            file.close()
            file = _parquet_file(info.path, few)
    return file, headings


def _has_few_texts(about: Any, heading: str) -> bool:
    """Return whether a column's texts are few by the size of its first row group.

    It decides on speed alone.
    """
    if not about.num_row_groups:
        return False
    group = about.row_group(0)
    chunks = (group.column(at) for at in range(group.num_columns))
    chunk = next((chunk for chunk in chunks if chunk.path_in_schema == heading), None)
    if chunk is None:
        return False
    return bool(chunk.total_uncompressed_size < DICTIONARY_BYTES_A_VALUE * max(chunk.num_values, 1))


def _parquet_file(path: str, few: Iterable[str] = ()) -> Any:
    """Open a file whose columns are read by pieces.

    Mapped or whole, a row group could be as large as the file.
    """
    return parquet().ParquetFile(
        path, buffer_size=READ_BYTES, pre_buffer=False, read_dictionary=list(few) or None,
        thrift_string_size_limit=SCHEMA_BYTES_MAX, thrift_container_size_limit=SCHEMA_BYTES_MAX,
    )  # fmt: skip
