"""The command as a user runs it.

A process of its own, its two streams, and a terminal.

Where neither the environment nor the streams are what a test is about, the process is forked off one that has imported
the command; importing takes longer than most command lines do.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import forks

ROOT = Path(__file__).parents[3]

Answer = subprocess.CompletedProcess[str]


def _cushion(*arguments: str | Path, **environment: str) -> Answer:
    if not environment:
        return forks.cushion(*arguments)
    return subprocess.run(
        [sys.executable, "-m", "service.commands.cli", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def _refused(*arguments: str | Path) -> str:
    answer = _cushion(*arguments)
    assert answer.returncode == 2, answer
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("cushion: ")
    return line


def _started(*arguments: str | Path, **streams: Any) -> subprocess.Popen[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": os.environ} | streams
    return subprocess.Popen(
        [sys.executable, "-m", "service.commands.cli", *map(str, arguments)], cwd=ROOT, text=True, **streams
    )


def _on_a_terminal(*arguments: str | Path) -> tuple[str, str, int]:
    watcher, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    seen = bytearray()
    with open(os.devnull) as nothing, tempfile.TemporaryFile() as out:
        process = forks.Fork("command", [*map(str, arguments)], environment, [nothing.fileno(), out.fileno(), terminal])
        os.close(terminal)
        try:
            while block := os.read(watcher, 65_536):
                seen += block
        except OSError:  # how a pty says that its other end is closed
            pass
        os.close(watcher)
        code = process.wait(60)
        out.seek(0)
        return out.read().decode(), seen.decode(), code


@pytest.fixture(scope="session")
def cushion() -> Callable[..., Answer]:
    """Run a command line to its end; keywords are environment variables."""
    return _cushion


@pytest.fixture(scope="session")
def refused() -> Callable[..., str]:
    """The one line that a refused command says.

    Nothing else is printed, and the exit code is 2.
    """
    return _refused


@pytest.fixture(scope="session")
def started() -> Callable[..., subprocess.Popen[str]]:
    """Start a command line, its streams in pipes."""
    return _started


@pytest.fixture(scope="session")
def on_a_terminal() -> Callable[..., tuple[str, str, int]]:
    """Stdout of a pipe, what a terminal on stderr saw, and the exit code."""
    return _on_a_terminal
