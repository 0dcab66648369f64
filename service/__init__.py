"""The service: an HTTP API, its workers and the `cushion` command over the calculation core."""

import sys
from importlib.util import find_spec
from pathlib import Path

_HOME = Path(__file__).parents[1]
_core = None if "core" in sys.modules else find_spec("core")
if _core is not None and _core.origin != str(_HOME / "core" / "__init__.py"):
    sys.path.insert(0, str(_HOME))  # these processes are ours alone: another's `core` on PYTHONPATH is not for them
