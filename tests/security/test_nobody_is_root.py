"""Under root the API and the workers run as somebody else, who at most reads past the modes of files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Stack, wait_until

ROOT = Path(__file__).resolve().parents[2]
READ_ALL = 1 << 2

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can become somebody else"
)


def is_unprivileged(pid: int) -> bool:
    """Whether a process and all of its threads are not root, can become nobody else, and may at most read."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        if "0" in status["Uid"].split() + status["Gid"].split() + status["Groups"].split():
            return False
        if status["NoNewPrivs"] != "1" or (int(status["CapEff"], 16) | int(status["CapPrm"], 16)) & ~READ_ALL:
            return False
    return True


def below(pid: int) -> set[int]:
    """The processes that a process started, and theirs."""
    result: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            result |= {int(child)} | below(int(child))
    return result


def test_a_worker_that_root_starts_becomes_somebody_else(stack: Stack) -> None:
    with stack.another_worker(fresh=True) as worker:
        wait_until(lambda: is_unprivileged(worker.pid), what="another user")
        wait_until(lambda: b"service.worker" in Path(f"/proc/{worker.pid}/cmdline").read_bytes(), what="the worker")
    assert is_unprivileged(stack.worker.pid)


def test_all_that_serve_starts_under_root_are_somebody_else() -> None:
    folder = Path("/tmp") / f"cushion-test-root-{os.getpid()}"
    folder.mkdir(mode=0o711)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")}
    command = [sys.executable, "-m", "service.commands.cli", "serve", "--port", "0"]
    process = subprocess.Popen(
        command,
        env=environment | {"CUSHION_DATA_DIR": str(folder / "data")},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any(re.match("Cushion is ready", line) for line in process.stdout)
        started = below(process.pid)
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in started}
        ours = [pid for pid, text in commands.items() if b"granian" in text or b"service.worker" in text]
        assert len(ours) >= 3, commands  # the API's two, and a worker
        assert [commands[pid] for pid in ours if not is_unprivileged(pid)] == []
        data = folder / "data"
        assert data.stat().st_uid == 0, "who serves could put a link in root's way"
        assert {path.name for path in data.iterdir() if path.stat().st_uid == 0} >= {"access", "lock", "log"}
        assert (data / "secret_key").stat().st_mode & 0o077 == 0
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        subprocess.run(["/bin/rm", "-rf", str(folder)], check=True)
