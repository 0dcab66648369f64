"""E-mail addresses as mail servers and headers take them."""

from __future__ import annotations

ADDRESS_CHARACTERS = 254  # RFC 5321's path of 256 octets, without its brackets


class UnfitAddress(ValueError):
    """No mail can go to this address."""


def envelope(address: str) -> str:
    """An address as a mail server takes it: the domain in ASCII.

    Raises:
        UnfitAddress: it is none, or something in it could leave the place where it is put.
    """
    local, _, domain = address.rpartition("@")
    seen = address.isprintable() and not any(char.isspace() for char in address)
    # Whoever reads headers decodes an encoded word (=?...?=) even within an address, line ends and all.
    if not local or "@" in local or "=?" in local or not seen or len(address) > ADDRESS_CHARACTERS:
        raise UnfitAddress("no mail can go to this address")
    try:
        return f"{local}@{domain.encode('idna').decode('ascii')}"
    except UnicodeError:
        raise UnfitAddress("no mail can go to this address") from None
