"""Migrations: applied once, refused in another history, and the first schema equal to what it replaced."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest

from service.platform.data import migrations
from service.platform.data.database import as_service
from service.platform.data.migrations import (
    FIRST_SCHEMA_END,
    FIRST_SCHEMA_SHAPE,
    SHAPE,
    MigrationError,
    load_earlier,
    load_scripts,
    migrate,
    verify,
)
from tests.conftest import Stack
from tests.service.platform.conftest import Apart
from tests.service.platform.data.schema import EXPECTED, schema_lines


def create(stack: Stack, template: str = "template1") -> tuple[str, str]:
    """Create a database and return its name and its owner's URL."""
    name = f"migrated_{uuid4().hex[:12]}"
    stack.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
    return name, urlunsplit(urlsplit(stack.database_url)._replace(path=f"/{name}"))


@pytest.fixture(scope="module")
def template(stack: Stack) -> Iterator[str]:
    """The name of a database with the first schema and no later migration, to be copied."""
    name, url = create(stack)
    with pytest.MonkeyPatch.context() as patch:
        scripts = {name: script for name, script in load_scripts().items() if name <= FIRST_SCHEMA_END}
        patch.setattr(migrations, "load_scripts", lambda: scripts)
        assert migrate(url) == len(scripts)
    yield name
    stack.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def first(stack: Stack, template: str) -> Iterator[str]:
    """The owner's URL of a database with the first schema."""
    name, url = create(stack, template)
    yield url
    stack.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def early(first: str) -> str:
    """A database as the earlier migrations left it.

    The same schema, their names in its record.
    """
    with psycopg.connect(first) as owner:
        owner.execute("DELETE FROM migrations")
        rows = list(load_earlier().items())
        owner.cursor().executemany("INSERT INTO migrations (name, digest) VALUES (%s, %s)", rows)
    return first


def record(url: str) -> list[str]:
    with psycopg.connect(url) as owner:
        return [name for (name,) in owner.execute("SELECT name FROM migrations ORDER BY name").fetchall()]


def test_migrations_are_applied_once(apart: Apart) -> None:
    names: list[str] = []
    assert migrate(apart.database_url, report=names.append) == 0
    assert names == []
    assert record(apart.database_url) == list(load_scripts())


def test_the_first_schema_is_that_of_the_earlier_migrations(first: str) -> None:
    with psycopg.connect(first) as owner:
        assert schema_lines(owner) == EXPECTED.read_text(encoding="utf-8").splitlines()
        assert owner.execute(SHAPE).fetchone() == (FIRST_SCHEMA_SHAPE,)


@pytest.mark.parametrize(
    ("change", "back", "message"),
    [
        (
            "UPDATE migrations SET digest = 'x' || digest",
            "UPDATE migrations SET digest = substr(digest, 2)",
            "was changed",
        ),
        (
            "INSERT INTO migrations VALUES ('9999_x.sql', '-')",
            "DELETE FROM migrations WHERE digest = '-'",
            "does not know: use the version that applied it",
        ),
    ],
)
def test_a_database_of_another_history_is_refused(apart: Apart, change: str, back: str, message: str) -> None:
    apart.sql(change)
    try:
        with pytest.raises(MigrationError, match=message):
            migrate(apart.database_url)
        if "does not know" in message:  # the next release's, which is being rolled out; an earlier one is nobody's
            verify(as_service(apart.database_url))
            apart.sql("UPDATE migrations SET name = '0000_x.sql' WHERE digest = '-'")
        with pytest.raises(MigrationError, match=message):
            verify(as_service(apart.database_url))
    finally:
        apart.sql(back)
    assert migrate(apart.database_url) == 0


# The earlier migrations ---------------------------------------------------------------------------------------------


def test_no_migration_has_the_name_of_an_earlier_one() -> None:
    assert len(load_earlier()) == 44
    assert load_earlier().keys().isdisjoint(load_scripts())


def test_a_database_with_exactly_the_earlier_migrations_is_adopted(early: str) -> None:
    with psycopg.connect(early) as owner:
        owner.execute(
            "INSERT INTO tenants (id, name, slug, subscription_tier) VALUES (%s, 'A', 'a', 'free')", [uuid4()]
        )
    with pytest.raises(MigrationError, match="run `cushion migrate`"):
        verify(as_service(early))
    assert record(early) == list(load_earlier())
    later = [name for name in load_scripts() if name > FIRST_SCHEMA_END]
    assert migrate(early) == len(later)
    assert record(early) == list(load_scripts())
    verify(as_service(early))
    with psycopg.connect(early) as owner:
        assert owner.execute("SELECT slug FROM tenants").fetchall() == [("a",)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM migrations WHERE name = '0052_issue_rows.sql'", "some of the early migrations"),
        ("INSERT INTO migrations VALUES ('0001_ground.sql', '-')", "some of the early migrations"),
        ("INSERT INTO migrations VALUES ('9999_x.sql', '-')", "some of the early migrations"),
        ("UPDATE migrations SET digest = '-' WHERE name = '0031_metrics.sql'", "0031_metrics.sql was changed"),
        ("ALTER TABLE jobs DROP COLUMN small CASCADE", "Undo that, then run `cushion migrate` again"),
        ("ALTER TABLE blobs ALTER size_bytes SET NOT NULL", "Undo that"),
        ("DROP POLICY tenant ON users", "Undo that"),
        ("DROP TRIGGER audit_log_keep ON audit_log", "Undo that"),
        ("CREATE FUNCTION mine() RETURNS integer RETURN 1", "Undo that"),
    ],
)
def test_a_database_that_differs_from_the_earlier_migrations_is_refused(early: str, change: str, message: str) -> None:
    with psycopg.connect(early) as owner:
        owner.execute(change.encode())
    before = record(early)
    with pytest.raises(MigrationError, match=message):
        migrate(early)
    assert record(early) == before


def test_a_database_that_cannot_be_reached_is_waited_for_no_longer_than_a_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(migrations, "START_SECONDS", 0.6)
    begun = time.monotonic()
    with pytest.raises(psycopg.OperationalError):
        verify("postgresql://cushion_service@127.0.0.1:1/cushion")
    assert 0.6 <= time.monotonic() - begun < 30
