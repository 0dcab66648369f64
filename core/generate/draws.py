"""Seeded draws: one stream of chance per question, quotas, and what a loan is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.generate.tables import BORROWERS, COUNTRIES, ENDINGS, NOUNS, OPENINGS

_OPENINGS, _ENDINGS, _NOUNS, _BORROWERS = (np.array(words.split()) for words in (OPENINGS, ENDINGS, NOUNS, BORROWERS))

COMPANIES_MAX: Final = len(_OPENINGS) * len(_ENDINGS) * len(_NOUNS) * len(_BORROWERS)
"""Different names that the word lists make: 1,048,576, more than the largest book has obligors."""

_DIGITS: Final = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)


@dataclass(frozen=True, slots=True)
class Chance:
    """The seed of a book.

    Each question has a stream of its own, so a new question moves no earlier answer.
    """

    seed: int
    loans: int

    def stream(self, question: str) -> np.random.Generator:
        """Return the generator that answers one question.

        The same for the same seed, size and question.
        """
        return np.random.default_rng([self.seed, self.loans, *question.encode()])

    def quota(self, question: str, count: int, weights: Sequence[float]) -> NDArray[np.int64]:
        """`count` positions in `weights`, shuffled, whose shares track the weights.

        Stratified: draw i falls into the i-th of `count` equal slices of the cumulated weights. Plain draws put 17 %
        into an industry of 12 % often enough on a small book to breach its limit.
        """
        stream = self.stream(question)
        edges = np.cumsum(np.asarray(weights, np.float64))
        points = (np.arange(count) + stream.random(count)) * (edges[-1] / count)
        return stream.permutation(np.minimum(np.searchsorted(edges, points, side="right"), len(edges) - 1))

    def share(self, question: str, count: int, percent: float) -> NDArray[np.bool_]:
        """`count` answers, each true with a probability of `percent`."""
        return self.stream(question).random(count) * 100.0 < percent

    def distinct(self, question: str, count: int, limit: int) -> NDArray[np.int64]:
        """`count` different numbers below `limit`, rising.

        One from each of `count` equal slices.
        """
        assert count <= limit
        width = limit // count
        return np.arange(count) * width + self.stream(question).integers(width, size=count)


def company_names(chance: Chance, country: NDArray[np.int64]) -> list[str]:
    """Return a different invented company for each obligor, in alphabetical order.

    The legal form fits the country.
    """
    count = len(country)
    number = chance.distinct("company", count, COMPANIES_MAX)
    number, borrower = np.divmod(number, len(_BORROWERS))
    number, noun = np.divmod(number, len(_NOUNS))
    opening, ending = np.divmod(number, len(_ENDINGS))
    forms = np.array([forms for _, _, forms in COUNTRIES])
    form = forms[country, chance.stream("legal form").integers(forms.shape[1], size=count)]
    names = np.strings.add(_OPENINGS[opening], _ENDINGS[ending])
    for words in (_NOUNS[noun], _BORROWERS[borrower], form):
        names = np.strings.add(np.strings.add(names, " "), words)
    companies: list[str] = names.tolist()
    return companies


def security_numbers(
    chance: Chance, obligor: NDArray[np.int64], lot: NDArray[np.int64]
) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return a CUSIP and the US ISIN around it for each loan, with their check digits.

    Six characters name the issuer (three of them digits, as in real ones), two letters its `lot`-th issue.
    """
    issuers = chance.stream("issuer order").permutation(chance.distinct("issuer", int(obligor.max()) + 1, 1000 * 36**3))
    number = issuers[obligor]
    cusip = np.empty((len(obligor), 9), np.uint8)
    for place in (5, 4, 3):
        number, cusip[:, place] = np.divmod(number, 36)
    for place in (2, 1, 0):
        number, cusip[:, place] = np.divmod(number, 10)
    cusip[:, 6], cusip[:, 7] = 10 + lot // 26, 10 + lot % 26
    cusip[:, 8] = _cusip_check_digit(cusip[:, :8])
    isin = np.empty((len(obligor), 12), np.uint8)
    isin[:, :2] = 30, 28  # U, S
    isin[:, 2:11] = cusip
    isin[:, 11] = _luhn_digit(isin[:, :11])
    return _text(_DIGITS[cusip]), _text(_DIGITS[isin])


def loanx_numbers(chance: Chance, count: int) -> NDArray[np.str_]:
    """Return a different LoanX number for each loan.

    LX, five digits, T, and a digit that is free.

    Were the last one a check digit, there would be 100,000 of them only.
    """
    number = chance.stream("loanx order").permutation(chance.distinct("loanx", count, 1_000_000))
    characters = np.empty((count, 9), np.uint8)
    characters[:, (0, 1, 7)] = np.frombuffer(b"LXT", np.uint8)
    for place in (8, 6, 5, 4, 3, 2):
        number, digit = np.divmod(number, 10)
        characters[:, place] = _DIGITS[digit]
    return _text(characters)


def _cusip_check_digit(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Modulus 10, double add double, over character values 0 to 35.

    The digit sums, every second value doubled.
    """
    doubled = values.astype(np.int64)
    doubled[:, 1::2] *= 2
    total: NDArray[np.int64] = (doubled // 10 + doubled % 10).sum(axis=1)
    return ((10 - total % 10) % 10).astype(np.uint8)


def _luhn_digit(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """ISO 6166: letters become two digits, then Luhn from the right, where the rightmost digit is doubled."""
    total = np.zeros(len(values), np.int64)
    doubles = np.ones(len(values), np.bool_)
    for place in range(values.shape[1] - 1, -1, -1):
        value = values[:, place].astype(np.int64)
        letter = value >= 10
        ones = value % 10
        total += np.where(doubles, ones * 2 // 10 + ones * 2 % 10, ones)
        # The tens of a letter (1 to 3) stand beside its ones, so just one of the two is doubled.
        tens = value // 10
        total += np.where(doubles, tens, tens * 2)
        doubles ^= ~letter
    return ((10 - total % 10) % 10).astype(np.uint8)


def _text(characters: NDArray[np.uint8]) -> NDArray[np.str_]:
    """Rows of ASCII codes as fixed-width strings."""
    width = characters.shape[1]
    return np.ascontiguousarray(characters).view(f"S{width}").ravel().astype(f"U{width}")
