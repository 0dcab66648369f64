"""What deals lend: their tests through the months."""

from __future__ import annotations

from service.deals.store import history

__all__ = ["history"]
