"""Who may call what.

Every endpoint with every role, every scope, the system key and operators, by a table.
"""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from service.platform.base.caller import KEY_SCOPES
from service.platform.route.api import Route
from tests.conftest import Member, Stack, register
from tests.records import GUARDED, ROWS, each, error_of, forbidden, identity, path_of
from tests.rows import every
from tests.security.conftest import SYSTEM_KEY, Deployment

# By hand, from the specification: what each endpoint asks of its caller.
TABLE = """
public                  POST    /api/v1/auth/register
public                  POST    /api/v1/auth/login
public                  POST    /api/v1/auth/refresh
public                  POST    /api/v1/auth/accept-invitation
public                  POST    /api/v1/auth/password/forgot
public                  POST    /api/v1/auth/password/reset
any                     GET     /api/v1/auth/me
public                  GET     /api/v1/auth/options
user                    POST    /api/v1/auth/logout
user                    POST    /api/v1/auth/revoke-all-tokens
user                    POST    /api/v1/auth/password/change
user                    POST    /api/v1/auth/2fa/enroll
user                    POST    /api/v1/auth/2fa/verify
user                    POST    /api/v1/auth/2fa/disable
calculations:execute    POST    /api/v1/calculations/evaluate
calculations:execute    POST    /api/v1/calculations/batch
calculations:execute    POST    /api/v1/calculations/validate
calculations:execute    GET     /api/v1/calculations/functions
calculations:execute    GET     /api/v1/calculations/translate
compliance:write        POST    /api/v1/compliance/run
compliance:read         GET     /api/v1/compliance/results/{result_id}
compliance:read         GET     /api/v1/workbooks/{workbook_id}/loans
compliance:read         GET     /api/v1/console/overview
compliance:read         GET     /api/v1/compliance/results/{run_id}/tests/{test_id}/parts
compliance:read         GET     /api/v1/compliance/suites
compliance:write        POST    /api/v1/compliance/thresholds
compliance:read         GET     /api/v1/compliance/thresholds
compliance:write        DELETE  /api/v1/compliance/thresholds/{threshold_id}
compliance:read         GET     /api/v1/compliance/history
compliance:read         GET     /api/v1/compliance/lookback
compliance:read         POST    /api/v1/compliance/evidence/lookback
mappings:write          POST    /api/v1/mappings
mappings:read           GET     /api/v1/mappings
mappings:read           GET     /api/v1/mappings/{mapping_id}
mappings:write          PATCH   /api/v1/mappings/{mapping_id}
mappings:write          DELETE  /api/v1/mappings/{mapping_id}
mappings:read           POST    /api/v1/mappings/{mapping_id}/validate
compliance:write        POST    /api/v1/reconciliation/tapes/upload
compliance:read         GET     /api/v1/reconciliation/tapes
compliance:read         GET     /api/v1/reconciliation/tapes/{tape_id}
compliance:write        PATCH   /api/v1/reconciliation/tapes/{tape_id}
compliance:read         GET     /api/v1/reconciliation/tapes/{tape_id}/loans
compliance:read         GET     /api/v1/reconciliation/tapes/{tape_id}/file
compliance:write        POST    /api/v1/reconciliation/compare
compliance:read         GET     /api/v1/reconciliation/compare/{job_id}/status
compliance:read         GET     /api/v1/reconciliation/issues
compliance:read         GET     /api/v1/reconciliation/issues/summary
compliance:read         GET     /api/v1/reconciliation/issues/{issue_id}/rows
compliance:write        PATCH   /api/v1/reconciliation/issues
compliance:write        PATCH   /api/v1/reconciliation/issues/{issue_id}
scenarios:read          GET     /api/v1/scenarios
scenarios:write         POST    /api/v1/scenarios
scenarios:read          GET     /api/v1/scenarios/{scenario_id}
scenarios:write         PATCH   /api/v1/scenarios/{scenario_id}
scenarios:write         DELETE  /api/v1/scenarios/{scenario_id}
scenarios:write         POST    /api/v1/scenarios/{scenario_id}/trades
scenarios:read          GET     /api/v1/scenarios/{scenario_id}/trades
scenarios:write         DELETE  /api/v1/scenarios/{scenario_id}/trades/{trade_id}
scenarios:write         POST    /api/v1/scenarios/{scenario_id}/simulate
scenarios:read          POST    /api/v1/scenarios/preview
workbooks:read          POST    /api/v1/workbooks/{workbook_id}/detection
scenarios:read          GET     /api/v1/scenarios/{scenario_id}/results
scenarios:write         POST    /api/v1/scenarios/{scenario_id}/optimize
scenarios:read          GET     /api/v1/scenarios/{scenario_id}/headroom
reports:generate        POST    /api/v1/reports/compliance
reports:generate        POST    /api/v1/reports/reconciliation
reports:generate        POST    /api/v1/reports/generate
reports:read            GET     /api/v1/reports
reports:read            GET     /api/v1/reports/{report_id}
reports:read            GET     /api/v1/reports/{report_id}/download
reports:generate        DELETE  /api/v1/reports/{report_id}
compliance:read         GET     /api/v1/deals
compliance:write        POST    /api/v1/deals
compliance:read         GET     /api/v1/deals/{deal_id}
compliance:write        PATCH   /api/v1/deals/{deal_id}
compliance:write        DELETE  /api/v1/deals/{deal_id}
workbooks:write         POST    /api/v1/deals/{deal_id}/files
compliance:read         GET     /api/v1/deals/{deal_id}/definition
compliance:write        PUT     /api/v1/deals/{deal_id}/definition
compliance:read         GET     /api/v1/deals/{deal_id}/definition/versions
compliance:read         POST    /api/v1/deals/{deal_id}/definition/draft
compliance:read         GET     /api/v1/deals/{deal_id}/history
compliance:read         GET     /api/v1/deals/{deal_id}/movements
compliance:read         GET     /api/v1/deals/{deal_id}/tie-out
calculations:execute    POST    /api/v1/formulas/validate
calculations:execute    POST    /api/v1/formulas/preview
workbooks:read          GET     /api/v1/formulas/templates
workbooks:read          GET     /api/v1/formulas
workbooks:write         POST    /api/v1/formulas
workbooks:read          GET     /api/v1/formulas/{config_id}
workbooks:write         PATCH   /api/v1/formulas/{config_id}
workbooks:read          GET     /api/v1/formulas/{config_id}/versions
workbooks:write         PUT     /api/v1/formulas/{config_id}/versions
workbooks:read          GET     /api/v1/formulas/{config_id}/runs
workbooks:write         POST    /api/v1/formulas/{config_id}/apply
compliance:read         GET     /api/v1/batches
compliance:write        POST    /api/v1/batches
compliance:read         GET     /api/v1/batches/{batch_id}
compliance:write        DELETE  /api/v1/batches/{batch_id}
compliance:read         GET     /api/v1/batches/{batch_id}/results
reports:read            GET     /api/v1/exports
reports:generate        POST    /api/v1/exports
reports:read            GET     /api/v1/exports/formats/list
reports:read            POST    /api/v1/exports/verify
reports:read            GET     /api/v1/exports/{export_id}
reports:generate        DELETE  /api/v1/exports/{export_id}
reports:read            GET     /api/v1/exports/{export_id}/download
workbooks:read          GET     /api/v1/workbooks
workbooks:write         POST    /api/v1/workbooks/upload
workbooks:read          GET     /api/v1/workbooks/{workbook_id}
workbooks:write         PATCH   /api/v1/workbooks/{workbook_id}
workbooks:write         DELETE  /api/v1/workbooks/{workbook_id}
workbooks:read          GET     /api/v1/workbooks/{workbook_id}/file
workbooks:read          GET     /api/v1/workbooks/{workbook_id}/sheets
workbooks:read          GET     /api/v1/workbooks/{workbook_id}/detection
workbooks:read          GET     /api/v1/workbooks/{workbook_id}/sheets/{sheet_name}/data
workbooks:read          GET     /api/v1/workbooks/{workbook_id}/sheets/{sheet_name}/cells/{ref}
calculations:execute    POST    /api/v1/workbooks/{workbook_id}/recalculate
workbooks:read          GET     /api/v1/insights/nominations
workbooks:write         PUT     /api/v1/insights/nominations/{workbook_id}
workbooks:write         POST    /api/v1/insights/nominations/bulk
workbooks:read          POST    /api/v1/insights/generate
workbooks:read          POST    /api/v1/insights/regenerate
workbooks:read          POST    /api/v1/insights/ask
workbooks:read          GET     /api/v1/insights/sessions/current
workbooks:read          GET     /api/v1/insights/sessions/{session_id}
workbooks:read          GET     /api/v1/insights/questions/history
workbooks:read          GET     /api/v1/insights/{insight_id}
workbooks:read          POST    /api/v1/insights/{insight_id}/ask
workbooks:read          POST    /api/v1/ai/chat
workbooks:read          GET     /api/v1/activity
role:admin              GET     /api/v1/admin/tenant
role:admin              PATCH   /api/v1/admin/tenant
role:owner              DELETE  /api/v1/admin/tenant
role:admin              POST    /api/v1/admin/tenant/transfer-ownership
role:admin              POST    /api/v1/admin/tenants
admin:users             GET     /api/v1/admin/users
admin:users             POST    /api/v1/admin/users/invite
admin:users             GET     /api/v1/admin/users/{user_id}
admin:users             PATCH   /api/v1/admin/users/{user_id}
admin:users             DELETE  /api/v1/admin/users/{user_id}
role:admin              POST    /api/v1/admin/users/{user_id}/erase
admin:api-keys          GET     /api/v1/admin/api-keys
admin:api-keys          POST    /api/v1/admin/api-keys
admin:api-keys          DELETE  /api/v1/admin/api-keys/{key_id}
admin:api-keys          POST    /api/v1/admin/api-keys/{key_id}/rotate
role:admin              GET     /api/v1/admin/audit-logs
role:admin              GET     /api/v1/admin/audit-logs/export
role:admin              GET     /api/v1/admin/compliance/stream-profiles
role:admin              POST    /api/v1/admin/compliance/stream-profiles
role:admin              PATCH   /api/v1/admin/compliance/stream-profiles/{profile_id}
role:admin              DELETE  /api/v1/admin/compliance/stream-profiles/{profile_id}
role:admin              GET     /api/v1/dlq/entries
role:admin              GET     /api/v1/dlq/entries/{task_id}
role:admin              POST    /api/v1/dlq/entries/{task_id}/retry
role:admin              POST    /api/v1/dlq/entries/{task_id}/resolve
role:admin              DELETE  /api/v1/dlq/entries/{task_id}
role:admin              GET     /api/v1/dlq/stats
role:admin              POST    /api/v1/dlq/report
role:admin              GET     /api/v1/webhooks
role:admin              POST    /api/v1/webhooks
role:admin              GET     /api/v1/webhooks/{webhook_id}
role:admin              PATCH   /api/v1/webhooks/{webhook_id}
role:admin              DELETE  /api/v1/webhooks/{webhook_id}
role:admin              GET     /api/v1/webhooks/{webhook_id}/deliveries
role:admin              POST    /api/v1/webhooks/{webhook_id}/test
role:admin              POST    /api/v1/webhooks/{webhook_id}/rotate
role:admin              POST    /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay
alerts:write            POST    /api/v1/alerts/configure
alerts:read             GET     /api/v1/alerts
alerts:read             GET     /api/v1/alerts/{alert_id}
alerts:write            PATCH   /api/v1/alerts/{alert_id}
alerts:write            DELETE  /api/v1/alerts/{alert_id}
alerts:write            POST    /api/v1/alerts/{alert_id}/test
any                     GET     /api/v1/jobs/{job_id}
any                     GET     /api/v1/notifications
user                    POST    /api/v1/notifications/read-all
any                     POST    /api/v1/notifications/{notification_id}/read
"""
ACCESS = {f"{method} {path}": access for access, method, path in map(str.split, TABLE.split("\n")[1:-1])}

# By hand, from the capability matrix: the roles that have what an endpoint asks.
EVERYBODY = {"owner", "admin", "analyst", "viewer"}
WORKING = {"owner", "admin", "analyst"}
ADMINISTERING = {"owner", "admin"}
ROLES = {
    "any": EVERYBODY,
    "user": EVERYBODY,
    "role:admin": ADMINISTERING,
    "role:owner": {"owner"},
    "workbooks:read": EVERYBODY,
    "workbooks:write": WORKING,
    "calculations:execute": WORKING,
    "compliance:read": EVERYBODY,
    "compliance:write": WORKING,
    "scenarios:read": EVERYBODY,
    "scenarios:write": WORKING,
    "reports:read": EVERYBODY,
    "reports:generate": WORKING,
    "alerts:read": WORKING,
    "alerts:write": WORKING,
    "mappings:read": WORKING,
    "mappings:write": WORKING,
    "admin:users": ADMINISTERING,
    "admin:api-keys": ADMINISTERING,
}
SYSTEM = {"role:admin", "admin:users", "admin:api-keys"}
"""What the deployment's own key administers of a tenant; it sees nobody's data."""
OPERATORS = set(ROLES) - {"any", "user", "role:owner"}
"""What an operator may do in another tenant: what its admins may, but for what is of a user of its own."""

MAKES_KEYS = {"POST /api/v1/admin/api-keys", "POST /api/v1/admin/api-keys/{key_id}/rotate"}
"""A key is its creator's, so whoever is no user of the tenant is refused by the endpoint itself."""
ENDING = {"POST /api/v1/auth/logout", "POST /api/v1/auth/revoke-all-tokens", "DELETE /api/v1/admin/tenant"}
"""Endpoints that would end the session or the tenant that the other tests use."""

OF_ALL = "/api/v1/dlq/"
"""What the system key sees of all tenants while it names none."""

IN_WORDS_ONLY = {"PATCH /api/v1/reconciliation/tapes/{tape_id}", "POST /api/v1/admin/users/{user_id}/erase"}
"""Endpoints that the specification's list does not have: the text on deals asks for one, the law for the other."""

SPECIFIED = Path(__file__).parents[2] / "../shared/spec/endpoints.json"


def test_the_table_names_every_endpoint_and_no_other() -> None:
    assert set(ACCESS) == {identity(row) for row in ROWS}


@every("row", ROWS, ids=identity)
def test_a_row_asks_what_the_table_says(row: Route) -> None:
    assert row.access == ACCESS[identity(row)]


if SPECIFIED.exists():

    def test_the_table_says_what_the_specification_says() -> None:
        stated = {f"{row['method']} {row['path']}": row["access"] for row in json.loads(SPECIFIED.read_text("utf-8"))}
        listed = {name: access for name, access in ACCESS.items() if name not in IN_WORDS_ONLY}
        assert {name: stated[name] for name in listed} == listed


def called(caller: Member, row: Route) -> httpx.Response:
    """The answer to a call that names nothing.

    Whoever may call is told 404 or 422 at worst.
    """
    answer = caller.http.request(row.method, path_of(row))
    assert answer.status_code not in (401, 429, 500, 503), answer.text
    return answer


@each(GUARDED)
def test_each_role(stack: Stack, members: dict[str, Member], row: Route) -> None:
    may = ROLES[ACCESS[identity(row)]]
    for role, member in members.items():
        caller = member
        if role in may and identity(row) in ENDING:
            caller = register(stack.url) if role == "owner" else members["owner"].invite(role)
        answer = called(caller, row)
        assert forbidden(answer) == (role not in may), role
        if role not in may and row.access in KEY_SCOPES:
            asked = f'Bearer realm="cushion", error="insufficient_scope", scope="{row.access}"'
            assert answer.headers["www-authenticate"] == asked


@each(GUARDED)
def test_each_scope_of_a_key(keys: dict[str, Member], row: Route) -> None:
    access = ACCESS[identity(row)]
    for scope in KEY_SCOPES:
        assert forbidden(called(keys[scope], row)) == (access not in (scope, "any")), scope
    assert forbidden(called(keys["all"], row)) == (access not in KEY_SCOPES and access != "any")
    if access in KEY_SCOPES:
        refused = called(keys[f"not {access}"], row)
        assert forbidden(refused)
        assert f"the scope {access} is needed" in error_of(refused)["errors"][0]["message"]


@each(GUARDED)
def test_the_system_key(deployment: Deployment, http: httpx.Client, row: Route) -> None:
    access = ACCESS[identity(row)]
    answer = called(deployment.callers["system"], row)
    assert forbidden(answer) == (access not in SYSTEM) or identity(row) in MAKES_KEYS
    homeless = httpx.request(row.method, deployment.url + path_of(row), headers={"X-API-Key": SYSTEM_KEY}, timeout=60)
    if row.path.startswith(OF_ALL):
        assert homeless.status_code in (200, 404), homeless.text
    else:
        assert homeless.status_code == (422 if access in SYSTEM else 403), homeless.text
    # A deployment without this setting knows no such key.
    assert http.request(row.method, path_of(row), headers={"X-API-Key": SYSTEM_KEY}).status_code == 401


@each(GUARDED)
def test_an_operator_in_another_tenant(deployment: Deployment, row: Route) -> None:
    for caller in ("owner", "admin"):
        answer = called(deployment.callers[caller], row)
        assert forbidden(answer) == (ACCESS[identity(row)] not in OPERATORS) or identity(row) in MAKES_KEYS, caller
    for caller in ("analyst", "viewer", "key"):
        assert forbidden(called(deployment.callers[caller], row)), caller


@each(GUARDED)
def test_nobody_else_names_another_tenant(
    attacker: Member, keys: dict[str, Member], shared_owner: Member, row: Route
) -> None:
    path = path_of(row)
    for caller, tenant in ((attacker, shared_owner.tenant_id), (keys["all"], attacker.tenant_id)):
        for named in (tenant, tenant.upper(), f"{tenant},{caller.tenant_id}", "*", "", "null"):
            assert forbidden(caller.http.request(row.method, path, headers={"X-Tenant-ID": named})), named


def test_naming_ones_own_tenant_changes_nothing(shared_owner: Member, keys: dict[str, Member]) -> None:
    for caller in (shared_owner, keys["all"]):
        for spelt in (shared_owner.tenant_id, shared_owner.tenant_id.upper()):
            assert caller.get("/api/v1/auth/me", headers={"X-Tenant-ID": spelt}).status_code == 200


@each(GUARDED)
def test_nobody_passes_without_credentials(http: httpx.Client, row: Route) -> None:
    answer = http.request(row.method, path_of(row), headers={"x-request-id": "mine-1"})
    assert answer.status_code == 401
    body = error_of(answer)
    assert (body["detail"], body["error_code"], body["request_id"]) == (
        "Not authenticated",
        "AUTHENTICATION_FAILED",
        "mine-1",
    )
    asked = answer.headers["www-authenticate"]
    assert asked == 'Bearer realm="cushion", ApiKey realm="cushion", header="X-API-Key"'


@each(GUARDED)
@every(
    "headers, code, detail",
    [
        ({"Authorization": "Bearer x.y.z"}, "INVALID_TOKEN", "Invalid or expired token"),
        ({"Authorization": "Bearer"}, "INVALID_TOKEN", "Invalid or expired token"),
        ({"Authorization": "Basic b2xpdmU6eA=="}, "INVALID_TOKEN", "Invalid or expired token"),
        ({"X-API-Key": "svc_live_nothing"}, "AUTHENTICATION_FAILED", "Invalid API key"),
        ({"X-API-Key": ""}, "AUTHENTICATION_FAILED", "Invalid API key"),
    ],
)
def test_nobody_passes_with_wrong_credentials(
    http: httpx.Client, row: Route, headers: dict[str, str], code: str, detail: str
) -> None:
    answer = http.request(row.method, path_of(row), headers=headers)
    assert answer.status_code == 401
    body = error_of(answer)
    assert (body["error_code"], body["detail"]) == (code, detail)
    scheme = "ApiKey" if "X-API-Key" in headers else "Bearer"
    asked = answer.headers["www-authenticate"]
    assert asked.startswith(f'{scheme} realm="cushion"')
    assert 'error="invalid_token"' in asked


@each(GUARDED)
def test_what_a_caller_sends_is_not_looked_at_before_who_they_are(
    http: httpx.Client, members: dict[str, Member], resources: dict[str, str], row: Route
) -> None:
    """A refusal tells a stranger, or a role too low, nothing of what is there, and a broken body nothing of fields."""
    rubbish = {"content": b"{", "headers": {"content-type": "application/json"}}
    assert http.request(row.method, path_of(row, **resources) + "?page=x", **rubbish).status_code == 401
    if "viewer" not in ROLES[ACCESS[identity(row)]]:
        assert forbidden(members["viewer"].http.request(row.method, path_of(row, **resources) + "?page=x", **rubbish))


def test_nobody_becomes_an_operator_by_a_name(stack: Stack, shared_owner: Member) -> None:
    """Registration is open, and a slug is made of a name.

    One that the deployment listed goes to nobody who asks.
    """
    with stack.another_api(CUSHION_OPERATOR_TENANTS="night-operations, the-staff") as url:
        for name in ("Night Operations", "night-operations", " NIGHT  OPERATIONS ", "Night & Operations", "The Staff"):
            usurper = register(url, organization=name)
            slug = usurper.get("/api/v1/admin/tenant").json()["slug"]
            assert slug not in ("night-operations", "the-staff"), name
            for path in ("/api/v1/admin/users", "/api/v1/workbooks"):
                assert forbidden(usurper.get(path, headers={"X-Tenant-ID": shared_owner.tenant_id})), name
            assert usurper.patch("/api/v1/admin/tenant", json={"name": "The Staff"}).status_code == 200
            assert usurper.get("/api/v1/admin/tenant").json()["slug"] == slug, "a new name is no new slug"
