"""Cushion under a name of its own: what `core` offers.

    import cushion

    portfolio = cushion.Portfolio.from_workbook(cushion.read("holdings.xlsx"))
    for result in cushion.run_suite(portfolio, "enhanced"):
        print(result.test_name, result.current_value, result.threshold_value, result.status)

Our modules are called `core.formula`, `core.files` and so on. Where the `core` that Python finds is another's, ours
are put among the loaded modules under these names, and `core` stays the other's: our code imports parts, never `core`
itself. Only where the other one has a part of the same name, as one name cannot be two modules, is the import refused.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

_FOLDER = Path(__file__).resolve().parents[1] / "core"
_PARTS = {module.name for module in iter_modules([str(_FOLDER)])}


def _ours() -> ModuleType:
    """Return our `core`, even where another package has that name."""
    core_spec = getattr(sys.modules.get("core"), "__spec__", None) or find_spec("core")
    if core_spec is not None and core_spec.origin is not None and Path(core_spec.origin).resolve().parent == _FOLDER:
        ours = import_module("core")
        _refuse_doubles(path for path in ours.__path__ if Path(path).resolve() != _FOLDER)
        return ours
    _refuse_doubles((core_spec and core_spec.submodule_search_locations) or ())
    spec = PathFinder.find_spec("core", [str(_FOLDER.parent)])
    assert spec is not None
    assert spec.loader is not None
    ours, theirs = module_from_spec(spec), sys.modules.get("core")
    sys.modules["core"] = ours
    try:
        spec.loader.exec_module(ours)
        for part in _PARTS:
            import_module(f"core.{part}")
    finally:
        del sys.modules["core"]
        if theirs is not None:
            sys.modules["core"] = theirs
    return ours


def _refuse_doubles(folders: Iterable[str]) -> None:
    """Refuse another's module that is called like one of ours."""
    for path in (path for folder in folders for path in Path(folder).iterdir()):
        is_module = any(path.glob("*.py")) if path.is_dir() else path.suffix in (".py", ".so", ".pyd")
        if is_module and (name := path.name.partition(".")[0]) in _PARTS:
            raise ImportError(f"cushion has a module core.{name}, and so has this program ({path}): rename that one")


_core = _ours()
__all__ = list(_core.__all__)
__version__ = _core.__version__


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'cushion' has no attribute {name!r}")
    value = globals()[name] = getattr(_core, name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
