"""What the demo loads.

Three deals with their months and a trustee's tape, or a file of one's own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from service.commands.output import counted
from service.commands.progress import busy
from service.commands.refusal import Refused

if TYPE_CHECKING:
    import httpx

    from core.generate import GeneratedDeal

RECONCILIATION: Final = "/api/v1/reconciliation"
WAIT_SECONDS: Final = 120.0
POLL_SECONDS: Final = 0.05
SUITES: Final = ("standard", "enhanced")
"""Of the month that is shown; the other months run the last one."""
SAMPLE_LOANS: Final = 300
SAMPLE_MONTHS: Final = 6

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DemoSample:
    """A deal of the demo."""

    name: str
    seed: int
    faults: tuple[str, ...]
    settings: Json
    trustee: str | None = None
    """Whose tape of the newest month is compared with it."""
    is_messy: bool = False
    """Its files look like those of a manager."""


SAMPLES: Final = (
    DemoSample(
        "Harbour Point CLO 2022-1",
        7,
        ("breach_ccc",),
        {"closing_date": "2022-03-17", "reinvestment_end": "2027-04-20", "stated_maturity": "2035-04-20"},
        trustee="trustee_a",
        is_messy=True,
    ),
    DemoSample(
        "Alder Creek CLO 2023-2",
        11,
        ("warn_wal",),
        {"closing_date": "2023-06-29", "reinvestment_end": "2028-07-20", "stated_maturity": "2036-07-20"},
    ),
    DemoSample(
        "Granite Bay CLO 2024-1",
        19,
        (),
        {"closing_date": "2024-02-08", "reinvestment_end": "2029-04-20", "stated_maturity": "2037-04-20"},
    ),
)
"""One that fails, one with warnings, one that is fine."""
NEXT_PAYMENT: Final = "2026-04-20"


@dataclass(slots=True)
class Loaded:
    """A deal that was loaded."""

    name: str
    month: Json
    """Its newest workbook."""
    runs: list[Json] = field(default_factory=list)
    """Its runs of that workbook, one for each suite that was asked for."""
    months: int = 1
    issues: int | None = None
    """Differences from the tape. None: it has none."""

    def __str__(self) -> str:
        summary = self.runs[-1]["summary"]
        counts = [f"{summary['failed']} failed", counted(summary["warnings"], "warning")]
        if self.issues is not None:
            counts.append(f"{counted(self.issues, 'difference')} from the trustee's tape")
        return f"{self.name}: {counted(self.months, 'month')}, {', '.join(counts)}"


@dataclass(frozen=True, slots=True)
class _Sent:
    """A sample whose files are uploaded and being read."""

    sample: DemoSample
    months: list[Json]
    """Its workbooks, the oldest first."""
    tape_id: str | None


def load_samples(client: httpx.Client, folder: Path) -> Iterator[Loaded]:
    """Load the sample deals.

    Each when it is there, the first with the runs of all suites.

    The files of all of them are sent first, so that the worker never waits.
    """
    with busy("Drawing three deals and uploading their months"):
        sent = [_send(client, folder, sample) for sample in SAMPLES]
    for deal in sent:
        with busy(f"Loading {deal.sample.name}"):
            yield _finish(client, deal, SUITES if deal is sent[0] else SUITES[-1:])


def load_own(client: httpx.Client, path: Path) -> Loaded:
    """Load a file of one's own as the only month of a deal."""
    with busy(f"Loading {path.name}"):
        deal = _create_deal(client, path.stem, {})
        month = _ready(client, _upload(client, deal, path, {}))
        return Loaded(path.stem, month, [_run(client, month, suite) for suite in SUITES])


def _send(client: httpx.Client, folder: Path, sample: DemoSample) -> _Sent:
    from core.generate import MANAGERS_FILE, generate_months, generate_tape

    messy = MANAGERS_FILE if sample.is_messy else ()
    months = generate_months(SAMPLE_LOANS, sample.seed, sample.faults, messy, SAMPLE_MONTHS)
    tape = None
    if sample.trustee is not None:
        tape = generate_tape(months[-1], sample.trustee, sample.seed)
        months[-1] = tape.deal  # the loans that the tape was made of
    deal = _create_deal(client, sample.name, {**sample.settings, "next_payment_date": NEXT_PAYMENT})
    uploads = [_upload(client, deal, *_month_file(folder, sample, month)) for month in months]
    tape_id = None
    if tape is not None:
        path = folder / f"{sample.name} tape.xlsx"
        tape.write(path)
        about = {"trustee_name": tape.trustee, "statement_date": str(months[-1].as_of), "deal_id": deal}
        tape_id = _upload_tape(client, path, about)
    return _Sent(sample, uploads, tape_id)


def _finish(client: httpx.Client, sent: _Sent, suites: Sequence[str]) -> Loaded:
    *earlier, newest = [_ready(client, upload) for upload in sent.months]
    for month in earlier:
        _run(client, month, SUITES[-1])
    loaded = Loaded(sent.sample.name, newest, [_run(client, newest, suite) for suite in suites], len(sent.months))
    if sent.tape_id is not None:
        loaded.issues = _compare(client, newest, sent.tape_id)
    return loaded


def _month_file(folder: Path, sample: DemoSample, month: GeneratedDeal) -> tuple[Path, Json]:
    path = folder / f"{sample.name} {month.as_of:%Y-%m}.xlsx"
    month.write(path)
    return path, {"as_of": str(month.as_of)}


# Calls ----------------------------------------------------------------------------------------------------------------


def _create_deal(client: httpx.Client, name: str, settings: Json) -> str:
    return str(checked(client.post("/api/v1/deals", json={"name": name, **settings}))["id"])


def _upload(client: httpx.Client, deal: str, path: Path, about: Json) -> Json:
    with path.open("rb") as file:
        files = {"files": (path.name, file)}
        return checked(client.post(f"/api/v1/deals/{deal}/files", files=files, data={**about, "name": path.name}))


def _ready(client: httpx.Client, workbook: Json) -> Json:
    """The workbook once it is read."""
    path = f"/api/v1/workbooks/{workbook['id']}"
    workbook = _ended(client, path, lambda answer: str(answer["status"]), "processing")
    if workbook["status"] != "ready":
        raise Refused(f"{workbook['name']} could not be read: {workbook.get('error_message') or workbook['status']}")
    return workbook


def _run(client: httpx.Client, workbook: Json, suite: str) -> Json:
    order = {"workbook_id": workbook["id"], "test_suite": suite}
    return checked(client.post("/api/v1/compliance/run", json=order))


def _upload_tape(client: httpx.Client, path: Path, about: Json) -> str:
    with path.open("rb") as file:
        answer = client.post(f"{RECONCILIATION}/tapes/upload", files={"file": (path.name, file)}, data=about)
    return str(checked(answer)["tape_id"])


def _compare(client: httpx.Client, workbook: Json, tape_id: str) -> int:
    """Compare a tape with a workbook; the number of differences."""
    tape = f"{RECONCILIATION}/tapes/{tape_id}"
    _ended(client, tape, lambda answer: str(answer["processing_status"]), "pending", "processing")
    order = {"tape_id": tape_id, "workbook_id": workbook["id"]}
    job = f"{RECONCILIATION}/compare/{checked(client.post(f'{RECONCILIATION}/compare', json=order))['job_id']}/status"
    _ended(client, job, lambda answer: str(answer["status"]), "pending", "processing")
    issues = client.get(f"{RECONCILIATION}/issues", params={"tape_id": tape_id, "page_size": 1})
    return int(checked(issues)["total"])


def _ended(client: httpx.Client, path: str, status: Callable[[Json], str], *waiting: str) -> Json:
    """A record once its status is none of those that wait."""
    end = time.monotonic() + WAIT_SECONDS
    answer = checked(client.get(path))
    while status(answer) in waiting and time.monotonic() < end:
        time.sleep(POLL_SECONDS)
        answer = checked(client.get(path))
    return answer


def checked(answer: httpx.Response) -> Json:
    """The body of an answer.

    Raises:
        Refused: it is a refusal.
    """
    if answer.is_success:
        body: Json = answer.json()
        return body
    refusal = answer.json()
    hints = "; ".join(error["message"] for error in refusal.get("errors", []))
    raise Refused(
        f"{answer.request.method} {answer.request.url.path}: {refusal['detail']}" + (f" ({hints})" if hints else "")
    )
