"""What the audit log lends: its entries, piece by piece."""

from __future__ import annotations

from service.audit.store import Extent, piece

__all__ = ["Extent", "piece"]
