"""A manifest in a file.

Written and read back, told from everything that a stranger may put in its place.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import msgspec
import pytest

from core.files.errors import FileRefused, InvalidFormat, ParseFailed
from core.files.write import write_workbook_rows
from core.provenance.manifest import MANIFEST_BYTES_MAX, InvalidManifest, Manifest, read_manifest, sign
from tests.core.provenance.exported import KEY, manifest_of, with_parts
from tests.rows import every


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "plain.xlsx"
    write_workbook_rows(path, {"It's <odd> & 日本": [["x"]]})
    return path


@pytest.fixture(scope="module")
def part(plain: Path) -> bytes:
    return sign(manifest_of(plain, beside=("Workspace",), redaction={"email": {"S!A": 3}}), KEY)


def test_it_comes_back_as_it_was_signed(plain: Path, part: bytes, tmp_path: Path) -> None:
    manifest = read_manifest(with_parts(plain, tmp_path / "made.xlsx", b"<other/>", part, b"\xff\xfe no XML"))
    assert manifest is not None
    assert manifest.manifest == manifest_of(plain, beside=("Workspace",), redaction={"email": {"S!A": 3}})
    assert manifest.is_signed_with(KEY)
    assert not manifest.is_signed_with(KEY[:-1] + b"?")
    assert json.loads(manifest.text) == json.loads(msgspec.json.encode(manifest.manifest))
    assert manifest.text.isascii()
    assert " " not in manifest.text.replace("It's <odd> & ", "")
    assert read_manifest(plain) is None


def test_the_signature_is_the_stated_one(plain: Path, part: bytes, tmp_path: Path) -> None:
    import hashlib
    import hmac

    manifest = read_manifest(with_parts(plain, tmp_path / "made.xlsx", part))
    assert manifest is not None
    assert manifest.signature == hmac.new(KEY, b"svc_hash_v1\0" + manifest.text.encode(), hashlib.sha256).hexdigest()


def test_another_program_may_write_the_part_anew(plain: Path, part: bytes, tmp_path: Path) -> None:
    """Another name, prefix, quoting and encoding of the same XML, as LibreOffice and Excel have them."""
    body = part.partition(b"?>")[2].decode().strip().replace('"', "&quot;").replace("xmlns=&quot;", 'xmlns:p="')
    anew = body.replace("&quot;><manifest", '"><manifest').replace("&quot;HMAC-SHA256&quot;", "'HMAC-SHA256'")
    for name in ("provenance", "manifest", "signature"):
        anew = anew.replace(f"<{name}", f"\n <p:{name}").replace(f"</{name}", f"</p:{name}")
    path = with_parts(plain, tmp_path / "made.xlsx", f'<?xml version="1.0" encoding="utf-8"?>\n{anew}\n'.encode())
    manifest = read_manifest(path)
    assert manifest is not None
    assert manifest.is_signed_with(KEY)


DAMAGE: dict[str, tuple[bytes, bytes]] = {
    "cut off": (b"</provenance>", b""),
    "no signature": (b"<signature", b"<nothing"),
    "two manifests in one": (b"</manifest>", b"</manifest><manifest>{}</manifest>"),
    "an element inside": (b"<manifest>", b"<manifest><b/>"),
    "text beside": (b"<manifest>", b"x<manifest>"),
    "a document type": (b"<provenance", b'<!DOCTYPE p [<!ENTITY a "aaaa">]><provenance'),
    "an entity": (b"<manifest>", b"<manifest>&a;"),
    "another algorithm": (b"HMAC-SHA256", b"none"),
    "no algorithm": (b' algorithm="HMAC-SHA256"', b""),
    "no JSON": (b"{", b"["),
    "no object": (b"<manifest>{", b"<manifest>[{"),
    "a key twice": (b'{"beside"', b'{"beside":[],"beside"'),
    "another version": (b"svc_hash_v1", b"svc_hash_v9"),
    "another scope": (b'"validated"', b'"everything"'),
    "a field of another type": (b'"date_1904":false', b'"date_1904":"no"'),
    "a field less": (b'"tenant_id"', b'"tenant"'),
    "a deep one": (b'"redaction":{', b'"redaction":{"a":' + b"[" * 5_000 + b"]" * 5_000 + b","),
}


def test_what_cannot_be_ours_is_told_from_no_manifest(plain: Path, part: bytes, tmp_path: Path) -> None:
    taken = {}
    for what, (old, new) in DAMAGE.items():
        assert old in part, what
        path = with_parts(plain, tmp_path / "made.xlsx", part.replace(old, new, 1))
        try:
            taken[what] = read_manifest(path)
        except InvalidManifest:
            continue
    assert taken == {}


def test_more_than_one_is_none(plain: Path, part: bytes, tmp_path: Path) -> None:
    with pytest.raises(InvalidManifest, match="more than one"):
        read_manifest(with_parts(plain, tmp_path / "made.xlsx", part, part))
    with pytest.raises(InvalidManifest, match="more custom XML parts"):
        read_manifest(with_parts(plain, tmp_path / "made.xlsx", *([b"<other/>"] * 51)))


def test_a_huge_one_is_not_taken_in(plain: Path, part: bytes, tmp_path: Path) -> None:
    padded = part.replace(b"<manifest>", b" " * MANIFEST_BYTES_MAX + b"<manifest>")
    with pytest.raises(InvalidManifest, match="larger than the limit"):
        read_manifest(with_parts(plain, tmp_path / "made.xlsx", padded))
    bomb = with_parts(plain, tmp_path / "made.xlsx", part.replace(b"<manifest>", b" " * 2**26 + b"<manifest>"))
    with pytest.raises(ParseFailed):
        read_manifest(bomb)
    large = manifest_of(plain, redaction={"email": {f"S!{at}": 1 for at in range(50_000)}})
    with pytest.raises(ValueError, match="at most"):
        sign(large, KEY)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_comes_twice_is_refused(plain: Path, part: bytes, tmp_path: Path) -> None:
    path = with_parts(plain, tmp_path / "made.xlsx", part)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("customXML/Item1.xml", part)
    with pytest.raises(InvalidManifest, match="two entries of the same name"):
        read_manifest(path)


@every("content", [b"", b"PK\x03\x04 cut", b"Id;Par\n1;2\n", b"%PDF-1.7"])
def test_what_is_no_workbook_is_refused(content: bytes) -> None:
    with pytest.raises(FileRefused):
        read_manifest(content)
    with pytest.raises(InvalidFormat, match=r"no \.xlsx"):
        read_manifest(b"Id;Par\n1;2\n")


def test_every_field_is_signed(plain: Path, part: bytes, tmp_path: Path) -> None:
    """A change of any character of the manifest makes the signature another's."""
    manifest = read_manifest(with_parts(plain, tmp_path / "made.xlsx", part))
    assert manifest is not None
    for name in Manifest.__struct_fields__:
        at = manifest.text.index(f'"{name}"') + len(name) + 4
        changed = msgspec.structs.replace(manifest, text=manifest.text[:at] + "0" + manifest.text[at + 1 :])
        assert changed.text == manifest.text or not changed.is_signed_with(KEY), name
