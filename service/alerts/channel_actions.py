"""What alerts' channels are.

Read from a request, checked, kept with their secrets apart, and opened to be used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast
from uuid import UUID

import msgspec

from service.alerts import channel_schema, store
from service.alerts.schema import AlertRow
from service.auth.schema import wrong_email
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import BadSeal, new_id
from service.platform.http.faults import read
from service.platform.unit.context import Context, Unit
from service.platform.unit.records import to_json
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


def open_channels(unit: Unit, alert: AlertRow) -> list[channel_schema.OpenChannel]:
    """Return an alert's channels with what is secret, in their order.

    Raises:
        BadSeal: they were sealed with another secret key.
    """
    secrets = _unseal(unit, alert)
    return [
        channel_schema.OpenChannel(
            channel.id,
            channel.type,
            msgspec.convert(channel.config | secrets.get(str(channel.id), {}), channel_schema.CONFIGS[channel.type]),
        )
        for channel in alert.channels
    ]


def _unseal(unit: Unit, alert: AlertRow) -> dict[str, Secret]:
    if alert.channel_secrets is None:
        return {}
    return msgspec.json.decode(unit.resources.vault.open(PURPOSE, alert.channel_secrets), type=dict[str, Secret])


def seal_channels(unit: Unit, channels: Sequence[channel_schema.Channel]) -> dict[str, str | None]:
    """Return the columns that keep channels, of which nothing is masked."""
    secrets = {
        str(channel.id): {
            name: channel.config[name] for name in channel_schema.SECRET[channel.type] if name in channel.config
        }
        for channel in channels
        if channel.type in channel_schema.SECRET
    }
    read = [
        msgspec.structs.replace(
            channel,
            config=channel.config | {name: _mask(text) for name, text in secrets.get(str(channel.id), {}).items()},
        )
        for channel in channels
    ]
    sealed = unit.resources.vault.seal(PURPOSE, msgspec.json.encode(secrets)) if secrets else None
    return {"channels": to_json(read), "channel_secrets": sealed}


def _mask(secret: str | Mapping[str, str]) -> Any:
    """Return a URL's host and the names of headers.

    A token may stand in the path, the query and the values.
    """
    if not isinstance(secret, str):
        return dict.fromkeys(secret, MASK)
    url = outgoing.target(secret, private=True)
    last = re.split("[/?&=]", url.raw_path.decode("ascii"))[-1]
    hint = last[-HINT_CHARACTERS:] if len(last) >= HINTED_CHARACTERS else ""
    return f"{url.scheme}://{url.netloc.decode('ascii')}/{MASK}{hint}"


# From a request -------------------------------------------------------------------------------------------------------


def check_types(channels: Sequence[channel_schema.ChannelGiven]) -> None:
    """Refuse channels of types that there are not.

    Raises:
        InvalidChannelType: naming each.
    """
    message = f"the types are {', '.join(channel_schema.CONFIGS)}"
    faults = [
        Fault(["body", "channels", str(place), "type"], message)
        for place, channel in enumerate(channels)
        if channel.type not in channel_schema.CONFIGS
    ]
    if faults:
        raise channel_schema.InvalidChannelType(*faults)


async def check_channels(
    ctx: Context, requested: Sequence[channel_schema.ChannelGiven], alert: AlertRow | None = None
) -> list[channel_schema.Channel]:
    """Return the checked channels of a request, without masks.

    Channels that `alert` has already keep their identifiers and, where masks are sent back, their secrets.

    Raises:
        ChannelConfigurationError: one of them lacks something, or could not be sent to.
    """
    faults: list[Fault] = []
    channels: list[channel_schema.Channel] = []
    wanted: dict[UUID, list[str]] = {}
    try:
        secrets: dict[str, Secret] | None = _unseal(ctx, alert) if alert else {}
    except BadSeal:
        secrets = None
    for place, (channel, match) in enumerate(
        zip(requested, _match_stored(requested, alert.channels if alert else []), strict=True)
    ):
        where = ["body", "channels", str(place), "config"]
        config = {name: value for name, value in channel.config.items() if value is not None}
        try:
            stored_secrets = secrets if secrets is None else secrets.get(str(match.id), {}) if match else {}
            config |= _unmask(config, channel.type, match.config if match else {}, stored_secrets)
            typed: channel_schema.Config = read(config, channel_schema.CONFIGS[channel.type], where)
        except _Unfit as unfit:
            faults.append(Fault([*where, *unfit.steps], unfit.message))
            continue
        except ValidationFailed as refusal:
            faults += refusal.errors
            continue
        faults += [Fault([*where, *unfit.steps], unfit.message) for unfit in _unfit(ctx, typed)]
        if isinstance(typed, channel_schema.InAppConfig):
            wanted |= {user: [*where, "user_ids", str(at)] for at, user in enumerate(typed.user_ids)}
        channels.append(
            channel_schema.Channel(
                id=match.id if match else new_id(), type=cast(channel_schema.ChannelType, channel.type), config=config
            )
        )
    strangers = await store.strangers(ctx, list(wanted)) if wanted and not faults else set()
    faults += [Fault(where, "is no active user") for user, where in wanted.items() if user in strangers]
    if faults:
        raise channel_schema.ChannelConfigurationError(*faults)
    return channels


class _Unfit(Exception):
    """Something of a configuration that will not do, and the steps to its place."""

    def __init__(self, message: str, *steps: str) -> None:
        super().__init__(message)
        self.message, self.steps = message, steps


def _match_stored(
    requested: Sequence[channel_schema.ChannelGiven], channels: Sequence[channel_schema.Channel]
) -> list[channel_schema.Channel | None]:
    """Match each channel of a request to a stored one.

    By identifier, then by configuration, then by place.
    """
    matches: list[channel_schema.Channel | None] = [None] * len(requested)
    fits: Sequence[Callable[[int, channel_schema.ChannelGiven, channel_schema.Channel], bool]] = (
        lambda _, channel, stored: channel.id == stored.id,
        lambda _, channel, stored: channel.config == stored.config,
        lambda _, channel, stored: any(
            channel.config.get(name) == stored.config[name] for name in channel_schema.SECRET.get(channel.type, ())[:1]
        ),
        lambda place, _, stored: channels[place : place + 1] == [stored],
    )
    for fit in fits:
        for place, channel in enumerate(requested):
            if matches[place] is None:
                free = (stored for stored in channels if stored.type == channel.type and stored not in matches)
                matches[place] = next((stored for stored in free if fit(place, channel, stored)), None)
    return matches


def _unmask(config: dict[str, Any], kind: str, read: Mapping[str, Any], stored_secrets: Secret | None) -> Secret:
    """Return what of a configuration is masked, as it is kept.

    The values of headers go to no other URL than the one that they were given for: who may change an alert need not
    know them, and on many a host the path says whose the receiver is.

    Args:
        read: the configuration that is meant, masked; nothing where the alert has none such.
        known: what is behind its masks; None: it was sealed with another secret key.

    Raises:
        _Unfit: nothing is kept for a mask.
    """
    secrets: dict[str, Any] = {}
    for name in channel_schema.SECRET.get(kind, ()):
        value: Any = config.get(name)
        texts = value if isinstance(value, str) else list(value.values()) if isinstance(value, dict) else ()
        if MASK not in texts:
            continue
        if stored_secrets is None:
            raise _Unfit("was sealed with another secret key: give the whole", name)
        if isinstance(value, str):
            if value != read.get(name):
                raise _Unfit("is masked, and no channel of the alert has this: give the whole", name)
            secrets[name] = stored_secrets[name]
            continue
        headers = stored_secrets.get(name, {})
        if headers and secrets.get("url", config.get("url")) != stored_secrets["url"]:
            raise _Unfit("the URL is another one: give the values of headers anew", name)
        unknown = next((header for header, text in value.items() if text == MASK and header not in headers), None)
        if unknown is not None:
            raise _Unfit("is masked, and no header of the channel has this name", name, unknown)
        secrets[name] = {header: headers[header] if text == MASK else text for header, text in value.items()}
    return secrets


def _unfit(ctx: Context, config: channel_schema.Config) -> Iterator[_Unfit]:
    """Yield each value of a configuration that cannot be sent to."""
    if (
        isinstance(config, channel_schema.EmailConfig)
        and len(config.recipients) + len(config.cc) > channel_schema.RECIPIENTS_MAX
    ):
        yield _Unfit(
            f"a letter goes to at most {channel_schema.RECIPIENTS_MAX} addresses, copies included", "recipients"
        )
    target = partial(outgoing.target, private=ctx.settings.allow_private_webhooks)
    checks: dict[str, Callable[[Any], object]] = {**CHECKS, "url": target, "webhook_url": target}
    for name, check in checks.items():
        entry = getattr(config, name, None) or []
        entries = entry if isinstance(entry, list) else [entry]
        for place, value in enumerate(entries):
            try:
                check(value)
            except ValueError as error:
                yield _Unfit(str(error), name, *([str(place)] if entries is entry else []))


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
