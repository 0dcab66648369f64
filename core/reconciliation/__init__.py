"""Two portfolios of one deal, the trustee's and the manager's: which loans are the same, and where they differ.

`core.reconcile(tape, book)` is `reconcile` of here.
"""

from core.reconciliation.issues import Issue, Issues
from core.reconciliation.rules import RULES, ReconcileError
from core.reconciliation.run import IssueCounts, Reconciliation, reconcile
from core.reconciliation.side import LOANS_MAX

__all__ = ["LOANS_MAX", "RULES", "Issue", "IssueCounts", "Issues", "ReconcileError", "Reconciliation", "reconcile"]
