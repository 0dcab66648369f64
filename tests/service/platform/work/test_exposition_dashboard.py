"""The dashboard, the alert rules and the scrape configuration.

What they ask for is what the service tells.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client import Histogram
from prometheus_client.parser import text_string_to_metric_families

from service.platform import metrics
from service.platform.unit.context import Resources, Unit
from service.platform.work.exposition import expose, exposition_of
from tests.service.platform.conftest import Apart

FOLDER = Path(__file__).parents[4] / "service/deploy/grafana"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
SCRAPE = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
VARIABLES = {"$instance": ".*", "$__rate_interval": "5m"}
"""What Grafana puts in their place."""
OF_PROMETHEUS = {"instance", "job"}
"""Labels that a scrape adds to all."""


def asked(expression: str) -> tuple[dict[str, set[str]], set[str]]:
    """The labels that a query asks of each series by its name, and those that it groups or matches by."""
    series: dict[str, set[str]] = {}
    groups: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            series.setdefault(node.name, set()).update(matcher.name for matcher in node.matchers.matchers)
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
            groups.update(node.modifier.labels)

    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    promql_parser.walk(promql_parser.parse(expression), visit)
    assert "$" not in expression, expression
    assert series, expression
    return series, groups


def queries() -> Iterator[tuple[str, str, str]]:
    """Where a query stands, the query, and the text that shows what it gives."""
    for panel in PANELS:
        yield from ((panel["title"], target["expr"], target["legendFormat"]) for target in panel["targets"])
    for rule in RULES:
        yield rule["alert"], rule["expr"], re.sub(r"\$labels\.", "", rule["annotations"]["summary"])


@pytest.fixture(scope="module")
def dashboard_text(apart: Apart) -> dict[str, set[str]]:
    """The labels of each series that a process tells."""

    async def main(shared: Resources) -> str:
        unit = Unit(shared, tenant, request_id="r")
        await unit.enqueue("note", queue="parse", arguments={}, delay_seconds=3600)
        await unit.commit()
        async with expose(shared, "api"):
            exposition = shared.once(exposition_of)
            assert exposition is not None
            return (await asyncio.to_thread(exposition.text)).decode()

    tenant = apart.tenant()
    text = apart.run(main, metrics_on_api=True)
    apart.sql("DELETE FROM jobs WHERE tenant_id = %s", [tenant])
    series: dict[str, set[str]] = {"up": set()}
    for item in vars(metrics).values():
        if hasattr(item, "_labelnames"):  # of what has not happened yet there are no samples
            endings = (
                {"_bucket": {"le"}, "_count": set(), "_sum": set()} if isinstance(item, Histogram) else {"": set()}
            )
            suffix = "_total" if item._type == "counter" else ""
            series |= {f"{item._name}{end}{suffix}": {*item._labelnames, *more} for end, more in endings.items()}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            series.setdefault(sample.name, set()).update(sample.labels)
    return {name: labels | OF_PROMETHEUS | {"process"} for name, labels in series.items()}


def test_every_query_asks_for_what_is_told(dashboard_text: dict[str, set[str]]) -> None:
    strange = []
    for title, expression, words in queries():
        series, groups = asked(expression)
        known = set.union(*(dashboard_text.get(name, set()) for name in series))
        wanted = {name for name, labels in series.items() if not labels <= dashboard_text.get(name, set())}
        shown = set(re.findall(r"\{\{ ?(\w+) ?\}\}", words))
        strange += [(title, wanted, groups - known, shown - known)] if wanted or groups - known or shown - known else []
    assert strange == []


def test_what_is_told_is_shown(dashboard_text: dict[str, set[str]]) -> None:
    """Nothing is counted that nobody looks at."""
    shown = {re.sub(r"_(bucket|count|sum)$", "", name) for _, query, _ in queries() for name in asked(query)[0]}
    ours = {re.sub(r"_(bucket|count|sum)$", "", name) for name in dashboard_text if name.startswith("cushion_")}
    assert ours - shown == set()


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    assert re.fullmatch(r"[\w-]{1,40}", DASHBOARD["uid"])
    assert DASHBOARD["schemaVersion"] >= 39
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    places = [tuple(panel["gridPos"][side] for side in "xywh") for panel in DASHBOARD["panels"]]
    taken = [(x + dx, y + dy) for x, y, w, h in places for dx in range(w) for dy in range(h)]
    assert len(taken) == len(set(taken)), "panels cover each other"
    assert max(x for x, _ in taken) < 24
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource", "instance"}
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in PANELS)


def test_alerts_say_what_is_wrong_and_for_whom() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES) > 10
    for rule in RULES:
        assert rule["labels"]["severity"] in ("page", "ticket"), rule["alert"]
        assert rule["annotations"]["summary"]
    (scraped,) = SCRAPE["scrape_configs"]
    assert (scraped["job_name"], SCRAPE["rule_files"]) == ("cushion", ["alerts.yml"])
