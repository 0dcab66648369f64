"""What reconciliation lends: a tape's newest comparison, and its issues."""

from __future__ import annotations

from service.reconciliation.issue_store import issues_of
from service.reconciliation.store import StoredComparison, get_tape, stored_comparison

__all__ = ["StoredComparison", "get_tape", "issues_of", "stored_comparison"]
