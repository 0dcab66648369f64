"""The page of settings, from the service's own list."""

from __future__ import annotations

from docs.generated.markdown import code, page, plain, table
from service.platform.config import documentation

OPENING = """# Settings

Settings are read once, at the start, from the environment. A value that does not fit stops the start and says so. A
variable that begins with `CUSHION_` and is no setting gives a warning. Figures by tier are four numbers, for free,
standard, premium and enterprise; -1 is unlimited. [Running it](../operations/running.md) says how the service is run."""


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    rows = [(code(name), code(default) if default else "", plain(text)) for name, default, text in documentation()]
    return {"reference/settings.md": page(OPENING, table(("variable", "default", "what it is"), rows))}
