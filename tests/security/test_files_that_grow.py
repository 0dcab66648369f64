"""A small file stays small.

What is stored of it, and what a calculation writes, goes by cells, not by distance.
"""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.files.isolate import parse_isolated
from core.grid.address import column_name
from core.grid.codec import open_workbook
from core.recalc.isolate import recalculate_isolated
from tests.conftest import Member, Stack
from tests.core.files.conftest import package_parts, sheet_xml

COLUMNS = 49
FAR = 1_000_000
"""As many columns, from the first row to this one, as the limit of cells lets through with all their blanks."""

MEBIBYTE = 1024**2


def far_file(path: Path, columns: int = COLUMNS) -> Path:
    """A number in the first row of each column, and a formula over it in the last."""
    names = [column_name(at) for at in range(columns)]
    top = "".join(f'<c r="{name}1"><v>1</v></c>' for name in names)
    bottom = "".join(f'<c r="{name}{FAR}"><f>{name}1+1</f><v>2</v></c>' for name in names)
    rows = f'<row r="1">{top}</row><row r="{FAR}">{bottom}</row>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in package_parts([sheet_xml(rows)]).items():
            archive.writestr(part, text)
    return path


def stored_bytes(stack: Stack) -> int:
    return sum(path.stat().st_size for path in (stack.data_dir / "blobs").rglob("*") if path.is_file())


def test_two_cells_a_million_rows_apart_are_stored_as_two_cells(stack: Stack, owner: Member, tmp_path: Path) -> None:
    """In 49 columns, uploaded, read, evaluated over, and calculated twice."""
    path = far_file(tmp_path / "far.xlsx")
    before = stored_bytes(stack)
    book = owner.uploaded(path)
    assert book["status"] == "ready", book
    assert stored_bytes(stack) - before < path.stat().st_size + 16 * 1024
    data = f"/api/v1/workbooks/{book['id']}/sheets/{book['sheets'][0]['name']}/data"
    for _ in range(2):
        before = stored_bytes(stack)
        assert owner.post(f"/api/v1/workbooks/{book['id']}/recalculate").status_code == 200
        assert owner.parsed(book["id"])["status"] == "ready"
        assert stored_bytes(stack) - before < 16 * 1024
        page = owner.get(data, params={"start_row": FAR - 1}).json()
        assert [list(row.values()) for row in page["rows"]] == [[FAR - 1, *[None] * COLUMNS], [FAR, *[2] * COLUMNS]]
        order = {"formula": f"=SUM(A1:P{FAR})", "workbook_id": book["id"]}
        answer = owner.post("/api/v1/calculations/evaluate", json=order)
        assert (answer.status_code, answer.json().get("value")) == (200, 16 * 3), answer.text


def test_the_children_that_read_and_calculate_it_stay_small(tmp_path: Path) -> None:
    """Of address space, libraries included.

    Dense, its columns are 700 MiB in the reader and three times that in the calculation.
    """
    for name in ("read", "calculated"):
        (tmp_path / name).mkdir()
    path = far_file(tmp_path / "far.xlsx")
    parsed = parse_isolated(path, tmp_path / "read", memory_bytes_max=256 * MEBIBYTE)
    done = recalculate_isolated(
        parsed.manifest,
        parsed.paths,
        tmp_path / "calculated",
        now=datetime(2030, 1, 1, tzinfo=UTC),
        memory_bytes_max=1_280 * MEBIBYTE,
        seconds_max=60,
    )
    assert done.answer.cell_count == COLUMNS
    book = open_workbook(done.manifest, done.paths)
    assert [book.sheets[0].value(FAR - 1, at) for at in range(COLUMNS)] == [2.0] * COLUMNS
    assert book.sheets[0].value(FAR // 2, 0) is None


@pytest.mark.parametrize("columns", [51, 16_384])
def test_more_than_the_limit_of_cells_with_their_blanks_is_refused(
    stack: Stack, owner: Member, tmp_path: Path, columns: int
) -> None:
    before = stored_bytes(stack)
    answer = owner.upload(far_file(tmp_path / "far.xlsx", columns))
    assert (answer.status_code, answer.json()["error_code"]) == (422, "FILE_PARSE_ERROR"), answer.text
    assert "the limit of 50,000,000, blanks" in answer.text
    assert stored_bytes(stack) == before
