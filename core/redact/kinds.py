"""The kinds of personal data.

How secret each is, and which headings and labels say that a cell holds it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

Level = Literal["public", "internal", "confidential", "restricted"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
"""How secret data can be, rising. A threshold redacts the kinds of its own level and of those above it."""

Strategy = Literal["mask", "hash", "remove"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)


@dataclass(frozen=True, slots=True)
class PersonalKind:
    """One kind of personal data."""

    name: str
    level: Level
    heading: re.Pattern[str]
    """A heading or label that says the kind, folded by `fold`, matches this."""
    likely: re.Pattern[str]
    """A cell under the heading matches this, else the heading meant something else ("E-mail" over yes and no)."""
    columns: bool
    """Whether all cells under such a heading are redacted, odd ones too; else those alone that look like the kind."""


_BEFORE = (
    r"(?:(?:primary|secondary|main|work|home|business|private|personal|office|company|corporate|direct|emergency|backup"
    r"|lead|senior|junior|assigned|internal|external|our|your|the|borrower s?|issuer s?|obligor s?|agent s?|trustee s?"
    r"|lender s?|sponsor s?|manager s?|client s?|customer s?|investor s?|holder s?|owner s?|employee s?|guarantor s?"
    r"|admin|administrative|administrator s?|servicer s?|contact s?|person s?|counterparty s?|analyst s?|deal|loan"
    r"|credit|bank|account|research|us|uk|user|of|applicant s?|cardholder s?|card) )*"
)
"""Words before a heading's own: "Agent's primary e-mail", and never "1-800 Contacts", which is an obligor."""
_AFTER = (
    r"(?: (?:\d|no|nos|number|numbers|nr|id|address|addresses|s|line|primary|secondary|work|home|business|private))*"
)


def _kind(name: str, level: Level, words: str, likely: str, *, columns: bool = True) -> PersonalKind:
    return PersonalKind(name, level, re.compile(f"{_BEFORE}(?:{words}){_AFTER}"), re.compile(likely), columns)


_DIGITS = r"(?:\d\D{{0,3}}){{{0}}}"

KINDS: Final = {
    kind.name: kind
    for kind in (
        _kind("us_ssn", "restricted", r"ssn|itin|social security|soc sec", _DIGITS.format(9)),
        _kind("iban", "restricted", r"iban", r"[A-Za-z]{2}\d\d"),
        _kind(
            "payment_card",
            "restricted",
            r"(?:credit|debit|payment) cards?|cards?|card (?:no|nr|number)|(?:primary|card) account number|pan",
            _DIGITS.format(13),
        ),
        _kind(
            "identity_document",
            "restricted",
            r"passport|national (?:id|identity|identification|insurance)|identity (?:card|document)|id card"
            r"|driver s licen[cs]e|drivers? licen[cs]e|driving licen[cs]e|nino|personalausweis|reisepass",
            r"\d\D*\d\D*\d",
        ),
        _kind(
            "birth_date",
            "restricted",
            r"dob|d o b|date of birth|birth ?dates?|birth ?days?|birth|geburtsdatum|date de naissance",
            r"\d",
        ),
        _kind("email", "confidential", r"e ?mails?|courriel", r"@| at |\(at\)|\[at\]"),
        _kind(
            "phone",
            "confidential",
            r"(?:tele)?phones?|tel|telefon|t[eé]l[eé]phone|fax|telefax|mobiles?|cell ?phones?|cell (?:no|number)|handy"
            r"|mobil|direct dial",
            _DIGITS.format(7),
        ),
        _kind(
            "person",
            "confidential",
            r"contacts?|contact (?:name|person)s?|analysts?|analyst names?|(?:prepared|reviewed|approved|checked|signed"
            r"|authori[sz]ed|completed|verified) by|preparer|reviewer|approver|signatory|portfolio managers?|traders?"
            r"|relationship managers?|deal managers?|attention|attn|(?:first|last|given|family|middle|employee"
            r"|person|preparer|reviewer|manager s|trader) names?|surname|forename|full names?|beneficial owners?"
            r"|ansprechpartner|bearbeiter|sachbearbeiter|vorname|nachname|interlocuteur|pr[eé]nom",
            r"[^\W\d_]",
            columns=False,
        ),
        _kind("ip_address", "internal", r"ip|ips|ip address(?:es)?|ipv[46]", r"\d\.\d|:"),
    )
}
"""By name, the most secret first: where two claim the same characters, the first has them."""

RANKED: Final = ("", *KINDS)
"""No kind, and the kinds in their order."""

NAME_PART: Final = replace(
    KINDS["person"],
    heading=re.compile(
        f"{_BEFORE}(?:(?:first|last|given|family|middle) names?|surname|forename|vorname|nachname|pr[eé]nom){_AFTER}"
    ),
    columns=True,
)
"""A person's name in columns of its parts: single words, which nothing but the heading tells."""


def fold(text: str) -> str:
    """Return a heading in lower case, camelCase apart, with single spaces for all that is no letter or digit."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return " ".join(re.findall(r"[^\W_]+", apart.casefold()))


def wanted_kinds(threshold: str) -> frozenset[str]:
    """Return names of the kinds that a threshold redacts.

    Raises:
        ValueError: the threshold is no level; the message has the levels.
    """
    if threshold not in LEVELS:
        raise ValueError(f"threshold must be one of {', '.join(LEVELS)}: {threshold!r} is not")
    return frozenset(kind.name for kind in KINDS.values() if LEVELS.index(kind.level) >= LEVELS.index(threshold))
