"""Mail: letters of the service, kept sealed until a worker sends them, or writes them down where no server is set."""

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
from service.platform.work.jobs import Hopeless, JobTable, nothing_to_lift
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
    """A file that a letter brings."""

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
        """Everybody whom it goes to, each once."""
        return list(dict.fromkeys((self.to, *self.also_to, *self.cc)))


class Handed(Struct, frozen=True, kw_only=True):
    """What became of a letter that somebody took."""

    path: Path | None
    """Where it was written down, as no mail server is set."""
    refused: dict[str, str]
    """Addresses that the mail server refused for good, and its words."""
    postponed: dict[str, str]
    """Addresses that it did not take this time."""


class UnfitMail(ValueError):
    """The letter is too large, or something of it would not stay where it is put."""


class NotTaken(Exception):
    """The mail server did not take a letter this time."""


class NotReached(NotTaken):
    """There was no word of the mail server; the message says where it is looked for."""


class Server(Struct, frozen=True):
    """What `smtp_url` says."""

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
    """What waits in a job: the letter, and what makes each attempt send the very same one."""

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
    """The letter that brings an invitation's token: None where whoever reads it has an account already, and so cannot
    join another organization. `inviter` is an e-mail, or how records name who called."""
    organization = plain(organization)
    way = (
        "This address already has a Cushion account with another organization, so the invitation cannot be accepted "
        "with it. Ask to be invited under another address."
        if token is None
        else f"Choose a password here:\n\n    {console_link(settings, 'accept-invitation', token=token)}"
    )
    return Mail(
        to,
        f"Invitation to {organization} on Cushion"[:SUBJECT_CHARACTERS],
        f"Hello {plain(full_name)},\n\n"
        f"{plain(inviter)} invites you to join {organization} on Cushion.\n\n"
        f"{way}\n\n"
        f"The invitation ends on {_moment(expires_at)}. If you expected none, ignore this letter.\n",
    )


def password_reset(settings: Settings, *, to: str, full_name: str, token: str, expires_at: datetime) -> Mail:
    """The letter that brings the token of a password reset."""
    return Mail(
        to,
        "Reset your Cushion password",
        f"Hello {plain(full_name)},\n\n"
        "Somebody, most likely you, asked for a new password of your Cushion account.\n\n"
        f"Choose it here:\n\n    {console_link(settings, 'reset-password', token=token)}\n\n"
        f"This is good once, until {_moment(expires_at)}. If you did not ask for it, ignore this letter: "
        "your password stays as it is.\n",
    )


def console_link(settings: Settings, screen: str, **query: str) -> str:
    """The address of a screen of the console. What follows the # goes to no server and into no log."""
    return f"{settings.console_url}#/{screen}" + (f"?{urlencode(query)}" if query else "")


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d at %H:%M %Z}"


def plain(name: str, most: int = NAME_CHARACTERS) -> str:
    """A name on one line: without controls, direction marks and other characters that are not seen, nor the beginning
    of an encoded word."""
    seen = (" " if char.isspace() or unicodedata.category(char)[0] == "C" else char for char in name)
    words = " ".join("".join(seen).replace("=?", "= ?").split())
    return words if len(words) <= most else words[: most - 1] + "…"


# On their way ---------------------------------------------------------------------------------------------------------


async def post(unit: Unit, mail: Mail) -> str:
    """Have a letter sent once this transaction is safe; the job's identifier. Its arguments hold the letter sealed.

    Raises:
        UnfitAddress: it cannot go there.
        UnfitMail: it cannot be sent.
    """
    sealed = _Sealed(new_id().hex, unit.now(), mail)
    written(unit.settings, sealed.id, sealed.written_at, mail)
    seal = unit.resources.vault.seal(PURPOSE, msgspec.json.encode(sealed))
    return await unit.enqueue("mail.send", queue="priority", arguments={"mail": seal})


def concerns(unit: Unit, seal: str, email: str) -> bool:
    """Whether a letter that a job holds goes to an e-mail or names it; one that cannot be opened goes to nobody."""
    try:
        raw = unit.resources.vault.open(PURPOSE, seal)
    except BadSeal:
        return True
    return email.lower() in raw.decode().lower()


async def note_failure(unit: Unit, arguments: dict[str, Any], message: str) -> None:
    """A letter could not be sent. No record waits for it: the dead letter tells."""
    log.error("mail.failed", error=message)


@jobs.job("mail.send", failed=note_failure, lifted=nothing_to_lift)
async def send(unit: Unit, arguments: dict[str, Any]) -> None:
    """Send a letter that was posted, or write it into the data folder where no server is set."""
    try:
        raw = unit.resources.vault.open(PURPOSE, arguments["mail"])
    except BadSeal:
        raise Hopeless("the mail was sealed with another secret key") from None
    sealed = msgspec.json.decode(raw, type=_Sealed)
    await unit.commit()  # no connection is held while the mail server takes its time
    await hand(unit.settings, unit.resources.breakers["mail"], sealed.id, sealed.written_at, sealed.mail)


async def hand(
    settings: Settings,
    breaker: Breaker,
    id_: str,
    written_at: datetime,
    mail: Mail,
    only: Sequence[str] | None = None,
) -> Handed:
    """Hand a letter to the mail server at once, or write it into the data folder where no server is set.

    Args:
        id_: the same at every attempt, and so is the letter.
        only: those of its recipients who have not got it yet; None for all.

    Raises:
        UnfitAddress, UnfitMail: it cannot be sent.
        Hopeless: the server refused it for good, would have the password in the clear, or there is nowhere to put it.
        NotTaken, OSError: this time nobody got it; NotReached where the server said nothing of it.
        Away: it is left alone, since nobody reached it lately. Whatever it says of one letter is no reason for that.
    """
    content = written(settings, id_, written_at, mail)
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
                breaker.failed(passed, type(error).__name__)
            else:
                breaker.succeeded(passed)
            raise
        except BaseException:  # out of its time, or the worker is stopping
            breaker.abandoned(passed)
            raise
        breaker.succeeded(passed)
        MAILS.labels("sent").inc()
        log.info("mail.sent", id=id_, refused=len(handed.refused), postponed=len(handed.postponed))
        return handed
    if settings.data_dir is not None:
        path = await asyncio.to_thread(_keep, settings.data_dir / FOLDER, f"{id_}.eml", content)
        MAILS.labels("written").inc()
        log.info("mail.written", path=str(path))
        return Handed(path=path, refused={}, postponed={})
    raise Hopeless("no mail can be sent: neither CUSHION_SMTP_URL nor CUSHION_DATA_DIR is set")


def written(settings: Settings, id_: str, written_at: datetime, mail: Mail) -> bytes:
    """The letter as it goes over the wire.

    Raises:
        UnfitAddress: it cannot go there.
        UnfitMail: it is too large, or a part would not stay within its header.
    """
    for part, most in ((mail.subject, SUBJECT_CHARACTERS), (mail.text, TEXT_CHARACTERS)):
        if len(part) > most:
            raise UnfitMail(f"a mail holds at most {most} characters there, this one has {len(part)}")
    if "=?" in mail.subject:  # the library would decode an encoded word and let its line ends into the header
        raise UnfitMail("the subject of a mail holds no encoded words")
    if len(mail.recipients) > RECIPIENTS_MAX:
        raise UnfitMail(f"a mail goes to at most {RECIPIENTS_MAX} addresses, this one to {len(mail.recipients)}")
    if sum(len(one.content) for one in mail.attachments) > ATTACHED_BYTES:
        raise UnfitMail(f"the attachments of a mail have at most {ATTACHED_BYTES:,} bytes")
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
        for one in mail.attachments:
            kind, _, subtype = one.media_type.partition("/")
            message.add_attachment(one.content, maintype=kind, subtype=subtype, filename=plain(one.name))
        if mail.attachments:
            message.set_boundary(f"part-{id_}")  # not of chance: each attempt sends the very same letter
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
    """The bare address that mails come from.

    Raises:
        UnfitAddress: `mail_from` has none.
    """
    _, address = parseaddr(settings.mail_from)
    plain = settings.mail_from.isprintable() and "=?" not in settings.mail_from
    if not plain or not address.isascii() or len(settings.mail_from) > SENDER_CHARACTERS:
        raise UnfitAddress("expected a sender such as Cushion <cushion@example.com>")
    return envelope(address)


def server_of(url: str) -> Server:
    """The mail server that a URL names: smtp://user:password@host:587 or smtps://host.

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


async def _deliver(server: Server, settings: Settings, to: list[str], content: bytes) -> Handed:
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
                    raise Hopeless("the mail server offers no TLS: the password does not go to it in the clear")
                await client.login(server.user, server.password)
            options = [] if content.isascii() else ["SMTPUTF8"]
            some, _ = await client.sendmail(sender_of(settings), to, content, mail_options=options)
    except SMTPException as refused:  # of which nothing goes on: its text, and so its traceback, names the addresses
        if _for_good(refused):
            raise Hopeless(f"the mail server refused: {_said(refused, to)}") from None
        spoke = isinstance(refused, SMTPResponseException | SMTPRecipientsRefused)
        raise (NotTaken if spoke else NotReached)(f"the mail server did not take it: {_said(refused, to)}") from None
    words = {address: _hidden(f"{answer.code} {answer.message}", to) for address, answer in some.items()}
    final = {address for address, answer in some.items() if 500 <= answer.code < 600}
    return Handed(
        path=None,
        refused={address: said for address, said in words.items() if address in final},
        postponed={address: said for address, said in words.items() if address not in final},
    )


def _said(refused: SMTPException, to: list[str]) -> str:
    """The server's words, without the addresses that they are about: they are logged."""
    if isinstance(refused, SMTPRecipientsRefused):
        return _said(refused.recipients[0], to)
    words = f"{refused.code} {refused.message}" if isinstance(refused, SMTPResponseException) else str(refused)
    return _hidden(words, to)


def _hidden(words: str, addresses: list[str]) -> str:
    return re.sub("|".join(map(re.escape, addresses)), "***", words, flags=re.IGNORECASE)


def _for_good(refused: SMTPException) -> bool:
    if isinstance(refused, SMTPRecipientsRefused):
        return all(_for_good(one) for one in refused.recipients)
    if isinstance(refused, SMTPResponseException):
        return 500 <= refused.code < 600
    return isinstance(refused, SMTPNotSupported)


def _keep(folder: Path, name: str, content: bytes) -> Path:
    """Write a letter down for its owner's eyes; it appears whole or not at all, and a second time it is the same."""
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
