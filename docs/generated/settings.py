"""The page of settings, from the service's own list."""

from __future__ import annotations

from docs.generated.markdown import code, page, plain, table
from service.platform.config import documentation

OPENING = """# Settings

Read once, at the start, from the environment; a value that does not fit stops the start and says so, and a variable
that begins with `CUSHION_` and is no setting is warned of. Figures by tier are four numbers, for free, standard, premium
and enterprise; -1 is unlimited. How the service is run with them is told in [running it](../operations/running.md)."""


def pages() -> dict[str, str]:
    """The page by its path."""
    rows = [(code(name), code(default) if default else "", plain(text)) for name, default, text in documentation()]
    return {"reference/settings.md": page(OPENING, table(("variable", "default", "what it is"), rows))}
