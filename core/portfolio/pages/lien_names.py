"""Tell liens by the names of facilities where no column says them: "Second Lien Term Loan" of type "Term Loan"."""

from __future__ import annotations

from typing import Final

import numpy as np

from core.portfolio.cells import parsing
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.parsing import spread_out
from core.portfolio.model.fields import Lien
from core.portfolio.model.notes import DataWarning
from core.portfolio.sheets.columns.vocabulary import heading
from core.words import counted

TOLD_BY_NAMES: Final = (Lien.SECOND_LIEN, Lien.UNSECURED)
"""Liens that the words of a facility tell; "loan" and "note" say nothing of a lien."""


def is_asset_type(header: str) -> bool:
    """Whether a heading names what kind of asset each is, and no lien: "Asset Type", "Instrument Typ"."""
    return heading(header).best()[0] == "asset_type"


def add_liens_of_names(loans: Loans) -> None:
    """Give loans the lien that their facility's name says, where only the kind of asset or nothing says one.

    A column of liens is never overruled. What names gave is counted in a warning.
    """
    column, header = loans.texts.get("facility_name"), loans.notes.matched_columns.get("lien_type", "")
    if column is None or (loans.lien is not None and not is_asset_type(header)):
        return
    said = [parsing.lien(text) for text in column.text.strings()]
    liens = np.array([one if one in TOLD_BY_NAMES else Lien.BLANK for one in said], np.uint8)
    if not liens.any():
        return
    by_name = spread_out(liens, Lien.BLANK, column.codes)
    own = np.full(loans.row_count, Lien.BLANK, np.uint8) if loans.lien is None else loans.lien
    gained = (by_name != Lien.BLANK) & ((own == Lien.BLANK) | (own == Lien.FIRST_LIEN) | (own == Lien.OTHER))
    count = int(np.count_nonzero(gained))
    if not count:
        return
    loans.lien = np.where(gained, by_name, own)
    loans.notes.lien_blank_rows = int(np.count_nonzero(loans.lien == Lien.BLANK))
    message = f"The lien of {counted(count, 'loan')} is what the facility's name says: no column says it."
    loans.notes.warnings.append(DataWarning("lien_by_name", message, count))
