"""Keys of exports: of their manifests and prints, the certificate that seals PDFs, the deployment's signing service."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import msgspec
import structlog

from core.export.seal import self_signed
from service.platform.base.secrets import read_or_make_file
from service.platform.config import Settings
from service.platform.unit.context import Unit

ATTEMPTS: Final = 3
PAUSE_SECONDS: Final = 1.0
"""Before the second attempt; doubles."""
ANSWER_BYTES_MAX: Final = 64 * 1024
CERTIFICATE: Final = "keys/sealing.p12"
"""Of the data folder."""
SEALER: Final = "Cushion"
"""Whom a self-signed certificate names."""

log = structlog.get_logger()


class SigningFailed(Exception):
    """The signing service gave no signature; the message says why, for the export's user."""


async def sign(settings: Settings, about: dict[str, Any]) -> dict[str, Any]:
    """Return what the signing service answers to the hash of a file: a JSON object.

    Args:
        about: the hash, and what it is of; sent as JSON.

    Raises:
        SigningFailed: it cannot be reached, refuses, or answers with something else, however often it is asked.
    """
    assert settings.signing_url is not None, "asked for without a service"
    body = msgspec.json.encode({"hash_algorithm": "sha256", **about})
    reason = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        try:
            async with asyncio.timeout(settings.signing_seconds):
                status, answer = await _post(settings.signing_url, body, settings.signing_seconds)
        except (httpx.HTTPError, TimeoutError, OSError) as error:
            log.warning("signing.unreachable", host=urlsplit(settings.signing_url).hostname, error=repr(error))
            reason = "does not answer"
            continue
        if status == 200 or status == 201:
            return _read(answer)
        reason = f"answers with the status {status}"
        if status < 500 and status != 429:  # it would refuse again; a redirection is not followed
            break
    raise SigningFailed(f"The signing service {reason}; the export was not made.")


async def _post(url: str, body: bytes, seconds: float) -> tuple[int, bytes]:
    headers = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
    async with (
        httpx.AsyncClient(timeout=seconds, follow_redirects=False) as client,
        client.stream("POST", url, content=body, headers=headers) as answer,
    ):
        content = bytearray()
        async for chunk in answer.aiter_raw(4096):  # a packed answer could grow
            content += chunk
            if len(content) > ANSWER_BYTES_MAX:
                break
        return answer.status_code, bytes(content)


def _read(answer: bytes) -> dict[str, Any]:
    if len(answer) > ANSWER_BYTES_MAX:
        raise SigningFailed(f"The signing service answers with more than {ANSWER_BYTES_MAX:,} bytes.")
    try:
        return msgspec.json.decode(answer, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise SigningFailed("The signing service answers with something else than a JSON object.") from None


def manifest_key(unit: Unit, export_id: str) -> bytes:
    """Return the key of one export's manifest, made of the deployment's secret."""
    return unit.resources.vault.sign("export manifest", export_id.encode())


def can_seal(settings: Settings) -> bool:
    """Return whether there is a certificate that seals PDFs, or one can be made."""
    return settings.signing_certificate is not None or _is_alone(settings)


def certificate(unit: Unit) -> tuple[bytes, bytes | None]:
    """Return the PKCS#12 that seals PDFs, and its passphrase.

    A deployment of one machine makes a self-signed one once and keeps it in its data folder. Machines that share a
    database would each make another: there it is a setting.

    Raises:
        OSError: it cannot be read.
    """
    settings = unit.settings
    if settings.signing_certificate is not None:
        passphrase = settings.signing_passphrase
        return settings.signing_certificate.read_bytes(), passphrase.encode() if passphrase else None
    assert settings.data_dir is not None
    assert _is_alone(settings)
    path = settings.data_dir / CERTIFICATE
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return read_or_make_file(path, lambda: self_signed(SEALER, unit.now())), None


def _is_alone(settings: Settings) -> bool:
    return settings.embedded and settings.data_dir is not None
