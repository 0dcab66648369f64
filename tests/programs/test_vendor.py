"""The console's libraries are those that `make vendor` fetched.

No byte was changed since.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.conftest import ROOT

VENDOR = ROOT / "service" / "console" / "vendor"
RECORD: dict[str, Any] = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))


def test_files_have_their_hashes() -> None:
    by_name = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")}
    assert by_name == RECORD["sha256"]


def test_each_package_has_its_licence() -> None:
    named = {name.lstrip("@").replace("/", "-") for name in RECORD["packages"]}
    assert named == {path.name.removesuffix(".LICENSE.txt") for path in VENDOR.glob("*.LICENSE.txt")}
