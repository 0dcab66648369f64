"""The SQL of backups: what one reads as the owner, and what a restore changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
import psycopg
from msgspec import Struct
from psycopg.sql import SQL, Identifier

from service.platform.unit.storage import BACKUP_LOCK

KEYS_AT_A_TIME: Final = 10_000

Connection = psycopg.Connection[Any]


class AuditHead(Struct, frozen=True):
    """The end of a tenant's audit chain."""

    tenant_id: str
    sequence: int
    hash: str


class DatabaseFacts(Struct, frozen=True):
    """The facts of a snapshot's database."""

    snapshot: str
    """Its name, for other readers of the same."""
    made_at: datetime
    postgres: int
    """Major version of the server."""
    deployment: str
    migrations: list[str]
    damaged: set[str]
    """Blobs that some tenant's row marks as damaged."""
    heads: list[AuditHead]
    owner: str
    """The role whose tables they are."""
    definers: list[str]
    """Functions and views of the role `cushion_definer`."""


def sees_all(connection: Connection) -> bool:
    """Return whether row security leaves the connection's role alone."""
    cursor = connection.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    return cursor.fetchone() == (True,)


def hold(connection: Connection) -> None:
    """Keep every blob in the store for as long as the connection lives."""
    connection.execute("SELECT pg_advisory_lock(%s)", [BACKUP_LOCK])


def facts(reader: Connection) -> DatabaseFacts:
    """Begin a snapshot, which lasts until the connection is closed or committed."""
    reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    reader.read_only = True
    reader.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # it waits while the dump is made
    ((snapshot, made_at, postgres, deployment, owner),) = reader.execute(
        "SELECT pg_export_snapshot(), now(), current_setting('server_version_num')::integer / 10000,"
        " (SELECT id::text FROM deployment), (SELECT tableowner FROM pg_tables WHERE tablename = 'audit_log')"
    ).fetchall()
    migrations = [name for (name,) in reader.execute("SELECT name FROM migrations ORDER BY name")]
    damaged = {key for (key,) in reader.execute("SELECT key FROM blobs WHERE damaged_at IS NOT NULL")}
    definers = [
        name
        for (name,) in reader.execute(
            """
            SELECT oid::regprocedure::text FROM pg_proc WHERE proowner = 'cushion_definer'::regrole
            UNION ALL
            SELECT oid::regclass::text FROM pg_class WHERE relowner = 'cushion_definer'::regrole AND relkind = 'v'
            """
        )
    ]
    return DatabaseFacts(snapshot, made_at, postgres, deployment, migrations, damaged, heads(reader), owner, definers)


def heads(connection: Connection) -> list[AuditHead]:
    """Return the ends of all audit chains."""
    rows = connection.execute(
        "SELECT tenant_id::text, sequence, encode(hash, 'hex') FROM audit_heads ORDER BY tenant_id"
    )
    return [AuditHead(*row) for row in rows]


def blob_keys(reader: Connection) -> Iterator[str]:
    """Yield the keys of all blobs that the snapshot knows, in their order."""
    with reader.cursor(name="keys") as cursor:
        cursor.itersize = KEYS_AT_A_TIME
        for (key,) in cursor.execute("SELECT key FROM blobs UNION SELECT key FROM named_blobs ORDER BY 1"):
            yield key


def is_empty(connection: Connection) -> bool:
    """Return whether the database is empty."""
    row = connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1").fetchone()
    return row is None


def prepare(connection: Connection, owner: str) -> bool:
    """Make the roles that a dump names and the server lacks.

    Returns whether the role that the service logs in as was missing. An owner of another name than the connection's
    role can do nothing: `hand_over` takes its place.
    """
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [owner]).fetchone() is None:
        connection.execute(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(owner)))
    row = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'cushion_service'").fetchone()
    connection.execute(
        """
        DO $$
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cushion_service') THEN
                CREATE ROLE cushion_service LOGIN;
            END IF;
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cushion_definer') THEN
                CREATE ROLE cushion_definer NOLOGIN;
            END IF;
        END
        $$;
        GRANT cushion_service, cushion_definer TO CURRENT_USER
        """
    )
    return row is None


def hand_over(connection: Connection, owner: str, names: list[str]) -> None:
    """Give policies to this connection's role, functions and views to the definer."""
    if owner != connection.info.user:
        statements = connection.execute(
            "SELECT format('ALTER POLICY %%I ON %%I TO CURRENT_USER', policyname, tablename) FROM pg_policies"
            " WHERE %s = ANY (roles)",
            [owner],
        ).fetchall()
        for (statement,) in statements:
            connection.execute(statement)
    connection.execute("GRANT CREATE ON SCHEMA public TO cushion_definer")
    statements = connection.execute(
        """
        SELECT format('ALTER %%s OWNER TO cushion_definer', CASE
            WHEN name LIKE '%%(%%' THEN 'FUNCTION ' || name::regprocedure ELSE 'VIEW ' || name::regclass END)
        FROM unnest(%s::text[]) AS given (name)
        """,
        [names],
    ).fetchall()
    for (statement,) in statements:
        connection.execute(statement)
    connection.execute("REVOKE CREATE ON SCHEMA public FROM cushion_definer")


def become_own(connection: Connection, *, damaged: list[str], holds_back: bool) -> None:
    """Make a restored database a deployment of its own.

    Args:
        damaged: blobs that the backup does not have; all others were found right.
        holds_back: webhooks and alerts are switched off, so that they wait, and letters that were to go out do not.
    """
    connection.execute("UPDATE deployment SET id = gen_random_uuid()")
    connection.execute(
        "UPDATE blobs SET damaged_at = NULL WHERE damaged_at IS NOT NULL AND NOT key = ANY (%s)", [damaged]
    )
    if holds_back:
        off = msgspec.json.encode({name: {"enabled": False} for name in ("alerts", "webhooks")}).decode()
        connection.execute("UPDATE switches SET version = version + 1, flags = flags::jsonb || %s::jsonb", [off])
        connection.execute(
            """
            UPDATE jobs SET status = 'failed', finished_at = now(), lease_until = NULL
            WHERE name = 'mail.send' AND status IN ('pending', 'queued', 'running')
            """
        )
