"""Workbooks that are encrypted with Excel's own password.

It opens them without a question, and so they are read here.

This is how Excel encrypts a workbook whose structure is protected ([MS-OFFCRYPTO] 2.3, [MS-XLS] 2.2.10): its user knows
of no password.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

from core.files.errors import ParseFailed
from core.files.kinds import file_kind
from core.files.limits import FILE_BYTES_MAX
from core.files.probe import FileKind
from core.files.source import Content, content_bytes

_PASSWORD: Final = "VelvetSweatshop"  # noqa: S105 - everybody's: the documentation has it

SPINS_MAX: Final = 1_000_000
"""Hashes behind a password: Excel takes 100,000, which cost 0.2 s; a file may ask for a hundred times as many."""

PROTECTED: Final = "The file is password-protected; remove the password and upload it again."


def decrypted(content: Content, *, bytes_max: int = FILE_BYTES_MAX) -> tuple[FileKind, Content]:
    """Return the kind of a file and its content, decrypted where Excel would open it without a question.

    Raises:
        FileRefused: as `file_kind`; `ParseFailed` also where a password is needed.
        OSError: the file cannot be opened.
    """
    kind = file_kind(content, bytes_max=bytes_max)
    if kind != "encrypted":
        return kind, content
    data = _decrypt(content_bytes(content))
    kind = file_kind(data, bytes_max=bytes_max)
    if kind == "encrypted":
        raise ParseFailed(PROTECTED)
    return kind, data


def _decrypt(data: bytes) -> bytes:
    """Return the content of an encrypted file.

    Whatever a damaged one makes of its reader is a refusal.

    Raises:
        ParseFailed: Excel's password does not open it, or it is damaged.
    """
    import msoffcrypto  # type: ignore[import-untyped]  # with its ciphers it takes 0.1 s, which few files need

    try:
        file = msoffcrypto.OfficeFile(BytesIO(data))
        _load_key(file)
    except (ParseFailed, MemoryError):
        raise
    except Exception as error:
        raise ParseFailed(PROTECTED) from error
    out = BytesIO()
    try:
        file.decrypt(out)
    except MemoryError:
        raise
    except Exception as error:
        raise ParseFailed("The file is encrypted and damaged: it cannot be decrypted.") from error
    return out.getvalue()


def _load_key(file: Any) -> None:
    """Derive the key from Excel's password.

    Raises:
        Exception: it is not the file's password, or encrypted in a way that is not known.
        ParseFailed: past the limit of hashes.
    """
    if file.format == "ooxml":
        if file.type == "agile" and file.info["spinValue"] > SPINS_MAX:
            raise ParseFailed(f"The file's encryption asks for more hashes than the limit of {SPINS_MAX:,}.")
        file.load_key(password=_PASSWORD, verify_password=True)
    else:
        from msoffcrypto.format import xls97  # type: ignore[import-untyped]

        xls97.tempfile = _InMemory  # a confined child may have no folder to write into
        file.load_key(password=_PASSWORD)


class _InMemory:
    """What of the module `tempfile` is called there."""

    TemporaryFile = BytesIO
