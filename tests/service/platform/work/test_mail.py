"""Mail: letters without a way into their headers, sealed while they wait, sent to a real server or written down."""

from __future__ import annotations

import asyncio
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import msgspec
import pytest
import structlog
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from arq.connections import ArqRedis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from structlog.testing import LogCapture

from service.platform.base.breaker import Breaker
from service.platform.base.breakers import TABLE
from service.platform.base.secrets import Vault
from service.platform.config import ConfigError, Settings
from service.platform.unit.context import Resources, Unit
from service.platform.work import mail
from service.platform.work.jobs import PermanentError
from service.platform.work.mail import Attachment, Mail, MailDelivery, NotAccepted, UnfitMail
from service.platform.work.mail_address import UnfitAddress
from service.platform.work.process import check_mail
from service.platform.work.queues import dispatch
from service.platform.work.runner import Runner
from tests.rows import every
from tests.service.platform.conftest import Apart, act

LETTER = Mail("olive@example.com", "Greetings", "A word, and a token: s3cret-t0ken\n")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class Post:
    """A mail server's side of things.

    What it took, and what it says instead where it is told to.
    """

    says: dict[str, str] = field(default_factory=dict)
    scripts: dict[str, list[str]] = field(default_factory=dict)
    """By address what it says first, one after the other."""
    taken: list[EmailMessage] = field(default_factory=list)
    envelopes: list[tuple[str, list[str]]] = field(default_factory=list)
    logins: list[tuple[bytes, bytes, bool]] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802 - the server's names
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        script = self.scripts.get(address)
        words = script.pop(0) if script else self.says.get(address) or self.says.get("RCPT")
        if words is not None:
            return words
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if "DATA" in self.says:
            return self.says["DATA"]
        content = envelope.original_content or b""
        self.taken.append(message_from_bytes(content, policy=policy.SMTP))
        self.envelopes.append((envelope.mail_from or "", list(envelope.rcpt_tos)))
        return "250 OK"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login, data.password, session.ssl is not None))
        return AuthResult(success=data.password == b"p@ss/word", handled=False)


@asynccontextmanager
async def server(post: Post, *, port: int = 0, tls: ssl.SSLContext | None = None, **options: Any) -> AsyncIterator[int]:
    """A mail server; its port.

    `tls` is for smtps, `tls_context` among the options for STARTTLS.
    """
    loop = asyncio.get_running_loop()
    smtps: list[SMTP] = []

    def protocol() -> SMTP:
        smtps.append(SMTP(post, hostname="mail.example.com", enable_SMTPUTF8=True, loop=loop, **options))
        return smtps[-1]

    listening = await loop.create_server(protocol, "127.0.0.1", port, ssl=tls)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for smtp in smtps:
            if smtp.transport is not None:
                smtp.transport.close()
        await listening.wait_closed()
        await asyncio.sleep(0.05)  # the handlers of closed connections end


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine's own address, with its key, that nobody has signed but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail")])
    now = datetime.now(UTC)
    result = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "mail.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + result.public_bytes(serialization.Encoding.PEM))
    return path


def secured(certificate: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


async def posted(shared: Resources, tenant: UUID, letter: Mail = LETTER) -> str:
    unit = Unit(shared, tenant, request_id="request-1")
    job_id = await mail.post(unit, letter)
    await unit.commit()
    return job_id


async def attempt(shared: Resources, queue: ArqRedis, tenant: UUID, job_id: str, number: int, **settings: Any) -> None:
    """One attempt, with some settings changed.

    The port of a server is known only once it listens.
    """
    values = {name: getattr(shared.settings, name) for name in shared.settings.__struct_fields__} | settings
    changed = msgspec.structs.replace(shared, settings=Settings(**values))
    await dispatch(changed, queue)
    await Runner(changed, mail.jobs)({}, str(tenant), job_id, number)


def state(apart: Apart, job_id: str) -> tuple[str, int]:
    row = apart.sql("SELECT status, failures FROM jobs WHERE id = %s", [job_id])[0]
    return row[0], row[1]


def buried(apart: Apart, job_id: str) -> list[tuple[str, str]]:
    return cast(
        list[tuple[str, str]],
        apart.sql("SELECT exception_type, exception_message FROM dead_letters WHERE original_task_id = %s", [job_id]),
    )


def parsed(content: bytes) -> EmailMessage:
    return message_from_bytes(content, policy=policy.SMTP)


# Letters --------------------------------------------------------------------------------------------------------------


def test_an_invitation_links_to_the_console() -> None:
    settings = Settings(app_url="https://app.example.com/")
    letter = mail.invitation(
        settings,
        to="nora@example.com",
        full_name="Nora New",
        organization="Acme",
        inviter="olive@example.com",
        token="tok-1_x",
        expires_at=NOON,
    )
    assert (letter.to, letter.subject) == ("nora@example.com", "Invitation to Acme on Cushion")
    assert "\n    https://app.example.com/console/#/accept-invitation?token=tok-1_x\n" in letter.text
    assert letter.text.startswith("Hello Nora New,\n")
    assert "2026-05-01 at 12:00 UTC" in letter.text
    assert "olive@example.com invites you to join Acme" in letter.text


@pytest.mark.parametrize(
    ("settings", "base"),
    [
        (Settings(app_url="https://app.example.com/base"), "https://app.example.com/base"),
        (Settings(), "http://127.0.0.1:8000"),
        (Settings(host="0.0.0.0", port=9000), "http://127.0.0.1:9000"),
        (Settings(host="::1", port=9000), "http://[::1]:9000"),
    ],
)
def test_a_reset_links_to_the_console_at_the_address_of_the_settings(settings: Settings, base: str) -> None:
    letter = mail.password_reset(settings, to="o@example.com", full_name="Olive", token="tok-2_x", expires_at=NOON)
    assert f"\n    {base}/console/#/reset-password?token=tok-2_x\n" in letter.text
    assert letter.text.count("tok-2_x") == 1


def test_what_a_link_says_is_encoded() -> None:
    link = mail.console_link(Settings(app_url="https://a"), "deals/1/compliance", run="a b&c#d")
    assert link == "https://a/console/#/deals/1/compliance?run=a+b%26c%23d"
    assert mail.console_link(Settings(app_url="https://a/"), "alerts") == "https://a/console/#/alerts"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Olive\r\nBcc: all@example.com", "Olive Bcc: all@example.com"),
        ("Olive\n\n\nSecond letter", "Olive Second letter"),
        ("a\x00b\x1b[31mc\x85d\u2028e", "a b [31mc d e"),
        ("\u202egnp.exe\u200b", "gnp.exe"),
        ("x" * 300, "x" * 99 + "…"),
        ("Ünïcode 株式会社", "Ünïcode 株式会社"),
        ("=?utf-8?q?=0D=0ABcc:_x?=", "= ?utf-8?q?=0D=0ABcc:_x?="),
    ],
    ids=["header", "lines", "controls", "direction", "long", "unicode", "encoded"],
)
def test_a_name_stays_on_its_line(name: str, shown: str) -> None:
    letter = mail.invitation(
        Settings(), to="n@example.com", full_name=name, organization=name, inviter=name, token="t", expires_at=NOON
    )
    assert letter.text.startswith(f"Hello {shown},\n\n{shown} invites you to join {shown} on Cushion.\n")
    content = mail.render(Settings(), "id", NOON, letter)
    message = parsed(content)
    assert sorted(message.keys()) == sorted(mail.HEADERS)
    assert message.get_all("bcc") is None
    assert content.count(b"\r\n\r\n") >= 1
    assert message["to"] == "n@example.com"


def test_what_goes_over_the_wire() -> None:
    settings = Settings(mail_from="Cushion Desk <desk@example.org>")
    content = mail.render(settings, "id-1", NOON, Mail("nora@exämple.com", "Grüße", "Grüße\n"))
    message = parsed(content)
    assert message["from"] == "Cushion Desk <desk@example.org>"
    assert message["to"] == "nora@xn--exmple-cua.com"
    assert message["subject"] == "Grüße"
    assert message["message-id"] == "<id-1@example.org>"
    assert message["auto-submitted"] == "auto-generated"
    assert message["date"].datetime == NOON
    assert message.get_content().replace("\r\n", "\n") == "Grüße\n"
    assert content.isascii()


@pytest.mark.parametrize(
    "to",
    [
        "",
        "olive",
        "@example.com",
        "a@b@example.com",
        "olive@example.com\r\nBcc: all@example.com",
        "olive @example.com",
        "olive\u2028@example.com",
        "olive\u202e@example.com",
        "=?utf-8?q?=0D=0ABcc=3A?=@example.com",
        "olive@" + "ü" * 60 + ".com",
        "o" * 250 + "@example.com",
        "root,olive@example.com",
        "<olive@example.com>",
        "group:olive@example.com",
        "olive(comment)@example.com",
        '"olive"@example.com',
        "olive\\@example.com",
        "olive@example.com>",
        "olive@example.com:25",
        "olive@[127.0.0.1]",
        "olive@xn--.com",
        "olive@xn--99999.com",
    ],
    ids=lambda to: ascii(to)[:20],
)
def test_no_mail_goes_to_what_is_no_address(to: str) -> None:
    with pytest.raises(UnfitAddress):
        mail.render(Settings(), "id", NOON, Mail(to, "s", "t"))


@pytest.mark.parametrize(
    "letter",
    [
        Mail("o@example.com", "Greetings\r\nBcc: all@example.com", "t"),
        Mail("o@example.com", "Greetings\nBcc: all@example.com", "t"),
        Mail("o@example.com", "=?utf-8?q?=0D=0ABcc:_x?=", "t"),
        Mail("o@example.com", "s" * 201, "t"),
        Mail("o@example.com", "s", "t" * 20_001),
        Mail("o@example.com", "s", "half of a pair \ud800"),
        Mail("o@example.com", "s", "t", cc=tuple(f"{number}@example.com" for number in range(50))),
        Mail("o@example.com", "s", "t", attachments=(Attachment("a", "a/b", b"x" * (mail.ATTACHED_BYTES + 1)),)),
        Mail("o@example.com", "s", "t", attachments=(Attachment("a", "a/b\r\nBcc: c@d.com", b"x"),)),
    ],
    ids=["crlf", "lf", "encoded", "subject", "text", "surrogate", "recipients", "attachments", "media type"],
)
def test_an_unfit_letter_is_refused(letter: Mail) -> None:
    with pytest.raises(UnfitMail):
        mail.render(Settings(), "id", NOON, letter)


def test_a_letter_to_several_with_a_file() -> None:
    name = 'report\r\nBcc: all@example.com"; x="\u202efdp.exe.pdf'
    letter = Mail(
        "a@example.com",
        "s",
        "long " * 400 + "\n",
        also_to=("b@exämple.com", "c@example.com"),
        cc=("d@example.com", "a@example.com"),
        attachments=(Attachment(name, "application/pdf", bytes(range(256)) * 9),),
    )
    assert letter.recipients == ["a@example.com", "b@exämple.com", "c@example.com", "d@example.com"]
    content = mail.render(Settings(), "id", NOON, letter)
    assert content == mail.render(Settings(), "id", NOON, letter)
    message = parsed(content)
    assert message["to"] == "a@example.com, b@xn--exmple-cua.com, c@example.com"
    assert message["cc"] == "d@example.com, a@example.com"
    assert message.get_all("bcc") is None
    body = message.get_body()
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == letter.text
    (file,) = message.iter_attachments()
    assert (file.get_content_type(), file.get_content()) == ("application/pdf", bytes(range(256)) * 9)
    assert file.get_filename() == 'report Bcc: all@example.com"; x=" fdp.exe.pdf'
    assert sorted(file.keys()) == ["Content-Disposition", "Content-Transfer-Encoding", "Content-Type", "MIME-Version"]
    assert max(map(len, content.split(b"\r\n"))) < 999


# Settings -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.com", mail.Server("mail.example.com", 587, False, None, None)),
        ("smtps://mail.example.com", mail.Server("mail.example.com", 465, True, None, None)),
        ("smtp://u%40x:p%2Fq@[::1]:25", mail.Server("::1", 25, False, "u@x", "p/q")),
    ],
)
def test_a_server_by_its_url(url: str, server: mail.Server) -> None:
    assert mail.server_of(url) == server


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.com",
        "http://mail.example.com",
        "smtp://",
        "smtp://user:hunter2/x@mail.example.com",
        "smtp://user:hunter2@mail.example.com:99999",
        "smtp://user:hunter2@[::1",
        "smtp://user:hunter2\u2100@mail.example.com",
    ],
    ids=lambda url: ascii(url)[-20:],
)
def test_what_is_no_server_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match="CUSHION_SMTP_URL cannot be used") as refusal:
        check_mail(Settings(smtp_url=url))
    assert "hunter2" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    "sender",
    [
        "Cushion",
        "Cushion <>",
        "a@b\r\nBcc: c@d",
        "=?utf-8?q?=0D=0ABcc:_x?= <a@example.com>",
        "Cushion <ü@example.com>",
        "x" * 400,
    ],
)
def test_what_is_no_sender_is_refused(sender: str) -> None:
    with pytest.raises(ConfigError, match="CUSHION_MAIL_FROM"):
        check_mail(Settings(mail_from=sender))


# While it waits -------------------------------------------------------------------------------------------------------


def test_a_letter_commits_with_its_transaction_and_waits_sealed(alone: Apart) -> None:
    tenant = alone.tenant()

    async def both(shared: Resources, queue: ArqRedis) -> None:
        unit = Unit(shared, tenant, request_id="r")
        await mail.post(unit, LETTER)
        await unit.rollback(ValueError())
        assert alone.sql("SELECT 1 FROM jobs WHERE tenant_id = %s", [tenant]) == []
        await posted(shared, tenant)

    act(alone, both)
    name, queue, arguments = alone.sql("SELECT name, queue, arguments FROM jobs WHERE tenant_id = %s", [tenant])[0]
    assert (name, queue, set(arguments)) == ("mail.send", "priority", {"mail"})
    for known in ("s3cret", "olive", "Greetings"):
        assert known not in msgspec.json.encode(arguments).decode()


def test_a_letter_of_another_secret_is_a_dead_letter_at_once(alone: Apart) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(msgspec.structs.replace(shared, vault=Vault("another secret " * 4)), tenant)
        await attempt(shared, queue, tenant, job_id, 1)
        return job_id

    job_id = act(alone, run)
    assert state(alone, job_id)[0] == "failed"
    assert buried(alone, job_id) == [("PermanentError", "the mail was sealed with another secret key")]


# Without a server -----------------------------------------------------------------------------------------------------


def test_without_a_server_it_is_written_into_the_data_folder(alone: Apart, tmp_path: Path) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(shared, tenant)
        await attempt(shared, queue, tenant, job_id, 1, data_dir=tmp_path)
        return job_id

    assert state(alone, act(alone, run)) == ("completed", 0)
    (path,) = (tmp_path / "mail").iterdir()
    assert path.suffix == ".eml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    message = parsed(path.read_bytes())
    assert (message["to"], message["subject"]) == ("olive@example.com", "Greetings")
    assert "s3cret-t0ken" in message.get_content()


def test_the_log_tells_where_it_was_written(alone: Apart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture, tenant = LogCapture(), alone.tenant()
    logger = structlog.wrap_logger(structlog.PrintLogger(), processors=[capture], wrapper_class=structlog.BoundLogger)
    monkeypatch.setattr(mail, "log", logger)

    async def run(shared: Resources, queue: ArqRedis) -> None:
        job_id = await posted(shared, tenant)
        await attempt(shared, queue, tenant, job_id, 1, data_dir=tmp_path)

    act(alone, run)
    (path,) = (tmp_path / "mail").iterdir()
    assert capture.entries == [{"event": "mail.written", "path": str(path), "log_level": "info"}]


def test_with_nowhere_to_put_it_the_job_says_so(alone: Apart) -> None:
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(shared, tenant)
        await attempt(shared, queue, tenant, job_id, 1, data_dir=None)
        return job_id

    job_id = act(alone, run)
    assert state(alone, job_id) == ("failed", 1)
    ((kind, message),) = buried(alone, job_id)
    assert kind == "PermanentError"
    assert "neither CUSHION_SMTP_URL nor CUSHION_DATA_DIR is set" in message


# With a server --------------------------------------------------------------------------------------------------------


def sent(
    apart: Apart,
    post: Post,
    *,
    url: str = "smtp://127.0.0.1:{port}",
    letter: Mail = LETTER,
    attempts: int = 1,
    **options: Any,
) -> str:
    """Post a letter and attempt to send it to a server with these options.

    The job's identifier.
    """
    tenant = apart.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(shared, tenant, letter)
        async with server(post, **options) as port:
            for number in range(1, attempts + 1):
                await attempt(shared, queue, tenant, job_id, number, smtp_url=url.format(port=port))
        return job_id

    return str(act(apart, run))


def test_a_server_takes_it_once(alone: Apart) -> None:
    post = Post()
    job_id = sent(alone, post, attempts=2)
    assert state(alone, job_id) == ("completed", 0)
    assert post.envelopes == [("cushion@localhost", ["olive@example.com"])]
    (message,) = post.taken
    assert (message["from"], message["to"]) == ("Cushion <cushion@localhost>", "olive@example.com")
    assert "s3cret-t0ken" in message.get_content()


def test_an_address_beyond_ascii(alone: Apart) -> None:
    post = Post()
    job_id = sent(alone, post, letter=Mail("jürgen@bücher.example.com", "Grüße", "Grüße\n"))
    assert state(alone, job_id) == ("completed", 0)
    assert post.envelopes == [("cushion@localhost", ["jürgen@xn--bcher-kva.example.com"])]


def test_starttls_where_it_is_offered_and_the_password_behind_it(
    alone: Apart, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    post = Post()
    job_id = sent(
        alone,
        post,
        url="smtp://desk:p%40ss%2Fword@127.0.0.1:{port}",
        tls_context=secured(certificate),
        require_starttls=True,
        auth_required=True,
        authenticator=post.authenticate,
    )
    assert state(alone, job_id) == ("completed", 0)
    assert post.logins == [(b"desk", b"p@ss/word", True)]
    assert len(post.taken) == 1


def test_tls_from_the_first_byte_on(alone: Apart, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    post = Post()
    assert state(alone, sent(alone, post, url="smtps://127.0.0.1:{port}", tls=secured(certificate))) == ("completed", 0)
    assert len(post.taken) == 1


def test_a_certificate_that_nobody_knows_gets_no_letter(alone: Apart, certificate: Path) -> None:
    post = Post()
    job_id = sent(alone, post, tls_context=secured(certificate))
    assert state(alone, job_id) == ("pending", 1)
    assert post.taken == []


def test_a_password_does_not_cross_the_wire_in_the_clear(alone: Apart) -> None:
    post = Post()
    job_id = sent(
        alone,
        post,
        url="smtp://desk:p%40ss%2Fword@0.0.0.0:{port}",  # reaches the server, yet is no loopback address
        auth_require_tls=False,
        authenticator=post.authenticate,
    )
    assert (post.logins, post.taken) == ([], [])
    assert buried(alone, job_id) == [
        ("PermanentError", "the mail server offers no TLS: the password does not go to it in the clear")
    ]


def test_a_wrong_password_is_final(alone: Apart) -> None:
    post = Post()
    job_id = sent(
        alone,
        post,
        url="smtp://desk:wrong@127.0.0.1:{port}",
        attempts=2,
        auth_require_tls=False,
        authenticator=post.authenticate,
    )
    assert state(alone, job_id)[0] == "failed"
    assert len({password for _, password, _ in post.logins}) == 1
    assert buried(alone, job_id)[0][0] == "PermanentError"
    assert "wrong" not in buried(alone, job_id)[0][1]


@pytest.mark.parametrize("verb", ["RCPT", "DATA"])
def test_a_refusal_for_good_is_not_repeated(alone: Apart, verb: str) -> None:
    post = Post({verb: "550 5.1.1 no such user"})
    job_id = sent(alone, post, attempts=3)
    assert state(alone, job_id) == ("failed", 1)
    ((kind, message),) = buried(alone, job_id)
    assert kind == "PermanentError"
    assert message == "the mail server refused: 550 5.1.1 no such user"
    assert alone.sql("SELECT attempt FROM jobs WHERE id = %s", [job_id]) == [(1,)]


@pytest.mark.parametrize("verb", ["RCPT", "DATA"])
def test_a_refusal_for_now_is_repeated(alone: Apart, verb: str) -> None:
    post = Post({verb: "451 4.3.0 come back later"})
    tenant = alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(shared, tenant)
        async with server(post) as port:
            await attempt(shared, queue, tenant, job_id, 1, smtp_url=f"smtp://127.0.0.1:{port}")
            assert state(alone, job_id) == ("pending", 1)
            post.says.clear()
            await attempt(shared, queue, tenant, job_id, 2, smtp_url=f"smtp://127.0.0.1:{port}")
        return job_id

    assert state(alone, act(alone, run)) == ("completed", 1)
    assert len(post.taken) == 1


@pytest.mark.parametrize("code", [451, 550])
def test_what_a_server_says_of_an_address_is_kept_without_it(alone: Apart, code: int) -> None:
    job_id = sent(alone, Post({"RCPT": f"{code} 5.1.1 <Olive@Example.com>: no such user"}), attempts=3)
    assert state(alone, job_id)[0] == "failed"
    kept = "SELECT exception_message, traceback FROM dead_letters WHERE original_task_id = %s"
    ((message, traceback),) = alone.sql(kept, [job_id])
    assert message.endswith(f": {code} 5.1.1 <***>: no such user")
    assert "olive" not in traceback.lower()


def test_a_server_that_was_away_gets_it_once_when_it_is_back(alone: Apart) -> None:
    post, tenant = Post(), alone.tenant()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(shared, tenant)
        async with server(post) as port:
            pass
        await attempt(shared, queue, tenant, job_id, 1, smtp_url=f"smtp://127.0.0.1:{port}")
        assert state(alone, job_id) == ("pending", 1)
        async with server(post, port=port):
            for number in (2, 3):
                await attempt(shared, queue, tenant, job_id, number, smtp_url=f"smtp://127.0.0.1:{port}")
        return job_id

    assert state(alone, act(alone, run)) == ("completed", 1)
    assert len(post.taken) == 1


def test_a_server_that_never_answers_costs_its_time_and_no_more(alone: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "SMTP_SECONDS", 0.3)
    tenant, ended = alone.tenant(), asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # until the other side has enough
        writer.close()
        await writer.wait_closed()
        ended.set()

    async def run(shared: Resources, queue: ArqRedis) -> str:
        job_id = await posted(shared, tenant)
        silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        await asyncio.wait_for(
            attempt(shared, queue, tenant, job_id, 1, smtp_url=f"smtp://127.0.0.1:{port}"), timeout=10
        )
        silent.close()
        await ended.wait()
        return job_id

    assert state(alone, act(alone, run)) == ("pending", 1)


@every(
    "says, only, taken, refused, postponed",
    [
        ({}, None, ["a@x.com", "b@x.com", "c@x.com"], [], []),
        ({}, ["b@x.com"], ["b@x.com"], [], []),
        ({"b@x.com": "550 5.1.1 <B@x.com>: no such user"}, None, ["a@x.com", "c@x.com"], ["b@x.com"], []),
        ({"a@x.com": "451 4.7.1 <a@x.com> later"}, None, ["b@x.com", "c@x.com"], [], ["a@x.com"]),
        ({"a@x.com": "451 4", "b@x.com": "550 5", "c@x.com": "552 5"}, None, [], NotAccepted, []),
        ({"RCPT": "550 5"}, None, [], PermanentError, []),
        ({"DATA": "554 5.7.1 a@x.com is not wanted"}, None, [], PermanentError, []),
    ],
)
def test_each_recipient_has_an_outcome(
    says: dict[str, str],
    only: list[str] | None,
    taken: list[str],
    refused: list[str] | type[Exception],
    postponed: list[str],
) -> None:
    letter, post = Mail("a@x.com", "s", "t", also_to=("b@x.com",), cc=("c@x.com",)), Post(says)

    async def run() -> MailDelivery | Exception:
        async with server(post) as port:
            try:
                return await mail.deliver(
                    Settings(smtp_url=f"smtp://127.0.0.1:{port}"),
                    Breaker("mail", TABLE["mail"].limits),
                    "id",
                    NOON,
                    letter,
                    only,
                )
            except (PermanentError, NotAccepted) as error:
                return error

    came = asyncio.run(run())
    assert [to for _, listed in post.envelopes for to in listed] == taken
    if isinstance(came, Exception):
        assert type(came) is refused
        assert "x.com" not in str(came)
    else:
        assert (list(came.refused), list(came.postponed)) == (refused, postponed)
        assert "x.com" not in str([*came.refused.values(), *came.postponed.values()]).lower()
