"""E-mail addresses as mail servers and headers take them."""

from __future__ import annotations

import re
from typing import Final

ADDRESS_CHARACTERS = 254  # RFC 5321's path of 256 octets, without its brackets
_LOCAL: Final = re.compile(r"[^\s\"(),:;<>@\[\\\]]+")
"""Without what has a meaning in a list of addresses: a comment, a group, another address."""
_DOMAIN: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


class UnfitAddress(ValueError):
    """No mail can go to this address."""


def envelope(address: str) -> str:
    """Return an address as a mail server takes it: the domain in ASCII.

    Raises:
        UnfitAddress: it is none, or something in it could leave the place where it is put.
    """
    local, _, domain = address.rpartition("@")
    seen = address.isprintable() and _LOCAL.fullmatch(local) is not None
    # Whoever reads headers decodes an encoded word (=?...?=) even within an address, line ends and all.
    if not seen or "=?" in local or len(address) > ADDRESS_CHARACTERS:
        raise UnfitAddress("no mail can go to this address")
    try:
        host = domain.encode("idna").decode("ascii")
        host.encode("ascii").decode("idna")  # what is written as encoded is so
    except UnicodeError:
        host = ""
    if not _DOMAIN.fullmatch(host):
        raise UnfitAddress("no mail can go to this address")
    return f"{local}@{host}"
