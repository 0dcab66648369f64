"""Alerts of the running service."""

from __future__ import annotations

from typing import Any

from tests.conftest import Member
from tests.service.compliance.conftest import contradicted_file, g1_file, own_g1, write_book  # noqa: F401 - fixtures
from tests.service.platform.conftest import alone, apart, clean  # noqa: F401 - fixtures

URL = "/api/v1/alerts"
THRESHOLD = {"metric": "ccc_bucket_pct", "operator": "gt", "value": 7.5}
EMAIL = {"type": "email", "config": {"recipients": ["desk@example.com"]}}
TOKEN = "hush-hush-hush-hush-1a2b"
HOOK = {"type": "webhook", "config": {"url": f"https://example.com/in/{TOKEN}", "headers": {"X-Token": TOKEN}}}
CHAT = {"type": "chat_webhook", "config": {"webhook_url": f"https://example.org/{TOKEN}", "channel": "#deals"}}
BODY: dict[str, Any] = {"name": "CCC", "alert_type": "threshold", "conditions": THRESHOLD, "channels": [EMAIL]}


def alerted(who: Member, **body: Any) -> dict[str, Any]:
    """An alert."""
    answer = who.post(f"{URL}/configure", json=BODY | body)
    assert answer.status_code == 201, answer.text
    alert: dict[str, Any] = answer.json()
    return alert
