"""Workbooks that are encrypted with the password that Excel tries itself, and with somebody's own.

All ways that Excel has had are made here after [MS-OFFCRYPTO] and [MS-XLS]."""

from __future__ import annotations

import os
import struct
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import md5, sha1
from io import BytesIO
from pathlib import Path

import olefile
import pytest
import xlsxwriter
import xlwt
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from msoffcrypto.method.ecma376_agile import ECMA376Agile

import core
from core.files import encrypted
from core.files.errors import FileRefused, InvalidFormat, ParseFailed
from core.files.read import probe, read, read_files
from tests.core.files.compound import compound
from tests.rows import every

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4

EXCELS = "VelvetSweatshop"
DAMAGED_PLACES = 40 if "SEARCH" in os.environ else 12
"""Of a file, at which it is cut off, and changed."""
SALT, VERIFIER = bytes(range(16)), bytes(range(100, 116))


def book() -> bytes:
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as workbook:
        page = workbook.add_worksheet("Holdings")
        page.write_row(0, 0, ["Name", "Par"])
        for row in range(1, 200):
            page.write_row(row, 0, [f"Loan {row * 7919}", row / 7])
        page.write_formula(200, 1, "=SUM(B2:B3)", None, 3 / 7)
    return out.getvalue()


def agile(password: str, data: bytes) -> bytes:
    """2.3.4.10: what Excel 2010 and later write."""
    return bytes(ECMA376Agile.encrypt(password, BytesIO(data)))


def aes(key: bytes, data: bytes) -> bytes:
    encryptor = Cipher(AES(key), modes.ECB()).encryptor()
    return encryptor.update(data.ljust(-(-len(data) // 16) * 16, b"\0")) + encryptor.finalize()


def standard(password: str, data: bytes) -> bytes:
    """2.3.4.5 to 2.3.4.9: what Excel 2007 writes."""
    state = sha1(SALT + password.encode("utf-16-le")).digest()
    for number in range(50_000):
        state = sha1(struct.pack("<I", number) + state).digest()
    state = sha1(state + struct.pack("<I", 0)).digest()
    key = sha1(bytes(0x36 ^ byte for byte in state.ljust(64, b"\0"))).digest()[:16]
    name = "Microsoft Enhanced RSA and AES Cryptographic Provider\0".encode("utf-16-le")
    header = struct.pack("<8I", 0x24, 0, 0x660E, 0x8004, 128, 0x18, 0, 0) + name
    info = struct.pack("<HHII", 3, 2, 0x24, len(header)) + header
    info += struct.pack("<I", 16) + SALT + aes(key, VERIFIER) + struct.pack("<I", 20)
    info += aes(key, sha1(VERIFIER).digest())
    package = struct.pack("<Q", len(data)) + aes(key, data)
    return compound({"EncryptedPackage": package, "EncryptionInfo": info})


def rc4(keys: Callable[[int], bytes], data: bytes) -> bytes:
    """Every 1,024 bytes by a key of their own."""
    out = b""
    for number in range(-(-len(data) // 1024)):
        encryptor = Cipher(ARC4(keys(number)), None).encryptor()
        out += encryptor.update(data[number * 1024 : number * 1024 + 1024])
    return out


def old_book() -> bytes:
    """The workbook stream of an .xls."""
    path, out = xlwt.Workbook(), BytesIO()
    page = path.add_sheet("Holdings")
    for column, value in enumerate(["Name", "Par"]):
        page.write(0, column, value)
    for row in range(1, 100):
        page.write(row, 0, f"Loan {row * 7919}")
        page.write(row, 1, row / 7)
    path.save(out)
    stream: bytes = olefile.OleFileIO(out).openstream("Workbook").read()
    return stream


def protected(file_pass: bytes, keys: Callable[[int], bytes]) -> bytes:
    """[MS-XLS] 2.2.10: a record that says how, behind the first.

    Then all but headers and some records encrypted.
    """
    stream, at = old_book(), 0
    record = struct.pack("<2H", 0x2F, len(file_pass)) + file_pass
    plain, masks = b"", b""
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<2H", stream, at)
        body = stream[at + 4 : at + 4 + size]
        if kind == 0x85:  # where a sheet begins, which stays readable
            body = struct.pack("<I", struct.unpack_from("<I", body)[0] + len(record)) + body[4:]
        open_bytes = size if kind in (0x809, 0x2F, 0xE1) else 4 if kind == 0x85 else 0
        plain += stream[at : at + 4] + body
        masks += b"\0" * (4 + open_bytes) + b"\1" * (size - open_bytes)
        at += 4 + size
        if kind == 0x809 and len(plain) == 4 + size:
            plain += record
            masks += b"\0" * len(record)
    secret = rc4(keys, plain)
    return compound({"Workbook": bytes(s if m else p for p, s, m in zip(plain, secret, masks, strict=True))})


def rc4_cryptoapi(password: str) -> bytes:
    """2.3.5: what Excel 2002 to 2019 write into an .xls."""
    state = sha1(SALT + password.encode("utf-16-le")).digest()

    def key(number: int) -> bytes:
        return sha1(state + struct.pack("<I", number)).digest()[:16]

    name = "Microsoft Enhanced Cryptographic Provider v1.0\0".encode("utf-16-le")
    header = struct.pack("<8I", 4, 0, 0x6801, 0x8004, 128, 1, 0, 0) + name
    secret = rc4(key, VERIFIER + sha1(VERIFIER).digest())
    info = struct.pack("<HHHII", 1, 4, 2, 4, len(header)) + header
    return protected(info + struct.pack("<I", 16) + SALT + secret[:16] + struct.pack("<I", 20) + secret[16:], key)


def rc4_97(password: str) -> bytes:
    """2.3.6: what Excel 97 writes."""
    state = md5(password.encode("utf-16-le")).digest()[:5]
    state = md5((state + SALT) * 16).digest()[:5]

    def key(number: int) -> bytes:
        return md5(state + struct.pack("<I", number)).digest()

    secret = rc4(key, VERIFIER + md5(VERIFIER).digest())
    return protected(struct.pack("<3H", 1, 1, 1) + SALT + secret, key)


MAKERS: list[Callable[[str], bytes]] = [
    lambda password: agile(password, book()),
    lambda password: standard(password, book()),
    rc4_cryptoapi,
    rc4_97,
]


@every("maker", MAKERS)
def test_a_workbook_with_excels_own_password_is_read_without_one(tmp_path: Path, maker: Callable[[str], bytes]) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(maker(EXCELS))
    for result in (read(path), core.read(path), read_files([("a", path.read_bytes()), ("b.csv", b"a,b\n1,2\n")])):
        sheet = result["Holdings"]
        assert [sheet.value(*cell) for cell in ((0, 0), (0, 1), (3, 0))] == ["Name", "Par", "Loan 23757"]
        assert sheet.value(3, 1) == pytest.approx(3 / 7, rel=1e-15)
    (sheet_probe,) = probe(path, file_name="a.xlsx").sheets
    assert (sheet_probe.name, sheet_probe.row_count >= 100, sheet_probe.column_count) == ("Holdings", True, 2)


@every("maker", MAKERS)
def test_a_workbook_with_another_password_is_refused(tmp_path: Path, maker: Callable[[str], bytes]) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(maker("secret"))
    for door in (read, probe, core.read):
        with pytest.raises(ParseFailed, match="password-protected; remove the password"):
            door(path)


def test_formulas_come_along(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(agile(EXCELS, book()))
    assert core.read(path)["Holdings"].formula(200, 1) == "SUM(B2:B3)"


def test_what_is_encrypted_is_looked_at_like_any_other_file() -> None:
    def refused(data: bytes, kind: type[FileRefused], hint: str) -> None:
        with pytest.raises(kind, match=hint):
            read_files([("a.xlsx", agile(EXCELS, data))])

    refused(b"PK\x03\x04" + bytes(range(256)) * 30, ParseFailed, "damaged")
    refused(agile(EXCELS, book()), ParseFailed, "damaged")


def test_another_office_document_is_none() -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as zip_file:
        zip_file.writestr("word/document.xml", bytes(range(256)) * 40)
    with pytest.raises(InvalidFormat, match="text document"):
        read_files([("a.xlsx", agile(EXCELS, out.getvalue()))])


def test_a_file_may_not_ask_for_endless_hashes() -> None:
    data = agile(EXCELS, book()).replace(b'spinCount="100000" saltSize="16"', b'spinCount="9999999" saltSize="1"')
    assert data.count(b'spinCount="9999999"') == 1
    with pytest.raises(ParseFailed, match=r"limit of 1,000,000"):
        read_files([("a.xlsx", data)])


@every("maker", MAKERS)
def test_damage_is_the_files_fault(maker: Callable[[str], bytes]) -> None:
    whole = maker(EXCELS)
    for at in range(512, len(whole), len(whole) // DAMAGED_PLACES):
        for data in (whole[:at], whole[:at] + b"\xff" * 9 + whole[at + 9 :]):
            with suppress(FileRefused):
                encrypted.decrypted(data)
