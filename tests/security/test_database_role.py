"""The service logs in as a role that owns nothing, and there is no way from it to one that does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from service.platform.data.database import SERVICE_ROLE, as_service
from service.platform.data.migrations import migrate, verify
from tests.conftest import Stack, register

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def owners_url(stack: Stack) -> Iterator[str]:
    """A second database of the stack's PostgreSQL, as its owner reaches it."""
    name = f"second_{uuid4().hex[:12]}"
    stack.sql(f"CREATE DATABASE {name}")
    url = urlunsplit(urlsplit(stack.database_url)._replace(path=f"/{name}"))
    migrate(url)
    yield url
    stack.sql(f"DROP DATABASE {name} WITH (FORCE)")


def cushion(command: str, stack: Stack, **settings: str) -> subprocess.CompletedProcess[str]:
    """One of the service's commands, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "service.commands.cli", command],
        env={**stack.environment, "CUSHION_SECRET_KEY": "x" * 40, "PYTHONPATH": os.fspath(ROOT), **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_connection_of_the_service_is_the_roles_own(stack: Stack) -> None:
    """Logged in as it, not only taken: what SET ROLE NONE leads back to is the same."""
    logins = stack.sql(
        "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )
    assert logins == [(SERVICE_ROLE,)]


@pytest.mark.parametrize(
    "way",
    [
        "SET ROLE {owner}",
        "SET ROLE cushion_definer",
        "SET SESSION AUTHORIZATION {owner}",
        "ALTER TABLE users DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE users NO FORCE ROW LEVEL SECURITY",
        "CREATE POLICY mine ON users USING (true)",
        "DROP POLICY tenant ON users",
        "ALTER ROLE cushion_service SUPERUSER",
        "ALTER ROLE cushion_service BYPASSRLS",
        "GRANT {owner} TO cushion_service",
        "CREATE ROLE other",
        "DROP TRIGGER jobs_announce ON jobs",
        "CREATE TABLE mine (x integer)",
        "CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "COPY users TO PROGRAM 'cat'",
        "SELECT pg_read_file('postgresql.conf')",
        "UPDATE migrations SET digest = ''",
    ],
)
def test_the_role_gets_no_further(owners_url: str, way: str) -> None:
    owner = psycopg.connect(owners_url)
    with owner, psycopg.connect(as_service(owners_url), autocommit=True) as connection:
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported)):
            connection.execute(way.format(owner=owner.info.user))
        for back in ("SET ROLE NONE", "RESET ROLE", "RESET SESSION AUTHORIZATION", "DISCARD ALL"):
            connection.execute(back)
            assert connection.execute("SELECT current_user, session_user").fetchone() == (SERVICE_ROLE, SERVICE_ROLE)


def test_no_tenants_rows_are_seen_where_none_is_named(stack: Stack) -> None:
    register(stack.url)
    assert stack.sql("SELECT count(*) > 0 FROM users") == [(True,)]
    with psycopg.connect(as_service(stack.database_url), autocommit=True) as connection:
        for statement in ("SET row_security = on", "SET ROLE NONE", "RESET ROLE", "DISCARD ALL"):
            connection.execute(statement)
            assert connection.execute("SELECT count(*) FROM users").fetchone() == (0,)
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("SELECT count(*) FROM users")


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_nothing_serves_with_the_owners_url(stack: Stack, owners_url: str, command: str) -> None:
    """It is refused with a word on what to do, before anything listens."""
    done = cushion(command, stack, CUSHION_DATABASE_URL=owners_url, CUSHION_PORT="0")
    assert done.returncode == 2
    assert f"whom row security may not bind: give it a URL of the role {SERVICE_ROLE}" in done.stderr


def test_the_migration_gives_the_role_its_password(stack: Stack, owners_url: str) -> None:
    """As a verifier; and what then serves needs the owner for nothing."""
    known = "SELECT rolpassword FROM pg_authid WHERE rolname = %s"
    url = make_conninfo(owners_url, user=SERVICE_ROLE, password="it's a \\ secret")
    try:
        done = cushion("migrate", stack, CUSHION_MIGRATION_URL=owners_url, CUSHION_DATABASE_URL=url)
        assert (done.returncode, done.stdout, done.stderr) == (0, "up to date\n", "")
        assert stack.sql(known, [SERVICE_ROLE])[0][0].startswith("SCRAM-SHA-256$")
    finally:
        stack.sql(f"ALTER ROLE {SERVICE_ROLE} PASSWORD NULL")
    verify(url)


def test_the_owners_url_is_told_to_the_migration_alone() -> None:
    """In the deployment that is shown.

    By its files, and whatever the environment of `cushion serve` holds.
    """
    from service.host.supervisor import Plan, child_environment

    blocks = (ROOT / "compose.yaml").read_text(encoding="utf-8").split("\n\n")
    holding = [block.split(":")[0].split()[-1] for block in blocks if "${POSTGRES_PASSWORD" in block]
    assert holding == ["services", "postgres"], "migrate comes first under services"
    assert "cushion_service:${SERVICE_PASSWORD" in next(block for block in blocks if "x-cushion" in block)
    answer = {"CUSHION_MIGRATION_URL": "postgresql://owner@/x", "PATH": "/bin"}
    assert "postgresql://owner@/x" not in child_environment(answer, Plan(Path()), "d", "r").values()
