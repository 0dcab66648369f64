"""What reconciliation lends.

Taking in a tape; a tape's newest comparison, and its issues.
"""

from __future__ import annotations

from service.reconciliation.issue_store import issues_of
from service.reconciliation.store import StoredComparison, find_comparison, tapes
from service.reconciliation.tape_actions import TapeAbout, take_in_tape

get_tape = tapes.get

__all__ = ["StoredComparison", "TapeAbout", "find_comparison", "get_tape", "issues_of", "take_in_tape"]
