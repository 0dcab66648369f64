"""An event of the stream that the gate publishes where it lets its request pass."""

from __future__ import annotations

from dataclasses import dataclass

from service.platform.access.gate import AttachedCommand
from service.platform.events.numbers import numbers_of
from service.platform.events.stream import Sent, command_of, event_of, number_event, publish_numbered
from service.platform.unit.context import Context, Resources


@dataclass(slots=True)
class EventEntry:
    """The event of an answer that waits for the gate."""

    sent: Sent
    command: AttachedCommand
    """Puts it on the stream."""

    async def publish(self, resources: Resources) -> None:
        """Publish the event, unless the gate did."""
        if not self.command.was_run:
            await publish_numbered(resources, self.sent)

    def withdraw(self, resources: Resources) -> None:
        """Take the event's number back: its caller was refused."""
        numbers_of(resources).withdraw(self.sent.event.tenant_id, self.sent.place)


def event_entry(ctx: Context, action: str, tenant_copy: bytes, *, counted: bool) -> EventEntry:
    """Return the event of a request, for the gate to publish.

    It does so while the tenant's signed record is `tenant_copy`.
    """
    sent = number_event(ctx.resources, event_of(ctx, action, counted=counted))
    return EventEntry(sent, ctx.resources.gate.attach(tenant_copy, command_of(ctx.resources, sent)))
