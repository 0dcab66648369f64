"""What stands in the place of personal data: a mask, a keyed token, or nothing."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from core.redact.kinds import STRATEGIES, Level, Strategy, wanted_kinds
from core.redact.phones import REGIONS, canonical_phone
from core.redact.plain import plain_of

KEY_BYTES_LEAST: Final = 16
"""Bytes of a key for tokens: a short one is guessed, and a social security number has only nine digits to try."""

_TOKEN_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghjkmnpqrs")
"""A token has no digits, so that none is ever taken for a number of any kind."""
_TOKEN_LENGTH: Final = 20


@dataclass(frozen=True, slots=True)
class Policy:
    """What is redacted, and how.

    Raises:
        ValueError: an unknown threshold or strategy (the message has the choices), or a key that is too short.
    """

    threshold: Level = "confidential"
    """The least of `LEVELS` that is redacted."""
    strategy: Strategy = "mask"
    key: bytes = field(default=b"", repr=False)
    """Secret of the tokens of `hash`: the same text has the same token under the same key."""
    regions: tuple[str, ...] = REGIONS
    """Countries (ISO 3166) whose national telephone numbers are known, besides international ones."""

    def __post_init__(self) -> None:
        wanted_kinds(self.threshold)
        if self.strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}: {self.strategy!r} is not")
        if self.strategy == "hash" and len(self.key) < KEY_BYTES_LEAST:
            raise ValueError(f"hash needs a key of at least {KEY_BYTES_LEAST} bytes")

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of personal data that are redacted."""
        return wanted_kinds(self.threshold)


def mask_of(kind: str, written: str, policy: Policy) -> str:
    """Return what stands for personal data of a kind; empty for `remove`."""
    if policy.strategy == "remove":
        return ""
    plain = " ".join(plain_of(written).text.split())
    if policy.strategy == "hash":
        content = f"{kind}\0{_canonical(kind, plain, policy)}".encode("utf-8", "surrogatepass")
        token = hmac.new(policy.key, content, hashlib.sha256).hexdigest()[:_TOKEN_LENGTH]
        return f"{kind}_{token.translate(_TOKEN_LETTERS)}"
    return _mask(kind, plain)


def _canonical(kind: str, plain: str, policy: Policy) -> str:
    """Return what is the same in all prints of one thing.

    Joins go on working where one side has dashes or capitals.
    """
    if kind == "phone":
        return canonical_phone(plain, policy.regions)
    if kind in ("us_ssn", "payment_card"):
        return re.sub(r"\D", "", plain)
    if kind in ("iban", "identity_document"):
        return re.sub(r"\W", "", plain).upper()
    if kind == "email":
        return re.sub(r" ?[(\[{<] ?at ?[)\]}>] ?", "@", plain.casefold()).replace(" ", "")
    return plain.casefold()


def _mask(kind: str, plain: str) -> str:
    """Return stars for all but what helps a reader and identifies nobody.

    How many stars tells no length.
    """
    digits = re.sub(r"\D", "", re.split(r"(?i)ext|x|[,;]", plain)[0])
    if kind == "email" and plain.count("@") == 1:
        local, domain = plain.split("@")
        stem, _, end = domain.strip().rpartition(".")
        return f"{local.lstrip()[:1]}***@{stem[:1]}***.{end}" if stem else "***"
    if kind == "phone" and len(digits) >= 7:
        return f"***{digits[-2:]}"
    if kind == "payment_card" and len(digits) >= 13:
        return f"**** **** **** {digits[-4:]}"
    if kind == "iban" and len(compact := re.sub(r"\W", "", plain)) >= 15:
        return f"{compact[:2].upper()}** **** {compact[-4:]}"
    if kind == "us_ssn":
        return "***-**-****"
    if kind == "person":
        return " ".join(f"{word[0]}***" for word in re.findall(r"[^\W\d_][^\W_]*", plain)[:5]) or "***"
    if kind == "birth_date" and (year := re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", plain)):
        return f"{year[0]}-**-**"
    if kind == "ip_address" and plain.count(".") == 3:
        return ".".join(plain.split(".")[:2]) + ".*.*"
    return "***"


def redacted_text(text: str, spans: Sequence[tuple[int, int, str]], policy: Policy) -> str:
    """Return a text with its spans replaced."""
    pieces: list[str] = []
    at = 0
    for start, end, kind in spans:
        pieces += (text[at:start], mask_of(kind, text[start:end], policy))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)
