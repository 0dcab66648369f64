"""The files that the arguments of a batch name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path

from msgspec.structs import replace

from core.batch.months import SOURCES_MAX, Grouping, MonthFiles, SourceFile, group_files
from service.commands.batch.places import S3, split_address, store_errors, store_of
from service.commands.refusal import Refused


def find_months(arguments: Sequence[str], out: str) -> Grouping:
    """Return the months of deals in all arguments, sorted by name, each once.

    Where two arguments have months of one name, the argument stands in front of it. What is in the place of the results
    is passed over.

    Raises:
        Refused: an argument names nothing, or there are more months than a batch may have.
    """
    own = f"{out.rstrip('/') if out.startswith(S3) else os.path.realpath(out)}/"
    by_source: list[tuple[str, MonthFiles]] = []
    left_out: list[str] = []
    passed_over = 0
    for argument in arguments:
        for source in _expanded(argument):
            there = list(_files_of(source))
            files = [file for file in there if not file.place.startswith(own)]
            passed_over += len(there) - len(files)
            grouping = group_files(files, _folder_name(source))
            by_source += ((source, month) for month in grouping.months)
            left_out += grouping.left_out
            if len(by_source) > SOURCES_MAX:
                raise Refused(
                    f"the sources hold more than the limit of {SOURCES_MAX:,} months of deals; split the batch"
                )
    distinct = {tuple(file.place for file in month.files): (source, month) for source, month in by_source}
    names = Counter(month.name for _, month in distinct.values())
    months = [month if names[month.name] == 1 else _with_source(source, month) for source, month in distinct.values()]
    if not months:
        raise Refused(f"{', '.join(arguments[:3])}: holds no file that is read{_not_read(left_out, passed_over, out)}")
    return Grouping(tuple(sorted(months, key=lambda month: (month.name, month.files))), tuple(sorted(set(left_out))))


def _with_source(source: str, month: MonthFiles) -> MonthFiles:
    source = text_of(source.rstrip("/"))
    if Path(source).name == month.name:
        return replace(month, name=source, deal=source[: len(source) - len(month.name)] + month.deal)
    return replace(month, name=f"{source}/{month.name}", deal=f"{source}/{month.deal}")


def _not_read(left_out: Sequence[str], passed_over: int, out: str) -> str:
    words = f"; {len(left_out):,} left out by their endings, such as {sorted(left_out)[0]}" if left_out else ""
    if passed_over:
        words += f"; {passed_over:,} below {out}, where the results go: name another folder with --out"
    return words


def _expanded(argument: str) -> list[str]:
    if argument.startswith(S3) or not has_magic(argument) or os.path.exists(argument):
        return [argument]
    matches = sorted(glob(argument, recursive=True))
    if not matches:
        raise Refused(f"{argument}: matches no file")
    return matches


def _folder_name(source: str) -> str | None:
    """Return the name of a source that is a folder; a prefix of a bucket is one."""
    if source.startswith(S3):
        return split_address(source)[1].rpartition("/")[2] or split_address(source)[0]
    path = Path(source)
    return text_of(path.resolve().name) or "deal" if path.is_dir() else None


def text_of(path: str) -> str:
    """Return a path as text, a byte that is no UTF-8 as `\\xff`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _files_of(source: str) -> Iterator[SourceFile]:
    if source.startswith(S3):
        yield from _objects(source)
        return
    path = Path(source)
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                file = Path(folder, name)
                yield SourceFile(text_of(file.relative_to(path).as_posix()), _place_of(file))
    elif path.exists():
        yield SourceFile(text_of(path.name), _place_of(path))
    else:
        raise Refused(f"{source}: there is no such file or folder")


def _place_of(file: Path) -> str:
    """Return the path of a file with the links of its folder resolved."""
    return os.path.join(os.path.realpath(file.parent), file.name)


def _objects(address: str) -> Iterator[SourceFile]:
    """Yield the objects below a prefix, or the one of this name."""
    bucket, prefix = split_address(address)
    store = store_of(bucket)
    import obstore

    is_empty = True
    try:
        with store_errors():
            for objects in obstore.list(store, prefix=prefix or None):
                for each in objects:
                    is_empty = False
                    path = each["path"]
                    yield SourceFile(path.removeprefix(prefix).lstrip("/"), f"{S3}{bucket}/{path}")
            if is_empty and prefix:
                obstore.head(store, prefix)
                yield SourceFile(prefix.rpartition("/")[2], f"{S3}{bucket}/{prefix}")
                is_empty = False
    except OSError as error:
        raise Refused(f"{address}: {error}") from error
    if is_empty:
        raise Refused(f"{address}: holds nothing")
