"""The child of a thread: 100 files at most, limits in words, and bytes that are hashed as they are copied."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from core.batch.order import BatchOptions, DealTerms, MonthOrder
from core.confined.run import ChildKilled
from core.generate import generate
from service.commands.batch import child
from service.commands.batch.child import MonthLost, Reader, StageRefused


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    new_reader = Reader()
    yield new_reader
    new_reader.close()
    assert [*tmp_path.glob("cushion-batch-*")] == []


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "deal.xlsx"
    generate(200, 7).write(path)
    return path


def order(reader: Reader, book: Path) -> MonthOrder:
    (staged,) = reader.stage(iter([(book.name, str(book))]))
    return MonthOrder(
        deal="Acme",
        files=(staged,),
        sha256=staged.sha256,
        terms=DealTerms(),
        options=BatchOptions(now="2026-04-15T00:00:00"),
        writes="",
    )


def parent_of(reader: Reader) -> int:
    assert reader._parent is not None
    return reader._parent.pid


def worker_of(reader: Reader) -> int:
    pid = parent_of(reader)
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def test_what_is_hashed_is_what_is_read(reader: Reader, book: Path) -> None:
    asked = order(reader, book)
    assert asked.sha256 == sha256(book.read_bytes()).hexdigest()
    assert Path(asked.files[0].path).read_bytes() == book.read_bytes()
    assert len(reader.ask(asked).rows) == 16
    assert reader.take_seconds()["start_up"] > 0
    assert reader.take_seconds() == {}


def test_a_fresh_child_comes_after_so_many_files(reader: Reader, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "FILES_A_CHILD", 2)
    workers, parents = [], set()
    for _ in range(5):
        reader.ask(order(reader, book))
        workers.append(worker_of(reader))
        parents.add(parent_of(reader))
    first, second, third = workers[0], workers[2], workers[4]
    assert workers == [first, first, second, second, third]
    assert len({first, second, third}) == 3
    assert len(parents) == 1, "what the steps need is loaded once"


def test_a_child_sees_the_files_of_one_month(reader: Reader, book: Path) -> None:
    asked = order(reader, book)
    elsewhere = msgspec.structs.replace(asked.files[0], path=str(book))
    with pytest.raises(PermissionError):
        reader.ask(msgspec.structs.replace(asked, files=(elsewhere,)))
    assert len(reader.ask(order(reader, book)).rows) == 16


def test_a_killed_child_is_the_machines_fault(reader: Reader, book: Path) -> None:
    reader.ask(order(reader, book))
    os.kill(worker_of(reader), signal.SIGKILL)
    with pytest.raises(ChildKilled):
        reader.ask(order(reader, book))
    assert len(reader.ask(order(reader, book)).rows) == 16


def test_limits_are_named(reader: Reader, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = order(reader, book)
    reader.ask(asked)
    monkeypatch.setattr(child, "MONTH_SECONDS_MAX", 0.001)
    with pytest.raises(MonthLost, match=r"the deal takes longer than the limit of 0\.001 seconds"):
        reader.ask(asked)
    monkeypatch.setattr(child, "MONTH_SECONDS_MAX", 60.0)
    monkeypatch.setattr(child, "MONTH_BYTES_MAX", 1_000_000)
    with pytest.raises(MonthLost, match="the deal needs more memory than the limit of 1,000,000 bytes"):
        reader.ask(order(reader, book))
    monkeypatch.setattr(child, "FILE_BYTES_MAX", 1_000)
    with pytest.raises(StageRefused, match=r"deal\.xlsx: larger than the limit of 1,000 bytes for a file"):
        order(reader, book)


def test_files_of_another_month_are_gone(reader: Reader, book: Path, tmp_path: Path) -> None:
    order(reader, book)
    (reader.outbox / "left").mkdir()
    (reader.outbox / "left" / "file").touch()
    small = tmp_path / "small.csv"
    small.write_text("a,b\n")
    (staged,) = reader.stage(iter([("small.csv", str(small))]))
    assert [path.name for path in Path(staged.path).parent.iterdir()] == ["0"]
    assert [*reader.outbox.iterdir()] == []
