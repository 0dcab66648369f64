"""Mail: letters are sealed until a worker sends them, or writes them to files."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import tempfile
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from email import policy
from email.generator import BytesGenerator
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.utils import format_datetime, parseaddr
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import aiosmtplib
import msgspec
import structlog
from aiosmtplib import SMTPException, SMTPNotSupported, SMTPRecipientsRefused, SMTPResponseException
from msgspec import Struct

from service.platform.base.breaker import Breaker
from service.platform.base.problem import Away
from service.platform.base.secrets import BadSeal, new_id
from service.platform.config import Settings
from service.platform.metrics import MAILS
from service.platform.unit.context import Unit
from service.platform.work.jobs import JobTable, PermanentError, accept_retry
from service.platform.work.mail_address import UnfitAddress, envelope

SMTP_SECONDS = 20.0
"""How long the mail server may take for one of its answers."""
SUBJECT_CHARACTERS = 200
SENDER_CHARACTERS = 320
TEXT_CHARACTERS = 20_000
LINE_CHARACTERS = 900
"""Of a line that goes as it is: mail servers may break what is longer than 998."""
RECIPIENTS_MAX = 50
"""Of one letter, copies included."""
ATTACHED_BYTES = 10 * 1024 * 1024
"""Of all attachments: many mail servers take no letter above 25 MB, and base64 makes a third more of them."""
NAME_CHARACTERS = 100
"""What a letter shows of a name that somebody else chose."""
FOLDER = "mail"
"""Of the data folder: where letters stand that no server takes."""
PURPOSE = "mail"
PORTS = {"smtp": 587, "smtps": 465}
HEADERS = {
    *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"),
    *("MIME-Version", "Content-Type", "Content-Transfer-Encoding"),
}
"""Of a letter without copies and attachments."""

log = structlog.get_logger()
jobs = JobTable()


class Attachment(Struct, frozen=True):
    """A file of a letter."""

    name: str
    media_type: str
    content: bytes


class Mail(Struct, frozen=True):
    """A letter in plain text."""

    to: str
    subject: str
    text: str
    also_to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()

    @property
    def recipients(self) -> list[str]:
        """Return all recipients, each once."""
        return list(dict.fromkeys((self.to, *self.also_to, *self.cc)))


class MailDelivery(Struct, frozen=True, kw_only=True):
    """The outcome of a letter that was accepted."""

    path: Path | None
    """Where it was written down, as no mail server is set."""
    refused: dict[str, str]
    """Addresses that the mail server refused for good, and its words."""
    postponed: dict[str, str]
    """Addresses that it did not take this time."""


class UnfitMail(ValueError):
    """The letter is too large, or something of it could leave its place."""


class NotAccepted(Exception):
    """The mail server did not accept a letter this time."""


class NotReached(NotAccepted):
    """The mail server did not answer; the message has its address."""


class Server(Struct, frozen=True):
    """The mail server of `smtp_url`."""

    host: str
    port: int
    tls: bool
    """From the first byte on; else as soon as the server offers it."""
    user: str | None
    password: str | None

    @property
    def local(self) -> bool:
        """Whether it runs on this machine, so that nobody can listen on the way."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class _Sealed(Struct, frozen=True):
    """The content of a waiting job: the letter, and what makes each attempt the same."""

    id: str
    written_at: datetime
    mail: Mail


# Letters --------------------------------------------------------------------------------------------------------------


def invitation(
    settings: Settings,
    *,
    to: str,
    full_name: str,
    organization: str,
    inviter: str,
    token: str | None,
    expires_at: datetime,
) -> Mail:
    """Return the letter of an invitation.

    A token of None: its reader has an account already, and so cannot join another organization. `inviter` is an e-mail,
    or how records name who called.
    """
    organization = one_line(organization)
    way = (
        "This address already has a Cushion account with another organization, so the invitation cannot be accepted "
        "with it. Ask to be invited under another address."
        if token is None
        else f"Choose a password here:\n\n    {console_link(settings, 'accept-invitation', token=token)}"
    )
    return Mail(
        to,
        f"Invitation to {organization} on Cushion"[:SUBJECT_CHARACTERS],
        f"Hello {one_line(full_name)},\n\n"
        f"{one_line(inviter)} invites you to join {organization} on Cushion.\n\n"
        f"{way}\n\n"
        f"The invitation ends on {_moment(expires_at)}. If you expected none, ignore this letter.\n",
    )


def password_reset(settings: Settings, *, to: str, full_name: str, token: str, expires_at: datetime) -> Mail:
    """Return the letter of a password reset."""
    return Mail(
        to,
        "Reset your Cushion password",
        f"Hello {one_line(full_name)},\n\n"
        "Somebody, most likely you, asked for a new password of your Cushion account.\n\n"
        f"Choose it here:\n\n    {console_link(settings, 'reset-password', token=token)}\n\n"
        f"This is good once, until {_moment(expires_at)}. If you did not ask for it, ignore this letter: "
        "your password stays as it is.\n",
    )


def console_link(settings: Settings, screen: str, **query: str) -> str:
    """Return the address of a screen of the console.

    What follows the # goes to no server and into no log.
    """
    return f"{settings.console_url}#/{screen}" + (f"?{urlencode(query)}" if query else "")


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d at %H:%M %Z}"


def one_line(name: str, most: int = NAME_CHARACTERS) -> str:
    """Return a name on one line, without invisible characters."""
    seen = (" " if char.isspace() or unicodedata.category(char)[0] == "C" else char for char in name)
    words = " ".join("".join(seen).replace("=?", "= ?").split())
    return words if len(words) <= most else words[: most - 1] + "…"


# On their way ---------------------------------------------------------------------------------------------------------


async def post(unit: Unit, mail: Mail) -> str:
    """Send a letter after this transaction; return the job's identifier.

    Raises:
        UnfitAddress: it cannot go there.
        UnfitMail: it cannot be sent.
    """
    sealed = _Sealed(new_id().hex, unit.now(), mail)
    render(unit.settings, sealed.id, sealed.written_at, mail)
    seal = unit.resources.vault.seal(PURPOSE, msgspec.json.encode(sealed))
    return await unit.enqueue("mail.send", queue="priority", arguments={"mail": seal})


def mentions(unit: Unit, seal: str, email: str) -> bool:
    """Return whether a job's letter goes to an e-mail or names it.

    A letter that cannot be opened does neither.
    """
    try:
        raw = unit.resources.vault.open(PURPOSE, seal)
    except BadSeal:
        return True
    return email.lower() in raw.decode().lower()


async def note_failure(unit: Unit, arguments: dict[str, Any], message: str) -> None:
    """Do nothing for a letter that failed: the dead letter has it."""
    log.error("mail.failed", error=message)


@jobs.job("mail.send", on_failure=note_failure, on_retry=accept_retry)
async def send(unit: Unit, arguments: dict[str, Any]) -> None:
    """Send a posted letter, or write it into the data folder without a server."""
    try:
        raw = unit.resources.vault.open(PURPOSE, arguments["mail"])
    except BadSeal:
        raise PermanentError("the mail was sealed with another secret key") from None
    sealed = msgspec.json.decode(raw, type=_Sealed)
    await unit.commit()  # no connection is held while the mail server takes its time
    await deliver(unit.settings, unit.resources.breakers["mail"], sealed.id, sealed.written_at, sealed.mail)


async def deliver(
    settings: Settings,
    breaker: Breaker,
    id_: str,
    written_at: datetime,
    mail: Mail,
    only: Sequence[str] | None = None,
) -> MailDelivery:
    """Send a letter at once, or write it into the data folder without a server.

    Args:
        id_: the same at every attempt, and so is the letter.
        only: those of its recipients who have not got it yet; None for all.

    Raises:
        UnfitAddress, UnfitMail: it cannot be sent.
        PermanentError: the server refused it for good, or offers no TLS for the password, or there is no place for it.
        NotAccepted, OSError: this time nobody got it; NotReached where the server said nothing of it.
        Away: it is left alone, since nobody reached it lately. Whatever it says of one letter is no reason for that.
    """
    content = render(settings, id_, written_at, mail)
    if settings.smtp_url is not None:
        to = [envelope(address) for address in (mail.recipients if only is None else only)]
        passed = breaker.enter()
        if not passed:
            raise Away(breaker.retry_after_seconds)
        try:
            handed = await _deliver(server_of(settings.smtp_url), settings, to, content)
        except Exception as error:
            MAILS.labels("failed").inc()
            if isinstance(error, NotReached | OSError):
                breaker.fail(passed, type(error).__name__)
            else:
                breaker.succeed(passed)
            raise
        except BaseException:  # out of its time, or the worker is stopping
            breaker.abandon(passed)
            raise
        breaker.succeed(passed)
        MAILS.labels("sent").inc()
        log.info("mail.sent", id=id_, refused=len(handed.refused), postponed=len(handed.postponed))
        return handed
    if settings.data_dir is not None:
        path = await asyncio.to_thread(_write_file, settings.data_dir / FOLDER, f"{id_}.eml", content)
        MAILS.labels("written").inc()
        log.info("mail.written", path=str(path))
        return MailDelivery(path=path, refused={}, postponed={})
    raise PermanentError("no mail can be sent: neither CUSHION_SMTP_URL nor CUSHION_DATA_DIR is set")


def _check(mail: Mail) -> None:
    """Refuse a letter that is too large, or whose subject could leave its header.

    Raises:
        UnfitMail: it is, or could.
    """
    for part, most in ((mail.subject, SUBJECT_CHARACTERS), (mail.text, TEXT_CHARACTERS)):
        if len(part) > most:
            raise UnfitMail(f"a mail holds at most {most} characters there, this one has {len(part)}")
    if "=?" in mail.subject:  # the library would decode an encoded word and let its line ends into the header
        raise UnfitMail("the subject of a mail holds no encoded words")
    if len(mail.recipients) > RECIPIENTS_MAX:
        raise UnfitMail(f"a mail goes to at most {RECIPIENTS_MAX} addresses, this one to {len(mail.recipients)}")
    if sum(len(attachment.content) for attachment in mail.attachments) > ATTACHED_BYTES:
        raise UnfitMail(f"the attachments of a mail have at most {ATTACHED_BYTES:,} bytes")


def render(settings: Settings, id_: str, written_at: datetime, mail: Mail) -> bytes:
    """Return the letter as it goes over the wire.

    Raises:
        UnfitAddress: it cannot go there.
        UnfitMail: it is too large, or a part would not stay within its header.
    """
    _check(mail)
    sender = sender_of(settings)
    to, cc = [", ".join(map(envelope, listed)) for listed in ((mail.to, *mail.also_to), mail.cc)]
    message = EmailMessage(policy=policy.SMTP if (to + cc).isascii() else policy.SMTPUTF8)
    try:
        message["From"] = settings.mail_from
        message["To"] = to
        if cc:
            message["Cc"] = cc
        message["Subject"] = mail.subject
        message["Date"] = format_datetime(written_at)
        message["Message-ID"] = f"<{id_}@{sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        short = mail.text.isascii() and all(len(line) <= LINE_CHARACTERS for line in mail.text.splitlines())
        message.set_content(mail.text, cte="7bit" if short else "quoted-printable")
        for attachment in mail.attachments:
            kind, _, subtype = attachment.media_type.partition("/")
            message.add_attachment(
                attachment.content, maintype=kind, subtype=subtype, filename=one_line(attachment.name)
            )
        if mail.attachments:
            message.set_boundary(f"part-{id_}")  # not random: each attempt sends the very same letter
        stream = BytesIO()
        BytesGenerator(stream).flatten(message)
    except (ValueError, UnicodeError) as error:
        raise UnfitMail(str(error)) from error
    content = stream.getvalue()
    headers = list(BytesHeaderParser(policy=policy.compat32).parsebytes(content))
    expected = HEADERS | ({"Cc"} if cc else set())
    if mail.attachments:
        expected -= {"Content-Transfer-Encoding"}  # its parts have one each
    assert sorted(headers) == sorted(expected), "something of the letter got into its headers"
    return content


def sender_of(settings: Settings) -> str:
    """Return the bare address that mails come from.

    Raises:
        UnfitAddress: `mail_from` has none.
    """
    _, address = parseaddr(settings.mail_from)
    one_line = settings.mail_from.isprintable() and "=?" not in settings.mail_from
    if not one_line or not address.isascii() or len(settings.mail_from) > SENDER_CHARACTERS:
        raise UnfitAddress("expected a sender such as Cushion <cushion@example.com>")
    return envelope(address)


def server_of(url: str) -> Server:
    """Parse a mail server's URL: smtp://user:password@host:587 or smtps://host.

    Raises:
        ValueError: it names none.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
        host = parts.hostname or ""
    except (ValueError, KeyError):  # whose message has a part of the URL, and that may be the password's
        host = ""
    if not host:
        raise ValueError("expected smtp://user:password@host:587 or smtps://host, a special character in them as %40")
    return Server(
        host=host,
        port=port,
        tls=parts.scheme == "smtps",
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password or "") if parts.username else None,
    )


async def _deliver(server: Server, settings: Settings, to: list[str], content: bytes) -> MailDelivery:
    """Give a letter to the mail server, for whichever of these addresses it takes it."""
    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        use_tls=server.tls,
        start_tls=False,  # ours, below: what is asked before it depends on what the server offers
        timeout=SMTP_SECONDS,
        tls_context=ssl.create_default_context(),
    )
    try:
        async with client:
            await client.ehlo()
            secure = server.tls
            if not secure and client.supports_extension("starttls"):
                await client.starttls()
                secure = True
            if server.user is not None and server.password is not None:
                if not secure and not server.local:  # somebody on the way may have hidden the offer
                    raise PermanentError("the mail server offers no TLS: the password does not go to it in the clear")
                await client.login(server.user, server.password)
            options = [] if content.isascii() else ["SMTPUTF8"]
            some, _ = await client.sendmail(sender_of(settings), to, content, mail_options=options)
    except SMTPException as refused:  # of which nothing goes on: its text, and so its traceback, names the addresses
        if _is_permanent(refused):
            raise PermanentError(f"the mail server refused: {_reply_text(refused, to)}") from None
        spoke = isinstance(refused, SMTPResponseException | SMTPRecipientsRefused)
        raise (NotAccepted if spoke else NotReached)(
            f"the mail server did not take it: {_reply_text(refused, to)}"
        ) from None
    words = {address: _hide(f"{answer.code} {answer.message}", to) for address, answer in some.items()}
    final = {address for address, answer in some.items() if 500 <= answer.code < 600}
    return MailDelivery(
        path=None,
        refused={address: text for address, text in words.items() if address in final},
        postponed={address: text for address, text in words.items() if address not in final},
    )


def _reply_text(refused: SMTPException, to: list[str]) -> str:
    """Return the server's words without addresses: they are logged."""
    if isinstance(refused, SMTPRecipientsRefused):
        return _reply_text(refused.recipients[0], to)
    words = f"{refused.code} {refused.message}" if isinstance(refused, SMTPResponseException) else str(refused)
    return _hide(words, to)


def _hide(words: str, addresses: list[str]) -> str:
    return re.sub("|".join(map(re.escape, addresses)), "***", words, flags=re.IGNORECASE)


def _is_permanent(refused: SMTPException) -> bool:
    if isinstance(refused, SMTPRecipientsRefused):
        return all(_is_permanent(reply) for reply in refused.recipients)
    if isinstance(refused, SMTPResponseException):
        return 500 <= refused.code < 600
    return isinstance(refused, SMTPNotSupported)


def _write_file(folder: Path, name: str, content: bytes) -> Path:
    """Write a letter for its owner's eyes; the file appears whole or not at all."""
    folder.mkdir(mode=0o700, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".draft")  # made with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, folder / name)
    except BaseException:
        os.unlink(draft)
        raise
    return folder / name
