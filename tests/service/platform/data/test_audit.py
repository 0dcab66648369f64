"""The audit log's chain.

Nobody changes it, writers at once leave no gap, and what was tampered with is found.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import msgspec
import psycopg
import pytest

from service.platform.data.audit import START, Break, NoRecord, Record, breaks, hash_entry, parse
from service.platform.data.database import SERVICE_ROLE
from service.platform.data.migrations import migrate
from service.platform.unit.context import Resources, Subject, Unit
from tests.conftest import Stack
from tests.service.platform.conftest import Apart

COLUMNS = """
    tenant_id::text, sequence, id::text, occurred_at, user_id::text, user_email, api_key_id::text, action,
    resource_type, resource_id, resource_name, ip_address, user_agent, request_id, details::text, hash
"""
PARTITIONS = ["audit_log_before", "audit_log_rest"]


def rows(apart: Apart, tenant: UUID) -> list[tuple[Any, ...]]:
    return apart.sql(f"SELECT {COLUMNS} FROM audit_log WHERE tenant_id = %s ORDER BY sequence", [tenant])


def expected(previous: bytes, row: tuple[Any, ...]) -> bytes:
    """The hash by its description.

    SHA-256 of the hash before and the fields as `<octets>:<bytes>`, null as `-`.
    """
    answer = previous
    for value in row[:-1]:
        if value is None:
            answer += b"-"
            continue
        text = written(value) if isinstance(value, datetime) else str(value)
        answer += str(len(text.encode())).encode() + b":" + text.encode()
    return hashlib.sha256(answer).digest()


def written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_whole(apart: Apart, tenant: UUID) -> bool:
    previous = bytes(32)
    for number, row in enumerate(rows(apart, tenant), start=1):
        if row[1] != number or row[-1] != expected(previous, row):
            return False
        previous = row[-1]
    head = apart.sql("SELECT sequence, hash FROM audit_heads WHERE tenant_id = %s", [tenant])
    return head == [(len(rows(apart, tenant)), previous)]


async def audited(shared: Resources, tenant: UUID, action: str, subject: Subject | None = None, **who: Any) -> None:
    unit = Unit(shared, tenant, request_id="request")
    await unit.audit(action, subject, **who)
    await unit.commit()


def written_by_service(apart: Apart, tenant: UUID, count: int = 3) -> None:
    async def write(shared: Resources) -> None:
        for number in range(count):
            await audited(shared, tenant, "workbook.uploaded", Subject("workbook", str(number), f"Größe {number}"))

    apart.run(write)


def connection(apart: Apart, tenant: UUID, *, role: str | None) -> psycopg.Connection[Any]:
    opened = psycopg.connect(apart.database_url, options=f"-c role={role}" if role else None)
    opened.execute("SELECT set_config('cushion.tenant', %s, true)", [str(tenant)])
    return opened


def entry(**changed: Any) -> dict[str, Any]:
    return {"id": str(uuid4()), "occurred_at": "2026-01-02T03:04:05.6Z", "action": "a.b", "details": {}, **changed}


def appended(opened: psycopg.Connection[Any], tenant: UUID, entries: list[dict[str, Any]] | str) -> int:
    text = entries if isinstance(entries, str) else json.dumps(entries)
    row = opened.execute("SELECT append_audit(%s, %s)", [tenant, text]).fetchone()
    assert row is not None
    return int(row[0])


# The chain ----------------------------------------------------------------------------------------------------------


def test_entries_are_numbered_and_hashed_as_described(clean: Apart) -> None:
    tenant, user, key = clean.tenant(), uuid4(), uuid4()

    async def write(shared: Resources) -> None:
        await audited(shared, tenant, "user.logged_in")
        subject = Subject("workbook", "1", "Größe \U0001f4b6: 5", {"b": 1.50, "a": ["é", None]})
        who = {"user_email": "olive@example.com", "ip_address": "192.0.2.7", "user_agent": "x/1 -", "request_id": "r"}
        await audited(shared, tenant, "workbook.uploaded", subject, user_id=user, api_key_id=key, **who)

    clean.run(write)
    result = rows(clean, tenant)
    assert [row[1] for row in result] == [1, 2]
    assert result[1][4:14] == (
        *(str(user), "olive@example.com", str(key), "workbook.uploaded", "workbook", "1", "Größe \U0001f4b6: 5"),
        *("192.0.2.7", "x/1 -", "r"),
    )
    assert result[1][14] == '{"b":1.5,"a":["é",null]}', "the text as it was written, its keys in their order"
    assert is_whole(clean, tenant)


def test_the_hash_that_anybody_can_make_is_the_databases(clean: Apart) -> None:
    tenant = clean.tenant()
    written_by_service(clean, tenant)
    assert list(breaks(exported(clean, tenant))) == []
    first = exported(clean, tenant)[0]
    assert hash_entry(START, first) == expected(bytes(32), rows(clean, tenant)[0])


def test_details_stay_the_text_that_was_given(clean: Apart) -> None:
    tenant = clean.tenant()
    text = json.dumps([entry(details="@")]).replace('"@"', '{"z":  1.500, "a":"\\u00e9"}')
    with connection(clean, tenant, role=SERVICE_ROLE) as opened:
        assert appended(opened, tenant, text) == 1
    assert rows(clean, tenant)[0][14] == '{"z":  1.500, "a":"\\u00e9"}'
    assert is_whole(clean, tenant)


def test_fields_cannot_flow_into_each_other(clean: Apart) -> None:
    tenant = clean.tenant()
    with connection(clean, tenant, role=SERVICE_ROLE) as opened:
        appended(opened, tenant, [entry(resource_type="ab", resource_id="c"), entry(resource_type="-")])
    ab, dash = exported(clean, tenant)
    replaced = msgspec.structs.replace
    moved = replaced(ab, resource_type="a", resource_id="bc")
    assert hash_entry(START, moved) != hash_entry(START, ab)
    assert hash_entry(START, replaced(dash, resource_type=None, resource_id="-")) != hash_entry(START, dash)


def test_fifty_writers_at_once_leave_one_chain_without_a_gap(clean: Apart) -> None:
    tenant, second = clean.tenant(), clean.tenant()

    async def write(shared: Resources) -> None:
        both = [audited(shared, tenant if number % 5 else second, f"action.{number}") for number in range(50)]
        await asyncio.gather(*both)

    clean.run(write)
    assert (len(rows(clean, tenant)), len(rows(clean, second))) == (40, 10)
    assert is_whole(clean, tenant)
    assert is_whole(clean, second)


def test_connections_of_several_processes_leave_one_chain(clean: Apart) -> None:
    tenant = clean.tenant()

    def write(number: int) -> int:
        with connection(clean, tenant, role=SERVICE_ROLE) as opened:
            return appended(opened, tenant, [entry(action=f"a.{number}"), entry(action=f"b.{number}")])

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(write, range(50))) == 100
    assert len(rows(clean, tenant)) == 100
    assert is_whole(clean, tenant)


def test_an_entry_that_is_known_is_passed_over_whatever_comes_with_it(clean: Apart) -> None:
    tenant = clean.tenant()
    item, two, three = (entry(action=f"a.{number}") for number in range(3))
    with connection(clean, tenant, role=SERVICE_ROLE) as opened:
        assert appended(opened, tenant, []) == 0
        assert appended(opened, tenant, [item, item]) == 1
        assert appended(opened, tenant, [item]) == 0
        assert appended(opened, tenant, [two, item, three, two]) == 2
        assert appended(opened, tenant, [three, two, item]) == 0
    assert [row[7] for row in rows(clean, tenant)] == ["a.0", "a.1", "a.2"]
    assert is_whole(clean, tenant)


def test_an_entry_with_an_identifier_of_another_tenant_is_another_entry(clean: Apart) -> None:
    item, second, same = clean.tenant(), clean.tenant(), entry()
    for tenant in (item, second):
        with connection(clean, tenant, role=SERVICE_ROLE) as opened:
            assert appended(opened, tenant, [same]) == 1
    assert is_whole(clean, item)
    assert is_whole(clean, second)


def test_what_an_entry_says_of_its_tenant_number_and_hash_is_not_heard(clean: Apart) -> None:
    tenant, second = clean.tenant(), clean.tenant()
    with connection(clean, tenant, role=SERVICE_ROLE) as opened:
        appended(opened, tenant, [entry(tenant_id=str(second), sequence=77, hash="\\x00")])
    assert rows(clean, second) == []
    assert is_whole(clean, tenant)
    assert len(rows(clean, tenant)) == 1


@pytest.mark.parametrize("set_to", ["other", "none"])
def test_entries_of_another_tenant_than_the_transactions_are_refused(clean: Apart, set_to: str) -> None:
    tenant = clean.tenant()
    with psycopg.connect(clean.database_url, options=f"-c role={SERVICE_ROLE}") as opened:
        if set_to == "other":
            opened.execute("SELECT set_config('cushion.tenant', %s, true)", [str(uuid4())])
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not of this tenant"):
            appended(opened, tenant, [entry()])
    assert rows(clean, tenant) == []


# With the change it tells of ----------------------------------------------------------------------------------------


def test_the_entry_and_the_change_commit_together_or_not_at_all(clean: Apart) -> None:
    tenant = clean.tenant()

    async def change(shared: Resources) -> None:
        unit = Unit(shared, tenant, request_id="request")
        await unit.audit("tenant.updated", None)
        await unit.execute("UPDATE tenants SET name = 'Changed' WHERE id = %s", [tenant])
        await unit.commit()
        unit = Unit(shared, tenant, request_id="request")
        await unit.execute("UPDATE tenants SET name = 'Undone' WHERE id = %s", [tenant])
        await unit.audit("tenant.undone", None)
        await unit.rollback(RuntimeError("no"))
        await unit.commit()
        unit = Unit(shared, tenant, request_id="request")
        await unit.execute("UPDATE tenants SET name = 'Refused' WHERE id = %s", [tenant])
        await unit.audit("null\x00character", None)  # what the log cannot hold takes the change with it
        with pytest.raises(psycopg.DataError) as refused:
            await unit.commit()
        await unit.rollback(refused.value)

    clean.run(change)
    assert [row[7] for row in rows(clean, tenant)] == ["tenant.updated"]
    assert clean.sql("SELECT name FROM tenants WHERE id = %s", [tenant]) == [("Changed",)]
    assert is_whole(clean, tenant)


def test_the_chain_is_locked_at_the_end_only(clean: Apart) -> None:
    """A unit that has told its event, and works on, keeps nobody waiting."""
    tenant = clean.tenant()

    async def overtake(shared: Resources) -> None:
        slow = Unit(shared, tenant, request_id="slow")
        await slow.audit("slow.done", None)
        await slow.execute("SELECT 1")
        await asyncio.wait_for(audited(shared, tenant, "fast.done"), 5)
        await slow.commit()

    clean.run(overtake)
    assert [row[7] for row in rows(clean, tenant)] == ["fast.done", "slow.done"]


# Append only --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [SERVICE_ROLE, None], ids=["service", "owner"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET action = 'x'",
        "UPDATE audit_log SET action = 'x' WHERE false",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "INSERT INTO audit_log SELECT * FROM audit_log",
        "INSERT INTO audit_log (tenant_id, id, occurred_at, action, sequence, hash)"
        " VALUES (current_tenant(), gen_random_uuid(), now(), 'x', 4, '')",
        "INSERT INTO audit_log SELECT * FROM audit_log"
        " ON CONFLICT (tenant_id, id, occurred_at) DO UPDATE SET action = 'x'",
        "MERGE INTO audit_log a USING audit_log b ON a.id = b.id WHEN MATCHED THEN UPDATE SET action = 'x'",
        *(f"UPDATE {name} SET action = 'x'" for name in PARTITIONS),
        *(f"DELETE FROM {name}" for name in PARTITIONS),
        *(f"TRUNCATE {name}" for name in PARTITIONS),
        *(f"INSERT INTO {name} SELECT * FROM {name}" for name in PARTITIONS),
    ],
)
def test_nobody_changes_the_log(apart: Apart, kept_tenant: UUID, role: str | None, statement: str) -> None:
    with (
        connection(apart, kept_tenant, role=role) as opened,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match=r"append_audit only|permission denied"),
    ):
        opened.execute(statement)
    assert is_whole(apart, kept_tenant)
    assert len(rows(apart, kept_tenant)) == 3


@pytest.mark.parametrize("statement", ["UPDATE audit_log SET action = 'x'", "TRUNCATE audit_log_before"])
def test_stilled_triggers_still_refuse(apart: Apart, kept_tenant: UUID, statement: str) -> None:
    with connection(apart, kept_tenant, role=None) as opened:
        opened.execute("SET session_replication_role = replica")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append_audit only"):
            opened.execute(statement)
    assert is_whole(apart, kept_tenant)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT append_entries(current_tenant(), '[]')",
        """SELECT append_audit(current_tenant(), '[{"action": "user.redacted"}]')""",
        """SELECT append_audit(current_tenant(), '[{"action": "a.b", "action": "user.redacted"}]')""",
        "SELECT redact_audit(NULL, NULL, 0, 10)",
        "SELECT redact_audit(NULL, 'ann@example.com', 0, 10)",
        "SELECT redact_audit('{present}', 'ann@example.com', 0, 10)",
        "SELECT redact_audit('{removed}', NULL, 0, 10)",
        "SELECT redact_audit('{removed}', 'Größe 1', 0, 10)",
        """SELECT redact_audit('{removed}', '"a":1,"b":"@x"', 0, 10)""",
        "SELECT redact_audit('{other}', 'ann@example.com', 0, 10)",
    ],
)
def test_the_service_can_neither_feign_an_erasure_nor_change_more_by_one(
    apart: Apart, kept_tenant: UUID, statement: str
) -> None:
    people = {
        "present": apart.user(kept_tenant),
        "removed": apart.user(kept_tenant),
        "other": apart.user(apart.tenant()),
    }
    gone = [people["removed"], people["other"]]
    apart.sql("UPDATE users SET removed_at = now(), status = 'inactive' WHERE id = ANY (%s)", [gone])
    for name, user in people.items():
        statement = statement.replace(f"{{{name}}}", str(user))
    with (
        connection(apart, kept_tenant, role=SERVICE_ROLE) as opened,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        opened.execute(statement)
    assert is_whole(apart, kept_tenant)


def test_the_service_only_reads_the_log_and_its_heads(apart: Apart) -> None:
    for table in ("audit_log", "audit_heads"):
        for right in ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"):
            assert apart.sql("SELECT has_table_privilege(%s, %s, %s)", [SERVICE_ROLE, table, right]) == [(False,)]
        assert apart.sql("SELECT has_table_privilege(%s, %s, 'SELECT')", [SERVICE_ROLE, table]) == [(True,)]


def test_what_the_service_puts_in_front_of_the_log_is_not_taken_for_it(clean: Apart) -> None:
    tenant = clean.tenant()
    with connection(clean, tenant, role=SERVICE_ROLE) as opened:
        for table in ("audit_log", "audit_heads"):
            opened.execute(f"CREATE TEMP TABLE {table} (LIKE public.{table})")
        opened.execute(
            "CREATE FUNCTION pg_temp.current_tenant() RETURNS uuid LANGUAGE sql RETURN gen_random_uuid();"
            "CREATE FUNCTION pg_temp.audit_hash(bytea, public.audit_log) RETURNS bytea LANGUAGE sql RETURN $1;"
            "SET search_path = pg_temp, public"
        )
        assert appended(opened, tenant, [entry()]) == 1
        assert opened.execute("SELECT (SELECT count(*) FROM audit_log), count(*) FROM audit_heads").fetchone() == (0, 0)
    assert len(rows(clean, tenant)) == 1
    assert is_whole(clean, tenant)


def test_an_open_schema_is_closed_by_the_migrations(stack: Stack) -> None:
    """As in a database that an older PostgreSQL made.

    Whoever may create there could stand in for what is called.
    """
    name = f"open_{uuid4().hex[:12]}"
    stack.sql(f"CREATE DATABASE {name}")
    url = urlunsplit(urlsplit(stack.database_url)._replace(path=f"/{name}"))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    migrate(url)
    with psycopg.connect(url) as owner:
        for role in (SERVICE_ROLE, "cushion_definer"):
            may = owner.execute("SELECT has_schema_privilege(%s, 'public', 'CREATE')", [role]).fetchone()
            assert may == (False,)
    stack.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def kept_tenant(apart: Apart) -> UUID:
    """A tenant with three entries that every test leaves as they are."""
    tenant = apart.tenant()
    written_by_service(apart, tenant)
    return tenant


# Found out ----------------------------------------------------------------------------------------------------------


def exported(apart: Apart, tenant: UUID) -> list[Record]:
    previous = bytes(32)
    records = []
    for row in rows(apart, tenant):
        fields = dict(zip(Record.__struct_fields__, (*row[:-1], previous.hex(), row[-1].hex()), strict=True))
        fields["timestamp"] = written(fields["timestamp"])
        fields["details"] = msgspec.Raw(fields["details"].encode())
        records.append(Record(**fields))
        previous = row[-1]
    return records


def test_an_entry_changed_by_the_owner_is_found(clean: Apart) -> None:
    tenant = clean.tenant()
    written_by_service(clean, tenant, 5)
    with psycopg.connect(clean.database_url) as owner:
        owner.execute("ALTER TABLE audit_log DISABLE TRIGGER USER")
        owner.execute("UPDATE audit_log SET resource_name = 'Other' WHERE tenant_id = %s AND sequence = 3", [tenant])
        owner.execute("ALTER TABLE audit_log ENABLE ALWAYS TRIGGER audit_log_keep")
        owner.execute("ALTER TABLE audit_log ENABLE TRIGGER audit_log_append")
    assert not is_whole(clean, tenant)
    assert list(breaks(exported(clean, tenant))) == [Break(3, "the entry is not the one that was hashed")]


def chain(count: int) -> list[Record]:
    """A whole chain, made by the description alone."""
    records: list[Record] = []
    tenant, previous = str(uuid4()), bytes(32)
    for number in range(1, count + 1):
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        row = (
            tenant,
            number,
            str(uuid4()),
            moment,
            None,
            "o@example.com",
            None,
            "a.b",
            "w",
            "1",
            "é",
            *[None] * 3,
            "{}",
        )
        result = expected(previous, (*row, b""))
        fields = dict(zip(Record.__struct_fields__, (*row, previous.hex(), result.hex()), strict=True))
        fields |= {"timestamp": written(moment), "details": msgspec.Raw(b"{}")}
        records.append(Record(**fields))
        previous = result
    return records


@pytest.mark.parametrize("field", [name for name in Record.__struct_fields__ if name not in ("sequence", "hash")])
def test_every_field_is_held_by_the_hash(field: str) -> None:
    records = chain(3)
    second = msgspec.Raw(b'{"x":1}') if field == "details" else "00" * 32
    records[1] = msgspec.structs.replace(records[1], **{field: second})
    assert next(breaks(records)).sequence == 2


def test_a_whole_chain_has_no_break() -> None:
    assert list(breaks([])) == []
    assert list(breaks(chain(6))) == []


def test_entries_cut_off_at_the_beginning_are_found_where_no_filter_explains_it() -> None:
    rest = chain(6)[2:]
    assert list(breaks(rest)) == [Break(3, "the entries before it are missing")]
    assert list(breaks(rest, gaps=True)) == []


def test_entries_left_out_put_in_or_moved_are_found() -> None:
    records, second = chain(5), chain(5)
    assert next(breaks(records[:1] + records[2:])) == Break(3, "the entries after number 1 are missing")
    assert next(breaks([*records[:2], records[1], *records[2:]])) == Break(2, "the entry stands behind number 2")
    assert next(breaks([records[1], records[0]], gaps=True)) == Break(1, "the entry stands behind number 2")
    assert next(breaks([*records[:2], second[2]])) == Break(3, "the entry is another tenant's")
    foreign = msgspec.structs.replace(second[2], tenant_id=records[0].tenant_id)
    assert next(breaks([*records[:2], foreign])).reason == "the entry before it is not the one that it follows on"


def test_a_first_entry_that_follows_on_another_is_found() -> None:
    (record,) = chain(1)
    late = msgspec.structs.replace(record, previous_hash="11" * 32)
    late = msgspec.structs.replace(late, hash=hash_entry(b"\x11" * 32, late).hex())
    assert list(breaks([late])) == [Break(1, "the first entry follows on another one")]


@pytest.mark.parametrize("previous", ["", "zz" * 32, "00" * 31])
def test_a_previous_hash_that_is_none_is_a_break(previous: str) -> None:
    record = msgspec.structs.replace(chain(2)[1], previous_hash=previous)
    assert len(list(breaks([record], gaps=True))) == 1


def test_a_filtered_export_may_leave_entries_out_but_not_change_them() -> None:
    records = chain(6)
    some = [records[0], records[2], records[3], records[5]]
    assert list(breaks(some, gaps=True)) == []
    some[1] = msgspec.structs.replace(some[1], action="other")
    assert [result.sequence for result in breaks(some, gaps=True)] == [3]
    assert [result.sequence for result in breaks([records[3], records[2]], gaps=True)] == [3]


@pytest.mark.parametrize(
    "change",
    [
        lambda line: b"",
        lambda line: b"{}",
        lambda line: b"[" * 100_000,
        lambda line: line[:-1],
        lambda line: line.replace(b'"action":', b'"more":1,"action":'),
        lambda line: line.replace(b'"action":', b'"action":"evil","action":'),
        lambda line: line.replace(b'"sequence":1', b'"sequence":"1"'),
        lambda line: line.replace(b'"sequence":1', b'"sequence":' + b"1" * 5_000),
        lambda line: line.replace(b"a.b", b"\xff"),
    ],
)
def test_a_line_that_is_no_record_is_refused(change: Any) -> None:
    line = msgspec.json.encode(chain(1)[0])
    assert parse(line + b"\n") == parse(line.replace(b'":', b'" : '))
    with pytest.raises(NoRecord):
        parse(change(line))
