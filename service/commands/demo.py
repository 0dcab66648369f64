"""The whole way in one command: a service of its own, a tenant, a portfolio, two compliance suites."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING, Any

from service.commands.output import counted
from service.commands.progress import busy
from service.commands.refusal import Refused

if TYPE_CHECKING:
    import httpx

START_SECONDS = 120.0
PARSE_SECONDS = 120.0
STOP_SECONDS = 60.0
SUITES = ("standard", "enhanced")
SAMPLE_LOANS = 300


def demo(file: Path | None = None, /) -> int:
    """Show the main job: start a service, upload a portfolio, run the standard and enhanced compliance suites.

    It works in a fresh folder and on a free port, beside whatever else runs, and leaves nothing behind. At its end it
    says what to do next.

    Parameters
    ----------
    file:
        A portfolio workbook of your own; without one a sample of 300 loans with a manager's messy headers is made.
    """
    import httpx

    if file is not None and not file.is_file():
        raise Refused(f"{file}: there is no such file")
    folder = Path(tempfile.mkdtemp(prefix="cushion-demo-"))
    folder.chmod(0o755)  # PostgreSQL runs as an account of its own when this is root
    try:
        with _service(folder) as url, httpx.Client(base_url=url, timeout=60) as client:
            _register(client)
            workbook = _upload(client, file or _sample(folder))
            for suite in SUITES:
                _show(client, workbook, suite)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print()
    print("\n".join(next_steps(file)))
    return 0


@contextmanager
def _service(folder: Path) -> Iterator[str]:
    from service.host.data_folder import HOME

    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")}
    environment |= {"CUSHION_DATA_DIR": str(folder / "data"), "CUSHION_LOG_LEVEL": "warning"}
    command = [sys.executable, "-m", "service.commands.cli", "serve", "--port", "0"]
    log = folder / "serve.log"  # on the terminal its lines would break into the spinner
    with log.open("w") as written:
        process = subprocess.Popen(  # noqa: S603 - this interpreter with fixed arguments, no shell
            command, cwd=HOME, env=environment, stdout=subprocess.PIPE, stderr=written, text=True
        )
    try:
        with busy("Starting PostgreSQL, Redis, the API and a worker"):
            url = _announced(process)
        if url is None:
            process.wait(STOP_SECONDS)
            raise Refused(f"the service did not start: {_last_line(log)}")
        print(f"Cushion serves at {url}")
        yield url
    finally:
        with busy("Stopping"):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _announced(process: subprocess.Popen[str]) -> str | None:
    """The address that the service tells once it is ready; None where it ended before."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"https?://\S+", line):
            return found[0]
    return None


def _last_line(log: Path) -> str:
    """The last line that a log has."""
    lines = log.read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it ended without a word")


def next_steps(file: Path | None) -> list[str]:
    """What to do after the demo: the same on a file of one's own, and a service that stays."""
    is_beside = Path(sys.argv[0]).name == "cushion" and not which("cushion")  # as under make, whose path lacks it
    program = os.path.relpath(sys.argv[0]) if is_beside else "cushion"
    own = "YOUR_FILE.xlsx" if file is None else quote(str(file))
    steps = [
        (f"map {own}", "which columns are read as what"),
        (f"compliance {own}", "the same tests without a server"),
        (f"report {own} --out report.pdf", "the results as a document"),
        ("serve", "a service that stays; its guide: /docs/guide/"),
        ("--help", "all commands"),
    ]
    if file is None:
        steps.insert(0, ("demo YOUR_FILE.xlsx", "this demo on a file of yours"))
    width = max(len(step) for step, _ in steps)
    return ["Next:", *(f"  {program} {step:{width}}  {what}" for step, what in steps)]


def _register(client: httpx.Client) -> None:
    answer = client.post(
        "/api/v1/auth/register",
        json={
            "email": "demo@example.com",
            "password": f"Demo-1-{secrets.token_urlsafe(12)}",
            "full_name": "Demo User",
            "organization_name": "Demo Capital",
        },
    )
    tokens = _checked(answer)
    client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    print("Registered the tenant Demo Capital")


def _sample(folder: Path) -> Path:
    from core.generate import MANAGERS_FILE, generate

    path = folder / "sample-portfolio.xlsx"
    with busy("Drawing a sample portfolio"):
        generate(loans=SAMPLE_LOANS, messy=MANAGERS_FILE).write(path)
    return path


def _upload(client: httpx.Client, path: Path) -> dict[str, Any]:
    with busy(f"Uploading {path.name}"), path.open("rb") as file:
        answer = client.post("/api/v1/workbooks/upload", files={"file": (path.name, file)})
        workbook = _checked(answer)
        end = time.monotonic() + PARSE_SECONDS
        while workbook["status"] == "processing" and time.monotonic() < end:
            time.sleep(0.05)
            workbook = _checked(client.get(f"/api/v1/workbooks/{workbook['id']}"))
    if workbook["status"] != "ready":
        raise Refused(f"{path.name} could not be read: {workbook.get('error_message') or workbook['status']}")
    sheets = ", ".join(f"{sheet['name']} ({counted(sheet['row_count'], 'row')})" for sheet in workbook["sheets"])
    print(f"Uploaded {path.name}: {sheets}")
    return workbook


def _show(client: httpx.Client, workbook: dict[str, Any], suite: str) -> None:
    import msgspec

    from core.compliance.result import Skipped, Summary, TestResult
    from service.commands.output import console_for, print_page
    from service.commands.table import results_page

    answer = client.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"], "test_suite": suite})
    run = _checked(answer)
    results = msgspec.convert(run["results"], list[TestResult])
    print()
    page = results_page(
        results,
        msgspec.convert(run["skipped"], list[Skipped]),
        msgspec.convert(run["summary"], Summary),
        title=f"{workbook['name']}, {suite} suite, {run['execution_time_us'] / 1000:.1f} ms",
    )
    print_page(page, console_for())


def _checked(answer: httpx.Response) -> dict[str, Any]:
    if answer.is_success:
        body: dict[str, Any] = answer.json()
        return body
    refusal = answer.json()
    hints = "; ".join(error["message"] for error in refusal.get("errors", []))
    raise Refused(
        f"{answer.request.method} {answer.request.url.path}: {refusal['detail']}" + (f" ({hints})" if hints else "")
    )
