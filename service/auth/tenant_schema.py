"""A tenant's choices with their defaults, and what every user of it is shown of them."""

from __future__ import annotations

from msgspec import Struct

from core.labels import LABELS
from service.platform.config import Tier


class TenantSettings(Struct, frozen=True, kw_only=True):
    """Choices of the tenant."""

    default_currency: str = "USD"
    timezone: str = "UTC"
    date_format: str = "YYYY-MM-DD"
    number_format: str = "en-US"
    default_date_format: str = "YYYY-MM-DD"
    default_number_format: str = "en-US"
    two_factor_required: bool = False
    session_timeout_minutes: int | None = None
    allowed_ip_ranges: list[str] = []
    max_workbook_size_mb: int = 100
    max_users: int | None = None
    """Most users, where that is fewer than the tier's."""
    reconciliation_tolerances: dict[str, float] = {}
    """Largest difference that is none, by rule: currency, points of price, basis points (spread, all_in_rate), days."""
    rating_agency_a_label: str = LABELS["rating_agency_a"]
    rating_agency_b_label: str = LABELS["rating_agency_b"]
    rating_agency_c_label: str = LABELS["rating_agency_c"]
    trustee_a_label: str = LABELS["trustee_a"]
    trustee_b_label: str = LABELS["trustee_b"]
    trustee_c_label: str = LABELS["trustee_c"]

    @property
    def labels(self) -> dict[str, str]:
        """Return the label for each name of an agency or trustee."""
        return {name: getattr(self, f"{name}_label") for name in LABELS}


class TenantView(Struct, frozen=True, kw_only=True):
    """What every user of a tenant is shown of it."""

    name: str
    """Name of the organization."""
    tier: Tier
    """free, standard, premium or enterprise."""
    date_format: str
    number_format: str
    timezone: str
    two_factor_required: bool
    session_timeout_minutes: int | None
    labels: dict[str, str]
    """What people read in place of `rating_agency_a` to `rating_agency_c` and `trustee_a` to `trustee_c`."""
