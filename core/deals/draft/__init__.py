"""A draft definition out of a file.

What it prints, what its figures tie by, and what an analyst must decide.
"""

from core.deals.draft.compose import draft
from core.deals.draft.record import Decision, DefinitionDraft, DraftError, DraftTies

__all__ = ["Decision", "DefinitionDraft", "DraftError", "DraftTies", "draft"]
