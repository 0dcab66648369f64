"""`python .ci/clients/build.py FOLDER [DOCUMENT]`: typed clients of the API as release files, of its document.

A wheel by openapi-python-client, an npm tarball by openapi-typescript over openapi-fetch. Ends with an error where a
generator leaves anything of the document out. Wants the extra `dev`, node and npm.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCUMENT = ROOT / "tests" / "contract" / "openapi.json"  # what the service publishes: a test compares them

BYTES = "application/octet-stream"

BOUNDARY = '    headers["Content-Type"] = "multipart/form-data; boundary=+++"\n'
"""What is taken out of the Python client: one boundary for every form, which a file may hold. httpx draws its own."""


def run(command: list[str], folder: Path) -> None:
    """Run a step; where it fails, its output is shown."""
    # The generators call programs of this environment by name.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-8000:]}{done.stderr[-8000:]}")


def downloads_as_bytes(document: dict[str, Any]) -> dict[str, Any]:
    """The document, with files as bytes alone.

    openapi-python-client reads an answer by the first type that it knows: here types stand in the order of their names,
    so that a file of JSON would be an object.
    """
    for path in document["paths"].values():
        for operation in path.values():
            for answer in operation["responses"].values():
                if BYTES in answer.get("content", {}):
                    answer["content"] = {BYTES: answer["content"][BYTES]}
    return document


def python_client(document: Path, work: Path, out: Path) -> None:
    """The wheel cushion-client."""
    project = work / "python"
    shutil.copytree(HERE / "python", project)
    shutil.copy(ROOT / "LICENSE", project)
    (project / "VERSION").write_text(PROJECT["version"], encoding="utf-8")
    read = work / "document.json"
    described = downloads_as_bytes(json.loads(document.read_text(encoding="utf-8")))
    read.write_text(json.dumps(described), encoding="utf-8")
    run(
        shlex.split(
            f"openapi-python-client generate --path {shlex.quote(str(read))} --config generator.yaml --meta none"
            " --output-path cushion_client --overwrite --fail-on-warning"
        ),
        project,
    )
    modules = {path: path.read_text(encoding="utf-8") for path in (project / "cushion_client").rglob("*.py")}
    forms = [path for path, text in modules.items() if BOUNDARY in text]
    assert forms, "the generator writes no boundary of its own any more"
    for path in forms:
        path.write_text(modules[path].replace(BOUNDARY, ""), encoding="utf-8")
    (project / "cushion_client" / "py.typed").touch()
    run([sys.executable, "-m", "build", "--wheel", "--outdir", str(out)], project)


def typescript_client(document: Path, work: Path, out: Path) -> None:
    """The npm tarball cushion-client."""
    project = work / "typescript"
    shutil.copytree(HERE / "typescript", project, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(ROOT / "LICENSE", project)
    run(["npm", "ci", "--no-audit", "--no-fund"], project)
    run(["node", "generate.mjs", str(document), "schema.d.ts"], project)
    run(["npx", "tsc"], project)
    manifest = project / "package.json"
    described = json.loads(manifest.read_text(encoding="utf-8")) | {"version": PROJECT["version"]}
    manifest.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    run(["npm", "pack", "--pack-destination", str(out)], project)


def main(folder: str, document: str = str(DOCUMENT)) -> None:
    out = Path(folder).resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cushion-clients-") as work:
        python_client(Path(document).resolve(), Path(work), out)
        typescript_client(Path(document).resolve(), Path(work), out)
    for file in sorted(out.glob("cushion?client-*")):
        print(f"{file} ({file.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main(*sys.argv[1:])
