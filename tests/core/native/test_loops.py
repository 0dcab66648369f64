"""Which recipes are compiled, what is kept, and what a process that asks takes for it."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from core.confined import here
from core.native import code, folder, loops
from core.native.code import Code
from core.native.loops import Loops
from core.native.process import COMPILER
from core.native.written import Written
from tests.rows import every

SIGNATURE = "int32(CPointer(float64), int64)"
BODY = "def loop(out, rows):\n    for row in range(rows):\n        out[row] = {}\n    return int32(0)\n"
NUMBERS = count()


class Filling(NamedTuple):
    """A loop that fills a column with a number."""

    number: float

    def written(self) -> Written:
        return Written(BODY.format(self.number), SIGNATURE)


class Faulty(NamedTuple):
    body: str

    def written(self) -> Written:
        return Written(BODY.format(self.body), SIGNATURE)


@pytest.fixture(scope="module")
def shared_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of this module's compiling process, whose start takes longer than most loops."""
    before, path = folder._place, tmp_path_factory.mktemp("native") / "native"
    folder.use(path)
    COMPILER.end()  # it has another folder
    yield path
    folder.use(before)
    COMPILER.end()


@pytest.fixture(autouse=True)
def place(shared_place: Path) -> Iterator[Path]:
    yield shared_place
    shutil.rmtree(shared_place, ignore_errors=True)


def filled(loop: Code | None) -> list[float]:
    assert loop is not None
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64)(loop.address)
    out = np.zeros(3)
    assert function(out.ctypes.data, 3) == 0
    return out.tolist()


def asked(recipe: Filling | Faulty, new_loops: Loops, work: int = 1) -> Code | None:
    new_loops.of(recipe, work)
    new_loops.finish()
    return new_loops.of(recipe, work)


def test_a_loop_is_compiled_once_and_then_loaded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert filled(asked(Filling(2.5), Loops(worth=0))) == [2.5] * 3
    (file,) = place.glob("*.o")
    assert len(file.read_bytes()) < 4_000
    monkeypatch.setattr(COMPILER, "compile", lambda *_: "asked again")
    assert filled(asked(Filling(2.5), Loops(worth=0))) == [2.5] * 3
    failing = Loops(worth=0)
    assert asked(Filling(3.5), failing) is None
    assert failing.refusal == "asked again"


def test_what_another_process_had_compiled_is_loaded_early(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(Filling(4.5), Loops(worth=0))
    monkeypatch.setattr(COMPILER, "compile", lambda *_: pytest.fail("asked"))
    new_loops = Loops(worth=1_000)
    assert asked(Filling(4.5), new_loops, 40) is None
    assert filled(asked(Filling(4.5), new_loops, 60)) == [4.5] * 3
    assert asked(Filling(5.5), new_loops, 100) is None
    assert new_loops.refusal == ""


@every("body", ["np.zeros(3)[0]", "__import__('os')", "[1.0][row]", "row +* 1", "open"])
def test_what_cannot_be_a_loop_has_none(body: str) -> None:
    new_loops = Loops(worth=0)
    assert asked(Faulty(body), new_loops) is None
    assert new_loops.refusal
    assert new_loops.recipes() == []
    number = next(NUMBERS) + 0.5
    assert filled(asked(Filling(number), new_loops)) == [number] * 3, "the compiling process goes on"


@every("fault", [OSError("the disk is full"), MemoryError(), KeyError("none")])
def test_a_fault_of_the_moment_is_tried_again(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    new_loops = Loops(worth=0)
    with monkeypatch.context() as patch:
        patch.setattr(loops, "loaded", lambda *_, **__: (_ for _ in ()).throw(fault))
        assert asked(Filling(2.5), new_loops) is None
        new_loops.finish()
    assert new_loops.refusal
    assert filled(asked(Filling(1.5), new_loops)) == [1.5] * 3
    again = asked(Filling(2.5), new_loops)
    assert again is None if isinstance(fault, KeyError) else filled(again) == [2.5] * 3


def test_a_full_disk_of_the_compiling_process_is_a_fault_of_the_moment() -> None:
    new_loops = Loops(worth=0)
    assert filled(asked(Filling(1.5), new_loops)) == [1.5] * 3
    assert COMPILER._child is not None
    child, limits = COMPILER._child.pid, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.prlimit(child, resource.RLIMIT_FSIZE, (100, limits[1]))
    assert asked(Filling(2.5), new_loops) is None
    assert "File too large" in new_loops.refusal
    resource.prlimit(child, resource.RLIMIT_FSIZE, limits)
    assert filled(asked(Filling(2.5), new_loops)) == [2.5] * 3
    assert COMPILER._child.pid == child


def test_the_compiling_process_keeps_a_lower_limit_of_its_program(place: Path) -> None:
    program = f"""
import resource
from pathlib import Path
from core.native import folder
from core.native.loops import Loops
from tests.core.native.test_loops import Filling, asked, filled
resource.setrlimit(resource.RLIMIT_AS, (2 * 1024**3, 2 * 1024**3))
folder.use(Path({str(place)!r}))
assert filled(asked(Filling(2.5), Loops(worth=0))) == [2.5] * 3
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_a_process_of_many_files_has_loops_too() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1_500), limits[1]))
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(1_100)]
    COMPILER.end()  # the pipes of the next one have higher numbers
    try:
        assert filled(asked(Filling(next(NUMBERS) + 0.25), Loops(worth=0)))
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_folder_that_others_can_write_gives_no_code(place: Path) -> None:
    asked(Filling(2.5), Loops(worth=0))
    place.chmod(0o777)
    new_loops = Loops(worth=0)
    assert asked(Filling(2.5), new_loops) is None
    assert "open to other users" in new_loops.refusal


def test_a_torn_object_is_compiled_anew(place: Path) -> None:
    asked(Filling(2.5), Loops(worth=0))
    (file,) = place.glob("*.o")
    file.write_bytes(file.read_bytes()[:-9])
    assert filled(asked(Filling(2.5), Loops(worth=0))) == [2.5] * 3


def test_a_compiling_process_that_was_killed_is_started_again() -> None:
    asked(Filling(2.5), Loops(worth=0))
    assert COMPILER._child is not None
    first = COMPILER._child.pid
    COMPILER._child.kill()
    assert filled(asked(Filling(3.5), Loops(worth=0))) == [3.5] * 3
    assert COMPILER._child.pid != first


def test_a_compiling_process_has_the_lowest_priority_and_ends_with_its_program(place: Path) -> None:
    program = f"""
import os, sys
from pathlib import Path
from core.native import folder
from core.native.loops import Loops
from core.native.process import COMPILER
from tests.core.native.test_loops import Filling
folder.use(Path({str(place)!r}))
new_loops = Loops(worth=0)
new_loops.of(Filling(2.5), 1)
new_loops.finish()
assert new_loops.of(Filling(2.5), 1) is not None
assert "numba" not in sys.modules
child = COMPILER._child.pid
assert os.getpriority(os.PRIO_PROCESS, child) == 19
print(child)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=True, timeout=300, capture_output=True, text=True)
    assert not Path(f"/proc/{ended.stdout.strip()}").exists()
    assert ended.stderr == ""


def test_without_numba_there_are_no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "is_installed", lambda: False)
    new_loops = Loops(worth=0)
    assert asked(Filling(2.5), new_loops) is None
    assert "cushion[native]" in new_loops.refusal


def test_work_is_counted_before_a_loop_is_compiled() -> None:
    new_loops = Loops(worth=10_000)
    for _ in range(4):
        assert new_loops.of(Filling(2.5), 2_000) is None
    new_loops.finish()
    assert new_loops.recipes() == []
    assert asked(Filling(2.5), new_loops, 2_000) is not None
    assert new_loops.recipes() == [Filling(2.5)]


def test_a_confined_child_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "confined", True)
    new_loops = Loops(worth=0)
    assert asked(Filling(2.5), new_loops) is None
    assert new_loops._thread is None


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "LOOPS_MAX", 3)
    monkeypatch.setattr(loops, "COUNTED_MAX", 5)
    monkeypatch.setattr(loops, "WAITING_MAX", 2)
    recipes = [Filling(float(at)) for at in range(9)]
    counting = Loops(worth=10)
    for recipe in recipes:
        counting.of(recipe, 8)
    counting.of(recipes[0], 4)  # of which eight were forgotten
    counting.of(recipes[-1], 4)
    counting.finish()
    assert counting.recipes() == [recipes[-1]]
    new_loops = Loops(worth=0)
    for recipe in recipes:
        asked(recipe, new_loops)
    assert new_loops.recipes() == recipes[-3:]


def test_a_forked_child_keeps_loops_and_has_others_compiled(place: Path) -> None:
    program = f"""
import os
from pathlib import Path
from core.native import folder
from core.native.loops import Loops
from tests.core.native.test_loops import Filling, asked, filled
folder.use(Path({str(place)!r}))
new_loops = Loops(worth=0)
asked(Filling(2.5), new_loops)
if (child := os.fork()) == 0:
    kept, new = filled(new_loops.of(Filling(2.5), 1)), filled(asked(Filling(3.5), new_loops))
    os._exit(not (kept == [2.5] * 3 and new == [3.5] * 3))
assert filled(asked(Filling(4.5), new_loops)) == [4.5] * 3
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_the_end_of_a_program_waits_for_no_compiler(place: Path) -> None:
    program = f"""
from pathlib import Path
from core.native import folder
from core.native.loops import Loops
from tests.core.native.test_loops import Filling
folder.use(Path({str(place)!r}))
new_loops = Loops(worth=0)
for at in range(30):
    new_loops.of(Filling(float(at)), 1)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert len([*place.glob("*.o")]) <= 2


HEARTBEAT = """
import sys, time
from pathlib import Path
from core.native import folder
from core.native.loops import Loops
from tests.core.native.test_loops import Filling

def longest_gap(until):
    longest, before = 0.0, time.perf_counter()
    while not until():
        time.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest

folder.use(Path(sys.argv[1]))
loops, start = Loops(worth=0), time.perf_counter()
compiling = longest_gap(lambda: loops.of(Filling(2.5), 1) is not None)
end = 2 * time.perf_counter() - start
assert "llvmlite" in sys.modules and "numba" not in sys.modules
print(compiling - longest_gap(lambda: time.perf_counter() > end))
"""


def test_a_heartbeat_of_a_millisecond_does_not_feel_the_compiling(tmp_path: Path) -> None:
    """Beyond what it feels in as long a time without; a machine that is busy elsewhere gets several tries."""
    beyond = []
    for at in range(6):
        command = [sys.executable, "-c", HEARTBEAT, str(tmp_path / str(at))]
        ended = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
        beyond.append(float(ended.stdout))
        if beyond[-1] <= 0.010:
            return
    pytest.fail(f"gaps of {beyond} seconds beyond")
