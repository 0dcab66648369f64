"""What a process of the service opens at its start and closes at its end."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio import Redis

from service.platform import log
from service.platform.access.caller_cache import CallerCache
from service.platform.access.fallback import Fallback
from service.platform.access.gate import Gate
from service.platform.access.revocations import Revocations
from service.platform.access.switches import Switches
from service.platform.base.breaker import Breaker, Limits
from service.platform.base.breakers import Breakers
from service.platform.base.compute import Compute
from service.platform.base.memory import Memory
from service.platform.base.secrets import Tokens, Vault, read_or_make_secret_key
from service.platform.clock import SystemClock
from service.platform.config import ConfigError, Settings
from service.platform.data.blobs import Blobs
from service.platform.data.breaker_sharing import Sharing
from service.platform.data.database import Database
from service.platform.data.fallback_cache import FallbackCache
from service.platform.data.pipeline import Pipeline
from service.platform.data.redis_breaker import RedisBreaker
from service.platform.data.replica import Replica
from service.platform.tracing import check_tracing
from service.platform.unit.context import Resources
from service.platform.work.cleanup import sweep_scratch_forever
from service.platform.work.mail import sender_of, server_of

APP_URL: Final = "the address under which people reach this service, such as https://cushion.example.com"
COPIES = "blobs"
"""The folder of the copies of remote blobs within that for files on their way."""
CANCEL_SECONDS = 0.2
"""How long a task may take to end before it is cancelled again."""

HASHING_NICE = 10
"""A hash takes a tenth of a second of four threads of its own, and no lock: threads that answer go first."""

REPLICA_LIMITS = Limits(failures_max=3, open_seconds=1.0, open_seconds_max=10.0)


@asynccontextmanager
async def resources(settings: Settings) -> AsyncIterator[Resources]:
    """Open all that units of work share, for as long as the process serves.

    Raises:
        ConfigError: a setting that a separate process cannot do without is missing.
    """
    log.configure(settings.log_level)
    if settings.database_url is None or settings.redis_url is None:
        raise ConfigError(
            "CUSHION_DATABASE_URL and CUSHION_REDIS_URL are needed here; "
            "`cushion serve` sets them itself on the embedded default"
        )
    breakers = Breakers()
    database = Database(
        settings.database_url,
        connections=settings.database_connections,
        statement_seconds=settings.statement_seconds,
        breaker=breakers["database"],
    )
    redis = Redis.from_url(settings.redis_url, socket_timeout=5, socket_connect_timeout=5, health_check_interval=30)
    pipeline, events = Pipeline(redis), Pipeline(redis)
    compute = Compute("kernels", threads=settings.compute_threads, queue=settings.compute_queue)
    passwords = Compute("passwords", threads=settings.password_threads, queue=settings.compute_queue, nice=HASHING_NICE)
    probes = Compute("probes", threads=settings.probes, queue=settings.probe_queue)
    bodies = Compute("bodies", threads=2, queue=settings.compute_queue)  # a tenant has one of them
    closing = ExitStack()
    clock = SystemClock()
    breaker = RedisBreaker(redis, breakers["cache"])
    fallback_cache = FallbackCache(
        most=settings.fallback_answers,
        bytes_most=settings.fallback_mb * 1024 * 1024,
        seconds_most=settings.fallback_seconds,
    )
    sharing = Sharing(redis, pipeline, breakers, fallback_cache)
    replica = replica_of(settings, database, pipeline, breaker)
    secret = secret_key(settings)
    vault = Vault(secret)
    caller_cache = CallerCache(redis, database, settings, breaker, vault)
    revocations = Revocations(redis, database, settings, breaker)
    switches = Switches(redis, database, vault, breaker)
    gate = Gate(
        pipeline,
        settings,
        clock,
        breaker=breaker,
        caller_cache=caller_cache,
        revocations=revocations,
        fallback=Fallback(database, settings, clock),
        switches=switches,
    )
    check_app_url(settings)
    check_mail(settings)
    check_signing(settings)
    check_language_model(settings)
    check_tracing(settings)
    await database.open()
    if replica is not None:
        await replica.open()
    scratch = scratch_folder(settings)
    try:
        shared = Resources(
            settings=settings,
            database=database,
            replica=replica,
            redis=redis,
            pipeline=pipeline,
            events=events,
            breaker=breaker,
            breakers=breakers,
            sharing=sharing,
            fallback_cache=fallback_cache,
            enqueued=asyncio.Event(),
            caller_cache=caller_cache,
            revocations=revocations,
            gate=gate,
            switches=switches,
            blobs=blobs(settings, scratch, breakers["blobs"]),
            compute=compute,
            memory=Memory(settings.api_memory_mb * 1024 * 1024),
            passwords=passwords,
            probes=probes,
            bodies=bodies,
            tokens=Tokens(secret),
            vault=vault,
            clock=clock,
            scratch=scratch,
            stopping=asyncio.Event(),
            closing=closing,
        )
        await switches.look()
        works = (sweep_scratch_forever(shared), switches.watch(), sharing.run())
        beside = [asyncio.create_task(work) for work in works]
        try:
            yield shared
        finally:
            await end(beside)
            shared.blobs.close()
            await sharing.close()
    finally:
        closing.close()
        for pool in (compute, passwords, probes, bodies):
            pool.close()
        await pipeline.close()
        await events.close()
        await redis.aclose()
        if replica is not None:
            await replica.close()
        await database.close()


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended.

    A cancellation may be swallowed on its way, as in a read that times out at once.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_SECONDS)


def replica_of(settings: Settings, primary: Database, pipeline: Pipeline, breaker: RedisBreaker) -> Replica | None:
    """Return the read replica, where there is one."""
    if settings.replica_url is None:
        return None
    database = Database(
        settings.replica_url,
        connections=settings.database_connections,
        statement_seconds=settings.statement_seconds,
        breaker=Breaker("replica", REPLICA_LIMITS),
    )
    return Replica(database, primary, pipeline, breaker, settings.replica_lag_seconds)


def secret_key(settings: Settings) -> str:
    """Return the secret that signs tokens."""
    if settings.secret_key is not None:
        return settings.secret_key
    if not settings.embedded or settings.data_dir is None:
        raise ConfigError("CUSHION_SECRET_KEY is needed with a database of your own: at least 32 random characters")
    try:
        return read_or_make_secret_key(settings.data_dir / "secret_key")
    except ValueError as error:
        raise ConfigError(str(error)) from error


def blob_url(settings: Settings) -> str:
    """Return the address of the object store."""
    if settings.blob_url is not None:
        return settings.blob_url
    if settings.data_dir is None:
        raise ConfigError("CUSHION_BLOB_URL or CUSHION_DATA_DIR is needed: somewhere to keep files")
    return (settings.data_dir / "blobs").as_uri()


def blobs(settings: Settings, scratch: Path, breaker: Breaker | None = None) -> Blobs:
    """Return the object store, with the breaker that says whether it is there.

    Raises:
        ConfigError: the URL names none, or a folder that cannot be made.
    """
    try:
        return Blobs(blob_url(settings), scratch / COPIES, breaker)
    except (ValueError, OSError) as error:
        raise ConfigError(f"CUSHION_BLOB_URL cannot be used: {error}") from error


def check_mail(settings: Settings) -> None:
    """Check that mail could be sent by these settings.

    Raises:
        ConfigError: the server or the sender cannot be used.
    """
    try:
        if settings.smtp_url is not None:
            server_of(settings.smtp_url)
    except ValueError as error:  # its message has nothing of the URL, which may hold a password
        raise ConfigError(f"CUSHION_SMTP_URL cannot be used: {error}") from None
    try:
        sender_of(settings)
    except ValueError as error:
        raise ConfigError(f"CUSHION_MAIL_FROM={settings.mail_from!r} cannot be used: {error}") from error


def check_app_url(settings: Settings) -> None:
    """Check that mails can link to the console.

    Raises:
        ConfigError: the address is no URL without a query, or it is missing where the listening one means nothing.
    """
    url = settings.app_url
    if url is None:
        if settings.database_url is not None and not settings.embedded:
            raise ConfigError(f"CUSHION_APP_URL is needed with a database of your own: {APP_URL}")
    elif not is_app_url(url):
        raise ConfigError(f"CUSHION_APP_URL cannot be used: expected {APP_URL}")  # unshown: it may hold a password


def is_app_url(url: str) -> bool:
    """Return whether a URL is absolute http(s) without credentials, query, fragment."""
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, or half an IPv6 address
        return False
    return is_whole and re.fullmatch(r"https?://[^\s/?#@\\]+(/[^\s?#\\]*)?", url) is not None


def check_signing(settings: Settings) -> None:
    """Check that exports could be signed by these settings.

    Raises:
        ConfigError: the service's address is none, or the certificate is no file that can be read.
    """
    url, certificate = settings.signing_url, settings.signing_certificate
    if url is not None and not re.fullmatch(r"https?://[^\s/]\S*", url):  # not shown: it may hold a password
        raise ConfigError("CUSHION_SIGNING_URL cannot be used: expected https://signing.example.com/sign")
    if certificate is not None and not os.access(certificate, os.R_OK):
        raise ConfigError(f"CUSHION_SIGNING_CERTIFICATE={str(certificate)!r} cannot be used: it cannot be read")


def check_language_model(settings: Settings) -> None:
    """Check that a language model could be asked by these settings.

    Raises:
        ConfigError: its address is none, its name is missing, or its key could not be sent.
    """
    url, key = settings.llm_url, settings.llm_api_key
    if url is not None and not re.fullmatch(r"https?://[^\s/?#]+[^\s?#]*", url):  # not shown, as above
        raise ConfigError("CUSHION_LLM_URL cannot be used: expected https://models.example.com/v1")
    if url is not None and not settings.llm_model:
        raise ConfigError("CUSHION_LLM_MODEL is needed where CUSHION_LLM_URL is set")
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise ConfigError("CUSHION_LLM_API_KEY cannot be used: expected printable ASCII characters without spaces")


def check(settings: Settings) -> None:
    """Check all settings before any process starts, for `cushion serve`.

    Raises:
        ConfigError: as `secret_key`, `blobs` and the checks of addresses, mail, signing, language model and tracing.
    """
    check_app_url(settings)
    check_mail(settings)
    check_signing(settings)
    check_language_model(settings)
    check_tracing(settings)
    if settings.database_url is not None:
        secret_key(settings)
    if settings.blob_url is not None:
        with tempfile.TemporaryDirectory() as scratch:
            blobs(settings, Path(scratch))


def scratch_folder(settings: Settings) -> Path:
    """Return a local folder for files on their way, on the data folder's disk if any."""
    folder = settings.data_dir / "scratch" if settings.data_dir else Path(tempfile.gettempdir()) / "cushion-scratch"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # In a shared folder anybody may have been first, and could change what we read back; root's data folder is the
    # service's.
    trusted = settings.data_dir is not None and os.geteuid() == 0
    if folder.stat().st_uid != os.geteuid() and not trusted:
        raise ConfigError(f"{folder} belongs to another user; set CUSHION_DATA_DIR")
    return folder
