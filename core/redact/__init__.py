"""Personal data found and hidden: in a text, and in all of a workbook."""

from core.redact.book import Redacted, redact, redact_text
from core.redact.find import Span, find
from core.redact.kinds import KINDS, LEVELS, STRATEGIES
from core.redact.replace import Policy

__all__ = ["KINDS", "LEVELS", "STRATEGIES", "Policy", "Redacted", "Span", "find", "redact", "redact_text"]
