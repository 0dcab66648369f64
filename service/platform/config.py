"""Settings: read from the environment once, typed, each with a default and a description."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

PREFIX = "CUSHION_"

Tier = Literal["free", "standard", "premium", "enterprise"]
TIERS: tuple[Tier, ...] = get_args(Tier)


class ByTier(NamedTuple):
    """A figure for each subscription tier; -1 is unlimited."""

    free: int
    standard: int
    premium: int
    enterprise: int

    def of(self, tier: str) -> int:
        """The figure of one tier."""
        return int(getattr(self, tier))


LIMITED = {"least": 1}
"""Of a figure by tier that may not be lifted: the token bucket divides by it."""


TOLERANCE_MAX = 1e15
"""More than any figure of a loan, and finite."""


class ConfigError(ValueError):
    """A setting cannot be used; the message names the variable, the value and what would do."""


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting. The environment variable of a field is its name in capitals behind CUSHION_."""

    database_url: Annotated[
        str | None, Meta(description="PostgreSQL to use, as its role cushion_service; unset: the service runs its own")
    ] = None
    migration_url: Annotated[
        str | None, Meta(description="the same database as its owner, for `cushion migrate` and nothing else")
    ] = None
    redis_url: Annotated[str | None, Meta(description="Redis to use; unset: the service runs its own")] = None
    blob_url: Annotated[
        str | None,
        Meta(
            description="where files are kept: file:///folder, s3://bucket/prefix, gs://, az://; unset: the data folder"
        ),
    ] = None
    data_dir: Annotated[
        Path | None,
        Meta(
            description="folder of the embedded servers and files; "
            "unset: /var/lib/cushion/data for root, else XDG_DATA_HOME/cushion"
        ),
    ] = None
    host: Annotated[str, Meta(description="address that the API listens on")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="port that the API listens on; 0 takes a free one")] = 8000
    workers: Annotated[int, Meta(ge=1, le=64, description="API processes")] = 1
    secret_key: Annotated[
        Annotated[str, Meta(min_length=32)] | None,
        Meta(description="signs tokens; unset on the embedded default: made once and kept in the data folder"),
    ] = None
    embedded: Annotated[
        bool,
        Meta(
            description="told by `cushion serve` to its children: the deployment is one machine's own; not set by hand"
        ),
    ] = False
    strict: Annotated[
        bool,
        Meta(description="answer 500 where a refusal is not among those that its route lists: for tests and staging"),
    ] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="least severe log line that is written")
    ] = "info"

    default_tier: Annotated[
        Tier | None, Meta(description="tier of a new tenant; unset: free, on the embedded default enterprise")
    ] = None
    connections: Annotated[
        int, Meta(ge=1, le=100_000, description="connections that one API process has at a time; others wait")
    ] = 2048
    connections_per_address: Annotated[
        int,
        Meta(
            ge=1,
            description="most of one address, of IPv6 a /64; behind a trusted proxy its requests at a time",
        ),
    ] = 512
    head_seconds: Annotated[
        int,
        Meta(ge=1, le=60, description="time in which a connection must bring the whole head of its next request"),
    ] = 30
    body_seconds: Annotated[
        int,
        Meta(
            ge=1,
            description="time in which a body must end, or bring what the next setting asks",
        ),
    ] = 30
    body_bytes_per_second: Annotated[int, Meta(ge=1, description="least rate of a body over any such time")] = 4_096
    trusted_proxies: Annotated[
        tuple[str, ...], Meta(description="addresses whose X-Forwarded-For is believed, comma separated CIDR ranges")
    ] = ()
    operator_tenants: Annotated[
        tuple[str, ...],
        Meta(
            description="slugs of tenants that are there already and whose admins run the deployment, comma separated"
        ),
    ] = ()
    system_api_key: Annotated[
        Annotated[str, Meta(min_length=32)] | None,
        Meta(description="an API key of the deployment's own, which administers every tenant; unset: there is none"),
    ] = None

    smtp_url: Annotated[
        str | None,
        Meta(
            description="mail server: smtp://user:password@host:587 (TLS where it offers it), smtps://host:465; "
            "unset: mails are written into the data folder"
        ),
    ] = None
    mail_from: Annotated[str, Meta(description="sender of the service's mails")] = "Cushion <cushion@localhost>"
    app_url: Annotated[
        str | None,
        Meta(description="address of the web application that mails link to; unset: they carry the bare token"),
    ] = None

    rate_limits: Annotated[
        Literal["on", "off"],
        Meta(description="off lifts the request, authentication, upload and insight limits; headers stay"),
    ] = "on"
    requests_per_minute: Annotated[ByTier, Meta(description="requests a minute, by tier", extra=LIMITED)] = ByTier(
        60, 300, 1_000, 10_000
    )
    request_burst: Annotated[ByTier, Meta(description="size of the token bucket, by tier", extra=LIMITED)] = ByTier(
        10, 50, 100, 500
    )
    requests_per_day: Annotated[ByTier, Meta(description="requests a day, by tier")] = ByTier(1_000, 10_000, 50_000, -1)
    register_per_hour: Annotated[int, Meta(ge=1, description="registrations an hour from one address")] = 5
    login_per_minute: Annotated[int, Meta(ge=1, description="logins a minute from one address")] = 10
    refresh_per_minute: Annotated[int, Meta(ge=1, description="token refreshes a minute by one user")] = 30
    logout_per_minute: Annotated[int, Meta(ge=1, description="logouts a minute by one user")] = 10
    failed_logins_per_hour: Annotated[
        int,
        Meta(ge=1, description="wrong passwords an hour for one account from all addresses that it is not known at"),
    ] = 100
    known_origins: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="addresses that a user is known at: the last ones of a login, each with tries of its own",
        ),
    ] = 10
    two_factor_codes_per_hour: Annotated[
        int, Meta(ge=1, description="two-factor codes an hour that one user may try")
    ] = 20
    password_changes_per_hour: Annotated[
        int, Meta(ge=1, description="password changes, and resets asked for, an hour by one user")
    ] = 10
    invitations_per_hour: Annotated[
        int, Meta(ge=1, description="invitations an hour by one tenant, each of which may be a mail to a stranger")
    ] = 100
    uploads_per_hour: Annotated[ByTier, Meta(description="uploads an hour, by tier")] = ByTier(30, 120, 600, 6_000)
    max_workbooks: Annotated[ByTier, Meta(description="workbooks of a tenant, by tier")] = ByTier(5, 25, 100, -1)
    max_users: Annotated[ByTier, Meta(description="users of a tenant, pending invitations included, by tier")] = ByTier(
        2, 10, 25, -1
    )
    max_api_keys: Annotated[ByTier, Meta(description="active API keys of a tenant, by tier")] = ByTier(2, 10, 50, -1)
    max_storage_gb: Annotated[ByTier, Meta(description="gigabytes of stored files of a tenant, by tier")] = ByTier(
        1, 10, 100, -1
    )

    calculations_per_month: Annotated[
        ByTier, Meta(description="formulas that a tenant may have evaluated in a calendar month, by tier")
    ] = ByTier(100, 1_000, 10_000, -1)

    access_token_seconds: Annotated[int, Meta(ge=1, description="life of an access token")] = 900
    refresh_token_seconds: Annotated[int, Meta(ge=1, description="life of a refresh token")] = 604_800
    invitation_seconds: Annotated[int, Meta(ge=1, description="life of an invitation")] = 604_800
    password_reset_seconds: Annotated[int, Meta(ge=1, description="life of a password reset")] = 3_600
    idempotency_seconds: Annotated[
        int, Meta(ge=1, description="how long the answer to an Idempotency-Key is given again")
    ] = 86_400
    max_replay_bytes: Annotated[int, Meta(ge=1024, description="size of an answer that is kept to be given again")] = (
        1_048_576
    )

    max_body_bytes: Annotated[int, Meta(ge=1024, description="size of a JSON request body")] = 1_048_576
    max_upload_mb: Annotated[int, Meta(ge=1, le=100, description="size of an uploaded file")] = 100
    max_sheets: Annotated[int, Meta(ge=1, le=50, description="sheets of a workbook")] = 50
    max_sheet_rows: Annotated[int, Meta(ge=1, le=1_000_000, description="rows of a sheet")] = 1_000_000
    max_sheet_columns: Annotated[int, Meta(ge=1, le=16_384, description="columns of a sheet")] = 16_384
    parse_memory_mb: Annotated[int, Meta(ge=256, description="memory of the process that parses a file")] = 4_096
    parse_seconds: Annotated[int, Meta(ge=1, description="time in which a file must be parsed")] = 120
    recalculation_seconds: Annotated[int, Meta(ge=1, description="time in which a workbook must be recalculated")] = 300
    recalculation_memory_mb: Annotated[
        int, Meta(ge=256, description="memory of the process that recalculates a workbook")
    ] = 4_096
    reconciliation_seconds: Annotated[
        int, Meta(ge=1, description="time in which a tape must be compared, and as long for its issues to be stored")
    ] = 300
    reconciliation_memory_mb: Annotated[
        int, Meta(ge=256, description="memory of the process that compares a tape with a workbook")
    ] = 4_096
    max_batch_bytes: Annotated[int, Meta(ge=1024, description="size of the body of a batch of formulas")] = 8_388_608
    max_audit_export_rows: Annotated[int, Meta(ge=1, description="entries of one export of the audit log")] = 1_000_000
    max_mappings: Annotated[int, Meta(ge=1, description="mappings of a tenant")] = 1_000
    max_sample_bytes: Annotated[
        int, Meta(ge=1024, description="size of the body with sample rows to try a mapping on")
    ] = 8_388_608
    mapping_seconds: Annotated[
        float,
        Meta(gt=0, description="time in which a sample must be mapped; a workbook has ten times as long"),
    ] = 5.0
    evaluation_seconds: Annotated[
        float, Meta(gt=0, description="time in which one formula must be evaluated; a batch has ten times as long")
    ] = 5.0
    evaluation_memory_mb: Annotated[
        int, Meta(ge=64, description="memory that evaluating a formula or a batch may take")
    ] = 1_024
    evaluators: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="processes for formulas that could take long, of each API process; made on demand, half of"
            " them at most for one tenant",
        ),
    ] = 4
    mapped_workbooks: Annotated[int, Meta(ge=1, description="recently used workbooks that a process keeps mapped")] = 32
    calculating_workbooks: Annotated[
        int,
        Meta(ge=1, description="recently used workbooks that each of these keeps ready for formulas over their cells"),
    ] = 4

    reconciliation_tolerance_par: Annotated[
        float, Meta(ge=0, le=TOLERANCE_MAX, description="difference of par that is none, in currency")
    ] = 0.01
    reconciliation_tolerance_price: Annotated[
        float, Meta(ge=0, le=TOLERANCE_MAX, description="difference of prices that is none, in percent of par")
    ] = 0.125
    reconciliation_tolerance_spread_bps: Annotated[
        float, Meta(ge=0, le=TOLERANCE_MAX, description="difference of spreads that is none, in basis points")
    ] = 10.0
    reconciliation_tolerance_maturity_days: Annotated[
        float, Meta(ge=0, le=TOLERANCE_MAX, description="difference of maturities that is none, in days")
    ] = 0.0
    reconciliation_tolerance_all_in_bps: Annotated[
        float, Meta(ge=0, le=TOLERANCE_MAX, description="difference of all-in rates that is none, in basis points")
    ] = 5.0

    event_gap_seconds: Annotated[
        int, Meta(ge=1, description="how long an event may be on its way before the audit log tells that it is missing")
    ] = 60
    database_connections: Annotated[
        int, Meta(ge=2, le=1000, description="connections of one process to PostgreSQL; half at most for one tenant")
    ] = 10
    statement_seconds: Annotated[int, Meta(ge=1, description="time in which one statement must answer")] = 30
    compute_threads: Annotated[
        int,
        Meta(ge=1, le=256, description="threads of one API process that run kernels; half at most for one tenant"),
    ] = 4
    password_threads: Annotated[
        int,
        Meta(ge=1, le=256, description="threads of one API process that hash passwords; half at most for one address"),
    ] = 4
    probes: Annotated[
        int,
        Meta(ge=1, le=64, description="uploads that one API process looks at at a time; half at most of one tenant"),
    ] = 4
    probe_queue: Annotated[
        int, Meta(ge=1, description="uploads that may wait to be looked at before load is shed (503)")
    ] = 32
    probe_seconds: Annotated[int, Meta(ge=1, description="time in which an upload must be looked at")] = 30
    compute_queue: Annotated[
        int,
        Meta(
            ge=1, description="calculations that may wait for a thread, or for an evaluator, before load is shed (503)"
        ),
    ] = 64
    api_memory_mb: Annotated[
        int,
        Meta(
            ge=128,
            description="memory of one API process, mapped files apart; above it what it keeps goes, then load is "
            "shed (503)",
        ),
    ] = 4_096
    storage_pause_seconds: Annotated[
        int,
        Meta(
            ge=1,
            description="time after which stored bytes that nothing names, and what killed processes left, are removed",
        ),
    ] = 300
    blob_check_seconds: Annotated[
        int, Meta(ge=1, description="time after which the hash of a stored file is checked again")
    ] = 604_800
    job_lease_seconds: Annotated[int, Meta(ge=1, description="silence after which a running job counts as lost")] = 30
    job_attempts: Annotated[int, Meta(ge=1, le=100, description="runs of a job before it becomes a dead letter")] = 3
    job_backoff_seconds: Annotated[
        int, Meta(ge=0, description="pause before the second run of a job; doubles with each run")
    ] = 2
    worker_jobs: Annotated[int, Meta(ge=1, le=256, description="jobs that one worker runs at a time in each queue")] = 4
    tenant_jobs: Annotated[
        int,
        Meta(ge=1, description="jobs of one tenant that are at the workers at a time in each queue, of all workers"),
    ] = 2

    @property
    def tier_of_new_tenant(self) -> Tier:
        """The tier that a registration gives."""
        return self.default_tier or ("enterprise" if self.embedded else "free")

    @property
    def run_seconds(self) -> int:
        """Time in which one run of a job must end; then it counts as failed."""
        return 10 * max(self.parse_seconds, self.recalculation_seconds, self.reconciliation_seconds)


def variable(field: str) -> str:
    """The environment variable of a field."""
    return PREFIX + field.upper()


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the environment; an empty variable counts as unset.

    Raises:
        ConfigError: a value does not fit its setting.
    """
    known = {variable(field.name): field.name for field in msgspec.structs.fields(Settings)}
    types = get_type_hints(Settings, include_extras=True)
    values: dict[str, Any] = {}
    for name, raw in environment.items():
        if name not in known or raw == "":
            continue
        field = known[name]
        try:
            values[field] = _parse(field, raw.strip(), types[field])
        except (
            msgspec.ValidationError,
            ValueError,
            RuntimeError,
        ) as error:  # RuntimeError: ~ of a user who has no home
            shown = "***" if "KEY" in name or "URL" in name else repr(raw)
            raise ConfigError(f"{name}={shown} cannot be used: {error}") from None
    return Settings(**values)


def _figures(raw: str, least: int) -> ByTier:
    parts = raw.replace(",", " ").split()
    if len(parts) != len(TIERS) or not all(re.fullmatch(r"-1|[0-9]{1,15}", part) for part in parts):
        raise ValueError(f"expected four whole numbers (for {', '.join(TIERS)}), -1 for unlimited")
    if min(int(part) for part in parts) < least:
        raise ValueError(f"each figure must be at least {least}")
    return ByTier(*(int(part) for part in parts))


def _networks(raw: str) -> tuple[str, ...]:
    return tuple(str(ip_network(part.strip(), strict=False)) for part in raw.split(",") if part.strip())


def unknown(environment: Mapping[str, str] = os.environ) -> list[str]:
    """CUSHION_ variables that are no setting: most likely misspelt, so the start warns of them."""
    known = {variable(field.name) for field in msgspec.structs.fields(Settings)}
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def documentation() -> list[tuple[str, str, str]]:
    """Every setting as (variable, default, description), for the README's table."""
    rows = []
    for field in msgspec.structs.fields(Settings):
        meta = next(part for part in get_args(field.type) if isinstance(part, Meta))
        default = "" if field.default in (None, ()) else field.default
        if isinstance(default, ByTier):
            default = " ".join(f"{figure}" for figure in default)
        rows.append((variable(field.name), str(default), meta.description or ""))
    return rows


def _parse(field: str, raw: str, annotated: Any) -> Any:
    kind = get_args(annotated)[0] if get_origin(annotated) is Annotated else annotated
    if kind is ByTier:
        extra = next((part.extra for part in get_args(annotated) if isinstance(part, Meta)), None) or {}
        return _figures(raw, extra.get("least", -1))
    if field == "trusted_proxies":
        return _networks(raw)
    if field == "operator_tenants":
        return tuple(part.strip() for part in raw.split(",") if part.strip())
    if Path in (kind, *get_args(kind)):
        return Path(raw).expanduser().absolute()
    if kind is bool and raw.lower() in ("on", "off", "yes", "no"):
        return raw.lower() in ("on", "yes")
    return msgspec.convert(raw, annotated, strict=False)
