"""One JSON document on stdout, in place of the tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from service.commands.refusal import escaped

if TYPE_CHECKING:
    from core.compliance.result import Results


def print_json(document: dict[str, Any], results: Results | None = None) -> None:
    """Print a document, with what a compliance run came to at its end."""
    if results is not None:
        document = document | {
            "as_of": results.as_of,
            "as_of_source": results.as_of_source,
            "warnings": results.warnings,
            "summary": results.summary,
            "results": list(results),
            "skipped": results.skipped,
        }
    print(escaped(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()))
