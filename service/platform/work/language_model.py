"""A language model behind any endpoint of OpenAI's protocol.

Its answers are streamed and bounded; it is left alone while it fails.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Hashable, Sequence
from typing import Any, Final, Literal

import httpx
import msgspec
import structlog
from msgspec import Struct

from service.platform.base.breaker import Breaker
from service.platform.base.fair import FairSemaphore
from service.platform.base.problem import Unavailable
from service.platform.config import Settings
from service.platform.unit.context import Resources
from service.platform.work.outgoing import trusted_authorities

REPLY_CHARACTERS_MAX: Final = 8_000
ANSWER_BYTES_MAX: Final = 1 << 20
"""Of an answer as it comes: a stream says some 200 bytes for each word."""
LINE_BYTES_MAX: Final = 1 << 16
"""Of one line of a stream."""
CONNECT_SECONDS: Final = 5.0
PLACE_SECONDS: Final = 5.0
"""How long a request waits for one of the process's places: what it would word is there already."""
WAITING: Final = 64
"""Requests that may wait for a place; what is more goes without the model."""

REFUSED_SECONDS: Final = 600.0
"""How long a service that refuses us is left alone."""
RETRY_AFTER_MAX: Final = 3_600
"""Seconds of a Retry-After that are believed."""

OUR_FAULT: Final = frozenset((400, 413, 422))
"""Statuses that are about one request: the next may do."""
REFUSALS_OF_USE: Final = frozenset((401, 403, 404))
"""Statuses that stay until somebody changes a setting: the model is left alone after the first."""

ENDED: Final = frozenset(("stop", "eos_token", "stop_sequence", "end_turn"))
"""How services say that a reply is whole."""

log = structlog.get_logger()


class Message(Struct, frozen=True):
    """What one side says."""

    role: Literal["system", "user"]
    content: str


class NoReply(Exception):
    """The model gave no usable reply; the message says why, for the log."""

    def __init__(self, reason: str, *, counts: bool = True, pause_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.counts = counts
        """Whether it is a failure of the service, rather than of one request."""
        self.pause_seconds = pause_seconds
        """How long the service wants to be left alone."""


class _Said(Struct):
    content: str | None = None


class _Choice(Struct):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _Part(Struct):
    choices: list[_Choice] = []
    error: Any = None


_decode = msgspec.json.Decoder(_Part).decode


class LanguageModel:
    """The model of the settings, shared by a process."""

    def __init__(self, settings: Settings, breaker: Breaker) -> None:
        assert settings.llm_url is not None, "asked for without a model"
        base = settings.llm_url.rstrip("/")
        self._url = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        self._settings = settings
        self._places = FairSemaphore(settings.llm_requests, waiting=WAITING)
        self.name = settings.llm_model or ""
        self.breaker = breaker

    async def reply(self, whose: Hashable, messages: Sequence[Message]) -> str:
        """Return the model's reply to messages, for a tenant: untrusted text.

        Raises:
            NoReply: nothing that can be used, in time.
        """
        try:
            await self._places.acquire(whose, seconds=PLACE_SECONDS)
        except Unavailable:
            raise NoReply("no place is free", counts=False) from None
        try:
            passed = self.breaker.enter()
            if not passed:
                raise NoReply("left alone after failures", counts=False)
            return await self._ask_by_breaker(passed, messages)
        finally:
            self._places.release(whose)

    async def _ask_by_breaker(self, passed: int, messages: Sequence[Message]) -> str:
        """Return the reply, and report the outcome to the breaker."""
        try:
            async with asyncio.timeout(self._settings.llm_seconds):
                text = await self._ask(messages)
        except NoReply as error:
            self._note_failure(passed, error)
            raise
        except (TimeoutError, httpx.HTTPError, OSError, ssl.SSLError) as error:
            missing = NoReply(f"no answer: {type(error).__name__}")
            self._note_failure(passed, missing, type(error).__name__)
            raise missing from None
        except BaseException:  # the caller has gone
            self.breaker.abandon(passed)
            raise
        self.breaker.succeed(passed)
        return text

    def _note_failure(self, passed: int, error: NoReply, kind: str = "NoReply") -> None:
        log.warning("language_model.failed", host=httpx.URL(self._url).host, error=str(error))
        if error.counts:
            self.breaker.fail(passed, kind, pause_seconds=error.pause_seconds)
        else:
            self.breaker.abandon(passed)

    async def _ask(self, messages: Sequence[Message]) -> str:
        body = {"model": self.name, "messages": messages, "stream": True}  # what every such endpoint takes
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if self._settings.llm_api_key is not None:
            headers["authorization"] = f"Bearer {self._settings.llm_api_key}"
        async with (
            httpx.AsyncClient(
                timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
                verify=trusted_authorities(),
                follow_redirects=False,
            ) as client,
            client.stream("POST", self._url, content=msgspec.json.encode(body), headers=headers) as answer,
        ):
            if answer.status_code != 200:
                raise _refusal(answer)
            whole = answer.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
            return await _read_text(_whole(answer) if whole else _lines(answer))


def _refusal(answer: httpx.Response) -> NoReply:
    status = answer.status_code
    if status in OUR_FAULT:
        return NoReply(f"status {status}", counts=False)
    wait = answer.headers.get("retry-after", "")
    if status in (429, 503) and re.fullmatch("[0-9]{1,9}", wait):
        return NoReply(f"status {status}", pause_seconds=min(max(int(wait), 1), RETRY_AFTER_MAX))
    return NoReply(f"status {status}", pause_seconds=REFUSED_SECONDS if status in REFUSALS_OF_USE else None)


async def _whole(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Yield all of an answer that is not a stream."""
    read = b""
    async for chunk in answer.aiter_raw():
        read += chunk
        if len(read) > ANSWER_BYTES_MAX:
            raise NoReply("an answer without an end")
    yield read.strip()


async def _lines(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the lines of an answer, the last one without its end too."""
    rest, read = b"", 0
    async for chunk in answer.aiter_raw():  # a packed answer could grow
        read += len(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        if read > ANSWER_BYTES_MAX or len(rest) > LINE_BYTES_MAX:
            raise NoReply("an answer without an end")
        for line in whole:
            yield line.strip()
    yield rest.strip()


async def _read_text(lines: AsyncIterator[bytes]) -> str:
    """Read the text of a streamed answer, or of a whole one."""
    pieces: list[str] = []
    characters = 0
    async for choice in _choices(lines):
        piece = (choice.delta or choice.message or _Said()).content or ""
        pieces.append(piece)
        characters += len(piece)
        if characters > REPLY_CHARACTERS_MAX:
            raise NoReply("a reply that is too long")
        if choice.finish_reason in ENDED:
            break
        if choice.finish_reason:  # too long, held back, or something else than words
            raise NoReply(f"a reply that ended by {choice.finish_reason[:40]!r}", counts=False)
    if not (text := "".join(pieces)).strip():
        raise NoReply("an empty reply", counts=False)
    return text


async def _choices(lines: AsyncIterator[bytes]) -> AsyncIterator[_Choice]:
    """Read the parts of an answer up to its end.

    Raises:
        NoReply: it is not of the protocol, has an error in it, or broke off.
    """
    async for line in lines:
        if not line or line[:1] == b":" or re.match(rb"(?:event|id|retry):", line):
            continue
        content = line.removeprefix(b"data:").strip()
        if content == b"[DONE]":
            return
        try:
            part = _decode(content)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            raise NoReply("an answer that is not of the protocol") from None
        if part.error is not None:
            raise NoReply("an error in the answer")
        if part.choices:  # else it says how much was used, say
            yield part.choices[0]
    raise NoReply("an answer that broke off")


def language_model(resources: Resources) -> LanguageModel | None:
    """Return the process's language model; None where none is set."""
    if resources.settings.llm_url is None:
        return None
    return LanguageModel(resources.settings, resources.breakers["language_model"])
