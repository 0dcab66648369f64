"""What alerts' channels are: read from a request, checked, kept with their secrets apart, and opened to be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast
from uuid import UUID

import msgspec
from msgspec import Struct

from service.alerts import store
from service.alerts.channel_schema import (
    CONFIGS,
    RECIPIENTS_MAX,
    SECRET,
    Channel,
    ChannelConfigurationError,
    ChannelGiven,
    ChannelType,
    ChatWebhookConfig,
    Config,
    EmailConfig,
    InAppConfig,
    InvalidChannelType,
    OpenChannel,
    WebhookConfig,
)
from service.alerts.schema import AlertRow
from service.auth.schema import check_email
from service.platform.access.secrets import BadSeal, new_id
from service.platform.context import Context, Unit
from service.platform.http.binding import fault_of
from service.platform.http.problem import Fault, ValidationFailed
from service.platform.work import outgoing

PURPOSE: Final = "alert channels"
"""Of the key that seals what is secret."""
MASK: Final = "***"
HINT_CHARACTERS: Final = 4
"""Of a URL's end, to tell it by."""
HINTED_CHARACTERS: Final = 16
"""A URL whose secret part is shorter shows nothing of it."""


class Kept(Struct, frozen=True):
    """The columns that keep an alert's channels."""

    channels: str
    channel_secrets: str | None


def opened(unit: Unit, alert: AlertRow) -> list[OpenChannel]:
    """An alert's channels with what is secret, in their order.

    Raises:
        BadSeal: they were sealed with another secret key.
    """
    secrets = _unsealed(unit, alert)
    return [
        OpenChannel(one.id, one.type, msgspec.convert(one.config | secrets.get(str(one.id), {}), CONFIGS[one.type]))
        for one in alert.channels
    ]


def _unsealed(unit: Unit, alert: AlertRow) -> dict[str, dict[str, Any]]:
    if alert.channel_secrets is None:
        return {}
    return msgspec.json.decode(
        unit.resources.vault.open(PURPOSE, alert.channel_secrets), type=dict[str, dict[str, Any]]
    )


def kept(unit: Unit, channels: Sequence[Channel]) -> Kept:
    """The columns that keep channels, of which nothing is masked."""
    secrets = {
        str(one.id): {name: one.config[name] for name in SECRET[one.type] if name in one.config}
        for one in channels
        if one.type in SECRET
    }
    read = [
        msgspec.structs.replace(
            one, config=one.config | {name: _mask(text) for name, text in secrets.get(str(one.id), {}).items()}
        )
        for one in channels
    ]
    sealed = unit.resources.vault.seal(PURPOSE, msgspec.json.encode(secrets)) if secrets else None
    return Kept(msgspec.json.encode(read).decode(), sealed)


def _mask(secret: str | Mapping[str, str]) -> Any:
    """A URL's host, for a token may stand in its path and query; the names of headers."""
    if not isinstance(secret, str):
        return dict.fromkeys(secret, MASK)
    hidden = outgoing.target(secret, private=True).raw_path.decode("ascii")
    hint = hidden[-HINT_CHARACTERS:] if len(hidden) > HINTED_CHARACTERS else ""
    return f"{_origin(secret)}/{MASK}{hint}"


def _origin(url: str) -> str:
    parsed = outgoing.target(url, private=True)
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}"


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
    found: list[Channel] = []
    wanted: dict[UUID, list[str]] = {}
    for place, (one, meant) in enumerate(zip(given, _meant(ctx, given, alert), strict=True)):
        where = ["body", "channels", str(place), "config"]
        config = {name: value for name, value in one.config.items() if value is not None}
        try:
            config |= _unmasked(config, one.type, meant)
            read = _read(config, one.type)
        except _Unfit as unfit:
            faults.append(Fault([*where, *unfit.steps], unfit.message))
            continue
        faults += [Fault([*where, *unfit.steps], unfit.message) for unfit in _unfit(ctx, read)]
        if isinstance(read, InAppConfig):
            wanted |= {user: [*where, "user_ids", str(at)] for at, user in enumerate(read.user_ids)}
        found.append(Channel(id=meant.id if meant else new_id(), type=cast(ChannelType, one.type), config=config))
    strangers = await store.strangers(ctx, list(wanted)) if wanted and not faults else set()
    faults += [Fault(where, "is no active user") for user, where in wanted.items() if user in strangers]
    if faults:
        raise ChannelConfigurationError(*faults)
    return found


class _Unfit(Exception):
    """Something of a configuration that will not do, and the steps to its place."""

    def __init__(self, message: str, *steps: str) -> None:
        super().__init__(message)
        self.message, self.steps = message, steps


class _Held(Struct, frozen=True):
    """A channel that an alert has."""

    id: UUID
    type: str
    read: dict[str, Any]
    secrets: dict[str, Any] | None
    """None: sealed with another secret key."""


def _meant(ctx: Context, given: Sequence[ChannelGiven], alert: AlertRow | None) -> list[_Held | None]:
    """Which channel of the alert each of these is: by its identifier, else by what is read of it, by its place."""
    found: list[_Held | None] = [None] * len(given)
    if alert is None:
        return found
    try:
        secrets: Mapping[str, dict[str, Any] | None] = _unsealed(ctx, alert)
    except BadSeal:
        secrets = {str(one.id): None for one in alert.channels}
    held = [_Held(one.id, one.type, one.config, secrets.get(str(one.id), {})) for one in alert.channels]
    fits: Sequence[Callable[[int, ChannelGiven, _Held], bool]] = (
        lambda _, one, other: one.id == other.id,
        lambda _, one, other: one.config == other.read,
        lambda _, one, other: any(one.config.get(name) == other.read[name] for name in SECRET.get(one.type, ())[:1]),
        lambda place, _, other: held.index(other) == place,
    )
    for fit in fits:
        for place, one in enumerate(given):
            if found[place] is None:
                free = (other for other in held if other.type == one.type and other not in found)
                found[place] = next((other for other in free if fit(place, one, other)), None)
    return found


def _unmasked(config: dict[str, Any], kind: str, meant: _Held | None) -> dict[str, Any]:
    """What of a configuration is masked, as it is kept.

    The values of headers go to no other host than the one that they were given for: who may change an alert need not
    know them.

    Raises:
        _Unfit: nothing is kept for a mask.
    """
    found: dict[str, Any] = {}
    for name in SECRET.get(kind, ()):
        value = config.get(name)
        if isinstance(value, str) and MASK in value:
            if meant is None or value != meant.read[name]:
                raise _Unfit("is masked, and no channel of the alert has this: give the whole", name)
            found[name] = _secret(meant, name)
        elif isinstance(value, dict) and MASK in value.values():
            url = found.get("url", config.get("url"))
            known = _secret(meant, name) if meant else {}
            if known and _origin_or_none(url) != _origin(_secret(meant, "url")):
                raise _Unfit("the URL is of another host: give the values of headers anew", name)
            for header, text in value.items():
                if text == MASK and header not in known:
                    raise _Unfit("is masked, and no header of the channel has this name", name, header)
            found[name] = {header: known[header] if text == MASK else text for header, text in value.items()}
    return found


def _secret(meant: _Held | None, name: str) -> Any:
    assert meant is not None
    if meant.secrets is None:
        raise _Unfit("was sealed with another secret key: give the whole", name)
    return meant.secrets.get(name, {})


def _origin_or_none(url: Any) -> str | None:
    try:
        return _origin(url) if isinstance(url, str) else None
    except outgoing.UnfitTarget:
        return None


def _read(config: dict[str, Any], kind: str) -> Config:
    try:
        return msgspec.convert(config, CONFIGS[kind])
    except msgspec.ValidationError as error:
        fault = fault_of([], str(error), CONFIGS[kind])
        raise _Unfit(fault.message, *fault.loc) from None


def _unfit(ctx: Context, config: Config) -> Iterator[_Unfit]:
    """What of a configuration could never be sent to, or would not stay in its place there."""
    private = ctx.settings.allow_private_webhooks
    match config:
        case EmailConfig():
            named = {"recipients": config.recipients, "cc": config.cc}
            if sum(map(len, named.values())) > RECIPIENTS_MAX:
                yield _Unfit(f"a letter goes to at most {RECIPIENTS_MAX} addresses, copies included", "recipients")
            for name, addresses in named.items():
                yield from (_Unfit("is no e-mail address", name, str(place)) for place in _no_addresses(addresses))
            yield from _lines(config, "subject_prefix")
        case WebhookConfig():
            yield from _target(config.url, "url", private)
            try:
                outgoing.check_headers(config.headers)
            except outgoing.UnfitTarget as error:
                yield _Unfit(str(error), "headers")
        case ChatWebhookConfig():
            yield from _target(config.webhook_url, "webhook_url", private)
            yield from _lines(config, "channel", "username")


def _no_addresses(addresses: Sequence[str]) -> Iterator[int]:
    for place, address in enumerate(addresses):
        try:
            is_one = check_email(address) == address
        except ValidationFailed:
            is_one = False
        if not is_one:
            yield place


def _lines(config: Struct, *names: str) -> Iterator[_Unfit]:
    for name in names:
        text = getattr(config, name) or ""
        if not text.isprintable() or "=?" in text:
            yield _Unfit("expected one line of text", name)


def _target(url: str, name: str, private: bool) -> Iterator[_Unfit]:
    try:
        outgoing.target(url, private=private)
    except outgoing.UnfitTarget as error:
        yield _Unfit(str(error), name)
