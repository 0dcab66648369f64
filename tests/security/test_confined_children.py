"""A child that reads what a stranger wrote sees no secret and no network, and can do nothing to another process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.confined.run import run
from core.confined.table import ConfinedWork, texts
from tests.conftest import Member, Stack, wait_until

ROOT = Path(__file__).resolve().parents[2]

TRIES = """
import ctypes, os, pathlib, resource, signal, socket, sys, threading
parent = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)

def write(path):
    pathlib.Path(path).write_text("mine")

TRIED = {
    "read the secret": lambda: open(secret).read(),
    "read the secret by a link": lambda: (os.symlink(secret, folder + "/link"), open(folder + "/link").read()),
    "list the data folder": lambda: os.listdir(os.path.dirname(secret)),
    "open the secret up": lambda: os.chmod(secret, 0o666),
    "move the secret here": lambda: os.rename(secret, folder + "/secret"),
    "write beside the folder": lambda: write(folder + "-beside"),
    "change what it was given": lambda: write(given),
    "change the program": lambda: write(os.path.join(os.getcwd(), "core", "written.txt")),
    "read the users": lambda: open("/etc/passwd").read(),
    "read the parent's environment": lambda: open(f"/proc/{parent}/environ").read(),
    "make a socket": lambda: socket.socket(),
    "make a pair of sockets": lambda: socket.socketpair(),
    "signal the parent": lambda: os.kill(parent, 0),
    "trace the parent": lambda: call("ptrace", 16, parent, 0, 0),
    "limit the parent": lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE),
    "run a program": lambda: os.execv("/bin/true", ["true"]),
    "fork": lambda: os.fork() or os._exit(0),
    "become root": lambda: call("setns", 0, 0),
}

def work(order: list[str], made: pathlib.Path) -> dict[str, str]:
    global secret, given, folder
    secret, given, folder = *order, str(made)
    done = {}
    for name, trial in TRIED.items():
        try:
            trial()
            done[name] = "done"
        except OSError as error:
            done[name] = "refused"
    read = open(given).read()
    pathlib.Path(folder, "made").write_text(read)
    thread = threading.Thread(target=lambda: done.update(thread="done"))
    thread.start()
    thread.join()
    import zoneinfo, unittest.mock  # what is imported late is found
    return done | {"read": read}
"""


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    program, data, folder = tmp_path / "program", tmp_path / "data", tmp_path / "folder"
    for result in (program, data, folder):
        result.mkdir()
    (program / "tries_its_walls.py").write_text(TRIES)
    (data / "secret_key").write_text("a secret")
    value = tmp_path / "given"
    value.write_text("a workbook")
    monkeypatch.syspath_prepend(program)
    tries = ConfinedWork(
        does="tries_its_walls.work",
        order=list[str],
        answer=dict[str, str],
        refusals=("builtins.RuntimeError",),
        texts=texts("Trying"),
        memory_bytes_max=2**30,
        seconds_max=60.0,
    )
    done = run(
        tries,
        [str(data / "secret_key"), str(value)],
        reads=[str(value)],
        writes=folder,
        memory_bytes_max=tries.memory_bytes_max,
        seconds_max=tries.seconds_max,
    )
    assert (folder / "made").read_text() == "a workbook"
    assert (data / "secret_key").read_text() == "a secret"
    return done


@pytest.mark.skipif(sys.platform != "linux", reason="the walls are of Linux")
def test_it_does_its_work_and_nothing_else(tried: dict[str, str]) -> None:
    assert tried.pop("read") == "a workbook"
    assert tried.pop("thread") == "done"
    assert [name for name, outcome in tried.items() if outcome == "done"] == []


def evaluators() -> list[dict[str, str]]:
    """What the system says of every evaluator of this tree that runs."""
    result = []
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or (entry / "cwd").readlink() != ROOT:
                continue
            if b"service.calculations.child" in (entry / "cmdline").read_bytes():
                lines = (entry / "status").read_text().splitlines()
                result.append({name: value.strip() for name, _, value in (line.partition(":") for line in lines)})
        except OSError:
            continue
    return result


@pytest.mark.skipif(sys.platform != "linux", reason="the walls are of Linux")
def test_an_evaluator_of_the_service_stands_behind_the_walls(stack: Stack, owner: Member) -> None:
    answer = owner.post("/api/v1/calculations/evaluate", json={"formula": "=SUM(SEQUENCE(1000))"})
    assert answer.status_code == 200, answer.text

    def walled() -> bool:
        result = evaluators()  # one may be at its start still
        capable = [int(status["CapEff"], 16) & ~(1 << 2) for status in result]  # of more than reading
        return bool(result) and not any(capable) and {status["Seccomp"] for status in result} == {"2"}

    wait_until(walled, what="evaluators behind walls")
