"""Maintenance and feature flags over HTTP.

Who switches what, whom it stops, who goes on, and what is left of it.
"""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import httpx

from service.app import routes
from service.platform.base.flags import FLAGS
from tests.conftest import PASSWORD, Member, Stack, register, wait_until
from tests.records import path_of
from tests.redis_server import redis_server
from tests.rows import every
from tests.service.health.conftest import SYSTEM_KEY, Operated

ORDERS: list[tuple[str, Any]] = [
    ("/health/reset/language_model", None),
    ("/health/reset-all", None),
    ("/health/maintenance?enable=false", None),
    ("/health/feature-flags", {}),
    ("/health/fallback-cache/clear", None),
]


# Who may --------------------------------------------------------------------------------------------------------------


@every(
    "caller, embedded, external",
    [
        # By hand: on the embedded default every owner and admin, elsewhere who is listed; never a key but the system's.
        ("nobody", 401, 401),
        ("forger", 401, 401),
        ("viewer", 403, 403),
        ("analyst", 403, 403),
        ("admin", 200, 403),
        ("owner", 200, 403),
        ("key", 403, 403),
        ("operator", 200, 200),
        ("operator's admin", 200, 200),
        ("operator's analyst", 403, 403),
        ("operator's key", 403, 403),
        ("system", 401, 200),
    ],
)
def test_who_may_give_orders(operated: Operated, caller: str, embedded: int, external: int) -> None:
    for path, body in ORDERS:
        for at, expected in (("embedded", embedded), ("external", external)):
            answer = (
                operated.ask(caller, "POST", path, at=at, json=body)
                if body is not None
                else operated.ask(caller, "POST", path, at=at)
            )
            assert answer.status_code == expected, (path, at, answer.text)
            assert "x-ratelimit-limit" in answer.headers


@every("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_who_may_give_orders_where_others_reach_the_service(operated: Operated, host: str) -> None:
    """On the embedded default, too, nobody does who is not listed.

    Anybody may have registered.
    """
    slug = operated.slugs["operator"]
    settings = {"CUSHION_HOST": host, "CUSHION_OPERATOR_TENANTS": slug, "CUSHION_SYSTEM_API_KEY": SYSTEM_KEY}
    with operated.stack.another_api(**settings) as url:
        for caller, status in (
            ("owner", 403),
            ("admin", 403),
            ("operator", 200),
            ("operator's admin", 200),
            ("system", 200),
        ):
            for path, body in ORDERS:
                answer = httpx.post(url + path, json=body, headers=operated.headers[caller], timeout=60)
                assert answer.status_code == status, (caller, path, answer.text)


@every(
    "caller, named, at, status",
    [
        ("operator", "owner", "external", 200),
        ("operator", "operator", "external", 200),
        ("operator", None, "external", 404),
        ("system", "owner", "external", 200),
        ("system", None, "external", 404),
        ("owner", "operator", "external", 403),
        ("owner", "operator", "embedded", 403),
        ("owner", "owner", "embedded", 200),
    ],
)
def test_a_tenant_that_is_named(operated: Operated, caller: str, named: str | None, at: str, status: int) -> None:
    tenant = operated.members[named].tenant_id if named else str(uuid4())
    answer = operated.ask(caller, "POST", "/health/feature-flags", at=at, json={}, headers={"X-Tenant-ID": tenant})
    assert answer.status_code == status, answer.text


# Maintenance ----------------------------------------------------------------------------------------------------------


def login(operated: Operated, who: str, at: str, password: str = PASSWORD) -> httpx.Response:
    form = {"username": operated.members[who].email, "password": password}
    return httpx.post(getattr(operated, at) + "/api/v1/auth/login", data=form, timeout=60)


def test_whom_maintenance_stops(operated: Operated) -> None:
    """Everybody but operators, whatever they ask and with whatever token, but for health and for who can end it."""
    books, tenant = "/api/v1/workbooks", "/api/v1/admin/tenant"
    stopped = [
        ("nobody", "GET", books), ("nobody", "GET", "/docs"), ("nobody", "GET", "/openapi.json"),
        ("nobody", "POST", "/api/v1/auth/register"), ("nobody", "POST", "/api/v1/auth/password/forgot"),
        ("forger", "GET", books), ("viewer", "GET", books), ("analyst", "POST", "/api/v1/calculations/evaluate"),
        ("owner", "GET", books), ("owner", "POST", "/api/v1/auth/logout"), ("key", "GET", books),
        ("operator's analyst", "GET", books), ("operator's key", "GET", books),
    ]  # fmt: skip
    passing = [
        ("operator", "GET", books, 200), ("operator's admin", "GET", books, 200),
        ("operator", "GET", "/api/v1/auth/me", 200), ("nobody", "GET", "/health", 200),
        ("nobody", "GET", "/health/ready", 200), ("viewer", "GET", "/health/detailed", 200),
        ("viewer", "POST", "/health/reset-all", 403), ("nobody", "GET", "/api/v1/no-such-thing", 404),
    ]  # fmt: skip
    with operated.maintenance():
        wrong = []
        for caller, method, path in stopped:
            for at in ("external", "embedded"):
                answer = operated.ask(caller, method, path, at=at)
                body = answer.json()
                if (answer.status_code, body["detail"], body["error_code"]) != (
                    503,
                    "Back at noon",
                    "SERVICE_UNAVAILABLE",
                ):
                    wrong.append((caller, method, path, at, answer.text))
                assert int(answer.headers["retry-after"]) >= 1
                assert {"x-ratelimit-limit", "x-request-id"} <= set(answer.headers)
        wrong += [
            (caller, method, path, answer.text)
            for caller, method, path, status in passing
            for answer in [operated.ask(caller, method, path)]
            if answer.status_code != status
        ]
        seen = operated.ask("system", "GET", tenant, headers={"X-Tenant-ID": operated.members["owner"].tenant_id})
        assert seen.status_code == 200, seen.text
        named = operated.ask("operator", "GET", books, headers={"X-Tenant-ID": operated.members["owner"].tenant_id})
        assert named.status_code == 200, "an operator in another tenant goes on, too"
        assert wrong == []
        # The embedded default lets its owners give orders, and do nothing else.
        assert operated.ask("operator", "GET", books, at="embedded").status_code == 503
        for path in ("/health/detailed", "/health/resilience", "/health/degradation", "/health/deep"):
            maintenance = operated.ask("nobody", "GET", path).json()["maintenance"]
            assert (maintenance["enabled"], maintenance["message"]) == (True, "Back at noon"), path
    for at in ("external", "embedded"):
        wait_until(lambda at=at: operated.ask("viewer", "GET", books, at=at).status_code == 200, what="the end")  # type: ignore[misc]


def test_who_gets_tokens_meanwhile(operated: Operated) -> None:
    """Who could end it, and nobody else; a refused refresh token is not used up."""
    refresh = {who: login(operated, who, "external").json()["refresh_token"] for who in ("analyst", "operator")}

    def renewed(who: str) -> httpx.Response:
        body = {"refresh_token": refresh[who]}
        return httpx.post(operated.external + "/api/v1/auth/refresh", json=body, timeout=60)

    with operated.maintenance():
        rows = [
            ("operator", "external", 200), ("operator's admin", "external", 200),
            ("operator's analyst", "external", 503), ("owner", "external", 503), ("owner", "embedded", 200),
            ("admin", "embedded", 200), ("analyst", "embedded", 503), ("viewer", "external", 503),
        ]  # fmt: skip
        answers = [(*row, login(operated, row[0], row[1])) for row in rows]
        assert [(who, at, answer.status_code) for who, at, _, answer in answers] == [row[:3] for row in rows]
        assert {answer.json()["detail"] for *_, status, answer in answers if status == 503} == {"Back at noon"}
        assert login(operated, "viewer", "external", "wrong password").status_code == 401
        assert (renewed("operator").status_code, renewed("analyst").status_code) == (200, 503)
    wait_until(lambda: operated.ask("viewer", "GET", "/api/v1/workbooks").status_code == 200, what="the end")
    assert renewed("analyst").status_code == 200


def test_a_change_is_seen_at_once_where_the_gate_is_asked_and_in_a_second_elsewhere(operated: Operated) -> None:
    for enable, status in ((True, 503), (False, 200)):
        assert operated.maintain(enable).status_code == 200
        if enable:
            assert operated.ask("owner", "GET", "/api/v1/workbooks", at="embedded").status_code == status
        wait_until(
            lambda status=status: httpx.get(operated.embedded + "/openapi.json").status_code == status,
            seconds=10,
            what="the change",  # type: ignore[misc]
        )


def test_maintenance_outlives_redis(operated: Operated, stack: Stack) -> None:
    """A flush, a Redis that goes, and one that never knew.

    And it can be ended while Redis is away.
    """
    from redis import Redis

    with redis_server() as own, stack.another_api(CUSHION_REDIS_URL=own.url + "?socket_timeout=1") as url:

        def asked() -> int:
            return operated.members["owner"].http.get(url + "/api/v1/workbooks").status_code

        assert asked() == 200
        with operated.maintenance():
            with Redis.from_url(stack.redis_url) as redis:
                redis.delete("cushion:switches")
                assert operated.ask("owner", "GET", "/api/v1/workbooks").status_code == 503
                assert operated.ask("operator", "GET", "/api/v1/workbooks").status_code == 200
                assert redis.hget("cushion:switches", "version"), "the copy is made again"
            wait_until(lambda: asked() == 503, what="another Redis's process")
            own.stop()
            assert asked() == 503
            owner = operated.members["owner"].http
            assert owner.post(url + "/health/maintenance?enable=false", timeout=60).status_code == 200
            assert asked() == 200
            wait_until(lambda: operated.ask("owner", "GET", "/api/v1/workbooks").status_code == 200, what="the others")


def test_ending_it_passes_every_limit(operated: Operated, stack: Stack) -> None:
    few = {f"CUSHION_{name}": " ".join("3333") for name in ("REQUESTS_PER_MINUTE", "REQUEST_BURST")}
    with stack.another_api(CUSHION_RATE_LIMITS="on", **few) as url:
        owner = register(url)
        assert 429 in [owner.get("/api/v1/auth/me").status_code for _ in range(5)]
        for enable in ("true", "false"):
            answer = owner.post(f"/health/maintenance?enable={enable}")
            assert (answer.status_code, answer.json()["enabled"]) == (200, enable == "true")


@every(
    "query",
    ["", "enable=maybe", "enable=true&message=", "enable=true&message=" + "x" * 201, "enable=true&message=a%0ab",
     "enable=true&message=a%00b", "enable=true&message=a%e2%80%aeb", "enable=true&expected_minutes=0",
     "enable=true&expected_minutes=99999"],
)  # fmt: skip
def test_what_maintenance_is_not_told(operated: Operated, query: str) -> None:
    assert operated.ask("system", "POST", f"/health/maintenance?{query}").status_code == 422
    assert operated.ask("nobody", "GET", "/health/detailed").json()["maintenance"]["enabled"] is False


def test_maintenance_is_audited_as_an_act_of_the_operators_tenant(operated: Operated, stack: Stack) -> None:
    def events(who: str) -> list[dict[str, Any]]:
        body = operated.members[who].get("/api/v1/admin/audit-logs?action=maintenance.changed").json()
        return list(reversed(body["items"]))

    before, owners = len(events("operator")), events("owner")
    named = {"X-Tenant-ID": operated.members["owner"].tenant_id}
    default = operated.ask("operator", "POST", "/health/maintenance?enable=true", headers=named).json()
    assert default["message"] == "Scheduled maintenance in progress"
    operated.maintain(True, caller="operator", message="Longer", expected_minutes=30)
    late = operated.ask("viewer", "GET", "/api/v1/workbooks")
    assert (late.json()["detail"], 1700 < int(late.headers["retry-after"]) <= 1800) == ("Longer", True)
    for _ in range(2):  # the second changes nothing
        operated.maintain(False, caller="operator")
    assert [(e["details"]["enabled"], e["details"]["message"]) for e in events("operator")[before:]] == [
        (True, "Scheduled maintenance in progress"), (True, "Longer"), (False, None),
    ]  # fmt: skip
    assert {event["user_email"] for event in events("operator")} == {operated.members["operator"].email}
    assert events("owner") == owners, "the tenant that was named has no part in it"


def test_jobs_wait_while_it_lasts(operated: Operated, stack: Stack) -> None:
    tenant, job = operated.members["owner"].tenant_id, f"task_{uuid4().hex}"

    def state() -> str:
        return str(stack.sql("SELECT status FROM jobs WHERE id = %s", [job])[0][0])

    with operated.maintenance():
        insert = (
            "INSERT INTO jobs (tenant_id, id, queue, name, arguments) VALUES (%s, %s, 'default', 'alerts.send', %s)"
        )
        stack.sql(insert, [tenant, job, f'{{"alert_id": "{uuid4()}"}}'])
        time.sleep(1.2)
        assert state() == "pending"
    wait_until(lambda: stack.sql("SELECT attempt FROM jobs WHERE id = %s", [job])[0][0] > 0, what="the hand-over")
    stack.sql("DELETE FROM jobs WHERE id = %s", [job])


# Feature flags --------------------------------------------------------------------------------------------------------

FLAGGED = [row for row in routes() if row.flag]


def test_every_flag_gates_something() -> None:
    refused = {row.flag for row in FLAGGED}
    assert refused == {name for name, flag in FLAGS.items() if flag.refusal}


def test_a_tenants_override_stops_every_route_of_a_flag_for_it_alone(operated: Operated) -> None:
    """For its users and keys, before anything is looked at.

    A flag that is off for all can be on for one.
    """
    own, second = operated.slugs["operator"], operated.members["owner"]
    named = {row.flag for row in FLAGGED if row.access != "public"}
    with operated.flagged(**{flag: {"tenants": {own: False}} for flag in named}):
        wrong = []
        for row in FLAGGED:
            for caller in ("operator", "operator's key"):
                answer = operated.ask(caller, row.method, path_of(row))
                expected = (503, FLAGS[row.flag].refusal) if row.flag in named else (422, "Validation error")
                if answer.status_code != 403 and (answer.status_code, answer.json()["detail"]) != expected:
                    wrong.append((row.path, caller, answer.text))
                assert answer.status_code != 503 or int(answer.headers["retry-after"]) >= 1
            if second.http.request(row.method, path_of(row)).status_code == 503:
                wrong.append((row.path, "another tenant"))
        assert wrong == []
    with operated.flagged(exports={"enabled": False, "tenants": {second.tenant_id.upper(): True}}, registration=False):
        statuses = [operated.ask(who, "POST", "/api/v1/exports", json={}).status_code for who in ("operator", "owner")]
        assert statuses == [503, 422]
        closed = httpx.post(operated.external + "/api/v1/auth/register", json={})
        assert (closed.status_code, closed.json()["detail"]) == (503, "Registration is closed for now")
    assert operated.ask("operator", "POST", "/api/v1/exports", json={}).status_code == 422


def test_what_is_seen_of_flags(operated: Operated) -> None:
    """By everybody what holds for all.

    By who runs the deployment every override, by an owner the own one.
    """
    own, second = operated.members["owner"], operated.members["operator"]
    with operated.flagged(
        exports={"enabled": False, "tenants": {own.tenant_id: True, operated.slugs["operator"]: False}}
    ):
        answer = operated.ask("nobody", "GET", "/health/feature-flags")
        row = next(flag for flag in answer.json()["flags"] if flag["name"] == "exports")
        assert (row["enabled"], row["default"], row["overrides"]) == (False, True, 2)
        for secret in (own.tenant_id, second.tenant_id, *operated.slugs.values()):
            assert secret not in answer.text
        assert operated.flags().json()["tenants"] == {"exports": {own.tenant_id: True, second.tenant_id: False}}
        assert operated.flags("owner", at="embedded").json()["tenants"] == {"exports": {own.tenant_id: True}}
    assert operated.flags().json()["tenants"] == {}
    assert all(flag["enabled"] for flag in operated.ask("nobody", "GET", "/health/feature-flags").json()["flags"])


@every(
    "flags, loc, message",
    [
        ({"export": False}, ["flags", "export"], "there is no such flag; did you mean exports?"),
        ({"qqq": True}, ["flags", "qqq"], "there is no such flag; there are ai_chat, alerts"),
        ({"exports": {"tenants": {"org-none": True}}}, ["flags", "exports", "tenants", "org-none"], "there is no such"),
        (
            {"exports": {"enable": True}},
            ["flags", "exports", "enable"],
            "there is no field 'enable'; did you mean enabled?",
        ),
        ({"exports": "off"}, ["flags", "exports"], "expected true or false or an object, got 'off'"),
        (
            {"exports": {"tenants": {str(n): True for n in range(101)}}},
            ["flags", "exports", "tenants"],
            "expected at most 100 entries, got 101",
        ),
    ],
)
def test_what_flags_are_not_told(operated: Operated, flags: Any, loc: list[str], message: str) -> None:
    answer = operated.flags(**flags)
    assert answer.status_code == 422, answer.text
    fault = answer.json()["errors"][0]
    assert fault["loc"][1:][: len(loc)] == loc, fault
    assert fault["message"].startswith(message), fault


def test_a_misspelt_slug_is_told_to_who_runs_the_deployment_alone(operated: Operated) -> None:
    slug = operated.slugs["operator"]
    message = operated.flags(exports={"tenants": {slug[:-1] + "~": True}}).json()["errors"][0]["message"]
    assert message.startswith("there is no such tenant; did you mean org-"), message
    for name in (slug, operated.members["operator"].tenant_id, "org-nobody"):
        answer = operated.flags("owner", at="embedded", exports={"tenants": {name: False}})
        assert (answer.status_code, answer.json()["detail"]) == (403, "Insufficient permissions"), name
    assert (
        operated.flags("owner", at="embedded", exports={"tenants": {operated.slugs["owner"]: None}}).status_code == 200
    )


def test_a_change_of_flags_is_audited_with_what_changed(operated: Operated) -> None:
    operated.flags("operator", exports={"tenants": {operated.slugs["operator"]: False}}, webhooks=True, alerts={})
    operated.flags("operator", exports={"tenants": {operated.slugs["operator"]: None}}, webhooks={"enabled": None})
    items = operated.members["operator"].get("/api/v1/admin/audit-logs?action=feature_flags.changed").json()["items"]
    tenant = operated.members["operator"].tenant_id
    assert [event["details"]["changes"] for event in reversed(items[:2])] == [
        {"exports": {"tenants": {tenant: False}}, "webhooks": {"enabled": True}},
        {"exports": {"tenants": {tenant: None}}, "webhooks": {"enabled": None}},
    ]


def test_resets_are_audited_and_the_system_key_without_a_tenant_leaves_no_entry(
    operated: Operated, stack: Stack
) -> None:
    for caller in ("operator", "system"):
        for path, _ in (ORDERS[0], ORDERS[4]):
            assert operated.ask(caller, "POST", path).status_code == 200

    def read_switches() -> dict[str, Any]:
        items = operated.members["operator"].get("/api/v1/admin/audit-logs?page_size=100").json()["items"]
        return {item["action"]: item["details"] for item in items}

    wait_until(lambda: {"circuit_breaker.reset", "fallback_cache.cleared"} <= read_switches().keys(), what="the events")
    assert "calls" not in read_switches()["circuit_breaker.reset"], "an act of its own, not one of many"
    nobodys = stack.sql("SELECT count(*) FROM audit_log WHERE tenant_id = '00000000-0000-0000-0000-000000000000'")
    assert nobodys == [(0,)]


def test_a_new_tenants_owner_is_no_operator_elsewhere(operated: Operated) -> None:
    usurper: Member = register(operated.embedded)
    headers = {"Authorization": usurper.http.headers["Authorization"]}
    answer = httpx.post(operated.external + "/health/maintenance?enable=true", headers=headers, timeout=60)
    assert answer.status_code == 403
    wrong = httpx.post(operated.external + "/health/maintenance?enable=true", headers={"X-API-Key": SYSTEM_KEY + "x"})
    assert wrong.status_code == 401
