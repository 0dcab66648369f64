"""The signing service is asked by the file's hash, and whatever it does instead of signing is told in one sentence."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from service.exports import signing_actions
from service.exports.signing_actions import ANSWER_BYTES_MAX, SigningFailed, sign
from service.platform.config import Settings
from tests.conftest import Member, Stack, serving
from tests.rows import every
from tests.service.exports.conftest import URL, asked, downloaded, ended, made_here

SIGNED = {"signature": "c2lnbmVk", "certificate": "none", "at": "2026-03-31T00:00:00Z"}


class Service(ThreadingHTTPServer):
    """A signing service that may be out of order; what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        status, content = 200, json.dumps(SIGNED).encode()
        match self.path:
            case "/down":
                status, content = 500, b"down"
            case "/once":
                status = 200 if len(self.server.asked) > 1 else 503
            case "/no":
                status, content = 403, b"{}"
            case "/elsewhere":
                status = 302
            case "/large":
                content = b'"' + b"x" * (ANSWER_BYTES_MAX + 1) + b'"'
            case "/text":
                content = b"signed"
            case "/list":
                content = b"[]"
            case "/deep":
                content = b"[" * 60_000
            case "/slow":
                time.sleep(2)
        self.send_response(status)
        if status == 302:
            self.send_header("location", self.server.url("/"))
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def signer() -> Iterator[Service]:
    with serving(Service()) as service:
        yield service


OUTCOMES: list[tuple[str, int, str]] = [
    ("/", 1, ""),
    ("/once", 2, ""),
    ("/down", 3, "answers with the status 500"),
    ("/no", 1, "answers with the status 403"),
    ("/elsewhere", 1, "answers with the status 302"),
    ("/slow", 3, "does not answer"),
    ("/large", 1, "more than 65,536 bytes"),
    ("/text", 1, "something else than a JSON object"),
    ("/list", 1, "something else than a JSON object"),
    ("/deep", 1, "something else than a JSON object"),
]


@every("path, times, words", OUTCOMES)
def test_what_comes_of_asking(
    signer: Service, monkeypatch: pytest.MonkeyPatch, path: str, times: int, words: str
) -> None:
    monkeypatch.setattr(signing_actions, "PAUSE_SECONDS", 0)
    signer.asked.clear()
    settings = msgspec.structs.replace(Settings(), signing_url=signer.url(path), signing_seconds=1 if words else 30)
    if path == "/slow":
        monkeypatch.setattr(signing_actions, "ATTEMPTS", 1)
        times = 1
    if words:
        with pytest.raises(SigningFailed, match=words):
            asyncio.run(sign(settings, {"hash": "abc"}))
    else:
        assert asyncio.run(sign(settings, {"hash": "abc"})) == SIGNED
    assert signer.asked == [{"hash_algorithm": "sha256", "hash": "abc"}] * times


def test_nobody_there_is_told_without_the_address(signer: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_actions, "PAUSE_SECONDS", 0)
    settings = msgspec.structs.replace(Settings(), signing_url="http://user:secret@127.0.0.1:1/sign")
    with pytest.raises(SigningFailed) as failed:
        asyncio.run(sign(settings, {}))
    assert str(failed.value) == "The signing service does not answer; the export was not made."


def test_an_export_carries_its_signature_or_fails(stack: Stack, owner: Member, book_id: str, signer: Service) -> None:
    for path, status in (("/", "completed"), ("/elsewhere", "failed")):
        settings = {"CUSHION_SIGNING_URL": signer.url(path)}
        with stack.without_worker(), stack.another_api(**settings) as url:
            owner.http.base_url = url  # type: ignore[assignment]
            answer = asked(owner, book_id, xlsx_signing=True)
            assert answer.status_code == 201, answer.text
            made_here(stack, owner, answer.json()["id"], **settings)
            done = owner.get(f"{URL}/{answer.json()['id']}").json()
            assert done["status"] == status, done
            body = signer.asked[-1]
            by_name = {name: body[name] for name in ("export_id", "workbook_id", "tenant_id", "hash_algorithm")}
            assert by_name == {"export_id": done["id"], "workbook_id": book_id, "tenant_id": owner.tenant_id,
                            "hash_algorithm": "sha256"}  # fmt: skip
            if status == "completed":
                assert done["result_summary"]["signature"] == SIGNED
                assert body["hash"] == sha256(downloaded(owner, done).content).hexdigest()
                assert body["data_hash"] == done["result_summary"]["provenance"]["data_hash"]
            else:
                why = "The signing service answers with the status 302; the export was not made."
                assert (done["error_details"], done["is_downloadable"]) == (why, False)


def test_the_pdf_beside_is_sealed_by_the_certificate_that_is_kept(stack: Stack, owner: Member, book_id: str) -> None:
    first, second = (ended(owner, asked(owner, book_id, xlsx_sealed_pdf=True).json()["id"]) for _ in range(2))
    signers = set()
    for export in (first, second):
        assert export["status"] == "completed", export
        sealed_pdf = export["result_summary"]["sealed_pdf"]
        assert sealed_pdf["storage_path"] == f"{URL}/{export['id']}/download?artifact=pdf"
        file = downloaded(owner, export, "pdf")
        assert (file.status_code, file.headers["content-type"]) == (200, "application/pdf")
        assert len(file.content) == sealed_pdf["size_bytes"]
        (signature,) = PdfFileReader(io.BytesIO(file.content)).embedded_signatures
        verdict = validate_pdf_signature(signature, ValidationContext(trust_roots=[signature.signer_cert]))
        assert (verdict.bottom_line, verdict.coverage.name) == (True, "ENTIRE_FILE"), verdict.pretty_print_details()
        signers.add(signature.signer_cert.sha256_fingerprint)
    assert len(signers) == 1
    kept = stack.data_dir / signing_actions.CERTIFICATE
    assert kept.stat().st_mode & 0o077 == 0, "nobody else reads the key"
