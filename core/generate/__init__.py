"""Seeded portfolios with their notes and accounts, 200 to 999,999 loans, clean or as messy as a manager's file."""

from core.generate.deal import LOANS_MAX, LOANS_MIN, SEED_MAX, GeneratedDeal, GenerateError, generate
from core.generate.faults import FAULTS
from core.generate.sheets import MANAGERS_FILE, MESSY

__all__ = [
    "FAULTS",
    "LOANS_MAX",
    "LOANS_MIN",
    "MANAGERS_FILE",
    "MESSY",
    "SEED_MAX",
    "GenerateError",
    "GeneratedDeal",
    "generate",
]
