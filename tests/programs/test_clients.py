"""The typed clients as their users get them.

Built, installed, type-checked, and used as their READMEs say.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from core.generate import generate
from tests.conftest import ROOT, Stack, member
from tests.contract.__main__ import CONTRACT

CLIENTS = ROOT / ".ci" / "clients"
OPERATIONS = [
    operation["operationId"]
    for path in json.loads(CONTRACT.read_text(encoding="utf-8"))["paths"].values()
    for operation in path.values()
]
LOANS = "deals/clo-300-7.xlsx"
"""The workbook that the READMEs name."""
TYPES_OF_NODE = "@types/node@20.19.43"


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command prints; one that fails fails the test with all that it says."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def built(folder: Path, *document: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CLIENTS / "build.py", folder, *document], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built files."""
    folder = tmp_path_factory.mktemp("dist")
    done = built(folder)
    assert done.returncode == 0, done.stderr
    return folder


def only_file(folder: Path, pattern: str) -> Path:
    (result,) = folder.glob(pattern)
    return result


def readme(language: str, fence: str, *, path: Path) -> None:
    """Write the round trip of a client's README where its user would."""
    text = (CLIENTS / language / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"```{fence}\n(.*?)```", text, re.DOTALL)
    path.write_text(block, encoding="utf-8")
    book = path.parent / LOANS
    book.parent.mkdir()
    generate(loans=300, seed=7).write(book)


def test_every_operation_is_in_both_clients(release: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(only_file(release, "*.whl")) as wheel:
        modules = [Path(name) for name in wheel.namelist() if name.startswith("cushion_client/api/")]
        assert "cushion_client/py.typed" in wheel.namelist()
    assert sorted(path.stem for path in modules if path.stem != "__init__") == sorted(OPERATIONS)
    shutil.unpack_archive(only_file(release, "*.tgz"), tmp_path)
    types = (tmp_path / "package" / "schema.d.ts").read_text(encoding="utf-8")
    operations = types.partition("export interface operations {\n")[2].partition("\n}\n")[0]
    assert sorted(re.findall(r"^    (\w+): {$", operations, re.MULTILINE)) == sorted(OPERATIONS)


def test_a_document_that_a_generator_cannot_read_whole_ends_the_build(tmp_path: Path) -> None:
    document = json.loads(CONTRACT.read_text(encoding="utf-8"))
    asked = document["components"]["schemas"]["RunRequest"]["properties"]
    asked["options"] = {"allOf": [{"$ref": "#/components/schemas/RunOptions"}], "default": {}}
    (tmp_path / "document.json").write_text(json.dumps(document), encoding="utf-8")
    done = built(tmp_path, tmp_path / "document.json")
    assert done.returncode == 1
    assert "POST /api/v1/compliance/run" in done.stderr
    assert not list(tmp_path.glob("cushion*"))


def check_printed(printed: str, url: str, email: str, path: Path) -> None:
    """What the round trip printed is what the service says to somebody who asks it without a client."""
    tokens = httpx.post(url + "/api/v1/auth/login", data={"username": email, "password": "Passw0rd-1"})
    user = member(url, tokens.json(), email)
    (run,) = user.get("/api/v1/compliance/history").json()["items"]
    results = user.get(f"/api/v1/compliance/results/{run['id']}").json()["results"]
    assert len(results) == 25
    lines = printed.splitlines()
    assert lines[0] == "workbook ready"
    assert re.fullmatch(r"value 42(\.0)?", lines[1])
    assert re.fullmatch(r"batch \[2(\.0)?, ?.#DIV/0!.\]", lines[2])
    tests = [line.split() for line in lines if line.startswith("test ")]
    assert [(name, status) for _, name, status, _ in tests] == [(each["test_id"], each["status"]) for each in results]
    for (*_, cushion), each in zip(tests, results, strict=True):
        assert (None if cushion in ("None", "null") else float(cushion)) == each["cushion"]
    nobodys = user.get("/api/v1/workbooks/00000000-0000-0000-0000-000000000000").json()
    assert lines[-2:] == [f"bytes {path.stat().st_size}", f"error {nobodys['error_code']} {nobodys['detail']}"]


WRONG_IN_PYTHON = """

def wrong() -> None:
    run_compliance.sync(client=client, body=LoginBody(username="a", password="b"))  # type: ignore[arg-type]
    run_compliance.sync(client=open_to_all, body=RunRequest(workbook_id=UUID(int=1)))  # type: ignore[arg-type]
    print(nobodys.no_such_field)  # type: ignore[union-attr]
"""


def test_the_python_client(release: Path, stack: Stack, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", "venv", folder=tmp_path)
    constraints = ("--constraint", ROOT / ".constraints.txt")
    run(python, "-m", "pip", "install", "--quiet", *constraints, only_file(release, "*.whl"), folder=tmp_path)
    script = tmp_path / "tour.py"
    readme("python", "python", path=script)
    script.write_text(script.read_text(encoding="utf-8") + WRONG_IN_PYTHON, encoding="utf-8")
    run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, script, folder=tmp_path)
    email = f"ann-{uuid4().hex[:12]}@example.com"
    printed = run(python, script, folder=tmp_path, CUSHION_URL=stack.url, CUSHION_EMAIL=email)
    check_printed(printed, stack.url, email, tmp_path / LOANS)


MORE_IN_TYPESCRIPT = """
export function minimal() {
  client.POST("/api/v1/compliance/run", { body: { workbook_id: "" } });
  client.POST("/api/v1/calculations/evaluate", { body: { formula: "=1+1" } });
}

export function file(): Promise<{ data?: Blob }> {
  return client.GET("/api/v1/reports/{report_id}/download", { params: { path: { report_id: "" } }, parseAs: "blob" });
}

export function wrong() {
  // @ts-expect-error: no such path
  client.GET("/api/v1/no-such-path");
  // @ts-expect-error: a body without what it must have
  client.POST("/api/v1/compliance/run", { body: { test_suite: "enhanced" } });
  // @ts-expect-error: no such field of an error
  console.log(nobodys.error?.no_such_field);
}
"""


def test_the_typescript_client(release: Path, stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    pinned = json.loads((CLIENTS / "typescript" / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    tarball = only_file(release, "*.tgz")
    run(
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        tarball,
        f"typescript@{pinned['typescript']}",
        TYPES_OF_NODE,
        folder=tmp_path,
    )
    script = tmp_path / "tour.ts"
    readme("typescript", "ts", path=script)
    script.write_text(script.read_text(encoding="utf-8") + MORE_IN_TYPESCRIPT, encoding="utf-8")
    run("npx", "tsc", "--strict", "--target", "es2022", "--module", "nodenext", script.name, folder=tmp_path)
    email = f"bob-{uuid4().hex[:12]}@example.com"
    printed = run("node", "tour.js", folder=tmp_path, CUSHION_URL=stack.url, CUSHION_EMAIL=email)
    check_printed(printed, stack.url, email, tmp_path / LOANS)
