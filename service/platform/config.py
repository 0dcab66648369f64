"""Settings, read once from the environment: typed, with defaults and words."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from itertools import pairwise
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
        """Return the figure of one tier."""
        return int(getattr(self, tier))


LIMITED = {"least": 1}
"""Of a figure by tier that may not be lifted: the token bucket divides by it."""


TOLERANCE_MAX = 1e15
"""More than any figure of a loan, and finite."""


class ConfigError(ValueError):
    """A setting is invalid; the message has the variable, its value and a remedy."""


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting. A field's variable is its name in capitals behind CUSHION_."""

    database_url: str | None = None
    """PostgreSQL to use, as its role cushion_service, or a pair of servers (a,b); unset: the service runs its own"""
    replica_url: str | None = None
    """read replica of that database, as the same role: lists and histories are read there; unset: there is none"""
    replica_lag_seconds: Annotated[int, Meta(ge=1, le=600)] = 5
    """how far the replica may be behind; past that, and while it is away, the primary is read"""
    migration_url: str | None = None
    """the same database as its owner, for `cushion migrate` and nothing else"""
    redis_url: str | None = None
    """Redis to use; unset: the service runs its own"""
    blob_url: str | None = None
    """where files are kept: file:///folder, s3://bucket/prefix, gs://, az://; unset: the data folder"""
    data_dir: Path | None = None
    """folder of the embedded servers and files; unset: /var/lib/cushion/data for root, else XDG_DATA_HOME/cushion"""
    host: str = "127.0.0.1"
    """address that the API listens on"""
    port: Annotated[int, Meta(ge=0, le=65535)] = 8000
    """port that the API listens on; 0 takes a free one"""
    workers: Annotated[int, Meta(ge=1, le=64)] = 1
    """API processes"""
    secret_key: Annotated[str, Meta(min_length=32)] | None = None
    """signs tokens; unset on the embedded default: made once and kept in the data folder"""
    embedded: bool = False
    """set by `cushion serve` for its children: the deployment is one machine's own; not set by hand"""
    strict: bool = False
    """answer 500 where a refusal is not among those that its route lists: for tests and staging"""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """least severe log line that is written"""

    metrics_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    """port of its own for the metrics of all processes of a machine, for Prometheus; 0: none"""
    metrics_host: str = "127.0.0.1"
    """address that this port listens on; whoever reaches it reads them"""
    metrics_on_api: bool = False
    """serve them at GET /metrics of the API, too, to everybody; off: 404"""

    otlp_url: str | None = None
    """OpenTelemetry collector that traces are sent to by OTLP over HTTP: http://host:4318; unset: none; needs pip
    install 'cushion[otel]'"""
    trace_share: Annotated[float, Meta(ge=0, le=1)] = 1.0
    """share of requests that are traced, whatever their callers say"""

    default_tier: Tier | None = None
    """tier of a new tenant; unset: free, on the embedded default enterprise"""
    connections: Annotated[int, Meta(ge=1, le=100_000)] = 2048
    """connections that one API process has at a time; others wait"""
    connections_per_address: Annotated[int, Meta(ge=1)] | None = None
    """most of one address, of IPv6 a /64; behind a trusted proxy its requests at a time; unset: a tenth of the setting
    above"""
    head_seconds: Annotated[int, Meta(ge=1, le=60)] = 30
    """time in which a connection must bring the whole head of its next request"""
    json_seconds: Annotated[int, Meta(ge=1, le=600)] = 10
    """time in which a JSON body, or a form without files, must be there as a whole"""
    body_seconds: Annotated[int, Meta(ge=1)] = 30
    """time in which the body of an upload must end, or bring what the next setting asks"""
    body_bytes_per_second: Annotated[int, Meta(ge=1)] = 4_096
    """least rate of an upload over any such time"""
    trusted_proxies: tuple[str, ...] = ()
    """addresses whose X-Forwarded-For is believed, comma separated CIDR ranges"""
    cors_origins: tuple[Annotated[str, Meta(pattern=r"^(\*|https?://[^/\s]+)$")], ...] = ()
    """pages of these origins may call the API from a browser, comma separated (https://host) or *"""
    open_registration: bool = True
    """anybody may register a tenant; off: whoever makes the deployment's first one, then only who has the system API
    key; the image sets off"""
    operator_tenants: tuple[str, ...] = ()
    """slugs of tenants that are there already and whose admins run the deployment, comma separated"""
    system_api_key: Annotated[str, Meta(min_length=32)] | None = None
    """an API key of the deployment's own, which administers every tenant; unset: there is none"""

    stream_key_schemes: tuple[str, ...] = ("isin", "cusip", "lei", "figi", "internal")
    """schemes of stream keys (deal:<scheme>:<id>), comma separated; the check digits of an ISIN, CUSIP, LEI and FIGI
    are verified"""
    retention_floor_years: tuple[Annotated[str, Meta(pattern=r"^([A-Za-z][A-Za-z -]{0,49}=)?[0-9]{1,2}$")], ...] = (
        "EU=5",
        "SEC=5",
        "UK=5",
        "US=5",
    )
    """years for which the evidence of a stream is kept at least, by the jurisdiction of its profile, comma separated; a
    bare figure is that of EU, SEC, UK and US"""

    smtp_url: str | None = None
    """mail server: smtp://user:password@host:587 (TLS where it offers it), smtps://host:465; unset: mails are written
    into the data folder"""
    mail_from: str = "Cushion <cushion@localhost>"
    """sender of the service's mails"""
    app_url: str | None = None
    """address under which people reach this service, such as https://cushion.example.com: mails link to its console;
    unset: the host and port above; needed with a database of your own"""

    rate_limits: Literal["on", "off"] = "on"
    """off lifts the request, authentication, upload and insight limits; headers stay"""
    requests_per_minute: Annotated[ByTier, Meta(extra=LIMITED)] = ByTier(60, 300, 1_000, 10_000)
    """requests a minute, by tier"""
    request_burst: Annotated[ByTier, Meta(extra=LIMITED)] = ByTier(10, 50, 100, 500)
    """size of the token bucket, by tier"""
    requests_per_day: ByTier = ByTier(1_000, 10_000, 50_000, -1)
    """requests a day, by tier"""
    register_per_hour: Annotated[int, Meta(ge=1)] = 5
    """registrations an hour from one address"""
    login_per_minute: Annotated[int, Meta(ge=1)] = 10
    """logins a minute from one address"""
    refresh_per_minute: Annotated[int, Meta(ge=1)] = 30
    """token refreshes a minute by one user"""
    logout_per_minute: Annotated[int, Meta(ge=1)] = 10
    """logouts a minute by one user"""
    failed_logins_per_hour: Annotated[int, Meta(ge=1)] = 100
    """wrong passwords an hour for one account from all addresses that it is not known at"""
    known_origins: Annotated[int, Meta(ge=1, le=1000)] = 10
    """addresses that a user is known at: the last ones of a login, each with tries of its own"""
    two_factor_codes_per_hour: Annotated[int, Meta(ge=1)] = 20
    """authenticator codes an hour that may be tried for one user; recovery codes count apart"""
    recovery_codes_per_hour: Annotated[int, Meta(ge=1)] = 20
    """recovery codes an hour that may be tried from one address"""
    password_changes_per_hour: Annotated[int, Meta(ge=1)] = 10
    """password changes, and resets asked for, an hour by one user"""
    invitations_per_hour: Annotated[int, Meta(ge=1)] = 100
    """invitations an hour by one tenant, each of which may be a mail to a stranger"""
    uploads_per_hour: ByTier = ByTier(30, 120, 600, 6_000)
    """uploads an hour, by tier"""
    insights_per_day: ByTier = ByTier(5, 20, 100, 1_000)
    """generations of insights a day, by tier"""
    questions_per_day: ByTier = ByTier(20, 100, 500, 5_000)
    """questions a day to insights and the assistant together, by tier"""
    max_workbooks: ByTier = ByTier(5, 25, 100, -1)
    """workbooks of a tenant, by tier"""
    max_users: ByTier = ByTier(2, 10, 25, -1)
    """users of a tenant, pending invitations included, by tier"""
    max_api_keys: ByTier = ByTier(2, 10, 50, -1)
    """active API keys of a tenant, by tier"""
    max_storage_gb: ByTier = ByTier(1, 10, 100, -1)
    """gigabytes of stored files of a tenant, by tier"""

    calculations_per_month: ByTier = ByTier(100, 1_000, 10_000, -1)
    """formulas that a tenant may have evaluated in a calendar month, by tier"""

    access_token_seconds: Annotated[int, Meta(ge=1)] = 900
    """life of an access token"""
    refresh_token_seconds: Annotated[int, Meta(ge=1)] = 604_800
    """life of a refresh token"""
    invitation_seconds: Annotated[int, Meta(ge=1)] = 604_800
    """life of an invitation"""
    password_reset_seconds: Annotated[int, Meta(ge=1)] = 3_600
    """life of a password reset"""
    idempotency_seconds: Annotated[int, Meta(ge=1)] = 86_400
    """how long the answer to an Idempotency-Key is given again"""
    max_replay_bytes: Annotated[int, Meta(ge=1024)] = 1_048_576
    """size of an answer that is kept to be given again"""

    max_body_bytes: Annotated[int, Meta(ge=1024)] = 1_048_576
    """size of a JSON request body"""
    max_upload_mb: Annotated[int, Meta(ge=1, le=100)] = 100
    """size of an uploaded file"""
    max_sheets: Annotated[int, Meta(ge=1, le=50)] = 50
    """sheets of a workbook"""
    max_sheet_rows: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000_000
    """rows of a sheet"""
    max_sheet_columns: Annotated[int, Meta(ge=1, le=16_384)] = 16_384
    """columns of a sheet"""
    parse_memory_mb: Annotated[int, Meta(ge=256)] = 4_096
    """memory of the process that parses a file"""
    parse_seconds: Annotated[int, Meta(ge=1)] = 120
    """time in which a file must be parsed"""
    recalculation_seconds: Annotated[int, Meta(ge=1)] = 300
    """time in which a workbook must be recalculated"""
    recalculation_memory_mb: Annotated[int, Meta(ge=256)] = 4_096
    """memory of the process that recalculates a workbook"""
    reconciliation_seconds: Annotated[int, Meta(ge=1)] = 300
    """time in which a tape must be compared, and as long for its issues to be stored"""
    reconciliation_memory_mb: Annotated[int, Meta(ge=256)] = 4_096
    """memory of the process that compares a tape with a workbook"""
    max_batch_bytes: Annotated[int, Meta(ge=1024)] = 8_388_608
    """size of the body of a batch of formulas"""
    max_audit_export_rows: Annotated[int, Meta(ge=1)] = 1_000_000
    """entries of one export of the audit log"""
    max_mappings: Annotated[int, Meta(ge=1)] = 1_000
    """mappings of a tenant"""
    max_formulas: Annotated[int, Meta(ge=1)] = 1_000
    """formulas of a tenant's formula builder"""
    max_exports: Annotated[int, Meta(ge=1)] = 20
    """exports of a tenant that are in work at a time, and reports"""
    max_batches: Annotated[int, Meta(ge=1)] = 5
    """batches of a tenant that are in work at a time"""
    max_export_mb: Annotated[int, Meta(ge=1)] = 512
    """size of all files of one export"""
    export_seconds: Annotated[int, Meta(ge=1)] = 300
    """time in which an export or a report must be written"""
    export_memory_mb: Annotated[int, Meta(ge=256)] = 4_096
    """memory of the process that writes an export or a report"""
    signing_url: str | None = None
    """service that signs the hashes of exports: it is sent JSON and answers with JSON; unset: none"""
    signing_seconds: Annotated[int, Meta(ge=1, le=600)] = 30
    """time in which the signing service must answer"""
    signing_certificate: Path | None = None
    """PKCS#12 file that seals PDFs; unset on the embedded default: a self-signed one is created"""
    signing_passphrase: str | None = None
    """passphrase of that file; unset: it has none"""
    export_ttl_seconds: Annotated[int, Meta(ge=1)] = 604_800
    """life of an exported file or a report"""
    max_deals: Annotated[int, Meta(ge=1)] = 1_000
    """deals of a tenant"""
    allow_private_webhooks: bool = False
    """webhooks, of alerts too, may go to any address, by http and to any port; off: to public hosts by https"""
    max_webhooks: Annotated[int, Meta(ge=1, le=1000)] = 20
    """webhooks of a tenant"""
    webhook_seconds: Annotated[float, Meta(gt=0, le=60)] = 10.0
    """time in which a webhook must answer"""
    webhook_attempts: Annotated[int, Meta(ge=1, le=20)] = 8
    """attempts of a delivery to a webhook before it has failed"""
    webhook_backoff_seconds: Annotated[int, Meta(ge=0)] = 5
    """pause before the second attempt, within a fifth; four times as long before each further one"""
    webhook_failure_days: Annotated[float, Meta(gt=0)] = 5.0
    """days of nothing but failures after which a webhook is disabled"""
    webhook_log_days: Annotated[int, Meta(ge=1)] = 30
    """days that the log of a webhook's deliveries is kept"""
    webhook_jobs: Annotated[int, Meta(ge=1, le=256)] = 32
    """webhooks that one worker delivers to at a time"""
    webhook_tests_per_minute: Annotated[int, Meta(ge=1)] = 30
    """test events and replays a minute by one user"""
    max_alerts: Annotated[int, Meta(ge=1, le=10_000)] = 1_000
    """alerts of a tenant"""
    alert_tests_per_minute: Annotated[int, Meta(ge=1)] = 30
    """tests of alerts a minute by one user"""
    alert_mails_per_hour: ByTier = ByTier(20, 200, 1_000, 10_000)
    """letters of a tenant's alerts an hour, each address one, by tier; what is more waits for the next hour"""
    alert_history_days: Annotated[int, Meta(ge=1)] = 366
    """days that the triggers of alerts, and what was sent, are kept"""
    llm_url: str | None = None
    """language model that words answers and insights, by OpenAI's protocol: the URL before /chat/completions; unset:
    the built-in analyst's own words"""
    llm_model: str | None = None
    """name of the model, as that service calls it; needed with its URL"""
    llm_api_key: str | None = None
    """key that the language model is called with; unset: none"""
    llm_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    """time in which the language model must have answered"""
    llm_requests: Annotated[int, Meta(ge=1, le=256)] = 8
    """requests to the language model of one process at a time; half at most for one tenant"""
    notification_days: Annotated[int, Meta(ge=1)] = 90
    """days that notifications are kept"""
    dead_letter_days: Annotated[int, Meta(ge=1, le=3660)] = 90
    """days that dead letters are kept after they were settled"""
    invitation_days: Annotated[int, Meta(ge=1, le=3660)] = 90
    """days that accepted invitations are kept"""
    origin_days: Annotated[int, Meta(ge=1, le=3660)] = 366
    """days that an address is known from which a user logged in"""
    usage_months: Annotated[int, Meta(ge=2, le=1200)] = 36
    """months that counts of use are kept"""
    formula_run_days: Annotated[int, Meta(ge=1, le=3660)] = 366
    """days that records of applied formulas are kept"""
    export_days: Annotated[int, Meta(ge=1, le=36_600)] = 1_827
    """days that records of exports and reports are kept; their files expire long before"""
    tenant_grace_days: Annotated[int, Meta(ge=0, le=3660)] = 30
    """days after which a deleted tenant's records are removed; until then it can come back"""
    job_days: Annotated[int, Meta(ge=1, le=3660)] = 7
    """days that ended jobs are kept; they go by the week"""
    max_scenarios: Annotated[int, Meta(ge=1)] = 1_000
    """scenarios of a tenant"""
    max_scenario_trades: Annotated[int, Meta(ge=1, le=1000)] = 1_000
    """trades of a scenario"""
    max_sample_bytes: Annotated[int, Meta(ge=1024)] = 8_388_608
    """size of the body with sample rows to try a mapping on"""
    mapping_seconds: Annotated[float, Meta(gt=0)] = 5.0
    """time in which a sample must be mapped; a workbook has ten times as long"""
    compliance_seconds: Annotated[float, Meta(gt=0)] = 10.0
    """time that a run may take; movements and tie-outs have three times as long"""
    optimization_seconds: Annotated[float, Meta(gt=0)] = 10.0
    """time after which the best trades that were found are proposed"""
    max_nominations: Annotated[int, Meta(ge=1, le=20)] = 20
    """workbooks of a tenant that insights are made of"""
    insight_seconds: Annotated[float, Meta(gt=0, le=600)] = 15.0
    """time in which nominated workbooks are analysed, or a question answered"""
    insight_days: Annotated[int, Meta(ge=1)] = 365
    """days that insights and questions are kept"""
    max_universe_loans: Annotated[int, Meta(ge=1, le=4000)] = 2_000
    """loans that a scenario's optimization may buy of"""
    evaluation_seconds: Annotated[float, Meta(gt=0)] = 5.0
    """time in which one formula must be evaluated; a batch has ten times as long"""
    evaluation_memory_mb: Annotated[int, Meta(ge=64)] = 1_024
    """memory that evaluating a formula or a batch may take"""
    evaluators: Annotated[int, Meta(ge=1, le=64)] = 4
    """processes for formulas that could take long, of each API process; made on demand, half of them at most for one
    tenant"""
    calculators: Annotated[int, Meta(ge=1, le=64)] = 2
    """processes for what else could take long (optimizing, insights, a deal's own rules), of each API process; made on
    demand, half of them at most for one tenant"""
    calculator_memory_mb: Annotated[int, Meta(ge=256)] = 2_048
    """memory that each of them may take"""
    mapped_workbooks: Annotated[int, Meta(ge=1)] = 32
    """recently used workbooks that a process keeps mapped"""
    calculating_workbooks: Annotated[int, Meta(ge=1)] = 4
    """recently used workbooks that each of these keeps ready for formulas over their cells"""

    reconciliation_tolerance_par: Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)] = 0.01
    """difference of par that is none, in currency"""
    reconciliation_tolerance_price: Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)] = 0.125
    """difference of prices that is none, in percent of par"""
    reconciliation_tolerance_spread_bps: Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)] = 10.0
    """difference of spreads that is none, in basis points"""
    reconciliation_tolerance_maturity_days: Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)] = 0.0
    """difference of maturities that is none, in days"""
    reconciliation_tolerance_all_in_bps: Annotated[float, Meta(ge=0, le=TOLERANCE_MAX)] = 5.0
    """difference of all-in rates that is none, in basis points"""

    calls_together_seconds: Annotated[int, Meta(ge=1, le=3600)] = 60
    """time in which a caller's calculations on a workbook are one entry of the audit log"""
    event_gap_seconds: Annotated[int, Meta(ge=1)] = 60
    """how long an event may be on its way before the audit log names it as missing"""
    database_connections: Annotated[int, Meta(ge=2, le=1000)] = 10
    """connections of one process to PostgreSQL; half at most for one tenant"""
    statement_seconds: Annotated[int, Meta(ge=1)] = 30
    """time in which one statement must answer"""
    compute_threads: Annotated[int, Meta(ge=1, le=256)] = 4
    """threads of one API process that run kernels; half at most for one tenant"""
    password_threads: Annotated[int, Meta(ge=1, le=256)] = 4
    """threads of one API process that hash passwords; half at most for one address"""
    probes: Annotated[int, Meta(ge=1, le=64)] = 4
    """uploads that one API process looks at at a time; half at most of one tenant"""
    probe_queue: Annotated[int, Meta(ge=1)] = 32
    """uploads that may wait to be looked at before load is shed (503)"""
    probe_seconds: Annotated[int, Meta(ge=1)] = 30
    """time in which an upload must be looked at"""
    compute_queue: Annotated[int, Meta(ge=1)] = 64
    """calculations that may wait for a thread, an evaluator or a calculator before load is shed (503)"""
    api_memory_mb: Annotated[int, Meta(ge=128)] = 4_096
    """memory of one API process, mapped files apart; above it what it keeps goes, then load is shed (503)"""
    storage_pause_seconds: Annotated[int, Meta(ge=1)] = 300
    """time after which stored bytes that nothing names, and what killed processes left, are removed"""
    blob_check_seconds: Annotated[int, Meta(ge=1)] = 604_800
    """time after which the hash of a stored file is checked again"""
    fallback_answers: Annotated[int, Meta(ge=0, le=1_000_000)] = 2_000
    """answers that each API process keeps for the time in which the database is away; 0: none"""
    fallback_mb: Annotated[int, Meta(ge=1)] = 32
    """memory of these answers"""
    fallback_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 3_600
    """age of the oldest answer that is given so"""
    sync_fallback: bool = True
    """API processes work on small uploads and exports themselves while no worker does"""
    sync_fallback_jobs: Annotated[int, Meta(ge=1, le=16)] = 1
    """jobs that one API process works on so at a time"""
    job_lease_seconds: Annotated[int, Meta(ge=1)] = 30
    """silence after which a running job counts as lost"""
    job_retries: Annotated[int, Meta(ge=0, le=1000)] = 3
    """times that a dead letter's work may be given back to a worker before it must be forced"""
    job_attempts: Annotated[int, Meta(ge=1, le=100)] = 3
    """runs of a job before it becomes a dead letter"""
    job_backoff_seconds: Annotated[int, Meta(ge=0)] = 2
    """pause before the second run of a job; doubles with each run"""
    drain_seconds: Annotated[int, Meta(ge=0, le=300)] | None = None
    """time for which a stopping API process still serves and is not ready, so that a
    balancer sends its requests elsewhere; unset: 5, on the embedded default 0"""
    worker_drain_seconds: Annotated[int, Meta(ge=0, le=3600)] = 45
    """time in which a worker that has to stop ends its jobs; the others go back to the queue"""
    worker_jobs: Annotated[int, Meta(ge=1, le=256)] = 4
    """jobs that one worker runs at a time in each queue"""
    tenant_waiters: Annotated[int, Meta(ge=0)] = 8
    """status reads of a tenant that wait (?wait=) at a time in an API process; others are answered at once"""
    tenant_jobs: Annotated[int, Meta(ge=1)] = 2
    """jobs of one tenant that are at the workers at a time in each queue, of all workers"""

    @property
    def tier_of_new_tenant(self) -> Tier:
        """The tier of a new registration."""
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
        """The console's address for people; never taken from a request's host."""
        return (self.app_url or address(self.host, self.port)).rstrip("/") + CONSOLE

    @property
    def connections_of_address(self) -> int:
        """How many connections of a process one address may have."""
        return self.connections_per_address or max(1, self.connections // 10)

    @property
    def draining_seconds(self) -> int:
        """How long an API process serves on once it is stopped; 0 without a balancer."""
        return self.drain_seconds if self.drain_seconds is not None else 0 if self.embedded else 5

    @property
    def retention_floors(self) -> dict[str, int]:
        """Years by jurisdiction, in capitals; the last entry of one counts."""
        floors: dict[str, int] = {}
        for text in self.retention_floor_years:
            name, _, years = text.rpartition("=")
            floors |= dict.fromkeys([name.strip().upper()] if name else ["EU", "SEC", "UK", "US"], int(years))
        return floors

    @property
    def run_seconds(self) -> int:
        """The time limit of one run of a job; then it counts as failed."""
        return 10 * max(
            self.parse_seconds, self.recalculation_seconds, self.reconciliation_seconds, self.export_seconds
        )


def variable(field: str) -> str:
    """Return the environment variable of a field."""
    return PREFIX + field.upper()


def load(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from the environment; an empty variable counts as unset.

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
    """Return CUSHION_ variables that are no setting, for a warning at the start."""
    known = {variable(field.name) for field in msgspec.structs.fields(Settings)}
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def documentation() -> list[tuple[str, str, str]]:
    """Return every setting as (variable, default, description), for the guide."""
    (settings,) = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(settings, ast.ClassDef)
    words = {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(settings.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
    rows = []
    for field in msgspec.structs.fields(Settings):
        default = "" if field.default in (None, ()) else field.default
        if isinstance(default, tuple):
            default = (" " if isinstance(default, ByTier) else ",").join(map(str, default))
        rows.append((variable(field.name), str(default), words.get(field.name, "")))
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
