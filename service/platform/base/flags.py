"""The feature flags: a row for each part that can be switched off, by tenant too."""

from __future__ import annotations

from typing import NamedTuple


class Flag(NamedTuple):
    """A feature that can be switched off."""

    description: str
    """What it switches, and what happens where it is off."""
    refusal: str = ""
    """What a refused call reads; empty where none is refused: the feature is done without, or its work waits."""
    default: bool = True


FLAGS: dict[str, Flag] = {
    "ai_chat": Flag("Questions to the assistant", "The assistant is switched off for now"),
    "alerts": Flag("Sending what alerts tell, by every channel; triggers are recorded, and sent when it is on again"),
    "exports": Flag("Exports; those that are not made yet wait", "Exports are switched off for now"),
    "fallback_cache": Flag("Answers kept for the time when a dependency is away"),
    "insights": Flag("Generating insights", "Insights are switched off for now"),
    "language_model": Flag("Wording by a language model; without it answers have the built-in text"),
    "questions": Flag("Questions about a portfolio", "Questions are switched off for now"),
    "read_replica": Flag("Reading from replicas of the database, where there are any"),
    "recalculation": Flag(
        "Recalculating workbooks and applying formulas; what is not done yet waits",
        "Recalculation is switched off for now",
    ),
    "registration": Flag("New tenants by registration; it has no tenant's override", "Registration is closed for now"),
    "reports": Flag("Reports; those that are not made yet wait", "Reports are switched off for now"),
    "scenarios": Flag("Simulating and optimising scenarios", "Simulations are switched off for now"),
    "sync_fallback": Flag("Small parses and exports in the API while the queue is away"),
    "uploads": Flag("Uploads; files that are not read yet wait", "Uploads are switched off for now"),
    "webhooks": Flag("Delivering webhooks; deliveries wait, in order"),
}
"""By name. A route or job names its own in its row; whatever else asks `Unit.flag`."""
