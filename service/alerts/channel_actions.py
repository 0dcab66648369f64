"""What alerts' channels are: read from a request, checked, kept with their secrets apart, and opened to be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast
from uuid import UUID

import msgspec

from service.alerts import store
from service.alerts.channel_schema import (
    CONFIGS,
    RECIPIENTS_MAX,
    SECRET,
    Channel,
    ChannelConfigurationError,
    ChannelGiven,
    ChannelType,
    Config,
    EmailConfig,
    InAppConfig,
    InvalidChannelType,
    OpenChannel,
)
from service.alerts.schema import AlertRow
from service.auth.schema import wrong_email
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import BadSeal, new_id
from service.platform.http.faults import read
from service.platform.unit.context import Context, Unit
from service.platform.work import outgoing

PURPOSE: Final = "alert channels"
"""Of the key that seals what is secret."""
MASK: Final = "***"
HINT_CHARACTERS: Final = 4
"""Of a URL's end, to tell it by."""
HINTED_CHARACTERS: Final = 16
"""Where the last step or value of a URL is shorter, it may be a short secret, and nothing of it is shown."""

Secret = dict[str, Any]
"""The fields of a configuration that are masked."""


def opened(unit: Unit, alert: AlertRow) -> list[OpenChannel]:
    """An alert's channels with what is secret, in their order.

    Raises:
        BadSeal: they were sealed with another secret key.
    """
    secrets = _unsealed(unit, alert)
    return [
        OpenChannel(
            channel.id,
            channel.type,
            msgspec.convert(channel.config | secrets.get(str(channel.id), {}), CONFIGS[channel.type]),
        )
        for channel in alert.channels
    ]


def _unsealed(unit: Unit, alert: AlertRow) -> dict[str, Secret]:
    if alert.channel_secrets is None:
        return {}
    return msgspec.json.decode(unit.resources.vault.open(PURPOSE, alert.channel_secrets), type=dict[str, Secret])


def kept(unit: Unit, channels: Sequence[Channel]) -> dict[str, str | None]:
    """The columns that keep channels, of which nothing is masked."""
    secrets = {
        str(channel.id): {name: channel.config[name] for name in SECRET[channel.type] if name in channel.config}
        for channel in channels
        if channel.type in SECRET
    }
    read = [
        msgspec.structs.replace(
            one, config=one.config | {name: _mask(text) for name, text in secrets.get(str(one.id), {}).items()}
        )
        for one in channels
    ]
    sealed = unit.resources.vault.seal(PURPOSE, msgspec.json.encode(secrets)) if secrets else None
    return {"channels": msgspec.json.encode(read).decode(), "channel_secrets": sealed}


def _mask(secret: str | Mapping[str, str]) -> Any:
    """A URL's host, for a token may stand in its path and query; the names of headers."""
    if not isinstance(secret, str):
        return dict.fromkeys(secret, MASK)
    url = outgoing.target(secret, private=True)
    last = re.split("[/?&=]", url.raw_path.decode("ascii"))[-1]
    hint = last[-HINT_CHARACTERS:] if len(last) >= HINTED_CHARACTERS else ""
    return f"{url.scheme}://{url.netloc.decode('ascii')}/{MASK}{hint}"


# From a request -------------------------------------------------------------------------------------------------------


def check_types(given: Sequence[ChannelGiven]) -> None:
    """Refuse channels of types that there are not.

    Raises:
        InvalidChannelType: naming each.
    """
    message = f"the types are {', '.join(CONFIGS)}"
    faults = [
        Fault(["body", "channels", str(place), "type"], message)
        for place, one in enumerate(given)
        if one.type not in CONFIGS
    ]
    if faults:
        raise InvalidChannelType(*faults)


async def checked(ctx: Context, given: Sequence[ChannelGiven], alert: AlertRow | None = None) -> list[Channel]:
    """The channels of a request, of known types, as they are to be kept: nothing is masked. Those that `alert` has
    already keep their identifiers and, where masks are sent back, their secrets.

    Raises:
        ChannelConfigurationError: one of them lacks something, or could not be sent to.
    """
    faults: list[Fault] = []
    channels: list[Channel] = []
    wanted: dict[UUID, list[str]] = {}
    try:
        secrets: dict[str, Secret] | None = _unsealed(ctx, alert) if alert else {}
    except BadSeal:
        secrets = None
    for place, (one, meant) in enumerate(zip(given, _meant(given, alert.channels if alert else []), strict=True)):
        where = ["body", "channels", str(place), "config"]
        config = {name: value for name, value in one.config.items() if value is not None}
        try:
            known = secrets if secrets is None else secrets.get(str(meant.id), {}) if meant else {}
            config |= _unmasked(config, one.type, meant.config if meant else {}, known)
            told: Config = read(config, CONFIGS[one.type], where)
        except _Unfit as unfit:
            faults.append(Fault([*where, *unfit.steps], unfit.message))
            continue
        except ValidationFailed as refusal:
            faults += refusal.errors
            continue
        faults += [Fault([*where, *unfit.steps], unfit.message) for unfit in _unfit(ctx, told)]
        if isinstance(told, InAppConfig):
            wanted |= {user: [*where, "user_ids", str(at)] for at, user in enumerate(told.user_ids)}
        channels.append(Channel(id=meant.id if meant else new_id(), type=cast(ChannelType, one.type), config=config))
    strangers = await store.strangers(ctx, list(wanted)) if wanted and not faults else set()
    faults += [Fault(where, "is no active user") for user, where in wanted.items() if user in strangers]
    if faults:
        raise ChannelConfigurationError(*faults)
    return channels


class _Unfit(Exception):
    """Something of a configuration that will not do, and the steps to its place."""

    def __init__(self, message: str, *steps: str) -> None:
        super().__init__(message)
        self.message, self.steps = message, steps


def _meant(given: Sequence[ChannelGiven], channels: Sequence[Channel]) -> list[Channel | None]:
    """Which channel of the alert each of these is: by its identifier, else by what is read of it, by its place."""
    found: list[Channel | None] = [None] * len(given)
    fits: Sequence[Callable[[int, ChannelGiven, Channel], bool]] = (
        lambda _, one, other: one.id == other.id,
        lambda _, one, other: one.config == other.config,
        lambda _, one, other: any(one.config.get(name) == other.config[name] for name in SECRET.get(one.type, ())[:1]),
        lambda place, _, other: channels[place : place + 1] == [other],
    )
    for fit in fits:
        for place, one in enumerate(given):
            if found[place] is None:
                free = (other for other in channels if other.type == one.type and other not in found)
                found[place] = next((other for other in free if fit(place, one, other)), None)
    return found


def _unmasked(config: dict[str, Any], kind: str, read: Mapping[str, Any], known: Secret | None) -> Secret:
    """What of a configuration is masked, as it is kept.

    The values of headers go to no other URL than the one that they were given for: who may change an alert need not
    know them, and on many a host the path says whose the receiver is.

    Args:
        read: the configuration that is meant, masked; nothing where the alert has none such.
        known: what is behind its masks; None: it was sealed with another secret key.

    Raises:
        _Unfit: nothing is kept for a mask.
    """
    found: dict[str, Any] = {}
    for name in SECRET.get(kind, ()):
        value: Any = config.get(name)
        texts = value if isinstance(value, str) else list(value.values()) if isinstance(value, dict) else ()
        if MASK not in texts:
            continue
        if known is None:
            raise _Unfit("was sealed with another secret key: give the whole", name)
        if isinstance(value, str):
            if value != read.get(name):
                raise _Unfit("is masked, and no channel of the alert has this: give the whole", name)
            found[name] = known[name]
            continue
        headers = known.get(name, {})
        if headers and found.get("url", config.get("url")) != known["url"]:
            raise _Unfit("the URL is another one: give the values of headers anew", name)
        unknown = next((header for header, text in value.items() if text == MASK and header not in headers), None)
        if unknown is not None:
            raise _Unfit("is masked, and no header of the channel has this name", name, unknown)
        found[name] = {header: headers[header] if text == MASK else text for header, text in value.items()}
    return found


def _unfit(ctx: Context, config: Config) -> Iterator[_Unfit]:
    """What of a configuration could never be sent to, or would not stay in its place there."""
    if isinstance(config, EmailConfig) and len(config.recipients) + len(config.cc) > RECIPIENTS_MAX:
        yield _Unfit(f"a letter goes to at most {RECIPIENTS_MAX} addresses, copies included", "recipients")
    target = partial(outgoing.target, private=ctx.settings.allow_private_webhooks)
    checks: dict[str, Callable[[Any], object]] = {**CHECKS, "url": target, "webhook_url": target}
    for name, check in checks.items():
        given = getattr(config, name, None) or []
        listed = given if isinstance(given, list) else [given]
        for place, value in enumerate(listed):
            try:
                check(value)
            except ValueError as error:
                yield _Unfit(str(error), name, *([str(place)] if listed is given else []))


def _address(text: str) -> None:
    if text != text.strip() or wrong_email(text):
        raise ValueError("is no e-mail address")


def _line(text: str) -> None:
    if not text.isprintable() or "=?" in text:
        raise ValueError("expected one line of text")


CHECKS: Final[dict[str, Callable[[Any], object]]] = {
    "recipients": _address,
    "cc": _address,
    "subject_prefix": _line,
    "channel": _line,
    "username": _line,
    "headers": outgoing.check_headers,
}
"""Of what a field has, or each in its list, whatever the channel's type; URLs beside them."""
