"""A stranger's file is read in a child.

Its answer is a stored workbook or a refusal, and nothing else stays.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
import xlsxwriter

from core.confined.table import PARSE, NamedFile, ParseOrder
from core.confined.tasks import in_thread
from core.confined.wire import HEAD, ChildLimits
from core.files.errors import InvalidFormat, ParseFailed, TooManySheets
from core.files.isolate import parse_isolated, probe_isolated
from core.files.read import read
from core.grid.codec import open_workbook
from tests.conftest import wait_until
from tests.processes import children_of, is_there

ROOT = Path(__file__).parents[3]
READER = "core.recalc.confined.parse"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as out:
        page = out.add_worksheet("One")
        page.write_row(0, 0, ["Loan", 1.5, True])
        page.write_formula(1, 0, "=B1*2", None, 3)
        out.add_worksheet("Two").hide()
    return path


@pytest.fixture(scope="module")
def slow(
    tmp_path_factory: pytest.TempPathFactory, xml_of: Callable[..., str], parts_of: Callable[..., dict[str, str]]
) -> Path:
    """A file that takes more than half a second: three million cells."""
    path = tmp_path_factory.mktemp("slow") / "a.xlsx"
    rows = (f"<row><c><v>{at}.5</v></c><c><v>{at * 0.1}</v></c><c><v>1</v></c></row>" for at in range(1_000_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for part, text in parts_of([xml_of("".join(rows))]).items():
            archive.writestr(part, text)
    return path


def test_it_gives_what_reading_here_gives(book: Path, folder: Path) -> None:
    parsed = parse_isolated(book, folder)
    here, there = read(book), open_workbook(parsed.manifest, parsed.paths)
    assert [path.name for path in parsed.paths] == sorted(path.name for path in folder.iterdir())
    assert [(s.name, s.state) for s in there.sheets] == [("One", "visible"), ("Two", "hidden")]
    for row in range(2):
        for column in range(3):
            assert there.sheets[0].value(row, column) == here.sheets[0].value(row, column)
            assert there.sheets[0].formula(row, column) == here.sheets[0].formula(row, column)


def test_refusals_come_through_with_their_class(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(InvalidFormat, match="picture"):
        parse_isolated(path, folder)
    with xlsxwriter.Workbook(path) as out:
        for _ in range(51):
            out.add_worksheet()
    with pytest.raises(TooManySheets, match="limit is 50"):
        parse_isolated(path, folder)
    assert list(folder.iterdir()) == []


def test_a_file_that_needs_too_much_memory(slow: Path, folder: Path) -> None:
    """Three million cells take a hundred megabytes.

    The child may have 128 MiB, its libraries included.
    """
    with pytest.raises(ParseFailed, match="more memory to be read than the limit of 134,217,728"):
        parse_isolated(slow, folder, memory_bytes_max=128 * 1024**2)
    assert list(folder.iterdir()) == []


def test_a_file_that_takes_too_long(slow: Path, folder: Path) -> None:
    with pytest.raises(ParseFailed, match=r"limit of 0\.3 seconds"):
        parse_isolated(slow, folder, seconds_max=0.3)
    assert list(folder.iterdir()) == []


def test_a_child_that_crashes(slow: Path, folder: Path) -> None:
    """A fault of memory in the reader, sent from outside while it works."""

    def crash() -> None:
        while not (children := children_of(os.getpid(), READER)):
            time.sleep(0.01)
        os.kill(children[0], signal.SIGSEGV)

    with ThreadPoolExecutor() as pool:
        crashed = pool.submit(crash)
        with pytest.raises(ParseFailed, match="stopped its reader"):
            parse_isolated(slow, folder)
        crashed.result()
    assert list(folder.iterdir()) == []


def test_what_is_the_machines_fault_is_no_refusal(book: Path, folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        parse_isolated(book.with_name("missing.xlsx"), folder)
    with pytest.raises(FileNotFoundError):
        parse_isolated(book, folder / "missing")


def test_it_can_be_stopped(slow: Path, folder: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(InterruptedError):
        parse_isolated(slow, folder, stop=stop)
    assert list(folder.iterdir()) == []


async def cancelled(path: Path, folder: Path) -> None:
    task = asyncio.create_task(in_thread(parse_isolated, path, folder))
    while not (folder / ".confined").exists():  # noqa: ASYNC110 - what it waits for is a folder
        await asyncio.sleep(0.01)
    task.cancel()
    await task


def test_cancelling_a_task_ends_the_child(slow: Path, folder: Path) -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled(slow, folder))
    assert list(folder.iterdir()) == []
    assert children_of(os.getpid(), READER) == []


def test_a_task_gets_the_answer(book: Path, folder: Path) -> None:
    parsed = asyncio.run(in_thread(parse_isolated, book, folder))
    assert [record.name for record in parsed.manifest.sheets] == ["One", "Two"]


def test_probing_in_the_child(book: Path) -> None:
    assert [(s.name, s.row_count, s.column_count) for s in probe_isolated(book, "xlsx", name="a.xlsx").sheets] == [
        ("One", 2, 3),
        ("Two", 0, 0),
    ]


def test_the_child_sees_none_of_our_environment(book: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that would break any Python child shows that ours does not reach it."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert parse_isolated(book, folder).manifest.sheets[0].name == "One"


PARENT = """
import sys
from pathlib import Path
from core.files.isolate import parse_isolated
parse_isolated(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_the_child_dies_with_its_parent(slow: Path, folder: Path) -> None:
    """A child that is stopped in the middle of the file cannot end by itself.

    What ends it is its parent's death.
    """
    with subprocess.Popen([sys.executable, "-c", PARENT, str(slow), str(folder)], cwd=ROOT) as parent:
        while not (children := [number for number in children_of(parent.pid, READER) if has_open(number, slow)]):
            assert parent.poll() is None
            time.sleep(0.01)
        os.kill(children[0], signal.SIGSTOP)
        parent.kill()
    try:
        wait_until(lambda: not is_there(children[0]), what="the child's end with its parent")
    finally:
        with suppress(ProcessLookupError):
            os.kill(children[0], signal.SIGKILL)


def test_a_child_that_starts_after_its_parents_end_reads_nothing(book: Path, folder: Path) -> None:
    limits = ChildLimits(parent=os.getppid(), memory_bytes_max=1024**3, seconds_max=10.0, writes=str(folder))
    order = msgspec.json.encode(ParseOrder((NamedFile(book.name, str(book)),)))
    ended = subprocess.run(
        [sys.executable, "-m", "core.confined.child", PARSE.does],
        cwd=ROOT,
        input=msgspec.json.encode(limits) + b"\n" + HEAD.pack(True, len(order)) + order,
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"has ended" in ended.stderr
    assert list(folder.iterdir()) == []


def has_open(process: int, path: Path) -> bool:
    """Whether a process holds a file open."""
    try:
        return any(
            os.path.samefile(actual_path, path)
            for actual_path in Path(f"/proc/{process}/fd").iterdir()
            if actual_path.exists()
        )
    except OSError:
        return False
