"""Seeded deals for tests, demos and benchmarks.

In: a seed, a number of loans (200 to 999,999) and options. Out: a clean portfolio or a messy manager's workbook, with
trustees' tapes, monthly reports and the right answers. The same seed gives the same bytes. Start with `deal` (the
loans), `book` (the workbook), `tapes` and `reports`; `faults` and `edits` make the mess.
"""

from core.generate.deal import LOANS_MAX, LOANS_MIN, SEED_MAX, GeneratedDeal, GenerateError, generate
from core.generate.edits import ExpectedIssue
from core.generate.faults import FAULTS
from core.generate.months import MONTHS_MAX, generate_months
from core.generate.reports import REPORTS, GeneratedReport, generate_report
from core.generate.sheets import MANAGERS_FILE, MESSY
from core.generate.tapes import EDITS_MAX, GeneratedTape, generate_tape
from core.generate.trustees import TRUSTEE_TAPES

__all__ = [
    "EDITS_MAX",
    "FAULTS",
    "LOANS_MAX",
    "LOANS_MIN",
    "MANAGERS_FILE",
    "MESSY",
    "MONTHS_MAX",
    "REPORTS",
    "SEED_MAX",
    "TRUSTEE_TAPES",
    "ExpectedIssue",
    "GenerateError",
    "GeneratedDeal",
    "GeneratedReport",
    "GeneratedTape",
    "generate",
    "generate_months",
    "generate_report",
    "generate_tape",
]
