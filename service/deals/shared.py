"""What deals lend: their tests through the months, and the work of children on them."""

from __future__ import annotations

from service.deals.child import TooMany, move, tie
from service.deals.store import history

__all__ = ["TooMany", "history", "move", "tie"]
