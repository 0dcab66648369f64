"""The manifest of an export.

What was exported and the hash of it, signed, as a custom XML part of the file.

    <provenance xmlns="urn:cushion:provenance">
      <manifest>{"created_at":"...","data_hash":"..."}</manifest>
      <signature algorithm="HMAC-SHA256">hexadecimal</signature>
    </provenance>

The manifest is JSON with sorted keys, without blanks, in ASCII, so that no program that writes the part anew changes
it. The signature is HMAC-SHA256 over `svc_hash_v1`, a zero byte and these characters. LibreOffice 7.4 keeps the part
(tried), openpyxl does not.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, field

from core.files.archive import Archive
from core.files.errors import InvalidFormat, ParseFailed
from core.files.kinds import file_kind
from core.files.parts import parse_part
from core.files.source import Content
from core.files.write.xml import escape
from core.provenance.canonical import VERSION, DataHash
from core.provenance.shown import BookDisplay

NAMESPACE: Final = "urn:cushion:provenance"

MANIFEST_BYTES_MAX: Final = 1024 * 1024
"""Of the part, unpacked: 50 sheets with the longest names take 20 KB."""

PARTS_MAX: Final = 100
"""Custom XML parts of a file that are looked at."""

KEY_BYTES_LEAST: Final = 16

Scope = Literal["foundation", "validated"]


class InvalidManifest(ValueError):
    """The file has a manifest that cannot be one of ours as it was written.

    The text says why.
    """


class ManifestSheet(Struct, frozen=True):
    """A hashed sheet."""

    name: str
    hash: str
    cells: int
    shown: str = ""
    """How it shows its cells (`core.provenance.shown`), as a hash in hexadecimal; empty in older exports."""


class Manifest(Struct, frozen=True, kw_only=True):
    """What an export says of itself."""

    export_id: str
    workbook_id: str
    tenant_id: str
    created_at: str
    """When it was exported, by RFC 3339."""
    hash_scope: Scope
    """`foundation`: the sheets that `sheets` names; `validated`: these, and the file has no others."""
    data_hash: str
    source_hash: str | None
    """Of the file that was exported, SHA-256 in hexadecimal; `data_hash` is over what is shown once redacted."""
    names_hash: str
    date_1904: bool
    sheets: tuple[ManifestSheet, ...]
    beside: tuple[str, ...] = ()
    """Sheets that the export has besides these, which may be changed: nothing is said of what they hold."""
    defined_names: tuple[str, ...] | None = None
    """The names that the export has, in lower case, one that belongs to a sheet as `'sheet'!name`; None where they are
    too many, and in older exports."""
    redaction: Mapping[str, Any] = field(default_factory=dict)
    """What was redacted, as JSON."""
    key_id: str = ""
    """Which key it is signed with, for whoever has several."""
    manifest_version: Literal["svc_hash_v1"] = VERSION


class SignedManifest(Struct, frozen=True):
    """A manifest as it stands in a file."""

    manifest: Manifest
    text: str
    """What is signed."""
    signature: str

    def is_signed_with(self, key: bytes) -> bool:
        """Return whether the signature is this key's.

        How long it takes does not tell how much of it is right.
        """
        return hmac.compare_digest(self.signature.lower().encode(), _signature(self.text, key).encode())


def hash_of(data_hash: DataHash, shown: BookDisplay | None = None) -> dict[str, Any]:
    """Return the fields of a manifest that say what was hashed, and how it is shown."""
    looks = {} if shown is None else {sheet.name: sheet.hash for sheet in shown.sheets}
    sheets = tuple(
        ManifestSheet(sheet.name, sheet.hash, sheet.cells, looks.get(sheet.name, "")) for sheet in data_hash.sheets
    )
    return {
        "data_hash": data_hash.hash,
        "names_hash": data_hash.names,
        "date_1904": data_hash.date_1904,
        "sheets": sheets,
    }


def sign(manifest: Manifest, key: bytes) -> bytes:
    """Return the XML part of a manifest, signed.

    Raises:
        ValueError: the key has less than 16 bytes, or the manifest is larger than one that is read.
    """
    text = json.dumps(msgspec.to_builtins(manifest), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    part = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<provenance xmlns="{NAMESPACE}"><manifest>{escape(text)}</manifest>'
        f'<signature algorithm="HMAC-SHA256">{_signature(text, key)}</signature></provenance>'
    ).encode()
    if len(part) > MANIFEST_BYTES_MAX // 2:  # a program may write it longer, &quot; for each quote
        raise ValueError(f"a manifest has at most {MANIFEST_BYTES_MAX // 2:,} bytes")
    return part


def read_manifest(content: Content) -> SignedManifest | None:
    """Return the manifest of an .xlsx file, whatever its part is called.

    None where there is none. Its signature is not checked.

    Raises:
        InvalidManifest: more than one, too large, not well-formed, or not as one is written; or an archive in which
            programs find different parts.
        ParseFailed: the file is no archive that is safe to open.
        InvalidFormat, FileTooLarge: it is no .xlsx file within the limits.
        OSError: the file cannot be opened.
    """
    documents = []
    with _open(content) as archive:
        names = [entry.name for entry in archive.entries if _is_custom(entry.name)]
        if len(names) > PARTS_MAX:
            raise InvalidManifest(f"The file has more custom XML parts than the limit of {PARTS_MAX}")
        for name in names:
            data = _ours(archive, name)
            if data is not None:
                documents.append(data)
        if len(documents) > 1:
            raise InvalidManifest("The file has more than one manifest")
    return _parse(documents[0]) if documents else None


def _open(content: Content) -> Archive:
    try:
        if file_kind(content) != "xlsx":
            raise InvalidFormat("The file is no .xlsx: no other file has a manifest.")
        return Archive(content)
    except ParseFailed as refusal:
        if not refusal.is_ambiguous:
            raise
        raise InvalidManifest(refusal.hint.rstrip(".")) from refusal


def _is_custom(name: str) -> bool:
    name = name.lower()
    return name.startswith("customxml/") and name.endswith(".xml")


_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z]\w*)")


def _ours(archive: Archive, name: str) -> bytes | None:
    """Return a part that names our namespace in its first megabyte, else None."""
    mark = NAMESPACE.encode()
    data = b""
    for chunk in archive.chunks(name):
        data += chunk
        if len(data) > MANIFEST_BYTES_MAX:
            break
    root = _ROOT.search(data)
    if mark not in data or root is None or root[1] != b"provenance":  # what lies beside a part names its namespace, too
        return None
    if len(data) > MANIFEST_BYTES_MAX:
        raise InvalidManifest(f"The manifest is larger than the limit of {MANIFEST_BYTES_MAX:,} bytes")
    return data


def _parse(data: bytes) -> SignedManifest:
    inside: list[str] = []
    texts: dict[str, list[str]] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        inside.append(name)
        place = "/".join(inside)
        if place in texts or place not in _PLACES or (name == "signature" and attributes != _ALGORITHM):
            raise InvalidManifest("The manifest is not laid out as one is written")
        texts[place] = []

    def text(piece: str) -> None:
        texts["/".join(inside)].append(piece)

    def end(_: str) -> None:
        inside.pop()

    try:
        parse_part(data, "The manifest", start, text, end)
    except ParseFailed as error:
        raise InvalidManifest(error.hint.rstrip(".")) from error
    if len(texts) != len(_PLACES) or "".join(texts["provenance"]).strip():
        raise InvalidManifest("The manifest is not laid out as one is written")
    manifest_text = "".join(texts["provenance/manifest"])
    try:
        # A key that came twice would mean one thing to one reader and another to the next.
        document = json.loads(manifest_text, object_pairs_hook=_once)
        manifest = msgspec.convert(document, Manifest)
    except (ValueError, RecursionError) as error:
        raise InvalidManifest(f"The manifest cannot be read: {error}") from error
    return SignedManifest(manifest, manifest_text, "".join(texts["provenance/signature"]).strip())


_PLACES: Final = ("provenance", "provenance/manifest", "provenance/signature")
_ALGORITHM: Final = {"algorithm": "HMAC-SHA256"}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key came twice")
    return members


def _signature(text: str, key: bytes) -> str:
    if len(key) < KEY_BYTES_LEAST:
        raise ValueError(f"a key has at least {KEY_BYTES_LEAST} bytes")
    return hmac.new(key, VERSION.encode() + b"\0" + text.encode(), "sha256").hexdigest()
