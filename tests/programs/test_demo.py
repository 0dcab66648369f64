"""The demo: deals with their months, the console until Ctrl-C, nothing of the log, and at its end what to do next."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from core.generate import generate
from service.commands import cli, demo
from service.commands.cli import COMMANDS
from service.commands.refusal import Refused

ROOT = Path(__file__).parents[2]


class Demo(NamedTuple):
    """A demo that serves, and what it printed until then."""

    process: subprocess.Popen[str]
    lines: list[str]


def test_it_ends_with_what_to_do_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/cli.py"])
    first, *steps = demo.next_steps(None)
    assert first == "Next:"
    assert [line.split()[:2] for line in steps] == [
        ["cushion", word] for word in ("demo", "map", "compliance", "report", "serve", "--help")
    ]
    assert {line.split()[1] for line in steps} <= {*COMMANDS, "--help"}
    assert all(len(line) <= 100 for line in steps)
    own = demo.next_steps(Path("my deal.xlsx"))
    assert "  cushion compliance 'my deal.xlsx' " in own[2]
    assert not any("cushion demo" in line for line in own)


@pytest.mark.timeout(240)
def test_a_file_of_ones_own_in_one_go(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    generate(loans=200).write(tmp_path / "own.xlsx")
    assert cli.run(["demo", str(tmp_path / "own.xlsx"), "--once"]) == 0
    out, words = capfd.readouterr()
    assert words == "", "the service's log stays in its file"
    lines = out.splitlines()
    assert lines[0].startswith("Cushion serves at http://127.0.0.1:")
    assert "Loaded own: 1 month, 0 failed, 1 warning" in lines
    assert [line.split(": ")[0] for line in lines if line.startswith(("15 tests: ", "25 tests: "))] == [
        "15 tests",
        "25 tests",
    ]
    assert "Next:" in lines
    assert "Console: " not in out


@pytest.fixture(scope="module")
def running() -> Iterator[Demo]:
    command = [sys.executable, "-m", "service.commands.cli", "demo"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith("Ctrl-C"):
                break
        yield Demo(process, lines)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.mark.timeout(240)
def test_three_deals_are_loaded_and_the_console_is_there_until_ctrl_c(running: Demo) -> None:
    lines = running.lines
    assert lines[0].startswith("Cushion serves at http://127.0.0.1:")
    loaded = [line for line in lines if line.startswith("Loaded ")]
    assert loaded == [
        "Loaded Harbour Point CLO 2022-1: 6 months, 1 failed, 0 warnings, 42 differences from the trustee's tape",
        "Loaded Alder Creek CLO 2023-2: 6 months, 0 failed, 2 warnings",
        "Loaded Granite Bay CLO 2024-1: 6 months, 0 failed, 0 warnings",
    ]
    assert len([line for line in lines if line.startswith(("15 tests: ", "25 tests: "))]) == 2
    at = next(index for index, line in enumerate(lines) if line.startswith("Console: "))
    url = lines[at].removeprefix("Console: ")
    words = dict(line.split() for line in lines[at + 1 : at + 3])
    page = httpx.get(url)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    api = url.removesuffix("/console/") + "/api/v1"
    form = {"username": words["e-mail"], "password": words["password"]}
    token = httpx.post(f"{api}/auth/login", data=form).json()["access_token"]
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}) as client:
        deals = client.get(f"{api}/deals", params={"sort_by": "cushion"}).json()["items"]
        assert [(deal["name"].split()[0], deal["latest"]["failed"], deal["latest"]["warnings"]) for deal in deals] == [
            ("Harbour", 1, 0),
            ("Alder", 0, 2),
            ("Granite", 0, 0),
        ]
        assert {deal["next_payment_date"] for deal in deals} == {"2026-04-20"}
        for deal in deals:
            books = client.get(f"{api}/workbooks", params={"deal_id": deal["id"]}).json()["items"]
            assert sorted(book["as_of"] for book in books) == [
                *("2025-10-31", "2025-11-30", "2025-12-31", "2026-01-31", "2026-02-28", "2026-03-31")
            ]
            assert deal["latest"]["test_suite"] == "enhanced"
        tape = client.get(f"{api}/reconciliation/tapes").json()["items"][0]
        assert (tape["deal_id"], tape["trustee_name"]) == (deals[0]["id"], "trustee_a")
    running.process.send_signal(signal.SIGINT)
    out, wording = running.process.communicate(timeout=60)
    assert (running.process.returncode, wording) == (0, "")
    assert "Next:" in out.splitlines()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_a_service_that_ends_by_itself_is_told(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text("no room left\n")
    with subprocess.Popen(["true"], text=True) as process:
        service = demo.Service("http://127.0.0.1:1", process, log)
        with pytest.raises(Refused, match="the service ended: no room left"):
            demo._wait(service)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_service_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "python").write_text("#!/bin/sh\necho first >&2; echo 'no room left' >&2; exit 2\n")
    (tmp_path / "python").chmod(0o755)
    assert cli.run(["demo"]) == 2
    assert capsys.readouterr().err == "cushion: the service did not start: no room left\n"
