"""What the machine of a run is.

Its parts, the versions on it, and two measures of its speed.
"""

from __future__ import annotations

import os
import platform
import re
import time
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
COPIED_BYTES = 256 << 20
"""Far more than any cache holds."""


def yardstick_seconds() -> float:
    """Seconds of a fixed piece of interpreter work.

    A time alone says as much of the machine as of what it timed.

    The least of many, since noise only adds: the median of a tenth of a second moved by a factor of two.
    """
    return min(seconds_of(lambda: [f"{number:.2f}" for number in range(20_000)]) for _ in range(60))


@cache
def copy_bytes_per_second() -> float:
    """Bytes that one thread reads and writes in a second when it copies memory.

    The best of several.
    """
    source = np.ones(COPIED_BYTES, np.uint8)
    target = np.zeros_like(source)
    return 2 * COPIED_BYTES / min(seconds_of(lambda: np.copyto(target, source)) for _ in range(7))


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def described() -> dict[str, Any]:
    """The machine: processor, cores, memory, bandwidth, Python, and the versions of ours and of the peers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    peers = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in project["optional-dependencies"]["bench"]]
    names = sorted({"numpy", "python-calamine", "openpyxl", "xlsxwriter", *peers})
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "copy_bytes_per_second": copy_bytes_per_second(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {"cushion": project["version"]} | {name: _version(name) for name in names},
    }


def cpu() -> str:
    """Return the processor's name."""
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1].strip() if match else platform.processor()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
