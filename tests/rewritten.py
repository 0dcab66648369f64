"""Writes what pytest makes of the test files, each once: else each of its processes does so for all of them.

It changes nothing that a test sees. pytest has no public way to it; where its own has gone, nothing is written.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from _pytest.assertion import rewrite

FOLDER = Path(__file__).parent


def write(path: Path) -> None:
    """Write the rewritten code of a file, unless it is there."""
    pytest: Any = rewrite
    folder = pytest.get_cache_dir(path)
    cached = folder / (path.stem + pytest.PYC_TAIL)
    if pytest._read_pyc(path, cached) is None:
        folder.mkdir(exist_ok=True)
        stamp, code = pytest._rewrite_test(path, None)
        pytest._write_pyc(SimpleNamespace(trace=print), code, stamp, cached)


def main() -> None:
    """Write all of them."""
    paths = [path for name in ("test_*.py", "conftest.py") for path in FOLDER.rglob(name)]
    with ProcessPoolExecutor(os.cpu_count()) as together:
        list(together.map(write, paths, chunksize=8))


if __name__ == "__main__":
    try:
        main()
    except AttributeError as error:
        print(f"pytest has changed: {error}")
