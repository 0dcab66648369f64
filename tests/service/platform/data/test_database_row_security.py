"""Row-level security over the catalogue.

No way for one tenant to see or touch another's rows.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from service.platform.data.database import SERVICE_ROLE
from tests.conftest import Stack, register
from tests.service.platform.conftest import Apart

ONLY_READ = {"audit_log", "audit_heads", "tenant_usage"}
"""What the service may look at, and only functions write."""

TENANT_TABLES = """
    SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relispartition, pg_get_userbyid(c.relowner),
           CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND (c.relname = 'tenants' OR EXISTS
           (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped))
    ORDER BY 1
"""


REFUSED = "row-level security|permission denied"
"""By the policy, or earlier: of some tables the service may change no row at all."""


@pytest.fixture(scope="module")
def tables(apart: Apart) -> list[tuple[Any, ...]]:
    return apart.sql(TENANT_TABLES)


@pytest.fixture(scope="module")
def names(tables: list[tuple[Any, ...]]) -> list[tuple[str, str]]:
    """Tables and their tenant column; partitions are reached through their table."""
    return [(name, column) for name, _, _, is_partition, _, column in tables if not is_partition]


OWNERS = {"make_partitions()", "drop_partitions(text,integer,integer)"}
"""Only the owner of a table makes and drops its partitions."""

CHECKED = {"reports": {"run_id": uuid4()}}
"""What checks over several columns want."""


@pytest.fixture(scope="module")
def two_tenants(apart: Apart, names: list[tuple[str, str]]) -> tuple[UUID, UUID]:
    """Two tenants with a row in each table that the catalogue knows, written by the owner."""
    tenants = apart.tenant(), apart.tenant()
    for tenant in tenants:
        for name, column in names:
            if name != "tenants":
                _fill(apart, name, column, tenant)
    return tenants


def _fill(apart: Apart, table: str, tenant_column: str, tenant: UUID) -> None:
    """A row with something in each column that must have it.

    A check's first permitted word where there is one.
    """
    columns = apart.sql(
        """
        SELECT a.attname, a.atttypid::regtype::text,
               (SELECT substring(pg_get_constraintdef(c.oid) FROM $$'([^']*)'::text$$) FROM pg_constraint c
                WHERE c.conrelid = a.attrelid AND c.contype = 'c' AND c.conkey = ARRAY[a.attnum])
        FROM pg_attribute a WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
          AND (a.attname = %s OR (a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''))
        """,
        [table, tenant_column],
    )
    values = {
        "uuid": uuid4(),
        "text": uuid4().hex,
        "bytea": uuid4().bytes,
        "integer": 1,
        "bigint": 1,
        "double precision": 1.0,
        "boolean": True,
        "json": "{}",
        "jsonb": "{}",
        "text[]": [],
        "uuid[]": [],
        "date": datetime.now(UTC).date(),
        "timestamp with time zone": datetime.now(UTC),
    }
    row = {name: tenant if name == tenant_column else word or values[kind] for name, kind, word in columns}
    row |= CHECKED.get(table, {})
    names, places = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    with psycopg.connect(apart.database_url) as connection:
        connection.execute("SET session_replication_role = replica")  # what the row refers to need not be there
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", row)


def _service(apart: Apart, tenant: UUID | None) -> psycopg.Connection[Any]:
    """What the service works as, in a transaction of that tenant."""
    connection = psycopg.connect(apart.database_url, options=f"-c role={SERVICE_ROLE}")
    connection.execute("SELECT set_config('cushion.tenant', %s, true)", [str(tenant or "")])
    return connection


def _may(apart: Apart, table: str, right: str) -> bool:
    return bool(apart.sql("SELECT has_table_privilege(%s, %s, %s)", [SERVICE_ROLE, table, right])[0][0])


def test_every_tenant_table_forces_row_security(tables: list[tuple[Any, ...]]) -> None:
    bare = [row[0] for row in tables if not row[3] and not (row[1] and row[2])]
    assert len(tables) >= 14
    assert bare == []


def test_every_tenant_table_has_a_policy_on_both_reading_and_writing(
    apart: Apart, names: list[tuple[str, str]]
) -> None:
    policies = {
        name: (using, check)
        for name, using, check in apart.sql(
            "SELECT tablename, qual, with_check FROM pg_policies WHERE %s = ANY(roles) AND cmd = 'ALL'", [SERVICE_ROLE]
        )
    }
    for name, column in names:
        asked = tuple(
            text.replace("( SELECT current_tenant() AS current_tenant)", "current_tenant()") for text in policies[name]
        )
        assert asked == (f"({column} = current_tenant())",) * 2


def test_the_service_role_is_nobody_special(apart: Apart, tables: list[tuple[Any, ...]]) -> None:
    rights = apart.sql(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,"
        " rolcanlogin AND rolname <> 'cushion_service' FROM pg_roles"
        " WHERE rolname LIKE 'cushion\\_%%'",
        [],
    )
    assert {row[0] for row in rights} == {"cushion_service", "cushion_definer"}
    assert all(not any(row[1:]) for row in rights)
    assert SERVICE_ROLE not in {row[4] for row in tables}
    owned = apart.sql("SELECT count(*) FROM pg_class WHERE relowner = %s::regrole", [SERVICE_ROLE])
    assert owned == [(0,)]
    assert apart.sql("SELECT count(*) FROM pg_auth_members WHERE member = %s::regrole", [SERVICE_ROLE]) == [(0,)]


def test_the_service_works_as_that_role(clean: Apart) -> None:
    async def who(shared: Any) -> str:
        async with shared.database.transaction() as tx:
            return str(await tx.fetch_value("SELECT current_user"))

    assert clean.run(who) == SERVICE_ROLE


def test_the_fixture_has_a_row_in_every_table(
    apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]
) -> None:
    """Without this a new table would pass the tests below by being empty."""
    for name, column in names:
        assert apart.sql(f"SELECT count(*) FROM {name} WHERE {column} = %s", [two_tenants[0]])[0][0] > 0, name


def test_no_tenant_no_rows(apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]) -> None:
    with _service(apart, None) as connection:
        for name, _ in names:
            assert connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,), name


def test_without_any_setting_no_rows(
    apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]
) -> None:
    """A connection that never said whom it works for."""
    with psycopg.connect(apart.database_url, options=f"-c role={SERVICE_ROLE}") as connection:
        for name, _ in names:
            assert connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,), name


def test_only_own_rows(apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]) -> None:
    for tenant in two_tenants:
        with _service(apart, tenant) as connection:
            for name, column in names:
                assert connection.execute(f"SELECT DISTINCT {column} FROM {name}").fetchall() == [(tenant,)], name


def test_no_row_can_be_moved_to_another_tenant(
    apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]
) -> None:
    item, second = two_tenants
    for name, column in names:
        with _service(apart, item) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege, match=REFUSED):
            connection.execute(f"UPDATE {name} SET {column} = %s", [second])


def test_no_row_can_be_put_into_another_tenant(
    apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]
) -> None:
    item, second = two_tenants
    for name, column in names:
        copied = apart.sql(
            "SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute"
            " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> %s"
            " AND attgenerated = '' AND attidentity = ''",
            [name, column],
        )[0][0]
        with _service(apart, item) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege, match=REFUSED):
            connection.execute(f"INSERT INTO {name} ({column}, {copied}) SELECT %s, {copied} FROM {name}", [second])


def test_no_row_of_another_tenant_can_be_changed_or_deleted(
    apart: Apart, two_tenants: tuple[UUID, UUID], names: list[tuple[str, str]]
) -> None:
    item, second = two_tenants
    with _service(apart, item) as connection:
        for name, column in names:
            if _may(apart, name, "UPDATE"):
                changed = connection.execute(f"UPDATE {name} SET {column} = {column} WHERE {column} = %s", [second])
                assert changed.rowcount == 0, name
            if _may(apart, name, "DELETE"):
                assert connection.execute(f"DELETE FROM {name} WHERE {column} = %s", [second]).rowcount == 0, name
        connection.rollback()


@pytest.mark.parametrize("name", sorted(ONLY_READ))
def test_what_only_functions_write_the_service_cannot(apart: Apart, name: str) -> None:
    rights = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE")
    current = [
        apart.sql("SELECT has_table_privilege(%s, %s, %s)", [SERVICE_ROLE, name, right])[0][0] for right in rights
    ]
    assert current == [True, False, False, False, False]


def test_a_tenant_cannot_be_deleted_by_the_service(apart: Apart, two_tenants: tuple[UUID, UUID]) -> None:
    with _service(apart, two_tenants[0]) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("DELETE FROM tenants")


def test_partitions_cannot_be_read_past_their_table(apart: Apart, tables: list[tuple[Any, ...]]) -> None:
    partitions = [row[0] for row in tables if row[3]]
    assert len(partitions) >= 15
    fenced = apart.sql(
        "SELECT relname FROM pg_class c"
        " WHERE relispartition AND relkind = 'r' AND relrowsecurity AND relforcerowsecurity"
        " AND (SELECT array_agg(p.polroles) = ARRAY[ARRAY[c.relowner]] FROM pg_policy p WHERE p.polrelid = c.oid)"
    )
    assert {name for (name,) in fenced} == set(partitions)
    for name in partitions:
        for right in ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"):
            assert apart.sql("SELECT has_table_privilege(%s, %s, %s)", [SERVICE_ROLE, name, right]) == [(False,)]


def test_what_is_no_tenant_table_cannot_be_changed(apart: Apart) -> None:
    others = apart.sql(
        "SELECT relname FROM pg_class c"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') AND relname <> 'tenants'"
        " AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')"
    )
    sequences = [("alert_deliveries_sequence_seq",), ("webhook_deliveries_sequence_seq",)]
    assert sorted(others) == sorted([("deployment",), ("migrations",), ("switches",), *sequences])
    for (name,) in others:  # it may see which migrations there are, and whose store is its own
        for right in ("INSERT", "DELETE", "TRUNCATE", *(() if name == "switches" else ("UPDATE",))):
            assert apart.sql("SELECT has_table_privilege(%s, %s, %s)", [SERVICE_ROLE, name, right]) == [(False,)]


def test_functions_that_look_across_tenants_are_fenced(apart: Apart) -> None:
    functions = apart.sql(
        """
        SELECT p.oid::regprocedure::text, pg_get_userbyid(p.proowner), p.proconfig,
               has_function_privilege('public', p.oid, 'EXECUTE'), has_function_privilege(%s, p.oid, 'EXECUTE')
        FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
        """,
        [SERVICE_ROLE],
    )
    assert len(functions) >= 9
    ((tables_owner,),) = apart.sql("SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'jobs'")
    for name, owner, settings, by_anybody, by_service in functions:
        assert owner == (tables_owner if name in OWNERS else "cushion_definer"), name
        # pg_temp stands last: named nowhere it would be searched first, and a temporary table could pose as ours
        assert settings == ["search_path=pg_catalog, public, pg_temp"], name
        assert (by_anybody, by_service) == (False, True), name


def test_one_view_looks_across_tenants_and_shows_only(apart: Apart) -> None:
    views = apart.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')"
        " AND NOT coalesce('security_invoker=true' = ANY (reloptions), false)"
    )
    assert views == [("every_dead_letter",)]
    for right in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
        assert apart.sql("SELECT has_table_privilege(%s, 'every_dead_letter', %s)", [SERVICE_ROLE, right]) == [(False,)]


def test_the_definer_sees_and_changes_only_what_its_functions_need(apart: Apart) -> None:
    rights = apart.sql(
        "SELECT table_name, string_agg(privilege_type, ' ' ORDER BY privilege_type)"
        " FROM information_schema.table_privileges WHERE grantee = 'cushion_definer' GROUP BY 1"
    )
    writing = {name: current for name, current in rights if current != "SELECT"}
    assert writing == {
        "blobs": "SELECT UPDATE",
        "batches": "DELETE",
        "documents": "DELETE SELECT UPDATE",
        "insight_questions": "DELETE SELECT",
        "insight_sessions": "DELETE SELECT",
        "jobs": "INSERT SELECT UPDATE",
        "revocations": "DELETE SELECT",
        "audit_log": "DELETE INSERT SELECT",  # DELETE: of a tenant that ended, by forget_tenant
        "audit_heads": "DELETE INSERT SELECT UPDATE",
        "dead_letters": "DELETE SELECT",
        "evidence_books": "DELETE",
        "evidence_sheets": "DELETE SELECT",
        "exports": "DELETE SELECT",
        "formula_runs": "DELETE SELECT",
        "idempotency_keys": "DELETE SELECT",
        "invitations": "DELETE SELECT",
        "known_origins": "DELETE SELECT",
        "password_resets": "DELETE SELECT",
        "reports": "DELETE SELECT",
        "sessions": "DELETE SELECT",
        "stream_profiles": "DELETE",
        "tenant_usage": "DELETE INSERT SELECT UPDATE",
        "event_numbers": "DELETE INSERT SELECT UPDATE",
        "alert_figures": "DELETE SELECT",
        "alert_history": "DELETE SELECT",
        "users": "DELETE SELECT",
        "webhook_deliveries": "INSERT SELECT",
        "webhook_queues": "SELECT UPDATE",
        "workbooks": "DELETE SELECT",
    }
    reading = {name for name, _ in rights} - set(writing)
    assert reading == {
        *("tenants", "api_keys", "expired_runs", "evidence_kept"),
        *("workbook_files", "sheets", "tapes", "named_blobs"),
    }
    of_columns = apart.sql(
        "SELECT table_name, string_agg(column_name, ' ' ORDER BY column_name) FROM information_schema.column_privileges"
        " WHERE grantee = 'cushion_definer' AND privilege_type = 'UPDATE' AND table_name IN ('audit_log', 'tenants')"
        " GROUP BY 1 ORDER BY 1"
    )
    assert of_columns == [
        ("audit_log", "details ip_address redacted resource_name user_agent user_email"),
        ("tenants", "emptied_at evidence_until name settings slug updated_at"),
    ]
    columns = apart.sql(
        "SELECT column_name FROM information_schema.column_privileges"
        " WHERE grantee = 'cushion_definer' AND privilege_type = 'UPDATE' AND table_name = 'api_keys' ORDER BY 1"
    )
    assert columns == [("last_used_at",), ("usage_count",)]
    assert apart.sql("SELECT has_schema_privilege('cushion_definer', 'public', 'CREATE')") == [(False,)]


def test_the_running_service_shows_a_tenant_its_own_rows_only(stack: Stack) -> None:
    """The same, end to end: two tenants of the service, one list each."""
    item, second = register(stack.url), register(stack.url)
    for member in (item, second):
        users = member.get("/api/v1/admin/users").json()["items"]
        assert {user["tenant_id"] for user in users} == {member.tenant_id}


def test_the_service_logs_in_as_its_role(stack: Stack) -> None:
    """Not merely SET ROLE on the owner's connection, from which RESET ROLE would lead back."""
    assert register(stack.url)
    rows = stack.sql("SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name = 'cushion'")
    assert rows == [(SERVICE_ROLE,)]
