"""The audit log's hash chain: entries, hashes, and whether a chain is whole.

The hash of an entry is SHA-256 over the hash of the one before it (32 zero bytes for a tenant's first) and the entry's
fields in the order of `Record`, from `tenant_id` to `details`. A field is written as `<octets>:<UTF-8 bytes>`, one that
is null as `-`; so no two entries are written alike. Identifiers are in lower case, the moment is in UTC with
microseconds, details are the JSON text as it was first written. The database computes the hash (`audit_hash`,
under a lock on the tenant's head); here it is computed again, as a check.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from msgspec import Struct

APPEND: Final = "SELECT append_audit(%s, %s)"
"""Append a tenant's entries (`encode_entries`); last in its transaction, since it locks the tenant's chain."""

REDACTED: Final = "user.redacted"
"""The action of an entry whose details name redacted ones: {"entries": [[sequence, hash], ...]}."""

START: Final = bytes(32)
"""What stands in for the hash before a tenant's first entry."""


class ChainEntry(Struct, frozen=True, kw_only=True):
    """An event as it is appended: the columns of the audit log that a writer fills."""

    id: UUID
    occurred_at: datetime
    user_id: UUID | None = None
    user_email: str | None = None
    api_key_id: UUID | None = None
    action: str
    resource_type: str | None = None
    resource_id: str | None = None
    resource_name: str | None = None
    ip_address: str | None = None
    user_agent: str | None = None
    request_id: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"{}")
    """The text of a JSON object."""


def encode_entries(entries: list[ChainEntry]) -> str:
    """Encode entries as `append_audit` takes them."""
    return msgspec.json.encode(entries).decode()


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry as it is stored, each field in the text that is hashed."""

    tenant_id: str
    sequence: int
    id: str
    timestamp: str
    """2026-03-31T12:00:00.000000Z"""
    user_id: str | None
    user_email: str | None
    api_key_id: str | None
    action: str
    resource_type: str | None
    resource_id: str | None
    resource_name: str | None
    ip_address: str | None
    user_agent: str | None
    request_id: str | None
    details: msgspec.Raw
    previous_hash: str
    """64 hexadecimal digits, as `hash`."""
    hash: str


class NoRecord(ValueError):
    """A line of text is no entry; the message says why."""


def parse(line: bytes) -> Record:
    """Parse a line of an export; spaces between its fields do not matter.

    Raises:
        NoRecord: it is none, or has what the hash does not cover: fields beside the record's, or one given twice.
    """
    try:
        record = _decode(line)
        if msgspec.json.encode(record) != line.rstrip():
            names = [name for name, _ in json.loads(line, object_pairs_hook=list)]
            if len(names) != len(set(names)):
                raise NoRecord("a field is given twice")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NoRecord(str(error)) from error
    return record


_decode = msgspec.json.Decoder(Record).decode


def hash_entry(previous: bytes, record: Record) -> bytes:
    """Return the hash (32 bytes) of an entry behind the one with the hash `previous`."""
    fields = (
        record.tenant_id,
        str(record.sequence),
        record.id,
        record.timestamp,
        record.user_id,
        record.user_email,
        record.api_key_id,
        record.action,
        record.resource_type,
        record.resource_id,
        record.resource_name,
        record.ip_address,
        record.user_agent,
        record.request_id,
        bytes(record.details),
    )
    return hashlib.sha256(previous + b"".join(_field(value) for value in fields)).digest()


def digest(values: Iterable[str | None]) -> str:
    """Return the SHA-256 over texts written as an entry's fields, in hexadecimal."""
    return hashlib.sha256(b"".join(_field(value) for value in values)).hexdigest()


def _field(value: str | bytes | None) -> bytes:
    if value is None:
        return b"-"
    octets = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return b"%d:%s" % (len(octets), octets)


class Break(Struct, frozen=True):
    """Where a chain is broken."""

    sequence: int
    reason: str


def breaks(records: Iterable[Record], *, gaps: bool = False) -> Iterator[Break]:
    """List every place where a chain of entries is broken.

    Each entry must have its own hash, or the one that a later entry names as that of its redacted form, and name the
    hash of the entry before it. With `gaps` (an export under a filter) numbers may be left out, at the beginning as
    well, but not go back. Nothing shows entries that are cut off at the end.
    """
    chain = AuditChain(gaps=gaps)
    for record in records:
        if reason := chain.fault(record):
            yield Break(record.sequence, reason)
    yield from chain.list_unexplained()


class AuditChain:
    """Checks entries that pass one after the other; `gaps` as in `breaks`."""

    def __init__(self, *, gaps: bool = False) -> None:
        self.gaps = gaps
        self.last: Record | None = None
        """The entry that went by last."""
        self._changed: dict[int, str] = {}
        """Entries whose hash is wrong, with the right one: a later entry may name it."""

    def fault(self, record: Record) -> str | None:
        """Return why the next entry does not fit where it stands; None where it does."""
        reason = _misfit(self.last, record, gaps=self.gaps) or _no_hash(record)
        self.last = record
        if reason:
            return reason
        computed = hash_entry(bytes.fromhex(record.previous_hash), record).hex()
        if computed != record.hash:
            self._changed[record.sequence] = computed
        elif record.action == REDACTED:
            for sequence, digest_text in redactions(record):
                if self._changed.get(sequence) == digest_text:
                    del self._changed[sequence]
        return None

    def list_unexplained(self) -> list[Break]:
        """Return the entries whose hash is wrong and that are no redacted ones."""
        return [Break(sequence, "the entry is not the one that was hashed") for sequence in self._changed]


def redactions(record: Record) -> list[tuple[int, str]]:
    """Return the entries that this entry names as redacted, each with its new hash."""
    try:
        return _decode_redactions(record.details).entries
    except msgspec.DecodeError:
        return []


class _Redactions(Struct, frozen=True):
    entries: list[tuple[int, str]]


_decode_redactions = msgspec.json.Decoder(_Redactions).decode


def _misfit(before: Record | None, record: Record, *, gaps: bool) -> str | None:
    if before is None:
        if record.sequence > 1:
            return None if gaps else "the entries before it are missing"
        return None if record.previous_hash == START.hex() else "the first entry follows on another one"
    if record.tenant_id != before.tenant_id:
        return "the entry is another tenant's"
    if record.sequence <= before.sequence:
        return f"the entry stands behind number {before.sequence}"
    if record.sequence > before.sequence + 1:
        return None if gaps else f"the entries after number {before.sequence} are missing"
    return None if record.previous_hash == before.hash else "the entry before it is not the one that it follows on"


def _no_hash(record: Record) -> str | None:
    try:
        previous = bytes.fromhex(record.previous_hash)
    except ValueError:
        return "its previous hash is none"
    if len(previous) != len(START) or record.sequence < 1:
        return "its previous hash or its number is none"
    return None
