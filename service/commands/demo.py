"""The whole way in one command.

A service of its own, a tenant, deals with their months, and the console on them.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from cyclopts import Parameter

from service.commands.demo_deals import SUITES, Json, Loaded, checked, load_own, load_samples
from service.commands.progress import busy
from service.commands.refusal import Refused

if TYPE_CHECKING:
    import httpx

STOP_SECONDS = 60.0
EMAIL: Final = "demo@example.com"


class Service(NamedTuple):
    """The demo's own service."""

    url: str
    process: subprocess.Popen[str]
    log: Path


def demo(
    file: Path | None = None,
    /,
    *,
    once: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Show the main job: load deals into a service, and open the console.

    The compliance suites run on each month of the deals. The service runs until Ctrl-C.

    Three deals are loaded, each with six months: one fails a test, one has warnings, one is fine. It works in a fresh
    folder and on a free port, beside whatever else runs, and leaves nothing behind. At its end it says what to do next.

    Parameters
    ----------
    file:
        A portfolio workbook of your own, in place of the three deals.
    once:
        End when the results are printed.
    """
    if file is not None and not file.is_file():
        raise Refused(f"{file}: there is no such file")
    password = f"Demo-1-{secrets.token_urlsafe(12)}"
    with loaded(password, file) as (service, runs):
        for run in runs:
            _show(run)
        if not once:
            print(_invitation(service.url, password), flush=True)
            _wait(service)
    print()
    print("\n".join(next_steps(file)))
    return 0


@contextmanager
def loaded(password: str, file: Path | None = None) -> Iterator[tuple[Service, list[tuple[str, str, Json]]]]:
    """A service with a tenant and its deals, and the runs to show.

    At its end nothing of it is left.
    """
    import httpx

    folder = Path(tempfile.mkdtemp(prefix="cushion-demo-"))
    folder.chmod(0o755)  # PostgreSQL runs as an account of its own when this is root
    try:
        with _service(folder) as service:
            with httpx.Client(base_url=service.url, timeout=60) as client:
                _register(client, password)
                runs = _load(client, file, folder)
            yield service, runs
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load(client: httpx.Client, file: Path | None, folder: Path) -> list[tuple[str, str, Json]]:
    """Load the deals and print a line for each.

    The runs to show, with the names of workbook and suite.
    """
    loaded: list[Loaded] = []
    for deal in load_samples(client, folder) if file is None else [load_own(client, file)]:
        print(f"Loaded {deal}", flush=True)
        loaded.append(deal)
    shown = loaded[0]
    return [(shown.month["name"], suite, run) for suite, run in zip(SUITES, shown.runs, strict=True)]


def _invitation(url: str, password: str) -> str:
    return "\n".join(
        (
            "",
            f"Console: {url}/console/",
            f"  e-mail    {EMAIL}",
            f"  password  {password}",
            "Ctrl-C ends the demo and removes its data.",
        )
    )


def _wait(service: Service) -> None:
    """Wait for Ctrl-C or SIGTERM.

    Raises:
        Refused: the service ended by itself.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        service.process.wait()
    except KeyboardInterrupt:
        print()
        return
    finally:
        signal.signal(signal.SIGTERM, before)
    raise Refused(f"the service ended: {_last_line(service.log)}")


@contextmanager
def _service(folder: Path) -> Iterator[Service]:
    from service.host.child import bound
    from service.host.data_folder import HOME

    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")}
    environment |= {"CUSHION_DATA_DIR": str(folder / "data"), "CUSHION_LOG_LEVEL": "warning"}
    command = [sys.executable, "-m", "service.commands.cli", "serve", "--port", "0"]
    log = folder / "serve.log"  # on the terminal its lines would break into the spinner
    with log.open("w") as written:
        process = subprocess.Popen(  # noqa: S603 - this interpreter with fixed arguments, no shell
            bound(command, death_signal=signal.SIGTERM),
            cwd=HOME,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
            process_group=0,  # Ctrl-C in a terminal reaches the demo alone, which then ends the service in order
        )
    try:
        with busy("Starting PostgreSQL, Redis, the API and a worker"):
            url = _announced(process)
        if url is None:
            process.wait(STOP_SECONDS)
            raise Refused(f"the service did not start: {_last_line(log)}")
        print(f"Cushion serves at {url}", flush=True)
        yield Service(url, process, log)
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
    """The address of the service once it is ready, or None if it ended before."""
    assert process.stdout is not None
    for line in process.stdout:
        if match := re.search(r"https?://\S+", line):
            return match[0]
    return None


def _last_line(log: Path) -> str:
    """The last line that a log has."""
    lines = log.read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it ended without a word")


def next_steps(file: Path | None) -> list[str]:
    """Next steps: the same on one's own file, and a service that stays."""
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


def _register(client: httpx.Client, password: str) -> None:
    account = {
        "email": EMAIL,
        "password": password,
        "full_name": "Demo User",
        "organization_name": "Demo Capital",
    }
    tokens = checked(client.post("/api/v1/auth/register", json=account))
    client.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    print("Registered the tenant Demo Capital", flush=True)


def _show(shown: tuple[str, str, Json]) -> None:
    import msgspec

    from core.compliance.result import Results, Skipped, TestResult
    from service.commands.output import console_for, print_page
    from service.commands.table import results_page

    name, suite, run = shown
    print()
    results = Results(msgspec.convert(run["results"], list[TestResult]), msgspec.convert(run["skipped"], list[Skipped]))
    title = f"{name}, {suite} suite, {run['execution_time_us'] / 1000:.1f} ms"
    print_page(results_page(results, title=title), console_for())
