"""Settings: a default and a description for each, values parsed to their types, bad ones refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.reconciliation import rules
from service.platform import config
from service.platform.config import ByTier, ConfigError, Settings, documentation, load, unknown, variable
from tests.rows import every


def test_every_setting_has_a_default_and_a_description() -> None:
    assert load({}) == Settings()
    rows = documentation()
    assert [name for name, _, _ in rows] == [variable(field) for field in Settings.__struct_fields__]
    assert [name for name, _, text in rows if len(text) < 10] == []


def test_the_tolerances_are_those_of_the_engine() -> None:
    """The settings stand apart, so that a process reads them without loading the engine."""
    ours = {
        "par_value": Settings().reconciliation_tolerance_par,
        "price": Settings().reconciliation_tolerance_price,
        "spread": Settings().reconciliation_tolerance_spread_bps,
        "maturity_date": Settings().reconciliation_tolerance_maturity_days,
        "all_in_rate": Settings().reconciliation_tolerance_all_in_bps,
    }
    assert ours == rules.tolerances_of(None)
    assert config.TOLERANCE_MAX == rules.TOLERANCE_MAX


@every("field", Settings.__struct_fields__)
def test_what_the_documentation_gives_as_default_loads_as_the_default(field: str) -> None:
    shown = next(default for name, default, _ in documentation() if name == variable(field))
    assert getattr(load({variable(field): shown}), field) == getattr(Settings(), field)


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("port", " 9000 ", 9000),
        ("rate_limits", "off", "off"),
        ("embedded", "1", True),
        ("embedded", "off", False),
        ("embedded", "YES", True),
        ("data_dir", "relative", Path("relative").absolute()),
        ("trusted_proxies", "10.0.0.1/8, ::1,, ", ("10.0.0.0/8", "::1/128")),
        ("requests_per_minute", "1 2 3 4", ByTier(1, 2, 3, 4)),
        ("requests_per_day", "1,2,3,-1", ByTier(1, 2, 3, -1)),
        ("default_tier", "premium", "premium"),
        ("secret_key", "s" * 32, "s" * 32),
        ("log_level", "", "info"),
    ],
)
def test_values_are_parsed(name: str, raw: str, value: Any) -> None:
    assert getattr(load({variable(name): raw}), name) == value


@pytest.mark.parametrize(
    ("name", "raw", "says"),
    [
        ("port", "eight", "Expected `int`"),
        ("port", "65536", "<= 65535"),
        ("port", "-1", ">= 0"),
        ("workers", "0", ">= 1"),
        ("default_tier", "gold", "gold"),
        ("rate_limits", "maybe", "maybe"),
        ("embedded", "perhaps", "bool"),
        ("requests_per_minute", "1 2 3", "four whole numbers"),
        ("requests_per_minute", "1 2 3 many", "four whole numbers"),
        ("requests_per_minute", "60 300 1000 -1", "at least 1"),
        ("request_burst", "0 1 1 1", "at least 1"),
        ("requests_per_day", "1 1 1 -2", "four whole numbers"),
        ("requests_per_day", "１ 1 1 1", "four whole numbers"),
        ("trusted_proxies", "10.0.0.1/8, proxy", "proxy"),
        ("trusted_proxies", "10.0.0.1/99", "10.0.0.1/99"),
        ("data_dir", "~nobody-has-this-name/x", "home"),
        ("statement_seconds", "1.5", "int"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_the_value_and_the_reason(name: str, raw: str, says: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        load({variable(name): raw})
    assert variable(name) in str(refusal.value)
    assert repr(raw) in str(refusal.value)
    assert says in str(refusal.value)


@pytest.mark.parametrize("name", ["secret_key"])
def test_a_secret_is_not_told(name: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        load({variable(name): "too-short-secret"})
    assert "too-short-secret" not in str(refusal.value)
    assert "32" in str(refusal.value)


def test_misspelt_variables_are_found() -> None:
    assert unknown({"CUSHION_PORTS": "1", "CUSHION_PORT": "2", "PATH": "/"}) == ["CUSHION_PORTS"]


def test_a_new_tenants_tier() -> None:
    assert load({}).tier_of_new_tenant == "free"
    assert load({"CUSHION_EMBEDDED": "1"}).tier_of_new_tenant == "enterprise"
    assert load({"CUSHION_EMBEDDED": "1", "CUSHION_DEFAULT_TIER": "standard"}).tier_of_new_tenant == "standard"


def test_every_setting_says_what_it_is_with_its_default() -> None:
    answer = documentation()
    assert len({text for _, _, text in answer}) == len(answer) == len(msgspec.structs.fields(Settings))
    assert {name: default for name, default, _ in answer}.items() >= {
        "CUSHION_PORT": "8000", "CUSHION_DATABASE_URL": "", "CUSHION_REQUEST_BURST": "10 50 100 500",
    }.items()  # fmt: skip
    assert [name for name, _, text in answer if len(text.split()) < 2] == []


def test_figures_by_tier_are_the_specifications() -> None:
    settings = Settings()
    by_name = {
        name: tuple(getattr(settings, name))
        for name in Settings.__struct_fields__
        if isinstance(getattr(settings, name), ByTier)
    }
    assert by_name == {
        "requests_per_minute": (60, 300, 1_000, 10_000),
        "request_burst": (10, 50, 100, 500),
        "requests_per_day": (1_000, 10_000, 50_000, -1),
        "uploads_per_hour": (30, 120, 600, 6_000),
        "insights_per_day": (5, 20, 100, 1_000),
        "questions_per_day": (20, 100, 500, 5_000),
        "calculations_per_month": (100, 1_000, 10_000, -1),
        "max_workbooks": (5, 25, 100, -1),
        "max_users": (2, 10, 25, -1),
        "max_api_keys": (2, 10, 50, -1),
        "max_storage_gb": (1, 10, 100, -1),
        "alert_mails_per_hour": (20, 200, 1_000, 10_000),  # which it does not have
    }
    assert (
        settings.register_per_hour,
        settings.login_per_minute,
        settings.refresh_per_minute,
        settings.logout_per_minute,
    ) == (5, 10, 30, 10)
    assert (settings.access_token_seconds, settings.refresh_token_seconds) == (15 * 60, 7 * 86_400)
    assert (settings.max_upload_mb, settings.max_sheets, settings.max_sheet_rows, settings.max_sheet_columns) == (
        100,
        50,
        1_000_000,
        16_384,
    )
    assert set(config.TIERS) == set(ByTier._fields)


@every(
    "host, embedded, is_ones_own",
    [
        ("127.0.0.1", True, True), ("127.8.9.1", True, True), ("::1", True, True), ("[::1]", True, True),
        ("localhost", True, True), ("LOCALHOST", True, True), ("::ffff:127.0.0.1", True, True),
        ("0.0.0.0", True, False), ("::", True, False), ("10.0.0.1", True, False), ("localhost.nobody", True, False),
        ("", True, False), ("127.0.0.1", False, False), ("localhost", False, False),
    ],
)  # fmt: skip
def test_whose_machine_it_is(host: str, embedded: bool, is_ones_own: bool) -> None:
    assert Settings(host=host, embedded=embedded).is_ones_own is is_ones_own


def test_an_address_has_a_tenth_of_the_places_unless_somebody_says_otherwise() -> None:
    assert Settings().connections_of_address == 204
    assert Settings(connections=5).connections_of_address == 1
    assert Settings(connections_per_address=700).connections_of_address == 700
    assert (Settings().json_seconds, Settings().open_registration) == (10, True)
    assert (Settings().two_factor_codes_per_hour, Settings().recovery_codes_per_hour) == (20, 20)
