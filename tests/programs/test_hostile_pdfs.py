"""Hostile PDF documents are refused in plain words, or read, soon and in bounded memory; nothing in them is run."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.confined.run import ChildFailed
from core.files.errors import FileRefused, ParseFailed
from core.files.isolate import parse_isolated, read_isolated
from core.files.pdf.limits import PAGE_CHARACTERS_MAX, PAGES_MAX
from tests.forked_child import BAD, pool, read_in_fork
from tests.hostile_pdfs import EITHER, FILES, READ, forms, full_page, has_table, one_page_often, pages_doubled
from tests.raw_pdf import TABLE, document

MEMORY_BYTES = 1536 * 1024**2
"""Less than a child may have, since tests run side by side."""
SECONDS = 20.0


@pytest.fixture(scope="module")
def reader() -> Iterator[ProcessPoolExecutor]:
    """A process whose forks read."""
    with pool() as process:
        yield process


@pytest.mark.parametrize("name", [name for name, file in FILES.items() if not file.is_slow])
def test_a_hostile_document_is_refused_or_read(reader: ProcessPoolExecutor, tmp_path: Path, name: str) -> None:
    file = FILES[name]
    path, out = tmp_path / file.name, tmp_path / "out"
    out.mkdir()
    path.write_bytes(file.build())
    outcome = reader.submit(read_in_fork, path, out, has_table, SECONDS, MEMORY_BYTES).result()
    path.unlink()  # some have 100 MB
    assert outcome.result not in BAD, outcome
    if file.becomes == READ:
        assert (outcome.result, outcome.text) == ("read", "the table")
    elif file.becomes != EITHER:
        assert outcome.result == "refused"
        assert re.search(file.becomes, outcome.text), outcome.text
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (one_page_often(PAGES_MAX + 1, b""), f"has {PAGES_MAX + 1:,} pages; the limit is {PAGES_MAX:,}"),
        (
            document([b"BT /F1 1 Tf 1 0 0 1 9 790 Tm 1 TL " + b"(7) Tj T* " * (PAGE_CHARACTERS_MAX // 2)] * 2),
            f"the limit is {PAGE_CHARACTERS_MAX:,}",
        ),
        (pages_doubled(30), "damaged"),
    ],
    ids=["pages", "characters of a page", "pages that double"],
)
def test_a_limit_is_named(tmp_path: Path, data: bytes, hint: str) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(data)
    with pytest.raises(ParseFailed, match=re.escape(hint)):
        read_isolated(path)


def test_a_document_within_every_limit_is_read(tmp_path: Path) -> None:
    """As many pages as the limit, the last one with the table."""
    path = tmp_path / "report.pdf"
    path.write_bytes(document([b""] * (PAGES_MAX - 1) + [TABLE]))
    book = read_isolated(path)
    assert has_table(book).text == "the table"
    assert {page for page, _ in book.sheets[-1].page_lines.tolist()} == {PAGES_MAX}


@pytest.mark.parametrize(
    ("data", "limits", "hint"),
    [
        (
            one_page_often(PAGES_MAX, full_page(9)),
            {"seconds_max": 1.5},
            "longer to be read than the limit of 1.5 seconds",
        ),
        (forms(30, 2, b""), {"memory_bytes_max": MEMORY_BYTES}, "reader"),
    ],
    ids=["seconds", "memory"],
)
def test_a_document_that_passes_a_limit_of_its_child_leaves_nothing(
    tmp_path: Path, data: bytes, limits: dict[str, Any], hint: str
) -> None:
    path, out = tmp_path / "report.pdf", tmp_path / "out"
    out.mkdir()
    path.write_bytes(data)
    began = time.monotonic()
    with pytest.raises(FileRefused, match=hint) as refused:
        parse_isolated(path, out, **limits)
    assert time.monotonic() - began < SECONDS
    assert isinstance(refused.value.__cause__, ChildFailed)
    assert list(out.iterdir()) == []


def test_reading_leaves_no_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    path = tmp_path / "report.pdf"
    for data in (document(), pages_doubled(30), b"%PDF-"):
        path.write_bytes(data)
        with suppress(FileRefused):
            read_isolated(path)
        assert list(temporary.iterdir()) == []
