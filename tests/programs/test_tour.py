"""The written tours, literally.

Every shell and Python block of a page is run, in order, against a fresh service.

A page is run in one shell, in a folder that has what the repository has, so what a block sets the next one knows. A
block that starts the service goes on in the background; a Python block has the names of those before it. Where a page
shows what comes out (a block of `text` behind one that is run), that must come out. What is not to be run says so in a
comment in front of it: `<!-- not run: why -->`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, wait_until

PAGES = ["README.md", "docs/tutorial.md", "docs/integrators.md"]
SECONDS_MAX = 110

FENCE = re.compile(
    r"^(?P<skipped><!-- not run: [^\n]+ -->\n)?```(?P<kind>sh|bash|python|text)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SERVES = re.compile(r"^(make|cushion|\.venv/bin/cushion) serve\b")
MARK = "---- end of block {} ----"


class Block(NamedTuple):
    """A block that is run, and what it shows where the page says so."""

    kind: str
    text: str
    shown: str | None = None


def blocks_of(page: str) -> list[Block]:
    """What of a page is run, in order."""
    blocks: list[Block] = []
    for fence in FENCE.finditer(page.partition("<!-- not run from here on -->")[0]):
        if fence["kind"] == "text":
            blocks[-1] = blocks[-1]._replace(shown=fence["text"])
        elif not fence["skipped"]:
            blocks.append(Block("python" if fence["kind"] == "python" else "sh", fence["text"]))
    return blocks


def script_of(blocks: list[Block]) -> str:
    """The page as one script.

    It stops at the first line that fails, and tells where each block ended.
    """
    lines, python = ["set -euo pipefail"], ""
    for number, block in enumerate(blocks):
        if block.kind == "python":
            python += block.text  # once more from the beginning: the blocks of a page are one program
            Path(f"block-{number}.py").write_text(python, encoding="utf-8")
            lines.append(f".venv/bin/python block-{number}.py")
        elif not SERVES.match(block.text):
            lines.append(block.text.rstrip("\n"))
        # A token that was there has ended by the next block: the page must know how to go on.
        lines += ["TOKEN=${TOKEN:+ended}", "echo", f"echo '{MARK.format(number)}'"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with what the repository has, and nothing that was made in it.

    PostgreSQL's account may enter it.
    """
    place = Path(tempfile.mkdtemp(prefix="cushion-tour-"))
    place.chmod(0o755)
    for entry in ROOT.iterdir():
        if entry.name not in (".git", "deals", "build"):
            (place / entry.name).symlink_to(entry)
    # Everything is set up, whatever the times of the files say: `make serve` is to serve and not to install.
    programs = place / "programs"
    programs.mkdir()
    (programs / "make").write_text(f'#!/bin/sh\nexec {shutil.which("make")} --old-file=.venv/.ready "$@"\n')
    (programs / "make").chmod(0o755)
    path = f"{programs}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    monkeypatch.chdir(place)
    for name in [name for name in os.environ if name.startswith("CUSHION_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("CUSHION_DATA_DIR", str(place / "data"))
    monkeypatch.setenv("CUSHION_LOG_LEVEL", "warning")
    monkeypatch.setenv("CUSHION_LOGIN_PER_MINUTE", "1000")
    yield place
    shutil.rmtree(place, ignore_errors=True)


def free_port() -> int:
    """The port that the pages name, or another one where somebody has it."""
    for port in (8000, 0):
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(free.getsockname()[1])
    raise AssertionError("no port is free")


def serving(block: Block, log: Path) -> subprocess.Popen[bytes]:
    """The service, as the page starts it, once it is ready."""
    with log.open("wb") as answer:
        process = subprocess.Popen(["bash", "-c", f"exec {block.text}"], stdout=answer, stderr=subprocess.STDOUT)
    wait_until(
        lambda: "Cushion is ready on" in log.read_text() or process.poll() is not None, seconds=60, what="the service"
    )
    assert process.poll() is None, log.read_text()
    return process


def test_blocks_are_found_as_they_stand() -> None:
    page = (
        "```sh\na\nb\n```\n\ntext\n\n```text\nshown\n```\n<!-- not run: why -->\n```sh\nno\n```\n"
        "```python\nx = 1\n```\n```json\n{}\n```\n```bash\nlast\n```\n"
    )
    assert blocks_of(page) == [Block("sh", "a\nb\n", "shown\n"), Block("python", "x = 1\n"), Block("sh", "last\n")]


@pytest.mark.parametrize("page", PAGES)
def test_what_the_page_says_works(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("CUSHION_PORT", str(port))
    text = (ROOT / page).read_text(encoding="utf-8").replace("localhost:8000", f"localhost:{port}")
    blocks = blocks_of(text)
    service = next((block for block in blocks if SERVES.match(block.text)), None)
    process = serving(service, folder / "serve.log") if service else None
    try:
        (folder / "tour.sh").write_text(script_of(blocks), encoding="utf-8")
        ran = subprocess.run(
            ["bash", "tour.sh"],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    finally:
        if process is not None:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
    assert ran.returncode == 0, f"{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    rest = ran.stdout
    for number, block in enumerate(blocks):
        answer, mark, rest = rest.partition(f"\n{MARK.format(number)}\n")
        assert mark, f"block {number} did not end"
        if block.shown is not None:
            assert answer.strip("\n") == block.shown.strip("\n"), block.text


def test_the_tour_ends_with_something_to_look_at() -> None:
    """The last of the service's blocks leaves a document."""
    tour = (ROOT / "docs/integrators.md").read_text(encoding="utf-8")
    assert re.search(r"-o (\S+\.pdf)", blocks_of(tour)[-1].text)
