"""Migrations: the files of `service/migrations`, each applied once, in order.

The files up to FIRST_SCHEMA_END replaced the earlier ones that `earlier.txt` lists with their digests. A database that
has exactly those has the same schema: its record is changed to the new names. A later migration is a new numbered file.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection
from functools import cache
from importlib import resources
from typing import Any, Final, cast

import psycopg
import structlog
from psycopg import Connection

from service.platform.data.database import CONNECTION_SECONDS, LOGIN, check_login

LOCK: Final = 0x43555348  # one migrator at a time, beside other users of advisory locks

START_SECONDS: Final = 5.0
"""How long a start waits for a database that cannot be reached, as after a restart of both."""

RETRY_SECONDS: Final = 0.25

FIRST_SCHEMA_END: Final = "0018_retention.sql"
"""The last of the files that have one area's schema each."""

FIRST_SCHEMA_SHAPE: Final = "b3aef1561b8d3a7a77fad55c8959da0d"
"""What SHAPE answers for the schema of these files."""

SHAPE: Final = """
    WITH added AS (SELECT objid FROM pg_depend WHERE deptype = 'e')
    SELECT md5(string_agg(line, chr(10) ORDER BY line COLLATE "C")) FROM (
        SELECT format('%s.%s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) AS line
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
          AND c.relname <> 'migrations' AND c.oid NOT IN (TABLE added)
        UNION ALL
        SELECT format('%s(%s) %s', p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid))
        FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.oid NOT IN (TABLE added)
        UNION ALL
        SELECT format('%s %s', c.relname, p.polname)
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE NOT c.relispartition
        UNION ALL
        SELECT format('%s %s', c.relname, t.tgname)
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND NOT c.relispartition
    ) AS lines
"""
"""One digest of all columns, functions, policies and triggers."""

log = structlog.get_logger()


class MigrationError(RuntimeError):
    """The database is not one that these migrations can bring up to date."""


@cache
def load_scripts() -> dict[str, str]:
    """Read the migrations of this version, by name in their order."""
    files = (entry for entry in resources.files("service.migrations").iterdir() if entry.name.endswith(".sql"))
    return {entry.name: entry.read_text(encoding="utf-8") for entry in sorted(files, key=lambda entry: entry.name)}


@cache
def load_earlier() -> dict[str, str]:
    """Read the digests of the migrations that the first schema replaced."""
    text = resources.files("service.migrations").joinpath("earlier.txt").read_text(encoding="utf-8")
    return {name: digest for digest, name in map(str.split, text.splitlines())}


def check_known(names: Collection[str], *, source: str = "the database", behind: bool = False) -> None:
    """Check that this version can migrate a database with these migrations.

    Args:
        source: what has them, for the message.
        behind: later migrations than this version's are fine, as they are while the next one is rolled out.

    Raises:
        MigrationError: it cannot; the message says what to do.
    """
    unknown = sorted(set(names) - load_scripts().keys())
    if not unknown or set(names) == load_earlier().keys():
        return
    if not load_earlier().keys().isdisjoint(unknown):
        first, last = min(load_earlier()), max(load_earlier())
        raise MigrationError(
            f"{source} has some of the early migrations ({first} to {last}), but not exactly these: open it with the "
            f"last version that has {last}, which brings it up to date, then with this one"
        )
    if behind and unknown[0] > max(load_scripts()):
        for name in unknown:
            log.warning("database.ahead", migration=name)
        return
    raise MigrationError(
        f"{source} has the migration {unknown[-1]}, which this version does not know: use the version that applied it, "
        "or a later one"
    )


def migrate(database_url: str, *, report: Callable[[str], None] = lambda name: None, behind: bool = False) -> int:
    """Apply the missing migrations, as the owner; return how many.

    One process migrates at a time. Where none is missing, any role that may connect will do.

    Args:
        report: called with the name of each that was applied.
        behind: as `check_known` says.

    Raises:
        OperationalError: the database cannot be reached within START_SECONDS.
        MigrationError: an applied migration differs from the file of its name, or is unknown here.
    """
    with _connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        applied = _applied(connection)
        check_known(applied, behind=behind)
        digests = load_earlier() | {name: _digest(script) for name, script in load_scripts().items()}
        for name, digest in applied.items():
            if digests.get(name, digest) != digest:
                raise MigrationError(f"the migration {name} was changed after it was applied")
        if applied.keys() == load_earlier().keys():
            applied = _adopt(connection)
        missing = [name for name in load_scripts() if name not in applied]
        for name in missing:
            with connection.transaction():
                connection.execute(cast(Any, load_scripts()[name]))
                _record(connection, name)
            report(name)
        return len(missing)


def verify(database_url: str) -> None:
    """Check that the service may work on this database: role and migrations.

    The next version may have migrated it already (see CONTRIBUTING).

    Raises:
        OperationalError: the database cannot be reached within START_SECONDS.
        ConfigError: the URL logs in as somebody who could do more than the service may.
        MigrationError: as `migrate`, or the owner has yet to run it.
    """
    with _connect(database_url) as connection:
        for (login,) in connection.execute(LOGIN):
            check_login(login)
    try:
        migrate(database_url, behind=True)
    except psycopg.errors.InsufficientPrivilege as error:
        raise MigrationError("run `cushion migrate`, which is the owner's") from error


def _connect(database_url: str, *, autocommit: bool = False) -> Connection[Any]:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            return psycopg.connect(database_url, autocommit=autocommit, connect_timeout=CONNECTION_SECONDS)
        except psycopg.OperationalError:
            if time.monotonic() >= end:
                raise
        time.sleep(RETRY_SECONDS)


def _adopt(connection: Connection[Any]) -> dict[str, str]:
    """Record the first schema in place of the earlier migrations."""
    with connection.transaction():
        if connection.execute(SHAPE).fetchone() != (FIRST_SCHEMA_SHAPE,):
            raise MigrationError(
                "the schema is not the one that the migrations made: a column, function, policy or trigger was added, "
                "changed or removed. Undo that, then run `cushion migrate` again"
            )
        connection.execute("DELETE FROM migrations")
        for name in load_scripts():
            if name <= FIRST_SCHEMA_END:
                _record(connection, name)
    log.info("database.adopted", migration=FIRST_SCHEMA_END)
    return _applied(connection)


def _applied(connection: Connection[Any]) -> dict[str, str]:
    known = connection.execute("SELECT to_regclass('migrations')").fetchone()
    if known == (None,):  # asked first: the service's role may see that nothing is missing, but create nothing
        connection.execute(
            """
            CREATE TABLE migrations (
                name text PRIMARY KEY,
                digest text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            );
            GRANT SELECT ON migrations TO PUBLIC
            """
        )
    return dict(connection.execute("SELECT name, digest FROM migrations ORDER BY name").fetchall())


def _record(connection: Connection[Any], name: str) -> None:
    connection.execute("INSERT INTO migrations (name, digest) VALUES (%s, %s)", [name, _digest(load_scripts()[name])])


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()
