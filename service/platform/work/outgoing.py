"""Requests to addresses of users: to public hosts alone, and bounded.

A host is resolved once. All its addresses must be public, and the connection goes to one of them, so a name that
resolves to something else a moment later leads nowhere else; TLS is verified against the name. Redirections are
answers like any other, and no proxy stands in between.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, NamedTuple

import httpx
import msgspec
import structlog
from msgspec import Struct

URL_CHARACTERS: Final = 2048
PORTS: Final = {"https": frozenset((443, 8443)), "http": frozenset((80, 8080))}
"""Where a request may go; to any port, and by http, where private addresses are permitted."""
DEFAULT_PORTS: Final = {"https": 443, "http": 80}
CONNECT_SECONDS: Final = 5.0
"""Of each address that is tried."""
ADDRESSES_TRIED: Final = 2
ADDRESSES_MAX: Final = 32
ANSWER_BYTES_MAX: Final = 64 * 1024
HEADERS_MAX: Final = 20
"""That a user may give."""
HEADERS_ADDED: Final = 4
"""That the service may add to them."""
HEADER_CHARACTERS: Final = 1_000
RESOLVERS: Final = 32
"""Threads that ask for names: a name server that is silent holds one for as long as the system's resolver waits."""

NOT_PUBLIC: Final = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # Azure's own services, which machines there reach at a public address
        "2001::/23",  # protocols: Teredo, ORCHID
        *("2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),  # 2002: 6to4, an IPv4 address within
    )
)
"""IANA's special purpose registries within what is else public."""
PUBLIC_IPV6: Final = ip_network("2000::/3")
"""All else has not been given out, is local, or has an IPv4 address within: mapped, NAT64."""

NO_PUBLIC_ADDRESS: Final = "the host has no public address"
"""One message for a name that is unknown and for one that the network alone knows: a user who asks for names could
else list the hosts inside."""

_HOST: Final = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_.])?")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_OURS: Final = frozenset(
    (
        *("accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"),
    )
)
"""Headers that say where a message ends, or that the transport sets itself."""

log = structlog.get_logger()

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host and a port to the host's addresses."""


class Network(NamedTuple):
    """The resolver and the certificates of a request; unset, the system's."""

    resolve: Resolve | None = None
    authorities: ssl.SSLContext | None = None


SYSTEM: Final = Network()


class UnfitTarget(ValueError):
    """A request cannot go there; the message says what is wrong."""


class NoAnswer(Exception):
    """A request had no answer; the message says why, for the owner of the address."""


class Answer(Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    content: bytes
    """At most as much as was wanted; the rest was left unread."""
    milliseconds: int


def target(url: str, *, private: bool) -> httpx.URL:
    """Parse a URL that requests may go to; an international host in its ASCII form.

    Raises:
        UnfitTarget: it is none.
    """
    if len(url) > URL_CHARACTERS:
        raise UnfitTarget(f"a URL has at most {URL_CHARACTERS:,} characters")
    if any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        raise UnfitTarget("a URL holds no spaces, control characters and backslashes")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii").lower()
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise UnfitTarget("expected a URL such as https://example.com/hooks") from None
    address = _literal(host)
    faults = {
        "expected a URL that begins with https://": parsed.scheme not in DEFAULT_PORTS
        or (parsed.scheme == "http" and not private),
        "a URL holds no user name and password": bool(parsed.userinfo) or "@" in parsed.netloc.decode("ascii"),
        "a URL that is requested has no fragment (#)": bool(parsed.fragment),
        "expected a URL with a host, such as https://example.com/hooks": address is None and not _HOST.fullmatch(host),
    }
    for message, is_wrong in faults.items():
        if is_wrong:
            raise UnfitTarget(message)
    if not private:
        _check_public(parsed, address)
    return parsed


def _check_public(parsed: httpx.URL, address: IPv4Address | IPv6Address | None) -> None:
    allowed = PORTS[parsed.scheme]
    if _port(parsed) not in allowed:
        raise UnfitTarget(f"expected one of the ports {', '.join(map(str, sorted(allowed)))}")
    if address is not None and not is_public(address):
        raise UnfitTarget(NO_PUBLIC_ADDRESS)


def check_headers(headers: Mapping[str, str], most: int = HEADERS_MAX) -> None:
    """Check that headers stay headers, and none says where the message ends.

    Raises:
        UnfitTarget: one would not.
    """
    if len(headers) > most:
        raise UnfitTarget(f"at most {most} headers may be given")
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS:
            raise UnfitTarget(f"{name[:100]!r} is no header that may be given")
        if len(value) > HEADER_CHARACTERS or not _HEADER_VALUE.fullmatch(value):
            raise UnfitTarget(f"a header's value is at most {HEADER_CHARACTERS:,} printable ASCII characters")
    if len({name.lower() for name in headers}) < len(headers):
        raise UnfitTarget("a header is given once")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is one of the public internet."""
    if isinstance(address, IPv6Address) and (address.scope_id or address not in PUBLIC_IPV6):
        return False
    return not any(address in network for network in NOT_PUBLIC if network.version == address.version)


async def send(
    method: str,
    url: str,
    *,
    private: bool,
    seconds: float,
    headers: Mapping[str, str],
    content: bytes = b"",
    answer_bytes: int = ANSWER_BYTES_MAX,
    network: Network = SYSTEM,
) -> Answer:
    """Send a request and read its answer, within so many seconds for all of it.

    Args:
        private: any address, port and scheme will do.
        answer_bytes: of its content, as it comes; what is more is not read.

    Raises:
        UnfitTarget: it can go to no such URL, or not with these headers.
        NoAnswer: none came.
    """
    parsed = target(url, private=private)
    check_headers(headers, HEADERS_MAX + HEADERS_ADDED)
    started = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            addresses = await _addresses(parsed, private=private, resolve=network.resolve or _resolve)
            for address in addresses[:-1]:
                try:
                    answer = await _request(
                        method, parsed, address, headers, content, answer_bytes, network.authorities
                    )
                    break
                except (httpx.ConnectError, httpx.ConnectTimeout):  # nothing was sent: another address may do
                    continue
            else:
                answer = await _request(
                    method, parsed, addresses[-1], headers, content, answer_bytes, network.authorities
                )
    except TimeoutError:
        raise NoAnswer(f"no answer within {seconds:g} seconds") from None
    except (httpx.HTTPError, OSError, ssl.SSLError) as error:
        log.info("outgoing.failed", host=parsed.host, error=repr(error))
        raise NoAnswer(_message(error)) from None
    return msgspec.structs.replace(answer, milliseconds=round((time.monotonic() - started) * 1000))


async def _addresses(parsed: httpx.URL, *, private: bool, resolve: Resolve) -> list[IPv4Address | IPv6Address]:
    host = parsed.raw_host.decode("ascii").lower()
    literal = _literal(host)
    if literal is not None:
        return [literal]  # `target` has looked at it
    try:
        names = await resolve(host, _port(parsed))
        addresses = [ip_address(name) for name in dict.fromkeys(names)][:ADDRESSES_MAX]
    except (OSError, UnicodeError, ValueError):
        addresses = []
    if private and not addresses:
        raise NoAnswer("the host's name does not resolve")
    if not addresses or not (private or all(map(is_public, addresses))):
        raise NoAnswer(NO_PUBLIC_ADDRESS)
    return addresses[:ADDRESSES_TRIED]


async def _request(
    method: str,
    parsed: httpx.URL,
    address: IPv4Address | IPv6Address,
    headers: Mapping[str, str],
    content: bytes,
    answer_bytes: int,
    authorities: ssl.SSLContext | None,
) -> Answer:
    """Return the answer of one address, whatever its status."""
    transport = httpx.AsyncHTTPTransport(
        verify=authorities or trusted_authorities(), trust_env=False, http2=False, retries=0
    )  # without a client there are no redirections, cookies, proxies and decoders
    request = httpx.Request(
        method,
        parsed.copy_with(host=str(address)),
        headers={
            **headers,
            "host": parsed.netloc.decode("ascii"),
            "user-agent": "Cushion",
            "accept-encoding": "identity",
            "connection": "close",
        },
        content=content,
        extensions={
            "sni_hostname": parsed.raw_host.decode("ascii").strip("[]"),  # whose certificate is asked for, and believed
            "timeout": {"connect": CONNECT_SECONDS, "read": None, "write": None, "pool": None},
        },
    )
    async with transport:
        answer = await transport.handle_async_request(request)
        read = bytearray()
        try:
            assert isinstance(answer.stream, httpx.AsyncByteStream)
            async for chunk in answer.stream:
                read += chunk
                if len(read) >= answer_bytes:
                    break
        finally:
            await answer.aclose()
        return Answer(status=answer.status_code, content=bytes(read[:answer_bytes]), milliseconds=0)


def _message(error: Exception) -> str:
    """Say why there was no answer, without details of the network."""
    causes: list[BaseException | None] = [error, error.__cause__, error.__context__]
    causes += [cause.__cause__ or cause.__context__ for cause in causes if cause is not None]
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return "the certificate of the host could not be verified"
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "no secure connection came about"
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "the host could not be connected to"
    if isinstance(error, httpx.ProtocolError):
        return "what the host answers is no proper HTTP"
    return "the connection broke off"


def _port(parsed: httpx.URL) -> int:
    return DEFAULT_PORTS[parsed.scheme] if parsed.port is None else parsed.port


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


async def _resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    entries = await loop.run_in_executor(
        _threads(), lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    )
    return [str(entry[4][0]) for entry in entries]


@cache
def _threads() -> ThreadPoolExecutor:
    """Return threads for names alone, so that no file and kernel waits for one."""
    return ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolve")


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Return the authorities whose certificates this process trusts, read once."""
    return httpx.create_ssl_context()
