"""The console's libraries are those that `make vendor` fetched: no byte was changed since."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

VENDOR = Path(__file__).parents[3] / "service" / "console" / "vendor"


def test_files_have_their_hashes() -> None:
    rows = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.glob("*.[cj]s*")
        if path.name != "vendor.json"
    }
    assert found == {name: row["sha256"] for name, row in rows.items()}


def test_each_package_has_its_licence() -> None:
    rows = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    named = {row["package"].lstrip("@").replace("/", "-") for row in rows.values()}
    assert named == {path.name.removesuffix(".LICENSE.txt") for path in VENDOR.glob("*.LICENSE.txt")}
