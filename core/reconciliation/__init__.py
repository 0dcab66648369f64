"""The trustee's portfolio and the manager's: which loans match, and what differs.

In: two portfolios and tolerances. Out: matched loans and issues with a severity. Start with `run`, then `match`
(which loans are the same) and `rules` (when a difference is an issue). `core.reconcile(tape, book)` is `reconcile` of
here. A comparison of a million loans runs in a child, and writes its issues as a file for COPY (`written`).
"""

from core.reconciliation.issues import Issue, Issues
from core.reconciliation.rules import RULES, ReconcileError
from core.reconciliation.run import IssueCounts, Reconciliation, reconcile
from core.reconciliation.side import LOANS_MAX

__all__ = ["LOANS_MAX", "RULES", "Issue", "IssueCounts", "Issues", "ReconcileError", "Reconciliation", "reconcile"]
