"""Settings: read from the environment once, typed, each with a default and a description."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from service.platform.welcome import CONSOLE, address

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


def told(description: str, least: float | None = None, most: float | None = None) -> Meta:
    """What a setting is for, and its bounds."""
    return Meta(description=description, ge=least, le=most)


class ConfigError(ValueError):
    """A setting cannot be used; the message names the variable, the value and what would do."""


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting. The environment variable of a field is its name in capitals behind CUSHION_."""

    database_url: Annotated[
        str | None, told("PostgreSQL to use, as its role cushion_service; unset: the service runs its own")
    ] = None
    replica_url: Annotated[
        str | None,
        told(
            "read replica of that database, as the same role: lists and histories are read there; unset: there is none"
        ),
    ] = None
    replica_lag_seconds: Annotated[
        int, told("how far the replica may be behind; past that, and while it is away, the primary is read", 1, 600)
    ] = 5
    migration_url: Annotated[
        str | None, told("the same database as its owner, for `cushion migrate` and nothing else")
    ] = None
    redis_url: Annotated[str | None, told("Redis to use; unset: the service runs its own")] = None
    blob_url: Annotated[
        str | None,
        told("where files are kept: file:///folder, s3://bucket/prefix, gs://, az://; unset: the data folder"),
    ] = None
    data_dir: Annotated[
        Path | None,
        told(
            "folder of the embedded servers and files; "
            "unset: /var/lib/cushion/data for root, else XDG_DATA_HOME/cushion"
        ),
    ] = None
    host: Annotated[str, told("address that the API listens on")] = "127.0.0.1"
    port: Annotated[int, told("port that the API listens on; 0 takes a free one", 0, 65535)] = 8000
    workers: Annotated[int, told("API processes", 1, 64)] = 1
    secret_key: Annotated[
        Annotated[str, Meta(min_length=32)] | None,
        told("signs tokens; unset on the embedded default: made once and kept in the data folder"),
    ] = None
    embedded: Annotated[
        bool, told("told by `cushion serve` to its children: the deployment is one machine's own; not set by hand")
    ] = False
    strict: Annotated[
        bool, told("answer 500 where a refusal is not among those that its route lists: for tests and staging")
    ] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], told("least severe log line that is written")
    ] = "info"

    metrics_port: Annotated[
        int, told("port of its own for the metrics of all processes of a machine, for Prometheus; 0: none", 0, 65535)
    ] = 0
    metrics_host: Annotated[str, told("address that this port listens on; whoever reaches it reads them")] = "127.0.0.1"
    metrics_on_api: Annotated[bool, told("have GET /metrics of the API tell them, too, to everybody; off: 404")] = False

    otlp_url: Annotated[
        str | None,
        told(
            "OpenTelemetry collector that traces are sent to by OTLP over HTTP: http://host:4318; unset: none; needs"
            " pip install 'cushion[otel]'"
        ),
    ] = None
    trace_share: Annotated[float, told("share of requests that are traced, whatever their callers say", 0, 1)] = 1.0

    default_tier: Annotated[
        Tier | None, told("tier of a new tenant; unset: free, on the embedded default enterprise")
    ] = None
    connections: Annotated[int, told("connections that one API process has at a time; others wait", 1, 100_000)] = 2048
    connections_per_address: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        told(
            "most of one address, of IPv6 a /64; behind a trusted proxy its requests at a time; unset: a tenth of the"
            " setting above"
        ),
    ] = None
    head_seconds: Annotated[
        int, told("time in which a connection must bring the whole head of its next request", 1, 60)
    ] = 30
    json_seconds: Annotated[
        int, told("time in which a JSON body, or a form without files, must be there as a whole", 1, 600)
    ] = 10
    body_seconds: Annotated[
        int, told("time in which the body of an upload must end, or bring what the next setting asks", 1)
    ] = 30
    body_bytes_per_second: Annotated[int, told("least rate of an upload over any such time", 1)] = 4_096
    trusted_proxies: Annotated[
        tuple[str, ...], told("addresses whose X-Forwarded-For is believed, comma separated CIDR ranges")
    ] = ()
    cors_origins: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^(\*|https?://[^/\s]+)$")], ...],
        told("pages of these origins may call the API from a browser, comma separated (https://host) or *"),
    ] = ()
    open_registration: Annotated[
        bool,
        told(
            "anybody may register a tenant; off: whoever makes the deployment's first one, then only who has the system"
            " API key; the image sets off"
        ),
    ] = True
    operator_tenants: Annotated[
        tuple[str, ...],
        told("slugs of tenants that are there already and whose admins run the deployment, comma separated"),
    ] = ()
    system_api_key: Annotated[
        Annotated[str, Meta(min_length=32)] | None,
        told("an API key of the deployment's own, which administers every tenant; unset: there is none"),
    ] = None

    stream_key_schemes: Annotated[
        tuple[str, ...],
        told(
            "schemes of stream keys (deal:<scheme>:<id>), comma separated; the check digits of an ISIN, CUSIP, LEI and"
            " FIGI are verified"
        ),
    ] = ("isin", "cusip", "lei", "figi", "internal")
    retention_floor_years: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^([A-Za-z][A-Za-z -]{0,49}=)?[0-9]{1,2}$")], ...],
        told(
            "years for which the evidence of a stream is kept at least, by the jurisdiction of its profile, comma"
            " separated; a bare figure is that of EU, SEC, UK and US"
        ),
    ] = ("EU=5", "SEC=5", "UK=5", "US=5")

    smtp_url: Annotated[
        str | None,
        told(
            "mail server: smtp://user:password@host:587 (TLS where it offers it), smtps://host:465; "
            "unset: mails are written into the data folder"
        ),
    ] = None
    mail_from: Annotated[str, told("sender of the service's mails")] = "Cushion <cushion@localhost>"
    app_url: Annotated[
        str | None,
        told(
            "address under which people reach this service, such as https://cushion.example.com: mails link to its"
            " console; unset: the host and port above; needed with a database of your own"
        ),
    ] = None

    rate_limits: Annotated[
        Literal["on", "off"], told("off lifts the request, authentication, upload and insight limits; headers stay")
    ] = "on"
    requests_per_minute: Annotated[ByTier, Meta(description="requests a minute, by tier", extra=LIMITED)] = ByTier(
        60, 300, 1_000, 10_000
    )
    request_burst: Annotated[ByTier, Meta(description="size of the token bucket, by tier", extra=LIMITED)] = ByTier(
        10, 50, 100, 500
    )
    requests_per_day: Annotated[ByTier, told("requests a day, by tier")] = ByTier(1_000, 10_000, 50_000, -1)
    register_per_hour: Annotated[int, told("registrations an hour from one address", 1)] = 5
    login_per_minute: Annotated[int, told("logins a minute from one address", 1)] = 10
    refresh_per_minute: Annotated[int, told("token refreshes a minute by one user", 1)] = 30
    logout_per_minute: Annotated[int, told("logouts a minute by one user", 1)] = 10
    failed_logins_per_hour: Annotated[
        int, told("wrong passwords an hour for one account from all addresses that it is not known at", 1)
    ] = 100
    known_origins: Annotated[
        int, told("addresses that a user is known at: the last ones of a login, each with tries of its own", 1, 1000)
    ] = 10
    two_factor_codes_per_hour: Annotated[
        int, told("authenticator codes an hour that may be tried for one user; recovery codes count apart", 1)
    ] = 20
    recovery_codes_per_hour: Annotated[int, told("recovery codes an hour that may be tried from one address", 1)] = 20
    password_changes_per_hour: Annotated[
        int, told("password changes, and resets asked for, an hour by one user", 1)
    ] = 10
    invitations_per_hour: Annotated[
        int, told("invitations an hour by one tenant, each of which may be a mail to a stranger", 1)
    ] = 100
    uploads_per_hour: Annotated[ByTier, told("uploads an hour, by tier")] = ByTier(30, 120, 600, 6_000)
    insights_per_day: Annotated[ByTier, told("generations of insights a day, by tier")] = ByTier(5, 20, 100, 1_000)
    questions_per_day: Annotated[ByTier, told("questions a day to insights and the assistant together, by tier")] = (
        ByTier(20, 100, 500, 5_000)
    )
    max_workbooks: Annotated[ByTier, told("workbooks of a tenant, by tier")] = ByTier(5, 25, 100, -1)
    max_users: Annotated[ByTier, told("users of a tenant, pending invitations included, by tier")] = ByTier(
        2, 10, 25, -1
    )
    max_api_keys: Annotated[ByTier, told("active API keys of a tenant, by tier")] = ByTier(2, 10, 50, -1)
    max_storage_gb: Annotated[ByTier, told("gigabytes of stored files of a tenant, by tier")] = ByTier(1, 10, 100, -1)

    calculations_per_month: Annotated[
        ByTier, told("formulas that a tenant may have evaluated in a calendar month, by tier")
    ] = ByTier(100, 1_000, 10_000, -1)

    access_token_seconds: Annotated[int, told("life of an access token", 1)] = 900
    refresh_token_seconds: Annotated[int, told("life of a refresh token", 1)] = 604_800
    invitation_seconds: Annotated[int, told("life of an invitation", 1)] = 604_800
    password_reset_seconds: Annotated[int, told("life of a password reset", 1)] = 3_600
    idempotency_seconds: Annotated[int, told("how long the answer to an Idempotency-Key is given again", 1)] = 86_400
    max_replay_bytes: Annotated[int, told("size of an answer that is kept to be given again", 1024)] = 1_048_576

    max_body_bytes: Annotated[int, told("size of a JSON request body", 1024)] = 1_048_576
    max_upload_mb: Annotated[int, told("size of an uploaded file", 1, 100)] = 100
    max_sheets: Annotated[int, told("sheets of a workbook", 1, 50)] = 50
    max_sheet_rows: Annotated[int, told("rows of a sheet", 1, 1_000_000)] = 1_000_000
    max_sheet_columns: Annotated[int, told("columns of a sheet", 1, 16_384)] = 16_384
    parse_memory_mb: Annotated[int, told("memory of the process that parses a file", 256)] = 4_096
    parse_seconds: Annotated[int, told("time in which a file must be parsed", 1)] = 120
    recalculation_seconds: Annotated[int, told("time in which a workbook must be recalculated", 1)] = 300
    recalculation_memory_mb: Annotated[int, told("memory of the process that recalculates a workbook", 256)] = 4_096
    reconciliation_seconds: Annotated[
        int, told("time in which a tape must be compared, and as long for its issues to be stored", 1)
    ] = 300
    reconciliation_memory_mb: Annotated[
        int, told("memory of the process that compares a tape with a workbook", 256)
    ] = 4_096
    max_batch_bytes: Annotated[int, told("size of the body of a batch of formulas", 1024)] = 8_388_608
    max_audit_export_rows: Annotated[int, told("entries of one export of the audit log", 1)] = 1_000_000
    max_mappings: Annotated[int, told("mappings of a tenant", 1)] = 1_000
    max_formulas: Annotated[int, told("formulas of a tenant's formula builder", 1)] = 1_000
    max_exports: Annotated[int, told("exports of a tenant that are in work at a time, and reports", 1)] = 20
    max_export_mb: Annotated[int, told("size of all files of one export", 1)] = 512
    export_seconds: Annotated[int, told("time in which an export or a report must be written", 1)] = 300
    export_memory_mb: Annotated[int, told("memory of the process that writes an export or a report", 256)] = 4_096
    signing_url: Annotated[
        str | None, told("service that signs the hashes of exports: it is sent JSON and answers with JSON; unset: none")
    ] = None
    signing_seconds: Annotated[int, told("time in which the signing service must answer", 1, 600)] = 30
    signing_certificate: Annotated[
        Path | None,
        told("PKCS#12 file that seals PDFs; unset on the embedded default: a self-signed one is made and kept"),
    ] = None
    signing_passphrase: Annotated[str | None, told("passphrase of that file; unset: it has none")] = None
    export_ttl_seconds: Annotated[int, told("life of an exported file or a report", 1)] = 604_800
    max_deals: Annotated[int, told("deals of a tenant", 1)] = 1_000
    allow_private_webhooks: Annotated[
        bool,
        told("webhooks, of alerts too, may go to any address, by http and to any port; off: to public hosts by https"),
    ] = False
    max_webhooks: Annotated[int, told("webhooks of a tenant", 1, 1_000)] = 20
    webhook_seconds: Annotated[float, Meta(gt=0, le=60, description="time in which a webhook must answer")] = 10.0
    webhook_attempts: Annotated[int, told("attempts of a delivery to a webhook before it has failed", 1, 20)] = 8
    webhook_backoff_seconds: Annotated[
        int, told("pause before the second attempt, within a fifth; four times as long before each further one", 0)
    ] = 5
    webhook_failure_days: Annotated[
        float, Meta(gt=0, description="days of nothing but failures after which a webhook is disabled")
    ] = 5.0
    webhook_log_days: Annotated[int, told("days that the log of a webhook's deliveries is kept", 1)] = 30
    webhook_jobs: Annotated[int, told("webhooks that one worker delivers to at a time", 1, 256)] = 32
    webhook_tests_per_minute: Annotated[int, told("test events and replays a minute by one user", 1)] = 30
    max_alerts: Annotated[int, told("alerts of a tenant", 1, 10_000)] = 1_000
    alert_tests_per_minute: Annotated[int, told("tests of alerts a minute by one user", 1)] = 30
    alert_mails_per_hour: Annotated[
        ByTier,
        told("letters of a tenant's alerts an hour, each address one, by tier; what is more waits for the next hour"),
    ] = ByTier(20, 200, 1_000, 10_000)
    alert_history_days: Annotated[int, told("days that the triggers of alerts, and what was sent, are kept", 1)] = 366
    llm_url: Annotated[
        str | None,
        told(
            "language model that words answers and insights, by OpenAI's protocol: the URL before /chat/completions;"
            " unset: the built-in analyst's own words"
        ),
    ] = None
    llm_model: Annotated[str | None, told("name of the model, as that service calls it; needed with its URL")] = None
    llm_api_key: Annotated[str | None, told("key that the language model is called with; unset: none")] = None
    llm_seconds: Annotated[
        float, Meta(gt=0, le=600, description="time in which the language model must have answered")
    ] = 30.0
    llm_requests: Annotated[
        int, told("requests to the language model of one process at a time; half at most for one tenant", 1, 256)
    ] = 8
    notification_days: Annotated[int, told("days that notifications are kept", 1)] = 90
    dead_letter_days: Annotated[int, told("days that dead letters are kept after they were settled", 1, 3_660)] = 90
    invitation_days: Annotated[int, told("days that accepted invitations are kept", 1, 3_660)] = 90
    origin_days: Annotated[int, told("days that an address is known from which a user logged in", 1, 3_660)] = 366
    usage_months: Annotated[int, told("months that counts of use are kept", 2, 1_200)] = 36
    formula_run_days: Annotated[int, told("days that records of applied formulas are kept", 1, 3_660)] = 366
    export_days: Annotated[
        int, told("days that records of exports and reports are kept; their files expire long before", 1, 36_600)
    ] = 1_827
    tenant_grace_days: Annotated[
        int, told("days after which a deleted tenant's records are removed; until then it can come back", 0, 3_660)
    ] = 30
    job_days: Annotated[int, told("days that ended jobs are kept; they go by the week", 1, 3_660)] = 7
    max_scenarios: Annotated[int, told("scenarios of a tenant", 1)] = 1_000
    max_scenario_trades: Annotated[int, told("trades of a scenario", 1, 1_000)] = 1_000
    max_sample_bytes: Annotated[int, told("size of the body with sample rows to try a mapping on", 1024)] = 8_388_608
    mapping_seconds: Annotated[
        float, Meta(gt=0, description="time in which a sample must be mapped; a workbook has ten times as long")
    ] = 5.0
    compliance_seconds: Annotated[
        float,
        Meta(gt=0, description="time that a run may take; movements and tie-outs have three times as long"),
    ] = 10.0
    optimization_seconds: Annotated[
        float, Meta(gt=0, description="time after which the best trades that were found are proposed")
    ] = 10.0
    max_nominations: Annotated[int, told("workbooks of a tenant that insights are made of", 1, 20)] = 20
    insight_seconds: Annotated[
        float, Meta(gt=0, le=600, description="time in which nominated workbooks are analysed, or a question answered")
    ] = 15.0
    insight_days: Annotated[int, told("days that insights and questions are kept", 1)] = 365
    max_universe_loans: Annotated[int, told("loans that a scenario's optimization may buy of", 1, 4_000)] = 2_000
    evaluation_seconds: Annotated[
        float, Meta(gt=0, description="time in which one formula must be evaluated; a batch has ten times as long")
    ] = 5.0
    evaluation_memory_mb: Annotated[int, told("memory that evaluating a formula or a batch may take", 64)] = 1_024
    evaluators: Annotated[
        int,
        told(
            "processes for formulas that could take long, of each API process; made on demand, half of"
            " them at most for one tenant",
            1,
            64,
        ),
    ] = 4
    calculators: Annotated[
        int,
        told(
            "processes for what else could take long (optimizing, insights, a deal's own rules), of each API process;"
            " made on demand, half of them at most for one tenant",
            1,
            64,
        ),
    ] = 2
    calculator_memory_mb: Annotated[int, told("memory that each of them may take", 256)] = 2_048
    mapped_workbooks: Annotated[int, told("recently used workbooks that a process keeps mapped", 1)] = 32
    calculating_workbooks: Annotated[
        int, told("recently used workbooks that each of these keeps ready for formulas over their cells", 1)
    ] = 4

    reconciliation_tolerance_par: Annotated[
        float, told("difference of par that is none, in currency", 0, TOLERANCE_MAX)
    ] = 0.01
    reconciliation_tolerance_price: Annotated[
        float, told("difference of prices that is none, in percent of par", 0, TOLERANCE_MAX)
    ] = 0.125
    reconciliation_tolerance_spread_bps: Annotated[
        float, told("difference of spreads that is none, in basis points", 0, TOLERANCE_MAX)
    ] = 10.0
    reconciliation_tolerance_maturity_days: Annotated[
        float, told("difference of maturities that is none, in days", 0, TOLERANCE_MAX)
    ] = 0.0
    reconciliation_tolerance_all_in_bps: Annotated[
        float, told("difference of all-in rates that is none, in basis points", 0, TOLERANCE_MAX)
    ] = 5.0

    calls_together_seconds: Annotated[
        int, told("time in which a caller's calculations on a workbook are one entry of the audit log", 1, 3600)
    ] = 60
    event_gap_seconds: Annotated[
        int, told("how long an event may be on its way before the audit log tells that it is missing", 1)
    ] = 60
    database_connections: Annotated[
        int, told("connections of one process to PostgreSQL; half at most for one tenant", 2, 1000)
    ] = 10
    statement_seconds: Annotated[int, told("time in which one statement must answer", 1)] = 30
    compute_threads: Annotated[
        int, told("threads of one API process that run kernels; half at most for one tenant", 1, 256)
    ] = 4
    password_threads: Annotated[
        int, told("threads of one API process that hash passwords; half at most for one address", 1, 256)
    ] = 4
    probes: Annotated[
        int, told("uploads that one API process looks at at a time; half at most of one tenant", 1, 64)
    ] = 4
    probe_queue: Annotated[int, told("uploads that may wait to be looked at before load is shed (503)", 1)] = 32
    probe_seconds: Annotated[int, told("time in which an upload must be looked at", 1)] = 30
    compute_queue: Annotated[
        int, told("calculations that may wait for a thread, an evaluator or a calculator before load is shed (503)", 1)
    ] = 64
    api_memory_mb: Annotated[
        int,
        told(
            "memory of one API process, mapped files apart; above it what it keeps goes, then load is shed (503)", 128
        ),
    ] = 4_096
    storage_pause_seconds: Annotated[
        int, told("time after which stored bytes that nothing names, and what killed processes left, are removed", 1)
    ] = 300
    blob_check_seconds: Annotated[int, told("time after which the hash of a stored file is checked again", 1)] = 604_800
    fallback_answers: Annotated[
        int,
        told("answers that each API process keeps for the time in which the database is away; 0: none", 0, 1_000_000),
    ] = 2_000
    fallback_mb: Annotated[int, told("memory of these answers", 1)] = 32
    fallback_seconds: Annotated[int, told("age of the oldest answer that is given so", 1, 86_400)] = 3_600
    sync_fallback: Annotated[
        bool, told("API processes work on small uploads and exports themselves while no worker does")
    ] = True
    sync_fallback_jobs: Annotated[int, told("jobs that one API process works on so at a time", 1, 16)] = 1
    job_lease_seconds: Annotated[int, told("silence after which a running job counts as lost", 1)] = 30
    job_retries: Annotated[
        int, told("times that a dead letter's work may be given back to a worker before it must be forced", 0, 1_000)
    ] = 3
    job_attempts: Annotated[int, told("runs of a job before it becomes a dead letter", 1, 100)] = 3
    job_backoff_seconds: Annotated[int, told("pause before the second run of a job; doubles with each run", 0)] = 2
    drain_seconds: Annotated[
        Annotated[int, Meta(ge=0, le=300)] | None,
        told(
            "time for which a stopping API process still serves and is not ready, so that a balancer sends requests"
            " elsewhere; unset: 5, on the embedded default 0"
        ),
    ] = None
    worker_drain_seconds: Annotated[
        int, told("time in which a worker that is told to stop ends its jobs; the others go back to the queue", 0, 3600)
    ] = 45
    worker_jobs: Annotated[int, told("jobs that one worker runs at a time in each queue", 1, 256)] = 4
    tenant_waiters: Annotated[
        int,
        told("status reads of a tenant that wait (?wait=) at a time in an API process; others are answered at once", 0),
    ] = 8
    tenant_jobs: Annotated[
        int, told("jobs of one tenant that are at the workers at a time in each queue, of all workers", 1)
    ] = 2

    @property
    def tier_of_new_tenant(self) -> Tier:
        """The tier that a registration gives."""
        return self.default_tier or ("enterprise" if self.embedded else "free")

    @property
    def is_ones_own(self) -> bool:
        """Whether this is one machine's own deployment, which nobody else reaches."""
        if not self.embedded:
            return False
        try:
            host = ip_address(self.host.strip("[]"))
        except ValueError:
            return self.host.lower() == "localhost"
        return ((host.version == 6 and host.ipv4_mapped) or host).is_loopback

    @property
    def console_url(self) -> str:
        """Where people reach the console; never what a request says of its host."""
        return (self.app_url or address(self.host, self.port)).rstrip("/") + CONSOLE

    @property
    def connections_of_address(self) -> int:
        """How many connections of a process one address may hold."""
        return self.connections_per_address or max(1, self.connections // 10)

    @property
    def draining_seconds(self) -> int:
        """How long an API process serves on once it is told to stop: where nothing balances, nothing is waited for."""
        return self.drain_seconds if self.drain_seconds is not None else 0 if self.embedded else 5

    @property
    def retention_floors(self) -> dict[str, int]:
        """Years by jurisdiction, in capitals; the last one said counts."""
        floors: dict[str, int] = {}
        for said in self.retention_floor_years:
            name, _, years = said.rpartition("=")
            floors |= dict.fromkeys([name.strip().upper()] if name else ["EU", "SEC", "UK", "US"], int(years))
        return floors

    @property
    def run_seconds(self) -> int:
        """Time in which one run of a job must end; then it counts as failed."""
        return 10 * max(
            self.parse_seconds, self.recalculation_seconds, self.reconciliation_seconds, self.export_seconds
        )


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
            shown = "***" if re.search("KEY|URL|PASS", name) else repr(raw)
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
    """Every setting as (variable, default, description), for the page of settings."""
    rows = []
    for field in msgspec.structs.fields(Settings):
        meta = next(part for part in get_args(field.type) if isinstance(part, Meta))
        default = "" if field.default in (None, ()) else field.default
        if isinstance(default, tuple):
            default = (" " if isinstance(default, ByTier) else ",").join(map(str, default))
        rows.append((variable(field.name), str(default), meta.description or ""))
    return rows


def _parse(field: str, raw: str, annotated: Any) -> Any:
    kind = get_args(annotated)[0] if get_origin(annotated) is Annotated else annotated
    if kind is ByTier:
        extra = next((part.extra for part in get_args(annotated) if isinstance(part, Meta)), None) or {}
        return _figures(raw, extra.get("least", -1))
    if field == "trusted_proxies":
        return _networks(raw)
    if field in ("cors_origins", "operator_tenants", "stream_key_schemes", "retention_floor_years"):
        return msgspec.convert(tuple(part.strip() for part in raw.split(",") if part.strip()), annotated)
    if Path in (kind, *get_args(kind)):
        return Path(raw).expanduser().absolute()
    if kind is bool and raw.lower() in ("on", "off", "yes", "no"):
        return raw.lower() in ("on", "yes")
    return msgspec.convert(raw, annotated, strict=False)
