"""The seal of a PDF.

A certifying signature that allows no later change, by the key of a PKCS#12.
"""

from __future__ import annotations

import asyncio
import hashlib
from datetime import datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyhanko.sign.signers import Signer

KEY_BITS: Final = 3072
VALID_DAYS: Final = 3652
"""Of a certificate that signs itself."""

FIELD: Final = "Seal"
_CONTAINER_BYTES: Final = 16_384
"""Reserved for the signature with its certificates; a chain of three takes about 6,000 in hex digits."""


class SealError(ValueError):
    """The PKCS#12 cannot seal; the message says why."""


def self_signed(name: str, created: datetime, password: bytes | None = None) -> bytes:
    """Return a new key with a certificate signed by itself, as PKCS#12, valid for ten years from the day before
    `created`.

    `name` is whose it is, as readers show it. Without a password the key stands open in the file.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import pkcs12

    key = rsa.generate_private_key(public_exponent=65_537, key_size=KEY_BITS)
    whose = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name[:64])])
    usage = dict.fromkeys(
        (
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "key_cert_sign",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(whose)
        .issuer_name(whose)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(created - timedelta(days=1))
        .not_valid_after(created + timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, content_commitment=True, **usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    lock = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return pkcs12.serialize_key_and_certificates(name.encode(), key, certificate, None, lock)


def seal(pdf: bytes, certificate: bytes, password: bytes | None, *, created: datetime, reason: str) -> bytes:
    """Return a PDF with a certifying signature over all of it, after which no change is allowed.

    `certificate` is PKCS#12 with a private key; with an RSA key the same arguments give the same bytes. The time in it
    is `created`, said by the signer: no time stamping service is asked, and no network is used.

    Raises:
        SealError: the PKCS#12 cannot be read with this password, or its key cannot sign.
    """
    signer = _signer(certificate, password)
    from pyhanko.pdf_utils.generic import ArrayObject, ByteStringObject
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter
    from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner
    from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes

    class SameDocument(IncrementalPdfFileWriter):
        """A writer that leaves metadata alone.

        They name the document's standard, and would get the clock's time.
        """

        def _update_meta(self) -> None:
            pass

        @classmethod
        def _handle_id(cls, prev: PdfFileReader) -> ArrayObject:
            first, _ = prev.trailer["/ID"]
            return ArrayObject([first, ByteStringObject(hashlib.sha256(pdf).digest()[:16])])

    meta = PdfSignatureMetadata(
        field_name=FIELD,
        md_algorithm="sha256",
        reason=reason,
        subfilter=SigSeedSubFilter.PADES,
        certify=True,
        docmdp_permissions=MDPPerm.NO_CHANGES,
    )
    session = PdfSigner(meta, signer).init_signing_session(SameDocument(BytesIO(pdf)))
    session.system_time = created
    waiting = session.prepare_tbs_document(validation_info=None, bytes_reserved=_CONTAINER_BYTES)
    output = BytesIO()
    digest, _ = waiting.digest_tbs_document(output=output)

    async def finish() -> None:
        done = await waiting.perform_signature(
            document_digest=digest.document_digest,
            pdf_cms_signed_attrs=PdfCMSSignedAttributes(signing_time=created),
        )
        await done.post_signature_processing(output)

    asyncio.run(finish())
    return output.getvalue()


def _signer(certificate: bytes, password: bytes | None) -> Signer:
    try:
        from pyhanko.sign.signers import SimpleSigner  # late: a third of a second that only those pay who seal
    except ImportError:
        raise SealError("Sealing needs the packages of cushion[service].") from None
    try:
        signer: Signer = SimpleSigner.load_pkcs12_data(certificate, other_certs=[], passphrase=password)
    except (ValueError, TypeError) as error:
        raise SealError(f"The PKCS#12 of the seal cannot be read: {error}.") from None
    return signer
