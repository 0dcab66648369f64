"""Two portfolios of one deal, the trustee's and the manager's: which loans are the same, and where they differ.

The package itself can be called: `core.reconcile(tape, book)` is `core.reconcile.run.reconcile`.
"""

import sys
from types import ModuleType
from typing import Any

from core.reconcile.issues import Issue, Issues
from core.reconcile.rules import RULES, ReconcileError
from core.reconcile.run import Reconciliation, Summary, reconcile
from core.reconcile.side import LOANS_MAX

__all__ = ["LOANS_MAX", "RULES", "Issue", "Issues", "ReconcileError", "Reconciliation", "Summary", "reconcile"]


class _Callable(ModuleType):
    """A package that is also the function it is named after."""

    def __call__(self, *arguments: Any, **options: Any) -> Reconciliation:
        return reconcile(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
