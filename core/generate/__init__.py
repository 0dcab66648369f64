"""Seeded portfolios, 200 to 999,999 loans, clean or messy as a manager's file.

Trustees' tapes and reports of them.
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
