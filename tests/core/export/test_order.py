"""What an export may be asked for."""

from __future__ import annotations

import msgspec
import pytest

from core.export.order import Keys, Options
from tests.rows import every


def test_the_options_have_the_stated_defaults() -> None:
    assert msgspec.to_builtins(Options()) == {
        "xlsx_include_styles": True, "xlsx_freeze_header": True, "xlsx_auto_width": True, "xlsx_three_zone": True,
        "xlsx_sealed_pdf": False, "xlsx_signing": False, "csv_delimiter": ",", "csv_encoding": "utf-8-sig",
        "json_pretty_print": True, "sanitize_pii": True, "classification_threshold": "confidential",
        "redaction_strategy": "mask",
    }  # fmt: skip


@every(
    "settings, words",
    [
        ({"csv_delimiter": ""}, "a delimiter is"),
        ({"csv_delimiter": '"'}, "a delimiter is"),
        ({"csv_encoding": "klingon"}, "an encoding is one of"),
        ({"redaction_strategy": "shred"}, "Invalid enum value 'shred'"),
        ({"classification_threshold": "top secret"}, "Invalid enum value 'top secret'"),
        ({"xlsx_zones": True}, "unknown field"),
        ({"json_pretty_print": "yes"}, "Expected `bool`"),
    ],
)
def test_options_that_cannot_be_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(settings, Options)


def test_keys_are_not_printed() -> None:
    assert "secret" not in repr(Keys(signing=b"secret", redaction=b"secret"))
