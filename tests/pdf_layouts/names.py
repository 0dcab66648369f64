"""Invented names of companies, industries, trustees and deals."""

from __future__ import annotations

from random import Random
from typing import Final

_FIRST: Final = (
    "Alder", "Bramble", "Cinder", "Dunmore", "Elmstead", "Fairlock", "Garnet", "Hollow", "Inverness", "Juniper",
    "Kestrel", "Larkfield", "Marlow", "Northgate", "Oakhurst", "Pinecrest", "Quillon", "Redfern", "Saltmarsh",
    "Thornbury", "Umber", "Valewood", "Westbrook", "Yarrow", "Zephyrine", "Coppice", "Fennimore", "Affinex", "Offley",
)  # fmt: skip
_SECOND: Final = (
    "Dental Partners", "Software", "Flow Controls", "Logistics", "Office Products", "Packaging", "Fitness", "Foods",
    "Insurance Services", "Clinical Research", "Water Technologies", "Financial Data", "Staffing", "Aerostructures",
    "Specialty Chemicals", "Broadcasting", "Pet Supplies", "Waste Services", "Roofing", "Affiliates",
)  # fmt: skip
_HOLDING: Final = ("", "", "Holdings", "Intermediate Holdings", "Parent", "Buyer", "Midco", "Topco", "Acquisition")
_FORM: Final = ("Inc.", "LLC", "L.P.", "Corp.", "Ltd.", "S.à r.l.", "Inc.", "LLC", "B.V.")

INDUSTRIES: Final = (
    "Aerospace & Defense", "Air Freight & Logistics", "Automobile Components",
    "Banking, Finance, Insurance & Real Estate",
    "Beverage, Food & Tobacco", "Building Products", "Capital Equipment", "Chemicals, Plastics & Rubber",
    "Commercial Services & Supplies", "Construction & Engineering", "Containers & Packaging", "Distributors",
    "Diversified Consumer Services", "Electronic Equipment, Instruments & Components", "Energy: Oil & Gas",
    "Health Care Equipment & Supplies", "Health Care Providers & Services", "High Tech Industries",
    "Hotels, Gaming & Leisure", "Insurance", "IT Services", "Media: Diversified & Production",
    "Professional Services", "Software",
)  # fmt: skip


def company(random: Random) -> str:
    """Return the name of a company, with a former name now and then."""
    words = [random.choice(_FIRST), random.choice(_SECOND), random.choice(_HOLDING)]
    if words[2] and random.random() < 0.25:
        words.append(random.choice(("I", "II", "III", "IV")))
    name = f"{' '.join(filter(None, words))}, {random.choice(_FORM)}"
    chance = random.random()
    if chance < 0.06:
        return f"{name} (fka {random.choice(_FIRST)} {random.choice(_SECOND)} Parent, Inc.)"
    if chance < 0.1:
        return f"{name} (dba {random.choice(_FIRST)} & Sons)"
    return name


def companies(random: Random, count: int) -> list[str]:
    """Return names that differ from one another."""
    names: dict[str, None] = {}
    while len(names) < count:
        name = company(random)
        names[name if name not in names else f"{random.choice(_FIRST)}-{name}"] = None
    return list(names)[:count]
