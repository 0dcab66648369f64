"""The list of formats says of each what names its files, and its types are those that the world registers."""

from __future__ import annotations

import mimetypes

from core.files.write.formats import FORMATS


def test_every_format_names_its_type_and_ending() -> None:
    assert list(FORMATS) == ["xlsx", "csv", "json", "pdf"]
    for name, answer in FORMATS.items():
        assert (answer.format, answer.extension) == (name, f".{name}")
        assert mimetypes.guess_type(f"a{answer.extension}", strict=False)[0] == answer.mime_type
    assert [name for name, answer in FORMATS.items() if not answer.multi_sheet] == ["csv"]
