"""The recipe's tables.

Ratings, spreads, prices, industries, countries, notes, words for names.
"""

from __future__ import annotations

from typing import Final

RATINGS: Final = (
    # rank, share of obligors %, mean spread bps, mean price %, its deviation
    (10, 1.0, 190.0, 99.9, 0.3),
    (11, 2.5, 210.0, 99.8, 0.4),
    (12, 5.0, 230.0, 99.7, 0.5),
    (13, 10.0, 265.0, 99.5, 0.7),
    (14, 17.0, 310.0, 99.1, 1.0),
    (15, 34.0, 360.0, 98.4, 1.6),
    (16, 24.5, 430.0, 95.6, 4.0),
    (17, 3.6, 525.0, 84.0, 8.0),
    (18, 1.3, 600.0, 72.0, 11.0),
    (19, 0.5, 650.0, 58.0, 13.0),
    (20, 0.6, 700.0, 42.0, 15.0),
)
"""By rank on the 22-rank scale (1 is Aaa): the mix of the book and what such a loan pays and trades at."""

FIRST_RANK: Final = RATINGS[0][0]
RANK_B1, RANK_B3, RANK_CAA1, RANK_CAA2, RANK_CAA3, RANK_CA = 14, 16, 17, 18, 19, 20

INDUSTRIES: Final = (
    ("Aerospace & Defense", 2.8),
    ("Automotive", 2.6),
    ("Banking, Finance, Insurance & Real Estate", 8.5),
    ("Beverage, Food & Tobacco", 3.4),
    ("Capital Equipment", 3.6),
    ("Chemicals, Plastics & Rubber", 4.0),
    ("Construction & Building", 4.6),
    ("Consumer goods: Durable", 1.5),
    ("Consumer goods: Non-durable", 1.5),
    ("Containers, Packaging & Glass", 2.2),
    ("Energy: Electricity", 0.5),
    ("Energy: Oil & Gas", 1.4),
    ("Environmental Industries", 0.9),
    ("Forest Products & Paper", 0.5),
    ("Healthcare & Pharmaceuticals", 9.5),
    ("High Tech Industries", 12.0),
    ("Hotel, Gaming & Leisure", 5.5),
    ("Media: Advertising, Printing & Publishing", 1.1),
    ("Media: Broadcasting & Subscription", 3.6),
    ("Media: Diversified & Production", 1.0),
    ("Metals & Mining", 0.8),
    ("Retail", 3.2),
    ("Services: Business", 9.5),
    ("Services: Consumer", 3.2),
    ("Sovereign & Public Finance", 0.2),
    ("Telecommunications", 4.0),
    ("Transportation: Cargo", 1.9),
    ("Transportation: Consumer", 1.5),
    ("Utilities: Electric", 1.2),
    ("Utilities: Oil & Gas", 0.2),
    ("Utilities: Water", 0.1),
    ("Wholesale", 0.9),
)
"""The industries of `core.portfolio.model.fields`, with their weight among obligors."""

COUNTRIES: Final = (
    # name, share of obligors %, legal forms of its companies
    ("United States", 88.5, ("Inc.", "LLC", "Corp.", "L.P.")),
    ("Canada", 3.0, ("Inc.", "Ltd.", "Corp.", "L.P.")),
    ("Luxembourg", 2.5, ("S.à r.l.", "S.A.", "S.à r.l.", "S.à r.l.")),
    ("United Kingdom", 2.0, ("Limited", "PLC", "Ltd.", "LLP")),
    ("Netherlands", 1.5, ("B.V.", "B.V.", "N.V.", "B.V.")),
    ("Cayman Islands", 0.8, ("Ltd.", "L.P.", "Ltd.", "Limited")),
    ("France", 0.425, ("SAS", "SA", "SAS", "SAS")),
    ("Germany", 0.425, ("GmbH", "AG", "GmbH", "GmbH")),
    ("Ireland", 0.425, ("DAC", "Limited", "PLC", "DAC")),
    ("Australia", 0.425, ("Limited", "Ltd.", "Limited", "Ltd.")),
)
HOME: Final = 0
"""The position of the United States in COUNTRIES."""

FLOORS: Final = ((0.0, 45.0), (0.5, 35.0), (0.75, 15.0), (1.0, 5.0))
"""Index floor in percent, share of loans in percent."""

TRANCHES: Final = (
    # class, percent of target par, spread bps, OC trigger %, IC trigger %, rating of agency A
    ("A", 64.0, 130.0, None, None, "Aaa"),
    ("B", 12.0, 175.0, 121.60, 120.0, "Aa2"),
    ("C", 6.0, 220.0, 114.00, 115.0, "A2"),
    ("D", 7.0, 330.0, 106.40, 110.0, "Baa3"),
    ("E", 3.25, 620.0, 104.20, 105.0, "Ba3"),
    ("Subordinated Notes", 7.75, None, None, None, None),
)

BASE_RATE_PERCENT: Final = 4.30
INDEX_NAME: Final = "3M SOFR"
AS_OF: Final = "2026-03-31"
CURRENCY: Final = "USD"
LIENS: Final = ("First Lien", "Second Lien")
COUPON_TYPES: Final = ("Floating", "Fixed")

# Three positions make a company: opening and ending one invented word, then a noun, then what a borrower is called.
# Each is in alphabetical order, so the number of a name sorts as the name does.
OPENINGS: Final = "Ald Bram Cald Dorv Eskw Farn Gelt Hesk Jarv Kest Lorn Mard Orv Pell Quor Tarn"
ENDINGS: Final = "abel acre adine aven ebrook edge ellin erley esby iden inge ivar omere onby orin ovale"
NOUNS: Final = (
    "Abbey Acorn Anchor Anvil Arbor Arch Aspen Aster Atlas Aurora Badge Banner Basin Bay Beacon Birch "
    "Bluff Bridge Brook Cairn Canyon Cape Castle Cedar Channel Chapel Cliff Clover Coast Compass Copper Coral "
    "Cove Crane Crescent Crest Crown Dale Delta Dune Eagle Echo Elm Ember Falcon Fern Field Fjord "
    "Forge Fountain Fox Garnet Gate Glacier Glen Granite Grove Gulf Harbor Haven Hawk Hazel Heath Heron "
    "Hill Horizon Island Ivory Jade Juniper Keel Key Kiln Knoll Lake Lantern Larch Laurel Ledge Linden "
    "Lotus Maple Marble Meadow Mesa Mill Moor Moss Oak Ocean Onyx Orchard Osprey Otter Palm Peak "
    "Pearl Pier Pine Plaza Pond Prairie Quarry Quartz Quay Raven Reef Ridge River Rock Sable Sage "
    "Shore Silver Sky Slate Spring Spruce Stone Summit Terrace Timber Tower Trail Valley Vine Willow Wren"
)
BORROWERS: Final = (
    "Acquisition Alliance Associates Bidco Borrower Brands Buyer Collective Development Enterprises Finance Global "
    "Group Holdings Industries Intermediate International Investments Issuer Management Merger Midco Network "
    "Operations Parent Partners Products Resources Services Solutions Systems Topco"
)
