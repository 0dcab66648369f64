"""Doubts as sentences of a report."""

from __future__ import annotations

from core.compliance.result import Doubt
from core.words import capitalize


def doubt_text(doubt: Doubt) -> str:
    """Return a doubt as a sentence with its places; nothing is cut."""
    places = [place for place in doubt.places if place not in doubt.message]
    where = f" ({', '.join(places)})" if places else ""
    return f"{capitalize(doubt.message)}{where}"
