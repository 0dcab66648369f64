"""Work for confined children to try."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.confined.table import ConfinedWork, texts

MEGABYTE = 1024**2

WORKING = """
import os, resource, signal, sys, time

class Refused(Exception):
    pass

seen = []

def work(order: str) -> dict[str, object]:
    match order:
        case "answer":
            from core.confined import here
            return {
                "environment": sorted(os.environ), "session": os.getsid(0), "confined": here.confined,
                "leaders": [os.getpid(), os.getppid()]
            }
        case "process":
            seen.append(order)
            pipe = os.fstat(0).st_ino
            return {"parent": os.getppid(), "own": os.getpid(), "seen": len(seen), "pipe": pipe}
        case "stay":
            os._exit = lambda code: time.sleep(60)
            return {"parent": os.getppid(), "own": os.getpid()}
        case "memory":
            return {"held": len(bytearray(2 * 1024**3))}
        case "sleep":
            time.sleep(60)
        case "spin":
            while True:
                pass
        case "crash":
            signal.raise_signal(signal.SIGSEGV)
        case "killed":
            signal.raise_signal(signal.SIGKILL)
        case "processor":  # as the kernel counts it, before the clock on the wall does
            soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (1, 1 + hard - soft))
            while True:
                pass
        case "fault":
            raise ValueError("what stands in a cell")
        case "code":
            sys.exit(3)
        case "print":
            print("a library that prints", flush=True)
            os.write(1, b"and one in C")
        case "missing":
            open("/nowhere/at/all")
        case "list":
            return [1]
        case "halt":
            signal.raise_signal(signal.SIGSTOP)
        case "pause":
            time.sleep(0.5)
            return {"parent": os.getppid()}
        case "refuse":
            raise Refused("not this one")
        case path if path.startswith("read "):
            with open(path[5:], encoding="utf-8") as file:
                return {"text": file.read()}
    return {}
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes a program of a text; its name as a module."""

    def prepared(text: str) -> str:
        (tmp_path / "confined_program.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return "confined_program"

    return prepared


def trying(name: str, function: str = "work") -> ConfinedWork[str, dict[str, Any]]:
    """A kind of work that a function of a module does."""
    return ConfinedWork(
        does=f"{name}.{function}",
        order=str,
        answer=dict[str, Any],
        refusals=(f"{name}.Refused",),
        texts=texts("Trying"),
        memory_bytes_max=512 * MEGABYTE,
        seconds_max=20.0,
    )
