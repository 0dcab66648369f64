"""PostgreSQL: the pool, the tenant's transaction, rows to structs, a violated constraint to its problem."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar, cast
from uuid import UUID

import msgspec
import psycopg
import structlog
from psycopg import AsyncConnection, AsyncCursor, AsyncPipeline, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import BaseRowFactory, RowMaker, tuple_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from service.platform import tracing
from service.platform.base.breaker import Breaker
from service.platform.base.fair import FairSemaphore
from service.platform.base.lookout import Lookout
from service.platform.base.problem import ConcurrentModification, Problem, Unavailable
from service.platform.config import ConfigError
from service.platform.data.servers import CLIENT_OPTIONS, CONNECT_SECONDS, SERVER_OPTIONS, servers_of
from service.platform.data.stalled_commits import WAITING as WAITING_COMMITS
from service.platform.data.stalled_commits import StalledCommits
from service.platform.metrics import DATABASE_CONNECTIONS, DATABASE_SECONDS, DATABASE_WAIT_SECONDS, DATABASE_WAITING

T = TypeVar("T")
Parameters = Mapping[str, Any] | Sequence[Any]

SERVICE_ROLE = "cushion_service"
"""Owns no table, so row security binds it. The service logs in as it, so that there is no other role to go back to."""

CONNECTION_SECONDS = 10
"""The longest wait for a connection."""

START_SECONDS = 30.0
"""For which a process that starts waits for the server."""

START_PAUSE_SECONDS = 0.2
"""Between its attempts."""

LOOK_SECONDS = float(CONNECT_SECONDS)
"""In which a server that is there answers; a check of several servers has as long for each."""

RECONNECT_SECONDS = 2.0
"""For which the pool tries to replace a lost connection; then the next caller has it try again. Left to itself it
waits twice as long after each attempt, and so long after the server is back."""

SILENCE_SECONDS = 5
"""How much longer than a statement may take its answer is waited for."""

WAITING = 1_000
"""Units of work that may wait for one of their tenant's share: what is done within those seconds."""

set_json_dumps(msgspec.json.encode)
set_json_loads(msgspec.json.decode)

log = structlog.get_logger()


def into(kind: type[T]) -> BaseRowFactory[T]:
    """Return a row factory: columns by name to the fields of a Struct, types checked."""

    def factory(cursor: Any) -> RowMaker[T]:
        columns = _columns(cursor)

        def make(values: Sequence[Any]) -> T:
            return msgspec.convert(dict(zip(columns, values, strict=True)), kind)

        return make

    return cast(BaseRowFactory[T], factory)


def into_counted(kind: type[T]) -> BaseRowFactory[tuple[T, int]]:
    """Return a row factory as `into`, for rows whose last column is a number apart."""

    def factory(cursor: Any) -> RowMaker[tuple[T, int]]:
        columns = _columns(cursor)

        def make(values: Sequence[Any]) -> tuple[T, int]:
            return msgspec.convert(dict(zip(columns, values[:-1], strict=False)), kind), values[-1]

        return make

    return cast(BaseRowFactory[tuple[T, int]], factory)


def _columns(cursor: Any) -> list[str]:
    """Return the names of a result's columns; `cursor.description` is slow."""
    result = cursor.pgresult
    return [result.fname(number).decode() for number in range(result.nfields)] if result is not None else []


def like_pattern(text: str | None) -> str | None:
    """Return a LIKE pattern that matches a text anywhere; None without a text."""
    if not text:
        return None
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


@contextmanager
def named_refusals() -> Iterator[None]:
    """Turn the database's errors into problems.

    Raises:
        Problem: the one that a violated constraint is bound to; ConcurrentModification for a lost race, and for a lock
            that did not come within lock_timeout; Unavailable when the server cannot be reached or takes too long.
    """
    try:
        yield
    except psycopg.errors.IntegrityError as error:
        problem = Problem.by_constraint.get(error.diag.constraint_name or "")
        if problem is None:
            raise
        raise problem from error
    except (
        psycopg.errors.SerializationFailure,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.LockNotAvailable,
    ) as error:
        raise ConcurrentModification from error
    except (
        PoolTimeout,
        psycopg.OperationalError,
        psycopg.errors.IdleInTransactionSessionTimeout,
        psycopg.errors.ReadOnlySqlTransaction,  # a replica, or a server that became one
    ) as error:
        log.warning("database.unavailable", error=type(error).__name__, detail=str(error).splitlines()[:1])
        raise Unavailable from error


class Transaction:
    """One transaction of one tenant, in pipeline mode."""

    def __init__(self, connection: AsyncConnection[Any], pipeline: AsyncPipeline | None) -> None:
        self._connection = connection
        self._pipeline = pipeline

    async def execute(self, sql: str, parameters: Parameters | None = None) -> int:
        """Run a statement; return the number of rows that it touched."""
        with named_refusals():
            cursor = await self._connection.execute(cast(Any, sql), parameters)
            if self._pipeline is not None:
                await self._pipeline.sync()
        return cursor.rowcount

    async def post(self, sql: str, parameters: Parameters | None = None) -> None:
        """Send a statement without waiting; it fails at the next fetch or commit."""
        with named_refusals():
            await self._connection.execute(cast(Any, sql), parameters)

    async def fetch_all(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> list[T]:
        """Return all rows as `kind`."""
        with named_refusals():
            cursor = self._connection.cursor(row_factory=into(kind))
            await cursor.execute(cast(Any, sql), parameters)
            return await cursor.fetchall()

    async def fetch_counted(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> list[tuple[T, int]]:
        """Return all rows as `kind`, each with the number in its last column."""
        with named_refusals():
            cursor = self._connection.cursor(row_factory=into_counted(kind))
            await cursor.execute(cast(Any, sql), parameters)
            return await cursor.fetchall()

    async def fetch_one_or_none(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> T | None:
        """Return the first row as `kind`, or None."""
        with named_refusals():
            cursor = self._connection.cursor(row_factory=into(kind))
            await cursor.execute(cast(Any, sql), parameters)
            return await cursor.fetchone()

    async def fetch_one(
        self, kind: type[T], sql: str, parameters: Parameters | None = None, *, missing: type[Problem]
    ) -> T:
        """Return the first row as `kind`.

        Raises:
            missing: there is no row.
        """
        row = await self.fetch_one_or_none(kind, sql, parameters)
        if row is None:
            raise missing
        return row

    async def fetch_value(self, sql: str, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row, or None."""
        with named_refusals():
            cursor = await self._connection.execute(cast(Any, sql), parameters)
            row = await cursor.fetchone()
        return row[0] if row else None


class BulkTransaction(Transaction):
    """One transaction of one tenant that moves many rows."""

    async def copy(self, sql: str, blocks: Iterable[bytes]) -> None:
        """Send a `COPY ... FROM STDIN` with its data, in blocks of any size.

        Row security binds COPY into a tenant's table only in one direction, so PostgreSQL refuses it there: the target
        is a temporary table.
        """
        with named_refusals():
            async with self._connection.cursor().copy(cast(Any, sql)) as copy:
                for block in blocks:
                    await copy.write(block)


class _Connection(AsyncConnection[Any]):
    """A connection that ends when its server is silent for too long.

    PostgreSQL's own limit is no help where the way to it, or its host, hangs: nothing of it would arrive.
    """

    silence_seconds: float | None = None

    async def wait(self, *arguments: Any, **more: Any) -> Any:
        """Wait for the server, as psycopg does at each of its steps."""
        if self.silence_seconds is None:
            return await super().wait(*arguments, **more)
        timer = asyncio.get_running_loop().call_later(self.silence_seconds, self._give_up)
        try:
            return await super().wait(*arguments, **more)
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        """Close the connection under its user; a cancelled psycopg would wait on."""
        log.warning("database.no_answer", seconds=self.silence_seconds)
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.pgconn.socket)) as place:
            place.shutdown(socket.SHUT_RDWR)


class Database:
    """The connections of one process, half of them at most for one tenant."""

    def __init__(self, url: str, *, connections: int, statement_seconds: int, breaker: Breaker) -> None:
        self._servers = servers_of(url)
        self._stalled = StalledCommits(self._count_waiting)
        self._breaker = breaker
        self._silence_seconds = statement_seconds + SILENCE_SECONDS
        self._lookout = Lookout(
            breaker,
            self._check_server,
            seconds=LOOK_SECONDS * len(self._servers),
            failures=(psycopg.Error,),
            opened=self._fail_waiters,
        )
        self._was_full = False
        """A statement found no room on the server's disk, and none has found some since."""
        self._waits: set[asyncio.Timeout] = set()
        """Of those who wait for a connection."""
        # Two at least for each tenant: a job's heart beats beside its work.
        self._semaphore = FairSemaphore(max(3, connections), waiting=WAITING)
        self.committed: Callable[[UUID | str, int], Awaitable[None]] | None = None
        """Called with the tenant of each transaction that wrote, and the server's log position behind it."""
        if breaker.service == "database":  # of a replica nothing is told
            DATABASE_WAITING.set_function(lambda: self._semaphore.waiting)
            DATABASE_CONNECTIONS.labels("in_use").set_function(self._in_use)
            DATABASE_CONNECTIONS.labels("idle").set_function(self._idle)
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            self._servers.conninfo,
            connection_class=_Connection,
            configure=self._configure,
            min_size=min(2, connections),
            max_size=connections,
            timeout=CONNECTION_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            open=False,
            kwargs={
                "autocommit": True,  # BEGIN and COMMIT are sent by the transaction itself, with its statements
                "prepare_threshold": 1,
                "row_factory": tuple_row,
                "options": f"-c statement_timeout={statement_seconds}s"
                f" -c idle_in_transaction_session_timeout=300s -c timezone=UTC{SERVER_OPTIONS}",
                "application_name": "cushion",
                **CLIENT_OPTIONS,
            },
        )

    async def _configure(self, connection: AsyncConnection[Any]) -> None:
        assert isinstance(connection, _Connection)
        connection.silence_seconds = self._silence_seconds
        self._servers.note(connection)

    async def open(self) -> None:
        """Connect.

        Raises:
            Unavailable: the server does not answer.
            ConfigError: the URL logs in as somebody who could do more than the service may.
        """
        await self._pool.open()
        # The pool gives up soon, and a start may meet a server that starts too: checks show when it is there.
        self._lookout.suspect()
        end = time.monotonic() + START_SECONDS
        try:
            while True:
                try:
                    async with self.transaction() as tx:
                        check_login(await tx.fetch_value(LOGIN))
                    return
                except Unavailable:
                    if time.monotonic() > end:
                        raise
                    await asyncio.sleep(START_PAUSE_SECONDS)
        except BaseException:
            await self.close()
            raise

    async def open_later(self) -> None:
        """Begin to connect to a server that may be away."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Close every connection."""
        self._lookout.close()
        self._stalled.close()
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self, tenant_id: UUID | str | None = None) -> AsyncIterator[Transaction]:
        """Open a transaction that sees this tenant's rows, or no tenant's when None.

        It commits at the end and rolls back on an error.

        Raises:
            Problem: as `named_refusals` says.
        """
        with named_refusals():
            async with self._connection(tenant_id) as connection:
                try:
                    async with (
                        self._stalled.watch(connection.info.backend_pid) as committing,
                        connection.pipeline() as pipeline,
                    ):
                        await connection.execute("BEGIN")
                        await connection.execute(TENANT, [str(tenant_id or "")])
                        yield Transaction(connection, pipeline)
                        noted = self.committed is not None and tenant_id is not None
                        if self._stalled:
                            await _refuse_writes(connection)
                        wrote = await connection.execute(WROTE) if noted else None
                        committing()
                        ended = await connection.execute("COMMIT")
                        position = await connection.execute(POSITION) if noted else None
                    if (
                        ended.statusmessage != "COMMIT"
                    ):  # after a refusal that somebody caught PostgreSQL answers ROLLBACK
                        await connection.close()  # psycopg may take for prepared what was refused with it
                        raise psycopg.errors.InFailedSqlTransaction("the transaction was rolled back at its commit")
                except BaseException:
                    status = TransactionStatus.IDLE if connection.closed else connection.info.transaction_status
                    if status is TransactionStatus.INERROR:
                        # What a pipeline skips psycopg may take for prepared: by this it forgets all of it.
                        await connection.rollback()
                    elif status is not TransactionStatus.IDLE:
                        await connection.execute("ROLLBACK")
                    raise
            if wrote is not None and await wrote.fetchone() == (True,):
                await self._report_commit(tenant_id, position)

    async def look(self, kind: type[T], sql: str, parameters: Parameters | None = None) -> list[T]:
        """Return all rows of one statement that sees no tenant's; it commits by itself.

        For what processes ask again and again: half the price of a transaction.

        Raises:
            Problem: as `named_refusals` says.
        """
        with named_refusals():
            async with self._connection(None) as connection:
                cursor = connection.cursor(row_factory=into(kind))
                await cursor.execute(cast(Any, sql), parameters)
                return await cursor.fetchall()

    async def fetch_counted(
        self, tenant_id: UUID | str | None, kind: type[T], sql: str, parameters: Parameters | None = None
    ) -> list[tuple[T, int]]:
        """Return rows as `Transaction.fetch_counted` does, in a single round trip.

        Without a BEGIN the statements of a pipeline are one transaction, which ends with the pipeline, and with it the
        tenant whose rows are seen.

        Raises:
            Problem: as `named_refusals` says.
        """
        with named_refusals():
            async with self._connection(tenant_id) as connection:
                cursor = connection.cursor(row_factory=into_counted(kind))
                async with connection.pipeline():
                    await connection.execute(TENANT, [str(tenant_id or "")])
                    await cursor.execute(cast(Any, sql), parameters)
                return await cursor.fetchall()

    @asynccontextmanager
    async def bulk(self, tenant_id: UUID, *, seconds_max: int) -> AsyncIterator[BulkTransaction]:
        """Open a transaction for many rows; a statement may take `seconds_max`.

        Raises:
            Problem: as `named_refusals` says.
        """
        with named_refusals():
            async with self._connection(tenant_id) as connection, connection.transaction():
                await connection.execute(
                    "SELECT set_config('cushion.tenant', %s, true), set_config('statement_timeout', %s, true)",
                    [str(tenant_id), f"{seconds_max}s"],
                )
                assert isinstance(connection, _Connection)
                connection.silence_seconds = seconds_max + SILENCE_SECONDS
                try:
                    yield BulkTransaction(connection, None)
                finally:
                    connection.silence_seconds = self._silence_seconds
                if connection.closed:  # psycopg would leave the transaction without a word
                    raise psycopg.OperationalError("the connection was lost in the transaction")
                if connection.info.transaction_status is TransactionStatus.INERROR:  # its COMMIT would roll back
                    raise psycopg.errors.InFailedSqlTransaction("a statement failed, and somebody caught that")
            if self.committed is not None:
                async with self._connection(None) as connection:
                    position = await connection.execute(POSITION)
                await self._report_commit(tenant_id, position)

    async def _report_commit(self, tenant_id: UUID | str | None, position: AsyncCursor[Any] | None) -> None:
        assert tenant_id is not None
        assert position is not None
        assert self.committed is not None
        row = await position.fetchone()
        assert row is not None
        await self.committed(tenant_id, row[0])

    @asynccontextmanager
    async def _connection(self, tenant_id: UUID | str | None) -> AsyncIterator[AsyncConnection[Any]]:
        asked = time.perf_counter()
        if tenant_id is None:  # a few look-ups, each of them short
            async with self._take_connection(asked) as connection:
                yield connection
            return
        self._lookout.check()
        await self._semaphore.acquire(tenant_id, seconds=CONNECTION_SECONDS)
        try:
            async with self._take_connection(asked) as connection:
                yield connection
        finally:
            self._semaphore.release(tenant_id)

    def _idle(self) -> int:
        return self._pool.get_stats().get("pool_available", 0)

    def _in_use(self) -> int:
        stats = self._pool.get_stats()
        return max(0, stats.get("pool_size", 0) - stats.get("pool_available", 0))

    @asynccontextmanager
    async def _take_connection(self, asked: float) -> AsyncIterator[AsyncConnection[Any]]:
        """Return a connection that was asked for at a moment (`time.perf_counter`)."""
        self._lookout.check()
        passed = self._breaker.enter()
        try:
            async with AsyncExitStack() as stack:
                wait = asyncio.timeout(CONNECTION_SECONDS)
                self._waits.add(wait)
                try:
                    async with wait:
                        connection = await stack.enter_async_context(self._pool.connection())
                except TimeoutError:
                    raise PoolTimeout from None
                finally:
                    self._waits.discard(wait)
                lent = time.perf_counter()
                DATABASE_WAIT_SECONDS.observe(lent - asked)
                try:
                    with tracing.step("postgresql transaction", "postgresql"):
                        yield connection
                finally:
                    DATABASE_SECONDS.observe(time.perf_counter() - lent)
        except Exception as error:
            if _may_be_away(error):
                self._lookout.suspect()
            else:
                self._was_full = self._was_full or _is_full(error)
                self._breaker.succeed(passed)
            raise
        self._breaker.succeed(passed)

    async def has_room(self) -> bool:
        """Return whether the server's disk takes more rows: tried again after a failure.

        Raises:
            Unavailable: it does not answer.
        """
        if not self._was_full:
            return True
        try:
            async with self.transaction() as tx:
                for statement in TRY_ROOM:
                    await tx.post(statement)
        except Unavailable as error:
            if _is_full(error):
                return False
            raise
        self._was_full = False
        return True

    @property
    def is_away(self) -> bool:
        """Whether the server was away when it was last checked."""
        return not self._breaker.is_closed

    # Away -------------------------------------------------------------------------------------------------------------

    async def _check_server(self) -> None:
        async with await AsyncConnection.connect(
            self._servers.conninfo(), autocommit=True, **CLIENT_OPTIONS
        ) as connection:
            await connection.execute("SELECT 1")
            moved = self._servers.note(connection)
        if moved:
            await self._pool.drain()  # what the former server still holds would be silent
        elif not self._breaker.is_closed:
            await self._pool.check()  # what was lost meanwhile is replaced before anybody is given it

    async def _count_waiting(self, backends: list[int]) -> int:
        async with self.transaction() as tx:
            return int(await tx.fetch_value(WAITING_COMMITS, [backends]))

    def _fail_waiters(self) -> None:
        """Fail everyone who waits for a connection: the server is away."""
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())

    async def check(self) -> None:
        """Ask the server for a sign of life.

        Raises:
            Unavailable: none came within two seconds.
        """
        try:
            async with asyncio.timeout(LOOK_SECONDS), self._take_connection(time.perf_counter()) as connection:
                await connection.execute("SELECT 1")
        except (TimeoutError, PoolTimeout, psycopg.Error) as error:
            raise Unavailable from error


async def connect_alone(url: str, name: str, *, statement_seconds: int) -> AsyncConnection[Any]:
    """Open a connection outside of the pool; one whose server falls silent ends.

    Raises:
        psycopg.Error: the server cannot be reached.
    """
    servers = servers_of(url)
    connection = await _Connection.connect(
        servers.conninfo(),
        autocommit=True,
        application_name=name,
        options=f"-c statement_timeout={statement_seconds}s{SERVER_OPTIONS}",
        **CLIENT_OPTIONS,
    )
    servers.note(connection)
    connection.silence_seconds = statement_seconds + SILENCE_SECONDS
    return connection


async def readable(file: int, seconds: float) -> bool:
    """Return whether there is something to read within the time."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(file, arrived.set)
    try:
        async with asyncio.timeout(seconds):  # `wait_for` may swallow a cancellation that comes with the data
            await arrived.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(file)
    return True


async def _refuse_writes(connection: AsyncConnection[Any]) -> None:
    """Refuse to commit a transaction that wrote."""
    wrote = await connection.execute(WROTE)
    if await wrote.fetchone() == (True,):
        log.warning("database.unavailable", error="StalledCommit", detail="earlier commits wait for the replica")
        raise Unavailable


def _may_be_away(error: BaseException) -> bool:
    """Return whether an error may come from a server that is away.

    A refused statement is none (a time limit, a lock, a constraint, an idle transaction); nor is a wait for a tenant's
    own share.
    """
    cause = error.__cause__ if isinstance(error, Unavailable) else error
    if isinstance(cause, PoolTimeout):
        return True
    return isinstance(cause, psycopg.OperationalError) and (
        cause.sqlstate is None or cause.sqlstate[:2] == "08" or cause.sqlstate[:4] == "57P0"
    )


def _is_full(error: BaseException) -> bool:
    """Return whether the server's disk has no room for what a statement would write."""
    return isinstance(error.__cause__ if isinstance(error, Unavailable) else error, psycopg.errors.DiskFull)


LOGIN = "SELECT session_user"
TENANT = "SELECT set_config('cushion.tenant', %s, true)"
WROTE = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"
TRY_ROOM = (
    "CREATE TEMPORARY TABLE room (filling text) ON COMMIT DROP",
    "INSERT INTO room SELECT repeat('x', 1900) FROM generate_series(1, 500)",
)
"""A megabyte of rows, which go at once."""
POSITION = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"


def check_login(login: str) -> None:
    """Check that the service is logged in as its role, for good.

    SET ROLE NONE would lead back from a role that it has only taken.

    Raises:
        ConfigError: it is somebody else.
    """
    if login != SERVICE_ROLE:
        raise ConfigError(
            f"CUSHION_DATABASE_URL logs in as {login!r}, whom row security may not bind: give it a URL of the role "
            f"{SERVICE_ROLE}, and the owner's to `cushion migrate` as CUSHION_MIGRATION_URL"
        )


def give_password(owner_url: str, service_url: str) -> bool:
    """Set the role's password from its URL; return False where the URL has none.

    The server gets the password's SCRAM verifier, so that no log of statements holds it.
    """
    parts = conninfo_to_dict(service_url)
    password = parts.get("password")
    if parts.get("user") != SERVICE_ROLE or not password:
        return False
    with psycopg.connect(owner_url, autocommit=True) as connection:
        verifier = connection.pgconn.encrypt_password(
            str(password).encode(), SERVICE_ROLE.encode(), b"scram-sha-256"
        ).decode()
        role = sql.Identifier(SERVICE_ROLE)
        connection.execute(sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(verifier)))
    return True


def as_service(owner_url: str) -> str:
    """Return the owner's connection URL as the service's role."""
    return make_conninfo(owner_url, user=SERVICE_ROLE)
