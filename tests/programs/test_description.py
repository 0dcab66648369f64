"""The OpenAPI document under the linter of those who write such documents."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx

from tests.conftest import ROOT, Stack

LINTER = ROOT / ".ci" / "redocly"


def test_redocly_finds_nothing(stack: Stack, tmp_path: Path) -> None:
    """No error and no warning by the recommended rules, of what the service itself serves."""
    for name in ("package.json", "package-lock.json", "redocly.yaml"):
        shutil.copy(LINTER / name, tmp_path)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=tmp_path, check=True, capture_output=True, timeout=100)
    (tmp_path / "openapi.json").write_bytes(httpx.get(stack.url + "/openapi.json").content)
    found = subprocess.run(
        ["npx", "--no-install", "redocly", "lint", "openapi.json", "--format=json", "--max-problems=1000"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},
    )
    problems = [(each["ruleId"], each["message"], each["location"]) for each in json.loads(found.stdout)["problems"]]
    assert problems == []
    assert found.returncode == 0, found.stderr
