"""The OpenAPI document under the linters of those who write such documents."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.conftest import ROOT, Stack

LINTERS = ROOT / ".ci" / "openapi"
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


@pytest.fixture(scope="module")
def folder(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the linters, pinned, and the document that the service itself serves."""
    folder = tmp_path_factory.mktemp("linters")
    for path in LINTERS.iterdir():
        shutil.copy(path, folder)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, check=True, capture_output=True, timeout=200)
    (folder / "openapi.json").write_bytes(httpx.get(stack.url + "/openapi.json").content)
    return folder


def lint(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    words = ["npx", "--no-install", *command]
    environment = {**os.environ, **QUIET}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100)


def test_redocly_has_no_error_and_no_warning(folder: Path) -> None:
    done = lint(folder, "redocly", "lint", "openapi.json", "--format=json", "--max-problems=1000")
    problems = [(each["ruleId"], each["message"], each["location"]) for each in json.loads(done.stdout)["problems"]]
    assert problems == []
    assert done.returncode == 0, done.stderr


def test_spectral_has_no_error_and_no_warning(folder: Path) -> None:
    done = lint(folder, "spectral", "lint", "openapi.json", "--ruleset=spectral.yaml", "--format=json", "--quiet")
    problems = [(each["code"], each["message"], each["path"]) for each in json.loads(done.stdout)]
    assert problems == []
    assert done.returncode == 0, done.stderr
