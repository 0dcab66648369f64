"""Seals, asked of pyHanko's own validator.

Whole, by the certificate that was given, and broken by any change.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pikepdf
import pytest
from asn1crypto import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
from pyhanko.pdf_utils.generic import DictionaryObject
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.status import PdfSignatureStatus
from pyhanko_certvalidator import ValidationContext

from core.export.seal import SealError, seal, self_signed
from core.typeset.pdf import typeset

CREATED = datetime(2024, 11, 7, 12, 30, tzinfo=UTC)
PLAIN = Path(__file__).parents[1] / "typeset" / "plain.typ"


class Sealed(NamedTuple):
    pdf: bytes
    key: bytes
    sealed: bytes


@pytest.fixture(scope="module")
def sealed() -> Sealed:
    pdf = typeset(PLAIN, {"title": "Pool", "rows": ["first", "second"]}, created=CREATED).data
    key = self_signed("Cushion of a test", CREATED, b"open sesame")
    return Sealed(pdf, key, seal(pdf, key, b"open sesame", created=CREATED, reason="Export exp_1"))


def validated(pdf: bytes, key: bytes, moment: datetime = CREATED) -> PdfSignatureStatus:
    certificate = load_pkcs12(key, b"open sesame").cert
    assert certificate is not None
    root = x509.Certificate.load(certificate.certificate.public_bytes(Encoding.DER))
    context = ValidationContext(trust_roots=[root], allow_fetching=False, moment=moment)
    (signature,) = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
    return validate_pdf_signature(signature, context)


def test_a_seal_is_valid_and_covers_the_whole_file(sealed: Sealed) -> None:
    status = validated(sealed.sealed, sealed.key)
    assert status.bottom_line
    assert status.coverage.name == "ENTIRE_FILE"
    assert status.signer_reported_dt == CREATED
    assert status.signing_cert.subject.native["common_name"] == "Cushion of a test"
    assert validated(sealed.sealed, sealed.key, CREATED + timedelta(days=3_600)).trusted
    assert not validated(sealed.sealed, self_signed("Stranger", CREATED, b"open sesame")).trusted


def test_a_sealed_document_is_the_document_and_the_same_again(sealed: Sealed) -> None:
    """Its bytes come first, its metadata still name the standard, and an RSA key signs the same way each time."""
    assert sealed.sealed.startswith(sealed.pdf)
    assert seal(sealed.pdf, sealed.key, b"open sesame", created=CREATED, reason="Export exp_1") == sealed.sealed
    with pikepdf.open(io.BytesIO(sealed.sealed)) as opened, opened.open_metadata() as answer:
        assert (answer["pdfaid:part"], answer["xmp:ModifyDate"][:10]) == ("2", "2024-11-07")


def test_every_change_breaks_the_seal(sealed: Sealed) -> None:
    touched = bytearray(sealed.sealed)
    touched[sealed.pdf.index(b"(Pool)") + 1] ^= 1
    assert not validated(bytes(touched), sealed.key).intact
    added = IncrementalPdfFileWriter(io.BytesIO(sealed.sealed))
    added.root["/Names"] = added.add_object(DictionaryObject())
    added.update_root()
    output = io.BytesIO()
    added.write(output)
    status = validated(output.getvalue(), sealed.key)
    assert status.intact, "what was signed is still there"
    assert not status.bottom_line, "and what was added is told"


def test_what_cannot_seal_is_refused(sealed: Sealed) -> None:
    for key, password in ((b"junk", None), (b"", None), (sealed.key, b"wrong"), (sealed.key, None)):
        with pytest.raises(SealError, match=r"PKCS#12 of the seal cannot be read"):
            seal(sealed.pdf, key, password, created=CREATED, reason="")
