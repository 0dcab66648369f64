"""Seeded portfolios, 200 to 999,999 loans, clean or as messy as a manager's file, and the tapes of their trustees."""

from core.generate.deal import LOANS_MAX, LOANS_MIN, SEED_MAX, GeneratedDeal, GenerateError, generate
from core.generate.edits import Answer
from core.generate.faults import FAULTS
from core.generate.manners import MANNERS
from core.generate.sheets import MANAGERS_FILE, MESSY
from core.generate.tapes import EDITS_MAX, GeneratedTape, generate_tape

__all__ = [
    "EDITS_MAX",
    "FAULTS",
    "LOANS_MAX",
    "LOANS_MIN",
    "MANAGERS_FILE",
    "MANNERS",
    "MESSY",
    "SEED_MAX",
    "Answer",
    "GenerateError",
    "GeneratedDeal",
    "GeneratedTape",
    "generate",
    "generate_tape",
]
