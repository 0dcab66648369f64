"""Where the compiled loops of formulas are kept."""

from __future__ import annotations

import structlog

from core.native import folder
from service.platform.config import Settings

log = structlog.get_logger()


def keep_compiled(settings: Settings) -> None:
    """Keep this process's compiled loops in the data folder.

    Without one they go into the user's cache.

    Where the folder cannot be trusted formulas run without, and the log says so.
    """
    if settings.data_dir is None:
        return
    folder.use(settings.data_dir / "native")
    try:
        with folder.opened(folder.place()):
            pass
    except OSError as error:
        log.warning("formulas.not_compiled", reason=str(error))
