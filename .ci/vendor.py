"""`python .ci/vendor.py`: the console's libraries out of npm, into service/console/vendor.

Each package stands here with its version and the hash of its archive. Imports by name become relative ones, and what
is not minified yet is. Licences stand beside the files, and `vendor.json` says what each file is. Wants npm.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "service" / "console" / "vendor"


class Package(NamedTuple):
    """A package of npm: its archive's hash, and the module of each name under which it is imported."""

    version: str
    sha512: str
    modules: dict[str, str]
    styles: dict[str, str]


PACKAGES: Final = {
    "preact": Package(
        "11.2.0",
        "/HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxMPZ7xBg==",
        {"preact": "dist/preact.mjs", "preact/hooks": "hooks/dist/hooks.mjs"},
        {},
    ),
    "htm": Package(
        "3.1.1",
        "983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ==",
        {"htm": "dist/htm.mjs"},
        {},
    ),
    "@preact/signals-core": Package(
        "1.14.5",
        "vcRv7Ityz5JVmeiVqIluLFzT/PDS/AlhHUpw3/aUWqcVUs6bDGIPXE/6RSC4evBNWYvnniozg5Syfj33al3gkg==",
        {"@preact/signals-core": "dist/signals-core.mjs"},
        {},
    ),
    "@preact/signals": Package(
        "2.11.4",
        "Rb+5RPo9gWSaHtzJeauhHxiC8KP/IF2DEPkHPEOGOnuy2wnJzRqyeLRankUCYd6ADqtxS6GnWGv6Ie343d8aYw==",
        {"@preact/signals": "dist/signals.mjs"},
        {},
    ),
    "uplot": Package(
        "1.6.32",
        "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        {"uplot": "dist/uPlot.esm.js"},
        {"uplot": "dist/uPlot.min.css"},
    ),
    "@tanstack/virtual-core": Package(
        "3.19.11",
        "/5iHb0RHBvj8Di59FDs4ESNm45jls33aZAi4zccVXZjc/6ZvwQP6nzEYeT6weXjTf9E6/vrp2JhYWRyO+ZP13A==",
        {"@tanstack/virtual-core": "dist/esm/index.js"},
        {},
    ),
    "lean-qr": Package(  # the picture of two-factor enrolment: 2.1 kB gzip; uqr has 4.5 kB, qrcode-generator 7.6 kB
        "2.7.4",
        "tlMPFfqhAAZN7+j/djRSvl/2+AYT2+7RRuyq8bvcbV8gMiENiscquQ9WTfCSyeEdxsVaEB+tU7e9nFZC63BFnQ==",
        {"lean-qr/nano": "nano.mjs"},
        {},
    ),
}
MINIFIER: Final = Package(
    "0.28.2", "4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ==", {}, {}
)
"""esbuild's program for Linux on x86-64."""

_IMPORT: Final = re.compile(r"""(\bfrom\s*|\bimport\s*)(["'])([^"'./][^"']*)\2""")


def fetched(name: str, package: Package, folder: Path) -> Path:
    """The unpacked archive of a package, once its hash was checked."""
    target = folder / file_name(name)
    target.mkdir()
    packed = subprocess.run(
        ["npm", "pack", f"{name}@{package.version}", "--silent"],
        cwd=target, capture_output=True, text=True, check=True,
    )  # fmt: skip
    archive = target / packed.stdout.strip().splitlines()[-1]
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != package.sha512:
        sys.exit(f"{name}@{package.version}: the archive's hash is {found}, and the one that stands here is another")
    with tarfile.open(archive) as opened:
        opened.extractall(target, filter="data")
    return target / "package"


def file_name(name: str) -> str:
    """The name of a module's file: `@preact/signals-core` is `preact-signals-core`."""
    return name.lstrip("@").replace("/", "-")


def relative(text: str) -> str:
    """A module's text with relative imports in place of those by name."""
    return _IMPORT.sub(lambda found: f"{found[1]}{found[2]}./{file_name(found[3])}.js{found[2]}", text)


def minified(source: Path, esbuild: Path, names: list[str]) -> str:
    """A module with the files beside it in one, without what only people read; other packages stay imports."""
    outside = [f"--external:{name}" for name in names]
    command = [
        str(esbuild),
        str(source),
        "--bundle",
        "--minify",
        "--format=esm",
        "--target=es2022",
        "--legal-comments=none",
    ]
    done = subprocess.run([*command, *outside], capture_output=True, text=True, check=True)
    return str(done.stdout)


def main() -> None:
    """Write every file anew."""
    for old in FOLDER.glob("*"):
        old.unlink()
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = [module for package in PACKAGES.values() for module in package.modules]
    rows: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        esbuild = fetched("@esbuild/linux-x64", MINIFIER, folder) / "bin" / "esbuild"
        for name, package in PACKAGES.items():
            unpacked = fetched(name, package, folder)
            texts = {
                f"{file_name(module)}.js": relative(minified(unpacked / path, esbuild, names))
                for module, path in package.modules.items()
            }
            texts |= {f"{file_name(name)}.css": (unpacked / path).read_text() for name, path in package.styles.items()}
            licence = next(unpacked.glob("LICENSE*")).read_text(encoding="utf-8")
            (FOLDER / f"{file_name(name)}.LICENSE.txt").write_text(licence, encoding="utf-8")
            for file, text in texts.items():
                (FOLDER / file).write_text(text, encoding="utf-8")
                digest = hashlib.sha256(text.encode()).hexdigest()
                rows[file] = {"package": name, "version": package.version, "sha256": digest}
    (FOLDER / "vendor.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
