"""The list of formats says of each what names its files, and its types are those that the world registers."""

from __future__ import annotations

import mimetypes

from core.files.write.formats import FORMATS


def test_every_format_names_its_type_and_ending() -> None:
    assert list(FORMATS) == ["xlsx", "csv", "json", "pdf"]
    for name, told in FORMATS.items():
        assert (told.format, told.extension) == (name, f".{name}")
        assert mimetypes.guess_type(f"a{told.extension}", strict=False)[0] == told.mime_type
    assert [name for name, told in FORMATS.items() if not told.multi_sheet] == ["csv"]
