"""Doubts as sentences of a report."""

from __future__ import annotations

from core.compliance.result import Doubt


def doubt_text(one: Doubt) -> str:
    """A doubt as a sentence with its places; nothing is cut."""
    places = [place for place in one.places if place not in one.message]
    where = f" ({', '.join(places)})" if places else ""
    return f"{one.message[:1].upper()}{one.message[1:]}{where}"
