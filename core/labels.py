"""What people read in place of the names that fields give rating agencies and trustees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

LABELS: Final[dict[str, str]] = {
    "rating_agency_a": "Moody's",
    "rating_agency_b": "S&P",
    "rating_agency_c": "Fitch",
    "trustee_a": "Trustee A",
    "trustee_b": "Trustee B",
    "trustee_c": "Trustee C",
}
"""By name; a tenant of the service may choose its own."""

_NAME: Final = re.compile(
    r"(?<![\w/.=-])(facility_)?(rating_agency_[abc]|trustee_[abc])(?:_([a-z_]+))?(?![\w=-]|[./]\w)"
)
"""Not a part of a file's name, nor what is to be typed (rating_agency_a=B2)."""
_TRUSTEE: Final = "trustee"


def label(name: str, labels: Mapping[str, str] = LABELS) -> str:
    """Return the label of a field or a trustee.

    Moody's facility rating for `rating_agency_a_facility`, else its name.
    """
    match = _NAME.fullmatch(name)
    return name if match is None else _words(match, labels)


def spaced(name: str) -> str:
    """Return the words of a field's name.

    Of an agency's rating or a trustee the name itself, for `labelled` to find.
    """
    return name if _NAME.fullmatch(name) else name.replace("_", " ")


def labelled(text: str, labels: Mapping[str, str] = LABELS) -> str:
    """Return a text for people.

    Each name of an agency's rating or of a trustee in it as its label.
    """
    return _NAME.sub(lambda match: _words(match, labels), text)


def _words(match: re.Match[str], labels: Mapping[str, str]) -> str:
    own, name, kind = match.groups()
    if name.startswith(_TRUSTEE):
        return labels[name]
    words = [labels[name], *(["facility"] if own else []), *(kind.split("_") if kind else []), "rating"]
    return " ".join(words)
