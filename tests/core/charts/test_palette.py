"""Colours that are apart on paper.

For most eyes, for those without red or green receptors, and from white.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.charts import palette

HOUSE = Path(__file__).parents[3] / "core" / "typeset" / "house.typ"

# Linear RGB as seen without M and without L cones (Machado, Oliveira, Fernandes 2009, severity 1.0).
EYES = {
    "all": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> NDArray[np.float64]:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIE L*a*b* of linear RGB, white as sRGB has it."""
    x, y, z = np.cbrt(np.clip(XYZ @ seen, 0, None) / (XYZ @ np.ones(3)))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def luminance(colour: str) -> float:
    return float(XYZ[1] @ linear(colour))


def test_statuses_are_apart_for_every_eye() -> None:
    for (item, first), (another, second) in combinations(palette.STATUS.items(), 2):
        for eye, seen in EYES.items():
            distance = np.linalg.norm(lab(seen @ linear(first)) - lab(seen @ linear(second)))
            assert distance > 15, f"{item} and {another}, {eye}: {distance:.1f}"


def test_what_is_read_stands_out_from_paper_and_ground() -> None:
    for colour in (palette.INK, palette.MUTED, palette.ACCENT, *palette.STATUS.values()):
        for ground in (palette.PAPER, palette.GROUND):
            contrast = (luminance(ground) + 0.05) / (luminance(colour) + 0.05)
            assert contrast >= 4.5, f"{colour} on {ground}"
    greys = [luminance(colour) for colour in (palette.ACCENT, palette.PALE, palette.BAND, palette.GROUND)]
    assert all(light > dark + 0.1 for dark, light in pairwise(greys)), "apart in grey"


def test_the_documents_have_the_same_colours() -> None:
    words = dict(re.findall(r'^#let ([\w-]+) = rgb\("(#\w+)"\)', HOUSE.read_text(encoding="utf-8"), re.MULTILINE))
    ours = {"ink": palette.INK, "muted": palette.MUTED, "rule-colour": palette.RULE, "accent": palette.ACCENT}
    ours |= {"good": palette.STATUS["pass"], "warning": palette.STATUS["warning"], "bad": palette.STATUS["fail"]}
    assert {name: words[name] for name in ours} == ours
