"""The guide: built without a network, drawn by a real browser under the service's policy, and searched."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from core.generate import generate
from docs.generated import definition
from service import guide
from tests.conftest import Stack

ROOT = Path(__file__).parents[2]
BUILD_SECONDS_MAX = 60
SIZE_MAX = 3_000_000


class Browser:
    """A page of Chromium, told what to do through a pair of pipes."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        assert program, "these tests want chromium"
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        flags += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={folder}"]
        script = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "-", program, *flags, "--remote-debugging-pipe"],
            pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest, self._number, self.messages = b"", 0, list[str]()
        self._session = ""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.do(f"{domain}.enable")

    def do(self, method: str, **parameters: Any) -> Any:
        """The answer to one command.

        What the page complains of meanwhile is kept in `said`.
        """
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") == "Log.entryAdded" and answer["params"]["entry"]["level"] == "error":
                self.messages.append(answer["params"]["entry"]["text"])
            if answer.get("method") == "Runtime.exceptionThrown":
                self.messages.append(str(answer["params"]["exceptionDetails"]))

    def _next(self) -> Any:
        while b"\0" not in self._rest:
            self._rest += os.read(self._in, 1 << 16)
        answer, _, self._rest = self._rest.partition(b"\0")
        return json.loads(answer)

    def until(self, expression: str, seconds: float = 20) -> Any:
        """What the expression gives in the page, once that is something."""
        ends = time.monotonic() + seconds
        while not (
            result := self.do("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")
        ):
            assert time.monotonic() < ends, (expression, self.messages)
            time.sleep(0.05)
        return result

    def close(self) -> None:
        """End the program."""
        self._process.terminate()
        self._process.wait(10)
        os.close(self._out)
        os.close(self._in)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    opened = Browser(tmp_path)
    yield opened
    opened.close()


def test_it_is_built_without_a_network(tmp_path: Path) -> None:
    """In time, small, and to the bytes that `make docs` made.

    A page that names its day or order would differ.
    """
    out, started = tmp_path / "guide.zip", time.monotonic()
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-m", "docs", "--out", str(out)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr[-3000:]
    assert time.monotonic() - started < BUILD_SECONDS_MAX
    assert out.read_bytes() == guide.ARCHIVE.read_bytes(), (
        "make docs: the guide is of other sources, or differs each time"
    )
    assert out.stat().st_size < SIZE_MAX


def test_a_warning_or_a_dead_link_ends_the_build(tmp_path: Path) -> None:
    in_markdown = {"[gone](gone.md)": "gone.md", "[gone](index.md#nowhere)": "nowhere"}
    in_pages = {
        '<a href="../nothing/">gone</a>': "leads nowhere",
        '<img src="https://example.com/x.png">': "fetches https://example.com/x.png",
        '<p onclick="x()">x</p>': "onclick within the page",
    }
    for faults in (in_markdown, in_pages):
        shutil.rmtree(tmp_path, ignore_errors=True)
        shutil.copytree(ROOT / "docs", tmp_path / "docs")
        with (tmp_path / "docs/tutorial.md").open("a") as page:
            page.write("\n\n".join(["", *faults, ""]))
        out = tmp_path / "guide.zip"
        environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
        command = [sys.executable, "-m", "docs", "--out", str(out)]
        built = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert (built.returncode, out.exists()) == (1, False), faults
        assert [fault for fault in faults.values() if fault not in built.stderr] == [], built.stderr


WANTED = """
import cushion
portfolio = cushion.Portfolio.from_workbook(cushion.read("holdings.xlsx"))
last_month = cushion.Portfolio.from_workbook(cushion.read("last_month.xlsx"))
subject = cushion.Subject(name="My deal", portfolio=portfolio)
"""
"""What the blocks of a page may begin with."""


def test_python_of_the_how_tos_runs(tmp_path: Path) -> None:
    """Every block, in the order of its page, on made deals whose names the pages use."""
    for name, seed in (("holdings", "7"), ("last_month", "8")):
        result = [sys.executable, "-m", "service.commands.cli", "generate", "--loans", "200", "--seed", seed]
        subprocess.run([*result, "--out", str(tmp_path)], check=True, capture_output=True, cwd=ROOT)
        (tmp_path / f"clo-200-{seed}.xlsx").rename(tmp_path / f"{name}.xlsx")
    (tmp_path / "deal.toml").write_text(definition.EXAMPLE)
    columns = generate(200, seed=7).portfolio_columns()
    loans = {name: columns[name] for name in ("par_value", "cusip", "price", "spread", "facility_size")}
    loans["issuer_id"] = columns["cusip"]
    parquet.write_table(pyarrow.table(loans), tmp_path / "pool.parquet")
    failed = {}
    for page in sorted((ROOT / "docs/how-to").glob("*.md")):
        blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        if blocks:
            ran = subprocess.run(
                [sys.executable, "-W", "error::DeprecationWarning", "-c", WANTED + "\n".join(blocks)],
                cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=100,
            )  # fmt: skip
            if ran.returncode:
                failed[page.name] = ran.stderr[-600:]
    assert failed == {}


@pytest.fixture
def shown(stack: Stack, browser: Browser) -> Callable[[str], None]:
    assert guide.ARCHIVE.exists(), "make docs"

    def show(path: str) -> None:
        browser.do("Page.navigate", url=f"{stack.url}/docs/guide/{path}")
        browser.until(f"location.href.endsWith({path!r}) && document.readyState === 'complete'")

    return show


def test_pages_are_drawn_and_searched(shown: Callable[[str], None], browser: Browser) -> None:
    for path, heading in (
        ("", "Cushion"),
        ("tutorial/", "Tutorial: from a file to a report"),
        ("errors/#workbook_not_found", "Errors"),
        ("reference/compliance-tests/", "Compliance tests"),
        ("reference/api/compliance/", "Compliance"),
    ):
        shown(path)
        assert browser.until("document.querySelector('h1').firstChild.textContent") == heading
    shown("reference/compliance-tests/")
    assert browser.until("document.querySelectorAll('math mfrac').length") > 20
    for word, page in (("VLOOKUP", "functions/lookup/?h=vlookup#vlookup"), ("WARF", "compliance-tests/?h=warf#")):
        shown(f"?q={word}")
        result = browser.until(
            "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href).join(' ')"
        )
        assert page in result, (word, result)
    for word in ("compliance", "export", "alert", "report", "trade"):  # what to do comes before what there is
        shown(f"?q={word}")
        first = browser.until("document.querySelector('.md-search-result__link')?.href")
        assert "/how-to/" in first or "/tutorial/" in first, (word, first)
    assert browser.messages == []
