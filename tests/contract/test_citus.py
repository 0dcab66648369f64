"""The real schema against the rules of Citus, by which a tenant's rows could be spread over servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import psycopg
import pytest

from tests.conftest import Stack
from tests.rows import every

ROOT = Path(__file__).parents[2]
SCRIPT = (ROOT / "service/deploy/citus.sql").read_text(encoding="utf-8")
KNOWN = {"api_keys_hash_key", "invitations_token_key", "password_resets_token_key", "users_email_key", "users_id_key"}
"""What stands in the way, each with its remedy in the guide's page on sizing. Nothing comes on top."""


@pytest.fixture
def schema(stack: Stack) -> Iterator[psycopg.Connection[tuple[str, ...]]]:
    """The database with the script run on it; all of it is rolled back."""
    with psycopg.connect(stack.database_url) as connection:
        answer: list[str] = []
        connection.add_notice_handler(lambda notice: answer.append(notice.message_primary or ""))
        connection.execute(SCRIPT.encode())
        assert any("nothing was changed" in line for line in answer), "there is no Citus here"
        yield connection
        connection.rollback()


def test_what_stands_in_the_way_is_known(schema: psycopg.Connection[tuple[str, ...]]) -> None:
    rows = schema.execute("SELECT rule, object FROM pg_temp.citus_obstacles()").fetchall()
    assert sorted(rows) == sorted(("unique over all tenants", name) for name in KNOWN)
    page = (ROOT / "docs/operations/sizing.md").read_text(encoding="utf-8")
    assert [name for name in KNOWN if name not in page] == []


@every(
    "table, obstacle",
    [
        ("tenant_id uuid NOT NULL, id uuid, PRIMARY KEY (id)", "unique over all tenants: trial_pkey"),
        ("tenant_id uuid NOT NULL, id uuid", "no primary key: trial"),
        ("tenant_id text, id uuid, PRIMARY KEY (tenant_id, id)", "tenant_id is not a uuid that is always there: trial"),
        (
            "tenant_id uuid, id uuid, user_id uuid REFERENCES users (id), PRIMARY KEY (tenant_id, id)",
            "foreign key without the tenant: trial_user_id_fkey",
        ),
        (
            "tenant_id uuid, id uuid, PRIMARY KEY (tenant_id, id), "
            "FOREIGN KEY (tenant_id, id) REFERENCES users (tenant_id, id) ON DELETE SET NULL",
            "a foreign key would empty tenant_id: trial_tenant_id_id_fkey",
        ),
        ("id uuid PRIMARY KEY REFERENCES users (id)", "a table of every server refers to a tenant's: trial_id_fkey"),
        (
            "tenant_id uuid, id uuid, nr integer GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (tenant_id, id)",
            "numbers itself, by a type that is not bigint: trial.nr",
        ),
        (
            "tenant_id uuid, day date, id uuid, PRIMARY KEY (id, day)) PARTITION BY RANGE (day",
            "unique over all tenants: trial_pkey",
        ),
    ],
)
def test_an_obstacle_is_found(schema: psycopg.Connection[tuple[str, ...]], table: str, obstacle: str) -> None:
    schema.execute("SAVEPOINT row")
    schema.execute(f"CREATE TABLE trial ({table})".encode())
    texts = {f"{rule}: {name}" for rule, name in schema.execute("SELECT * FROM pg_temp.citus_obstacles()").fetchall()}
    schema.execute("ROLLBACK TO row")
    assert obstacle in texts, texts


def test_the_plan_spreads_every_table_once_and_in_order(schema: psycopg.Connection[tuple[str, ...]]) -> None:
    """Behind what it refers to, and on one server with it."""
    plan = [line for (line,) in schema.execute("SELECT statement FROM pg_temp.citus_plan() ORDER BY step").fetchall()]
    tables = schema.execute("SELECT name::text, of_tenants FROM pg_temp.citus_tables()").fetchall()
    spread = [match[1] for line in plan if (match := re.search(r"create_distributed_table\('(\w+)'", line))]
    copied = [match[1] for line in plan if (match := re.search(r"create_reference_table\('(\w+)'", line))]
    assert sorted(spread) == sorted(name for name, of_tenants in tables if of_tenants)
    assert sorted(copied) == sorted(name for name, of_tenants in tables if not of_tenants and name != "migrations")
    assert len(spread) > 40
    assert plan.index(next(line for line in plan if "distributed" in line)) > max(
        number for number, line in enumerate(plan) if "reference" in line
    )
    refers = schema.execute(
        """
        SELECT DISTINCT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
        WHERE contype = 'f' AND conparentid = 0 AND conrelid <> confrelid
        """
    ).fetchall()
    TopologicalSorter({name: {above for below, above in refers if below == name} for name in spread}).prepare()
    place = {name: number for number, name in enumerate([*copied, *spread])}
    assert [(name, named) for name, named in refers if name in spread and place[named] > place[name]] == []
    for statement in plan:  # what PostgreSQL itself can do of it
        if "create_" not in statement:
            schema.execute(statement.encode())
    assert schema.execute("SELECT * FROM pg_temp.citus_obstacles()").fetchall() == []
