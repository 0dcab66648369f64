"""A program that is tied to its parent keeps its process id and ends with the parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.host.child import RunAccount, bound

ROOT = Path(__file__).resolve().parents[3]
NOBODY = [RunAccount("nobody", 65_534, 65_534)] if os.geteuid() == 0 else []


def test_runs_the_program_in_the_same_process() -> None:
    argv = bound(["/bin/sh", "-c", "echo $$ $0 $1", "zero", "a b"], death_signal=signal.SIGTERM)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=20)
    assert output == f"{process.pid} zero a b\n"
    assert process.returncode == 0


@pytest.mark.parametrize("account", NOBODY)
def test_runs_as_another_user_without_the_groups_of_root(account: RunAccount) -> None:
    argv = bound(["/usr/bin/id", "-G"], death_signal=signal.SIGTERM, account=account)
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split() == [str(account.gid)]


def test_a_missing_program_is_named() -> None:
    done = subprocess.run(bound(["/nowhere/at-all"], death_signal=15), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot run /nowhere/at-all: No such file or directory" in done.stderr


def test_the_death_of_the_parent_sends_the_signal(tmp_path: Path) -> None:
    """SIGKILL leaves the parent no chance to tell its child.

    The kernel does, also where a shell had it ignored.
    """
    words = tmp_path / "said"
    shell = f"trap 'echo interrupted >{words}; exit' INT; echo up; while :; do sleep 0.05; done"
    code = f"""
import signal, subprocess, time
from service.host.child import bound
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.Popen(bound(["/bin/sh", "-c", {shell!r}], death_signal=2))
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        parent.kill()
    deadline = time.monotonic() + 10
    while not (words.exists() and words.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert words.read_text() == "interrupted\n"


def test_a_parent_that_is_already_gone_ends_the_program_before_it_starts() -> None:
    """The parent may die between the fork and the request to the kernel."""
    argv = bound(["/bin/echo", "started"], death_signal=15)
    argv[argv.index(str(os.getpid()))] = "1" if os.getpid() != 1 else "2"
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b""
