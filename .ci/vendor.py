"""`python .ci/vendor.py`: the console's libraries out of npm, into service/console/vendor.

Each package stands here with its version and the hash of its archive; packages that are used together become one
minified file, which imports none by name. Licences stand beside them, and `vendor.json` has the versions and the
hashes of the files. Wants npm.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "service" / "console" / "vendor"


class Package(NamedTuple):
    """A package of npm with its archive's hash."""

    version: str
    sha512: str


PACKAGES: Final = {
    "preact": Package(
        "11.2.0", "/HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxMPZ7xBg=="
    ),
    "htm": Package("3.1.1", "983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ=="),
    "@preact/signals-core": Package(
        "1.14.5", "vcRv7Ityz5JVmeiVqIluLFzT/PDS/AlhHUpw3/aUWqcVUs6bDGIPXE/6RSC4evBNWYvnniozg5Syfj33al3gkg=="
    ),
    "@preact/signals": Package(
        "2.11.4", "Rb+5RPo9gWSaHtzJeauhHxiC8KP/IF2DEPkHPEOGOnuy2wnJzRqyeLRankUCYd6ADqtxS6GnWGv6Ie343d8aYw=="
    ),
    "uplot": Package(
        "1.6.32", "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
    ),
    "@tanstack/virtual-core": Package(  # later ones are larger: 5 kB gzip, then 10 kB for touch screens of one maker
        "3.10.8", "PBu00mtt95jbKFi6Llk9aik8bnR3tR/oQP1o3TSi+iG//+Q2RTIzCEgKkHG8BB86kxMNW6O8wku+Lmi+QFR6jA=="
    ),
    "lean-qr": Package(  # the picture of two-factor enrolment: 2.1 kB gzip; uqr has 4.5 kB, qrcode-generator 7.6 kB
        "2.7.4", "tlMPFfqhAAZN7+j/djRSvl/2+AYT2+7RRuyq8bvcbV8gMiENiscquQ9WTfCSyeEdxsVaEB+tU7e9nFZC63BFnQ=="
    ),
}
MODULES: Final = {
    "preact.js": """
        export {h, render} from "preact";
        export {useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
        export {signal, computed, effect} from "@preact/signals";
        export {default as htm} from "htm";
    """,
    "virtual-core.js": """
        export {elementScroll, observeElementOffset, observeElementRect, Virtualizer} from "@tanstack/virtual-core";
    """,
    "lean-qr.js": 'export * from "lean-qr/nano";',
}
"""What each file gives: esbuild joins the packages that it takes, and leaves out what nothing of it needs."""
RELEASED: Final = {"uplot.js": ("uplot/dist/uPlot.iife.min.js", "export{uPlot as default};\n")}
"""Files that a package has minified itself, 1 kB gzip smaller than esbuild does, and what makes each a module."""
ESBUILD: Final = Package(
    "0.28.2", "4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ=="
)
"""The minifier's program for Linux on x86-64."""

FLAGS: Final = [
    "--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none",
    "--drop:console", '--define:process.env.NODE_ENV="production"',
]  # fmt: skip


def fetch(name: str, package: Package, folder: Path) -> Path:
    """Unpack the archive of a package under node_modules, once its hash was checked."""
    packed = subprocess.run(
        ["npm", "pack", f"{name}@{package.version}", "--silent"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    archive = folder / packed.stdout.strip().splitlines()[-1]
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.sha512:
        sys.exit(f"{name}@{package.version}: the archive's hash is {digest}, and the one that stands here is another")
    target = folder / "node_modules" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "unpacked", filter="data")
    (folder / "unpacked" / "package").rename(target)
    return target


def write(file: str, text: str) -> str:
    """Write a file of the folder, and return its hash."""
    (FOLDER / file).write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def licence_name(name: str) -> str:
    """The name of a licence's file: of `@preact/signals` it is `preact-signals.LICENSE.txt`."""
    return f"{name.lstrip('@').replace('/', '-')}.LICENSE.txt"


def main() -> None:
    """Write every file anew."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*"):
        old.unlink()
    digests: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        esbuild = fetch("@esbuild/linux-x64", ESBUILD, folder) / "bin" / "esbuild"
        for name, package in PACKAGES.items():
            unpacked = fetch(name, package, folder)
            licence = next(unpacked.glob("LICENSE*")).read_text(encoding="utf-8")
            (FOLDER / licence_name(name)).write_text(licence, encoding="utf-8")
        for file, source in MODULES.items():
            command = [str(esbuild), *FLAGS]
            done = subprocess.run(command, cwd=folder, input=source, capture_output=True, text=True, check=True)
            digests[file] = write(file, done.stdout)
        for file, (path, end) in RELEASED.items():
            digests[file] = write(file, (folder / "node_modules" / path).read_text(encoding="utf-8") + end)
    versions = {name: package.version for name, package in PACKAGES.items()}
    record = {"packages": versions, "sha256": digests}
    (FOLDER / "vendor.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
