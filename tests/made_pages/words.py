"""How trustees word what they print.

Six wordings of each thing or more, of reports of US and European deals.

In `words.json`: {c} is a class or several, {n} and {N} a count in digits and in words, {o} an ordinal, {A} an agency.
The reader's own words are no source of these.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

WORDS: Final[Any] = SimpleNamespace(**json.loads(Path(__file__).with_name("words.json").read_text("utf-8")))
