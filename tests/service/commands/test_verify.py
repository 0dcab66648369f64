"""The verify command on exports.

What it says, with a key and without, and its exit code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

from tests.core.provenance.exported import KEY, edited, exported

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]

BOOK = {"Loans": [["Par"], [1.0]], "Workspace": [["mine"]]}


def test_an_original_is_told_so(cushion: Cushion, tmp_path: Path) -> None:
    path = exported(tmp_path, BOOK, ["Loans"])
    keys = tmp_path / "keys"
    keys.write_text(f"k0 {'00' * 16}\nk1 {KEY.hex()}\n")
    answer = cushion("verify", path, "--key-file", keys)
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert lines[0] == (
        "export.xlsx: original: The hashed sheets show what was exported. Not looked at: the sheet 'Workspace'; fonts, "
        "colours, widths, heights and print settings; digits behind the 15th."
    )
    assert lines[1] == "export  exp_1 of workbook w, made 2026-01-31T00:00:00Z"
    assert lines[2] == "signature  valid, of the key 'k1'"
    assert lines[3].startswith("data hash  ")
    assert lines[4:] == ["not covered, and free to change  'Workspace'"]


def test_without_a_key_the_signature_is_said_to_be_unchecked(cushion: Cushion, tmp_path: Path) -> None:
    answer = cushion("verify", exported(tmp_path, BOOK))
    assert answer.returncode == 0
    assert "signature  not checked (no --key-file): whoever changed the file could have" in answer.stdout


def test_a_changed_file_is_told_with_what_changed(cushion: Cushion, tmp_path: Path) -> None:
    path = edited(exported(tmp_path, BOOK), tmp_path / "made.xlsx", {"Loans": [["Par"], [2.0]], "Others": [[1]]})
    answer = cushion("verify", path)
    assert answer.returncode == 1
    assert "modified: The hashed sheets do not show what was exported." in answer.stdout
    assert answer.stdout.splitlines()[-3:] == [
        "removed  sheet 'Workspace'", "added  sheet 'Others'", "changed  sheet 'Loans'",
    ]  # fmt: skip
    document = json.loads(cushion("verify", path, "--json").stdout)
    assert document["status"] == "modified"
    assert document["diffs"][-1] == {"sheet": "Loans", "cell": None, "status": "changed"}
    assert document["hmac_valid"] is None


def test_another_key_and_no_manifest(cushion: Cushion, refused: Refusal, tmp_path: Path) -> None:
    path = exported(tmp_path, BOOK)
    keys = tmp_path / "keys"
    keys.write_text(f"k1 {'ab' * 32}")
    answer = cushion("verify", path, "--key-file", keys)
    assert answer.returncode == 1
    assert answer.stdout.startswith("export.xlsx: invalid_provenance: The manifest's signature is not of its key.")
    answer = cushion("verify", tmp_path / "plain.xlsx")
    assert (answer.returncode, answer.stdout.splitlines()[0]) == (1, "plain.xlsx: unknown: The file has no manifest.")

    text = tmp_path / "text.csv"
    text.write_text("a,b\n1,2\n")
    assert "no .xlsx" in refused("verify", text)
    assert "is no key" in refused("verify", path, "--key-file", text)
    keys.write_text("abcd")
    assert "at least 16 bytes in hexadecimal" in refused("verify", path, "--key-file", keys)
    keys.write_text("\n")
    assert "holds no key" in refused("verify", path, "--key-file", keys)
    assert "No such file" in refused("verify", tmp_path / "none.xlsx")
