"""The service: an HTTP API, its workers and the `cushion` command over the core.

An area is a folder with fixed file names, so an endpoint's parts are found by name:

- `routes`: one row and one call for each endpoint.
- `schema`: the area's types and refusals.
- `actions`: its decisions.
- `store`: its SQL, one function a statement.
- `jobs`: what outlives a request.
- `shared`: what it lends to areas above it.
- `child`: what runs in a confined process.

A long one is split by a first word: `issue_store`, `upload_actions`. An area uses another's `schema` and `shared`
alone, and only those of areas below it (`AREA_ORDER` in the wall test). `platform` carries all areas and knows none.
`app` joins every area's routes, `worker` their jobs, `host` runs both as programs, and `commands` is the command
line.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

_HOME = Path(__file__).parents[1]
_core = None if "core" in sys.modules else find_spec("core")
if _core is not None and _core.origin != str(_HOME / "core" / "__init__.py"):
    sys.path.insert(0, str(_HOME))  # these processes are ours alone: another's `core` on PYTHONPATH is not for them
