"""Loans under standard names: fields, header detection, mapping, ratings, the portfolio.

Loading any part of it hands the readers in to `Portfolio`, which they make.
"""

from core.portfolio.columns import portfolio_from_columns
from core.portfolio.mapping import portfolio_from_workbook
from core.portfolio.portfolio import Readers, hand_in

hand_in(Readers(portfolio_from_workbook, portfolio_from_columns))
