"""Requests to addresses of users.

Where they go, where they do not, and what an answer may be.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import anyio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from service.platform.work.outgoing import (
    Answer,
    Network,
    NoAnswer,
    UnfitTarget,
    check_headers,
    is_public,
    send,
    target,
)
from tests.rows import every

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

FIT = [
    ("https://example.com/hooks?a=b", "example.com"),
    ("https://example.com:8443", "example.com:8443"),
    ("https://bücher.example/", "xn--bcher-kva.example"),
    ("https://93.184.215.14/", "93.184.215.14"),
    ("https://[2606:4700::1111]/", "[2606:4700::1111]"),
]
UNFIT = [
    *("http://example.com", "ftp://example.com", "file:///etc/passwd", "//example.com", "example.com", "", "https://"),
    *("https:///x", "https://user:pw@example.com", "https://user@example.com", "https://example.com#fragment"),
    *("https://example.com:22", "https://example.com:80", "https://example.com:99999", "https://example.com:0"),
    *("https://a b.com", "https://example.com/\r\nx: y", "https://example.com\\@127.0.0.1/", "https://exa%6dple.com"),
    *("https://１２７.0.0.1/", "https://[::1", "https://example.com/\x00", "https://" + "a" * 2048),
    *("https://127.0.0.1", "https://10.0.0.1", "https://172.31.9.9", "https://192.168.1.1", "https://169.254.169.254"),
    *("https://100.64.0.1", "https://0.0.0.0", "https://224.0.0.1", "https://255.255.255.255", "https://[::1]"),
    *("https://[::]", "https://[::ffff:93.184.215.14]", "https://[fe80::1]", "https://[fe80::1%25eth0]"),
]  # fmt: skip


@every("url, host", FIT)
def test_a_url_that_requests_go_to(url: str, host: str) -> None:
    assert target(url, private=False).netloc.decode() == host


@every("url", UNFIT)
def test_a_url_that_none_goes_to(url: str) -> None:
    with pytest.raises(UnfitTarget):
        target(url, private=False)


def test_private_urls_where_they_are_permitted() -> None:
    for url in ("http://127.0.0.1:9999/x", "http://localhost:22", "https://[::1]:1"):
        assert str(target(url, private=True)) == url
    for url in ("http://user@localhost", "gopher://localhost", "http://local host"):
        with pytest.raises(UnfitTarget):
            target(url, private=True)


ADDRESSES = {
    True: "1.1.1.1 8.8.8.8 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.1 2606:4700::1111 2a00:1450::1",
    False: "0.0.0.0 0.1.2.3 10.255.255.255 100.64.0.0 100.100.100.200 127.0.0.1 127.255.1.1 169.254.169.254 172.16.0.0 "
    "172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.251 "
    "239.255.255.250 240.0.0.1 255.255.255.255 168.63.129.16 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::7f00:1 "
    "64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: fc00::1 "
    "fd00:ec2::254 fe80::1 fec0::1 ff02::1 3fff::1 4000::1 5f00::1",
}


@every("address, public", [(part, public) for public, listed in ADDRESSES.items() for part in listed.split()])
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@every(
    "headers",
    [
        *({"x": "a\r\ny: b"}, {"x\r\ny": "a"}, {"x": "a\nb"}, {"x": "\x00"}, {"": "a"}, {"x y": "a"}, {"x:": "a"}),
        *({"Host": "a"}, {"content-length": "0"}, {"Transfer-Encoding": "chunked"}, {"connection": "upgrade"}),
        *({"x": "ä"}, {"ä": "x"}, {"x": "a" * 1001}, {"x": "a", "X": "b"}, {f"x{n}": "a" for n in range(21)}),
    ],
)
def test_headers_that_would_be_more(headers: dict[str, str]) -> None:
    with pytest.raises(UnfitTarget):
        check_headers(headers)


# Requests that are made ----------------------------------------------------------------------------------------------

Serve = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(serve: Serve, context: ssl.SSLContext | None = None) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A port where each request's head is answered by `serve`; the heads that came."""
    heads: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            await serve(heads[-1], writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    async with listening:
        yield listening.sockets[0].getsockname()[1], heads


def answering(content: bytes) -> Serve:
    async def serve(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return serve


async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def endless_head(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"x: " + b"y" * 60_000 + b"\r\n")
        await writer.drain()


async def trickle(_: bytes, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def silence(_: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(5)


async def asked(serve: Serve, seconds: float = 0.5) -> tuple[Answer, list[bytes]]:
    async with server(serve) as (port, heads):
        url = f"http://127.0.0.1:{port}/a?b=c"
        return await send(
            "POST", url, private=True, seconds=seconds, headers={"x": "y"}, content=b"{}", answer_bytes=9
        ), heads


def test_an_answer_is_read_as_far_as_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    answer, (head,) = asyncio.run(asked(answering(OK)))
    assert (answer.status, answer.content) == (200, b"ok")
    assert head.startswith(b"POST /a?b=c HTTP/1.1\r\n")
    assert b"\r\nx: y\r\n" in head
    assert b"\r\nhost: 127.0.0.1:" in head.lower()
    answer, _ = asyncio.run(asked(endless, seconds=5))
    assert (answer.status, answer.content) == (200, b"x" * 9)


def test_a_redirection_is_an_answer() -> None:
    answer, heads = asyncio.run(asked(answering(b"HTTP/1.1 302 Found\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n")))
    assert (answer.status, len(heads)) == (302, 1)


@every(
    "serve, words",
    [
        (silence, "no answer within 0.5 seconds"),
        (trickle, "no answer within 0.5 seconds"),
        (endless_head, "no proper HTTP"),
        (answering(b"SSH-2.0-OpenSSH_9.2\r\n"), "no proper HTTP"),
        (answering(b""), "no proper HTTP"),
        (answering(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok"), "no proper HTTP"),
    ],
    ids=lambda row: row[1],
)
def test_what_is_no_answer(serve: Serve, words: str) -> None:
    with pytest.raises(NoAnswer, match=words):
        asyncio.run(asked(serve))


def resolving(*answers: Sequence[str]) -> tuple[Callable[[str, int], Awaitable[Sequence[str]]], list[str]]:
    """A resolver that says something else each time, the last for ever.

    What it was asked.
    """
    questions: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        questions.append(host)
        return answers[min(len(questions), len(answers)) - 1]

    return resolve, questions


@every(
    "addresses",
    [
        *(["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"], ["fe80::1%2"], []),
        *(["nonsense"], ["2002:7f00:1::"]),
    ],
)
def test_a_name_without_a_public_address_is_not_connected_to_and_tells_nothing_more(addresses: list[str]) -> None:
    async def go() -> None:
        async with server(answering(OK)) as (_, heads):
            resolve, questions = resolving(addresses)
            for _ in range(2):
                with pytest.raises(NoAnswer, match=r"^the host has no public address$"):
                    await send(
                        "POST",
                        "https://rebound.example/",
                        private=False,
                        seconds=2,
                        headers={},
                        network=Network(resolve),
                    )
            assert (heads, questions) == ([], ["rebound.example"] * 2)

    asyncio.run(go())


def test_who_changes_the_answer_after_the_check_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answer is looked at and connected to.

    A second question, which would find this machine, is not put.
    """
    connected: list[str] = []

    async def connect_tcp(*, remote_host: str, **_: object) -> None:
        connected.append(remote_host)
        raise OSError("no network here")

    monkeypatch.setattr(anyio, "connect_tcp", connect_tcp)
    resolve, questions = resolving(["93.184.215.14"], ["127.0.0.1"])
    with pytest.raises(NoAnswer, match="could not be connected to"):
        asyncio.run(
            send("POST", "https://rebound.example/", private=False, seconds=2, headers={}, network=Network(resolve))
        )
    assert (questions, connected) == (["rebound.example"], ["93.184.215.14"])


def test_the_next_address_is_tried_where_nobody_listens() -> None:
    async def go() -> Answer:
        async with server(answering(OK)) as (port, _):
            resolve, _ = resolving(["127.0.0.2", "127.0.0.1"])
            return await send(
                "POST", f"http://two.example:{port}/", private=True, seconds=2, headers={}, network=Network(resolve)
            )

    assert asyncio.run(go()).status == 200


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate for this name, and one of who believes it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    result = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, SHA256())
    )
    file = folder / "both.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(result.public_bytes(Encoding.PEM) + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context, ssl.create_default_context(cafile=str(file))


def test_tls_is_verified_against_the_name(tmp_path: Path) -> None:
    own, believing = certificate(tmp_path, "hooks.example")
    resolve, _ = resolving(["127.0.0.1"])
    outcomes = {}

    async def go() -> None:
        async with server(answering(OK), own) as (port, heads):
            trials = (("hooks.example", believing), ("other.example", believing), ("hooks.example", None))
            for host, authorities in trials:
                try:
                    answer = await send(
                        "POST",
                        f"https://{host}:{port}/",
                        private=True,
                        seconds=3,
                        headers={},
                        network=Network(resolve, authorities),
                    )
                    outcomes[host, authorities is not None] = str(answer.status)
                except NoAnswer as error:
                    outcomes[host, authorities is not None] = str(error)
            (head,) = heads
            assert f"host: hooks.example:{port}\r\n" in head.decode().lower()

    asyncio.run(go())
    unverified = "the certificate of the host could not be verified"
    assert outcomes == {
        ("hooks.example", True): "200",
        ("other.example", True): unverified,
        ("hooks.example", False): unverified,
    }
