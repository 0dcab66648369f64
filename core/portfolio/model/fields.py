"""The standard fields of loan, note and deal, with the market's headers."""

from __future__ import annotations

from collections.abc import Mapping as Dict
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import IntEnum
from typing import Any, Final, Literal

from core.words import suggestion

SourceType = Literal["clo_holdings", "servicer_snapshot", "custom"]
FieldType = Literal["string", "number", "date", "boolean"]


class Lien(IntEnum):
    """The place of a loan in its borrower's capital structure."""

    BLANK = 0
    """A blank cell: counted as a first lien."""
    FIRST_LIEN = 1
    """First lien, senior secured."""
    SECOND_LIEN = 2
    UNSECURED = 3
    """Unsecured, mezzanine and subordinated loans."""
    BOND = 4
    """Bonds and notes, secured or not."""
    OTHER = 5
    """A word that says none of these: counted as not first lien, with the recovery of "other loan"."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a mapping and the headers that may feed it."""

    target: str
    type: FieldType
    required: bool = False
    aliases: tuple[str, ...] = ()
    """Headers in order of preference, compared by `cells.string_pool.key`; the target's own name is the last."""
    default: str | float | bool | None = None
    """What stands in for a blank cell, in the field's type (a date as ISO text); None leaves it blank."""
    own: int = 0
    """Of the aliases the first so many are columns that a mapping names itself: its transforms act on these alone. 0
    where it names none, and means whatever feeds the field."""


@dataclass(frozen=True, slots=True)
class Transform:
    """A change of one field's values, made before they are checked."""

    field: str
    operation: str
    """One of `core.portfolio.mapping.profiles.transforms.OPERATIONS`."""
    parameters: Dict[str, Any] = attribute(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class FieldRule:
    """What one field's values must be."""

    field: str
    rule: str
    """One of `core.portfolio.mapping.profiles.rules.RULES`."""
    parameters: Dict[str, Any] = attribute(default_factory=dict, hash=False)
    message: str | None = None
    """In place of the rule's own."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which columns feed which fields, how values change, what they must be."""

    id: str
    name: str
    source_type: SourceType
    fields: tuple[Field, ...]
    auxiliary: tuple[Field, ...] = ()
    """Fields that the loader takes along when their header is there; they do not count as fields of the mapping."""
    anchors: tuple[str, ...] = ("par_value", "cusip", "loanx_id", "isin")
    """A header row must name one of these targets."""
    transforms: tuple[Transform, ...] = ()
    """In the order in which they are applied."""
    rules: tuple[FieldRule, ...] = ()


IDENTIFIERS: Final = ("cusip", "loanx_id", "isin")
"""Identifier targets, in the order in which they name a position."""

KEYS: Final = (*IDENTIFIERS, "asset_id")
"""Targets that tell which loan a row is about: identifiers, and the id that the file's own author gives to an asset."""

# Headers with underscores stand in the flat files that trustees deliver to managers (a file of collateral with
# Native_ columns in the loan's own currency, one of assets with each agency's ratings and watches) and in the exports
# of positions of deal libraries (moody_derived_warf_rating); the others in reports and in managers' workbooks.
STANDARD_CLO_FIELDS: Final = (
    Field(
        "cusip", "string",
        aliases=(
            "CUSIP", "CUSIP Number", "CUSIP ID", "Security ID", "Facility CUSIP", "CUSIP No", "Loan CUSIP",
            "Primary Security ID", "Security Identifier", "Asset CUSIP", "Issue CUSIP", "Investment Code",
        ),
    ),
    Field(
        "loanx_id", "string",
        aliases=(
            "LoanX ID", "LXID", "LX ID", "LX #", "LoanX", "Loan X ID", "Markit ID", "LoanX ID / CUSIP",
            "Security_Facility_Code", "Markit LoanX ID", "LoanX Identifier", "LIN", "LIN/ISIN", "LoanX / ISIN",
            "LX Number",
            "LXID / CUSIP", "LoanX ID / ISIN", "LoanX Code", "Markit LXID", "Facility LXID",
        ),
    ),
    Field(
        "isin", "string",
        aliases=(
            "ISIN", "ISIN Code", "LXID / ISIN", "Issue/Facility Identifier", "Issuer/Facility Identifier",
            "Asset Identifier", "Identifier", "ISIN / LoanX", "ISIN / LXID", "ISIN / LoanX ID", "ISIN Number",
            "Facility Identifier",
        ),
    ),
    Field(
        "borrower_name", "string", required=True,
        aliases=(
            "Issuer Name", "Issuer/Borrower Name", "Issuer", "Borrower", "Borrower Name", "Obligor", "Obligor Name",
            "Company", "Parent Company", "Portfolio Company", "Company Name", "Issuer/Obligor", "Obligor/Issuer",
            "Borrower/Issuer", "Issuer/Borrower", "Legal Borrower", "Issuer Legal Name", "Name of Obligor",
        ),
    ),
    Field("issuer_id", "string", aliases=("Issuer ID", "Obligor ID", "AffiliateID", "Ultimate Parent ID")),
    Field(
        "facility_name", "string",
        aliases=(
            "Issue Name", "Security Name", "Security/Facility Name", "Security", "Facility", "Asset", "Tranche",
            "Loan Description", "Asset Name", "Issue/Facility Name", "Facility Name", "Name", "Facility Description",
            "Security Description", "Loan Name", "Instrument Name", "Issue", "Issue Description", "Asset Description",
            "Investment Description", "Security/Facility", "Loan Facility", "Facility/Security", "Instrument",
        ),
    ),
    Field(
        "par_value", "number", required=True,
        aliases=(
            "Par Amount", "ParAmount", "Par", "Par Value", "Principal Balance", "Current Balance",
            "Outstanding Principal Balance", "Par Amount (Deal Currency)",
            "Current Par Amount (Issue Currency) - Settled", "Principal_Funded_Balance", "Outstanding",
            "Outstanding Amount", "Outstanding Principal", "Outstanding_Funded_Balance", "Quantity",
            "Notional", "Face", "Current Face", "Par Amt", "Principal Amount", "Principal", "Face Amount",
            "Native_Principal_Funded_Balance", "Native_Principal_Balance", "Funded Par", "Funded Balance",
            "Funded Amount", "Current Par", "Par Outstanding", "Outstanding Par", "Traded Par", "Par (Traded)",
            "Trade Date Par", "Settled Par", "Par Balance",
            "Current Principal Balance", "Outstanding Balance", "Par Held", "Position", "Current Par Balance",
            "Current Par Amount", "Cur Bal", "Funded Par Amount",
            "Aggregate Principal Balance", "Lot Par", "Balance", "Commitment", "Commitment Amount",
        ),
    ),
    Field(
        "price", "number",
        aliases=(
            "Market Value", "Mkt Price", "Market Price", "MarkPrice", "Mark_Price", "Price", "Last Price", "Bid",
            "Bid Price", "Mid", "Px", "Px Last", "Current Price", "Mid Price", "Evaluated Price",
            "Mark to Market Price", "Mark", "MTM Price", "Market Bid", "Current Market Price", "Loan Price",
            "Market Value Price", "MV Price", "Close Price", "Closing Price",
        ),
    ),
    Field(
        "purchase_price", "number",
        aliases=(
            "Purchase Price", "Gross_Purchase_Price", "Original Purchase Price", "Cost Price", "Cost",
            "Acquisition Price", "Average Cost", "Purchase Px", "Unit Cost", "Average Price", "Weighted Average Cost",
        ),
    ),
    Field(
        "spread", "number",
        aliases=(
            "Coupon Spread", "Spread", "Current_Spread", "Margin", "SpreadLibor", "Cash Spread to LIBOR",
            "Credit Spread", "Contractual Spread", "Spread (bps)", "Contract Spread", "Current Margin",
            "Interest Spread", "Spread over Index", "Floater Spread", "Spread / Margin", "Cash Spread", "Margin (bps)",
            "Spread to Index", "Contract Margin", "DM",
        ),
    ),
    Field(
        "base_rate", "string",
        aliases=(
            "Index", "Index_Type", "Reference Rate", "Base Rate", "Rate Index", "Benchmark", "Rate Option",
            "Index Name", "Reference Index", "Base Index",
        ),
    ),
    Field(
        "floor", "number",
        aliases=(
            "Libor Floor", "Floor", "Index Floor Rate", "SOFR Floor", "LiborBaseRateFloor", "Base Rate Floor",
            "Rate Floor", "EURIBOR Floor", "Interest Rate Floor", "Index Floor", "Floor Rate",
        ),
    ),
    Field(
        "all_in_rate", "number",
        aliases=(
            "All_In_Rate", "All-In-Rate (w/Floor)", "Coupon", "Current Coupon", "Interest Rate", "WeightedAvgAllInRate",
            "All In Coupon", "Gross Coupon", "Current Interest Rate", "Current All In Rate", "Coupon Rate", "Cpn",
            "All In", "All In Interest Rate", "Gross Rate",
            "Current Rate", "Rate",
        ),
    ),
    Field(
        "coupon_type", "string",
        aliases=(
            "Coupon Type", "CouponType", "Fixed/Floating", "Rate Type", "Type of Rate", "Interest Type",
            "Interest Rate Type", "Fixed or Floating",
        ),
    ),
    Field("rating", "string", aliases=("Rating", "Credit Rating", "Current Rating", "Deal Rating")),
    # A rating made for the WARF test first, then default probability, then issuer, then facility.
    Field(
        "rating_agency_a", "string",
        aliases=(
            "Moodys_Adj_DP_Rating_for_WARF", "Moody's DP Rating - WARF", "Moody's Rating WARF",
            "Moody's Default Probability Rating-18", "Moodys_DP_Rating_Final", "Moody's DPR",
            "Moody's Default Probability Rating", "Moodys_DP_Rating", "Moody_Derived_WARF_Rating",
            "Moody_Derived_Default_Prob_Rating", "Moody's Derived Rating", "Moody's Rating-21",
            "Moodys_Rating_Final", "Deal Issue (Derived) Rating - Moody's", "Moody's CFR", "Moodys CFR",
            "Moody Issuer Rating", "Current Moody's Rating", "Moody's Rating", "Moodys_Rating", "Moody Rating",
            "Moody Rtg", "MDY Rating",
            "Moody's Rating (CFR)", "Moody's Rating (Issuer)", "Moody's Rating (Facility)",
            "Moody's Corporate Family Rating", "Moody's", "Moodys", "Mdy Rtg",
            "Issuer_Moodys_Rating", "Moodys_Issuer_Rating", "Moody's Issuer Rating",
        ),
    ),
    Field(
        "rating_agency_b", "string",
        aliases=(
            "S&P Issuer Rating", "Issuer_SP_Rating", "SP_Rating_Final", "SP_Issuer_Rating", "S&P Issuer Credit Rating",
            "S&P Rating (Issuer)", "S&P Corporate Credit Rating", "S&P Corporate Rating", "S&P ICR", "S&P CCR",
            "S&P Corp", "SP Corp", "S&P Facility Rating", "S&P Reported Rating", "Deal Issue (Derived) Rating - S&P",
            "Current S&P Rating", "S&P Rating", "SP Rating", "SP_Derived_Rating", "SP_Facility_Rating", "S&P Rtg",
            "S&P Rating (Facility)", "S&P",
        ),
    ),
    Field(
        "rating_agency_c", "string",
        aliases=(
            "Fitch_Rating_Final", "Issuer_Fitch_Rating", "Fitch Rating", "Fitch IDR", "Fitch Issuer Rating",
            "Fitch_Derived_Rating", "Fitch Issuer Default Rating", "Fitch Rtg", "Fitch", "Fitch Long Term IDR",
            "Fitch Rating (Issuer)",
        ),
    ),
    Field(
        "recovery_rate", "number",
        aliases=(
            "Moody's Recovery Rate-23", "Moodys_Recovery_Rate", "Moody's Recovery Rate", "Recovery Rate",
            "S&P Recovery Rate", "RecoveryRateMoody", "S&P Rec Rate", "Fitch Recovery Rate", "Fitch Rec Rate",
            "SP_Recovery_Rate", "Moody_Derived_Recovery_Rate",
        ),
    ),
    Field(
        "industry", "string",
        aliases=(
            "Moody's Industry", "Moodys Industry", "Moody's Industry Classification", "Moodys_Industry_Name",
            "SIC Moody", "Industry", "Sector", "S&P Industry", "Fitch_Industry_Name", "Industry Classification",
            "S&P Industry Classification", "Fitch Industry", "Fitch Industry Classification", "Moody_Industry",
            "Issuer_Industry_Classification___S_P", "SP_Industry", "GICS Industry", "Industry Name", "Mdy Ind",
            "Industry Sector", "Moody's Industry Name", "Moody's Industry Category", "S&P Industry Category",
        ),
    ),
    Field(
        "country", "string",
        aliases=(
            "Country", "Country_Name", "Country_Code", "Country of Domicile", "CountryOfOperation", "Issuer Country",
            "Obligor Country", "Issuer_Country_ISO", "Country of Risk", "Country of Incorporation", "Issuer Domicile",
            "Country ISO", "Cntry of Risk", "Cntry of Domicile", "Risk Country", "Domicile", "Country of Issuer",
            "Issuer Country of Domicile", "Domicile Country", "Country of Organization", "Jurisdiction",
        ),
    ),
    Field(
        "maturity_date", "date",
        aliases=(
            "Maturity", "Maturity Date", "MaturityDate", "Stated Maturity", "Final Maturity", "Mat Date",
            "Legal Maturity", "Final Maturity Date", "Stated Maturity Date", "Legal Maturity Date", "Mat",
            "Maturity Dt",
        ),
    ),
    Field(
        "lien_type", "string",
        aliases=(
            "Lien Type", "Lien", "Security_Level", "Moody Asset Category", "S&P Priority Category", "Seniority",
            "Asset Type", "Is_Second_Lein", "Is Second Lien", "SP_Priority_Category", "Lien Position",
            "Second_Lien_Loan", "Payment Rank", "Lien Category", "Priority Category", "Ranking", "Security Type",
        ),
    ),
    Field(
        "is_defaulted", "boolean",
        aliases=(
            "Default Obligation", "Is_Default", "Default Status", "IsInDefault", "Defaulted", "Defaulted (Y/N)",
            "Defaulted Obligation", "Default Flag", "In Default", "Defaulted Security", "Defaulted Asset",
            "Default (Y/N)",
        ),
    ),
    Field(
        "cov_lite", "boolean",
        aliases=(
            "Cov-Lite", "Is Cov-Lite", "Is Covenant Lite", "Covenant Lite", "Cov-Lite Loan", "Cov-Lite (Y/N)",
            "Covenant Lite (Y/N)", "Covenant-Lite Loan",
        ),
    ),
)  # fmt: skip

_DEFERRING: Final = (
    "Deferring", "Is Deferring", "Deferring Security", "Deferring Obligation", "Currently Deferring", "PiKing",
    "Is PIKing",
)  # fmt: skip


def _of_agency(
    letter: str,
    spellings: tuple[str, ...],
    *,
    issuer: tuple[str, ...] = (),
    derived: tuple[str, ...] = (),
    industry: tuple[str, ...] = (),
) -> tuple[Field, ...]:
    """Return the fields of what one agency says of a loan.

    Each stands beside the general one that the same column may feed.

    Args:
        spellings: of the agency's name, as headers have it.
        issuer, derived: further headers of these two ratings.
        industry: further headers of its industry.
    """
    own, *others = spellings

    def each(*words: str) -> tuple[str, ...]:
        return tuple(f"{spelling} {word}" for word in words for spelling in spellings)

    rating = f"rating_agency_{letter}"
    return (
        Field(
            f"industry_{letter}", "string",
            aliases=(*each("Industry", "Industry Classification", "Industry Name"), *industry),
        ),
        Field(
            f"recovery_rate_{letter}", "number",
            aliases=(
                *each("Recovery Rate", "Rec Rate", "Recovery Rate-23", "Derived Recovery Rate"),
                *(f"RecoveryRate{name}" for name in others),
            ),
        ),
        Field(
            f"{rating}_derived", "string",
            aliases=(
                *derived, f"Deal Issue (Derived) Rating - {own}",
                *each("Derived Rating", "DP Rating", "Derived WARF Rating", "Derived Default Prob Rating"),
            ),
        ),
        Field(f"{rating}_final", "string", aliases=each("Rating Final", "DP Rating Final", "Final Rating")),
        Field(
            f"{rating}_facility", "string",
            aliases=each("Facility Rating", "Issue Rating", "Security Rating", "Loan Rating"),
        ),
        Field(
            f"{rating}_issuer", "string",
            aliases=(*issuer, *each("Issuer Rating"), *(f"Issuer {spelling} Rating" for spelling in spellings)),
        ),
        Field(
            f"watch_{letter}", "string",
            aliases=each(
                "Watch", "Credit Watch", "CreditWatch", "Rating Watch", "Watch Status", "Rating Status", "Issuer Watch",
                "Issuer CreditWatch", "Security CreditWatch",
            ),
        ),
    )  # fmt: skip


_OF_AGENCIES: Final = (
    _of_agency(
        "a", ("Moody's", "Moodys", "Moody"),
        issuer=("Moody's CFR", "Moodys CFR", "Moody's Corporate Family Rating"),
        derived=(
            "Moodys_Adj_DP_Rating_for_WARF", "Moody's DP Rating - WARF", "Moody's Rating WARF",
            "Moody's Default Probability Rating-18", "Moody's Default Probability Rating", "Moody's DPR",
        ),
    ),
    _of_agency(
        "b", ("S&P", "SP"), issuer=("S&P ICR",), industry=("Issuer_Industry_Classification___S_P",)
    ),
    _of_agency("c", ("Fitch",), issuer=("Fitch IDR",)),
)  # fmt: skip

SHARED_TARGETS: Final = frozenset(
    ("is_deferring", "is_second_lien", *(field.target for agency in _OF_AGENCIES for field in agency))
)
"""Auxiliary targets that may be fed by a column which feeds another one, too."""

AUXILIARY_FIELDS: Final = (
    Field(
        "facility_size", "number",
        aliases=(
            "Facility Size", "Global Amount", "BankDeal_GlobalAmount", "Amount Issued", "IssueSize", "Tranche Size",
            "Deal Size", "Global Facility Size", "Total Facility Size", "Facility Amount", "Issue Size",
            "Global Commitment",
        ),
    ),
    Field("days_past_due", "number", aliases=("Days Past Due", "DPD", "Days Delinquent")),
    Field("quote_depth", "number", aliases=("Quote Depth", "Bid Depth", "Depth", "# Quotes", "Number of Quotes")),
    Field(
        "currency", "string",
        aliases=(
            "Currency", "Currency Code", "CCY", "Issue Currency", "Native_Currency", "Asset Currency",
            "Security Currency", "Local Currency",
        ),
    ),
    Field(
        "fx_rate", "number",
        aliases=(
            "FX Rate", "Exchange Rate", "Spot FX Rate", "FX Spot Rate", "Foreign Exchange Rate", "Currency Rate", "FX",
        ),
    ),
    Field("average_life", "number", aliases=("WAL", "Average_Life", "AvgLife", "Weighted Average Life")),
    Field(
        "default_date", "date",
        aliases=("Date of Defaulted", "Default_Date", "Date of Default", "Default Date", "Deal_Defaulted_Begin"),
    ),
    Field(
        "is_dip", "boolean",
        aliases=("DIP", "Is DIP", "DIP Loan", "DIP Collateral Obligation", "DIP Loan (Y/N)", "DIP Obligation"),
    ),
    Field("is_current_pay", "boolean", aliases=("Current Pay", "Is Current Pay", "Current Pay Obligation")),
    Field("is_pik", "boolean", aliases=("PiKing", "PIK", "Is PIK", "PIK Security", "PIK Obligation", "Deferring")),
    Field(
        "asset_id", "string",
        aliases=(
            "Asset ID", "AssetID", "LoanID", "PositionID", "InstrumentID", "FacilityID", "Asset Number", "Asset Code",
            "Asset Ref", "Asset Reference", "Loan ID", "Loan Number",
            "Loan Code", "Loan Identifier", "Position ID", "Position Identifier", "Instrument ID", "Instrument Code",
            "Instrument Identifier", "Facility ID", "Facility Number", "Investment ID", "Holding ID", "Collateral ID",
            "Obligation ID", "Tranche ID", "Security Code", "Security Number", "Internal ID", "Internal Code",
        ),
    ),
    Field("participation", "boolean", aliases=("Participation", "Is Participation", "Participation Interest")),
    Field(
        "purchased_accrued_interest", "number",
        aliases=("Purchased Accrued Interest", "Purchased Accrued", "Principal Financed Accrued Interest"),
    ),
    Field(
        "unfunded", "number",
        aliases=(
            "Unfunded Amount", "Unfunded", "Unfunded Commitment", "Undrawn Amount", "Unfunded Par", "Unfunded Balance",
            "Unused Commitment", "Undrawn Commitment", "Unused Amount", "Undrawn Balance", "Undrawn", "Undrawn Par",
        ),
    ),
    Field(
        "payment_frequency", "string",
        aliases=("Payment Frequency", "Payment Period", "Pay Frequency", "Interest Payment Frequency", "Pay Freq"),
    ),
    Field("is_long_dated", "boolean", aliases=("Long Dated", "Is Long Dated", "Long Dated Obligation")),
    Field(
        "facility_rating_agency_a", "string",
        aliases=("Moody Facility Rating", "Moody's Facility Rating", "Moody's Rating-21"),
    ),
    Field("as_of", "date", aliases=("As Of Date", "As Of", "AsOfDate", "Report Date", "Determination Date")),
    Field("is_deferring", "boolean", aliases=_DEFERRING),
    Field(
        "is_second_lien", "boolean",
        aliases=("Is_Second_Lein", "Is Second Lien", "Second_Lien_Loan", "Second Lien", "Second Lien (Y/N)"),
    ),
    Field(
        "is_bond", "boolean",
        aliases=("Is Bond", "Bond (Y/N)", "Bond Obligation", "Security_Type1", "Bond/Loan", "Loan/Bond"),
    ),
    Field(
        "is_fixed", "boolean",
        aliases=("Fixed Rate (Y/N)", "Is Fixed Rate", "Is Fixed", "Fixed Rate Flag", "Fixed Rate Loan (Y/N)"),
    ),
    Field("is_revolving", "boolean", aliases=("Is Revolving", "Revolving Obligation", "Revolving Loan", "Is Revolver")),
    Field(
        "is_delayed_draw", "boolean",
        aliases=("Is Delayed Draw", "Delayed Drawdown Obligation", "Delayed Draw Obligation", "Delayed Draw", "DDTL"),
    ),
    Field("is_bridge", "boolean", aliases=("Is Bridge", "Bridge Loan", "Bridge Obligation")),
    *(field for agency in _OF_AGENCIES for field in agency),
)  # fmt: skip

SERVICER_FIELDS: Final = (
    Field("loan_id", "string", required=True, aliases=("Loan ID", "Loan Number", "Loan No", "Account Number")),
    Field(
        "principal_balance", "number", required=True,
        aliases=("Principal Balance", "Current Balance", "Outstanding Balance", "Unpaid Principal Balance", "UPB"),
    ),
    Field("interest_rate", "number", aliases=("Interest Rate", "Rate", "Current Rate", "Note Rate", "Coupon")),
    Field("days_open", "number", aliases=("Days Open", "Days Outstanding", "Loan Age Days", "Age Days")),
)  # fmt: skip

PROFILES: Final = {
    "standard_clo": Mapping(
        "standard_clo", "Standard CLO holdings", "clo_holdings", STANDARD_CLO_FIELDS, AUXILIARY_FIELDS
    ),
    "standard_servicer": Mapping(
        "standard_servicer",
        "Standard servicer snapshot",
        "servicer_snapshot",
        SERVICER_FIELDS,
        anchors=("loan_id", "principal_balance"),
    ),
}

STANDARD_TARGETS: Final = frozenset(field.target for field in (*STANDARD_CLO_FIELDS, *AUXILIARY_FIELDS))
"""Fields of loans that every mapping knows; any other is a mapping's own."""
"""The built-in mappings by id."""


class UnknownMapping(ValueError):
    """A name that no built-in mapping has; the message lists those that there are."""


def mapping_of(mapping: Mapping | str | None) -> Mapping:
    """Return a mapping, or the built-in one of a name; None is standard_clo.

    Raises:
        UnknownMapping: no built-in one has the name.
    """
    if mapping is None:
        return PROFILES["standard_clo"]
    if not isinstance(mapping, str):
        return mapping
    if mapping not in PROFILES:
        raise UnknownMapping(f"there is no built-in mapping {mapping[:100]!r}; {suggestion(mapping, PROFILES)}")
    return PROFILES[mapping]


TRANCHE_SHEETS: Final = frozenset(
    (
        "tranches",
        "tranche",
        "liabilities",
        "notes",
        "noteinformation",
        "capitalstructure",
        "capstructure",
        "classes",
        "debt",
        "noteclasssummary",
    )
)
"""Names of the sheet with the notes: letters only, lower case."""

TRANCHE_LABELS: Final = (
    Field(
        "class", "string", required=True,
        aliases=(
            "Class", "Tranche", "Note Class", "Tranche Name", "Class of Notes", "Class Name", "Notes Detail", "Notes",
            "Note", "Debt", "Debt Class", "Liabilities", "Liability", "Note Description", "Class Description",
            "Tranche Description", "Security Description", "Security", "Description",
        ),
    ),
    Field(
        "current_balance", "number",
        aliases=(
            "Current Balance", "Current Principal", "Outstanding", "Principal Amount", "Notional", "Principal Balance",
            "Current Principal Balance", "Outstanding Balance", "Outstanding Principal", "Outstanding Amount",
            "Outstanding Principal Balance", "Principal Amount Outstanding", "Aggregate Outstanding Amount",
            "Principal Outstanding", "Current Outstanding", "Current Outstanding Balance", "Current Face",
            "Current Notional", "Current Amount", "Ending Balance", "Ending Principal Balance", "Closing Balance",
            "Current Note Balance", "Cur Bal", "Note Balance", "Current Outstanding Principal Amount",
            "Balance Outstanding",
            "Balance", "Current", "Size", "Beginning Balance", "Opening Balance",
        ),
    ),
    Field(
        "original_balance", "number",
        aliases=(
            "Original Balance", "Original Principal", "Original Amount", "Original Principal Balance", "Original Face",
            "Original Notional", "Initial Balance", "Initial Principal Amount", "Initial Amount", "Issued Amount",
            "Issue Amount", "Original", "Orig Bal", "Original Note Balance", "Tranche Size", "Amount Issued",
            "Face Amount",
        ),
    ),
    Field(
        "coupon", "number",
        aliases=(
            "Coupon", "Current Rate", "All-In Rate", "Current Coupon", "Interest Rate", "Coupon Rate", "Note Rate",
            "Current Interest Rate", "All-In Coupon", "Note Interest Rate", "Cpn", "Rate",
        ),
    ),
    Field(
        "spread", "number",
        aliases=("Spread", "Margin", "DM", "Coupon Spread", "Current Spread", "Note Spread", "Spread over Index"),
    ),
    Field("oc_trigger", "number", aliases=("OC Trigger", "OC Test", "Par Value Trigger", "Required OC", "Trigger")),
    Field("ic_trigger", "number", aliases=("IC Trigger", "IC Test", "Interest Coverage Trigger", "Required IC")),
    Field("rank", "number", aliases=("Seniority", "Priority", "Rank")),
    Field(
        "deferred_interest", "number",
        aliases=("Deferred Interest", "Deferred", "PIK Balance", "Deferred Interest Balance", "Capitalised Interest",
                 "Capitalized Interest", "Cumulative Deferred Interest"),
    ),
    Field(
        "interest_due", "number",
        aliases=("Interest Due", "Interest Amount Due", "IC Interest", "Periodic Interest", "Period Interest",
                 "Interest Payable", "Interest Amount", "Current Interest", "Interest Distribution", "Interest"),
    ),
)  # fmt: skip

DEAL_SHEETS: Final = frozenset(
    ("deal", "dealinfo", "dealinformation", "summary", "parameters", "accounts", "cash", "accountbalances")
)
"""Names of the sheets with the deal's figures and accounts: letters only, lower case."""

DEAL_LABELS: Final = (
    Field(
        "principal_cash", "number",
        aliases=(
            "Principal Cash", "Principal Proceeds", "Principal Account", "Principal Collection Account",
            "Principal Cash Balance", "Principal Collection Subaccount", "Collection Account - Principal",
        ),
    ),
    Field(
        "interest_collected", "number",
        aliases=(
            "Interest Cash", "Interest Proceeds", "Interest Account", "Interest Collection Account",
            "Interest Collected", "Interest Received", "Actual Interest Received", "Collected Interest",
            "Interest Proceeds Received", "Interest Proceeds Collected", "Interest Collections",
            "Interest Cash Balance", "Interest Collection Subaccount", "Collection Account - Interest",
        ),
    ),
    Field(
        "interest_receivable", "number",
        aliases=(
            "Interest Receivable", "Interest Still to be Received", "Interest to be Received",
            "Interest Proceeds to be Received", "Expected Interest", "Expected Interest Proceeds",
            "Scheduled Interest", "Scheduled Interest to be Received", "Projected Interest",
            "Interest Expected to be Received", "Scheduled Interest Payments", "Remaining Scheduled Interest",
        ),
    ),
    Field(
        "senior_fees", "number",
        aliases=(
            "Senior Fees", "Senior Expenses", "Senior Fees and Expenses", "Senior Items", "Less Senior Items",
            "Less Senior Fees and Expenses", "Less Senior Expenses", "Senior Fees & Expenses",
            "Less Amounts Payable under the Priority of Payments",
        ),
    ),
    Field("base_rate", "number", aliases=("Base Rate", "SOFR", "Index Rate", "LIBOR", "EURIBOR")),
    Field(
        "as_of", "date",
        aliases=(
            "As Of Date", "Determination Date", "As Of", "Report Date", "Current Determination Date",
            "Calculation Date", "Reporting Date", "Measurement Date", "Statement Date", "Cut-Off Date", "As At",
            "Period End Date", "Period Ending", "Valuation Date", "Due Period End", "Due Period End Date",
            "Collection Period End", "Collection Period End Date", "Period End", "Position Date", "Data Date",
        ),
    ),
    Field(
        "next_payment", "date",
        aliases=("Next Payment Date", "Next Payment", "Next Distribution Date", "Upcoming Payment Date",
                 "Current Payment Date", "Payment Date", "Distribution Date", "Zahlungstermin", "Date de paiement",
                 "Fecha de pago", "Data di pagamento"),
    ),
    Field("closing_date", "date", aliases=("Closing Date", "Date of Closing", "Issue Date", "Original Closing Date")),
    Field(
        "reinvestment_end", "date",
        aliases=(
            "Reinvestment End Date", "End of Reinvestment Period", "End of Reinvestment", "End of Reinvest",
            "Reinvestment Period End", "Reinvestment Period End Date", "Reinvestment Period Ends",
            "End of the Reinvestment Period", "Last Day of Reinvestment Period", "Reinvestment Period",
        ),
    ),
    Field(
        "stated_maturity", "date",
        aliases=("Stated Maturity", "Stated Maturity Date", "Legal Final Maturity", "Legal Final Maturity Date",
                 "Final Maturity Date", "Legal Maturity", "Legal Maturity Date"),
    ),
    Field(
        "currency", "string",
        aliases=("Deal Currency", "Base Currency", "Reporting Currency", "Currency", "Währung", "Devise", "Moneda",
                 "Divisa", "Valuta"),
    ),
    Field("payment_days", "number", aliases=("Payment Days", "Days in Period", "Accrual Days")),
    Field(
        "reference_coupon", "number",
        aliases=("Reference Weighted Average Coupon", "Reference Coupon", "Reference WAC"),
    ),
    Field(
        "excess_spread", "number",
        aliases=("Aggregate Excess Funded Spread", "Aggregate Excess Funded Spread Amount", "Excess Funded Spread"),
    ),
)  # fmt: skip

AMORTIZATION_SHEETS: Final = frozenset(
    ("amortization", "amortisation", "amortizationschedule", "amortisationschedule", "amortizationschedules")
)
"""Names of the sheet with scheduled principal payments: letters only, lower case."""

AMORTIZATION_LABELS: Final = (
    Field(
        "identifier", "string", required=True,
        aliases=("Identifier", "CUSIP", "LoanX ID", "LXID", "ISIN", "Loan ID", "Security ID"),
    ),
    Field("date", "date", required=True, aliases=("Date", "Payment Date", "Due Date")),
    Field("amount", "number", required=True, aliases=("Amount", "Principal", "Principal Amount", "Payment")),
)  # fmt: skip

COUNTRIES: Final = {
    "US": ("USA", "U.S.", "U.S.A.", "United States", "United States of America", "America"),
    "AE": ("ARE", "United Arab Emirates", "UAE"),
    "AR": ("ARG", "Argentina"),
    "AU": ("AUS", "Australia"),
    "AT": ("AUT", "Austria"),
    "BE": ("BEL", "Belgium"),
    "BG": ("BGR", "Bulgaria"),
    "BM": ("BMU", "Bermuda"),
    "BR": ("BRA", "Brazil"),
    "BS": ("BHS", "Bahamas", "The Bahamas"),
    "CA": ("CAN", "Canada"),
    "CL": ("CHL", "Chile"),
    "CN": ("CHN", "China"),
    "CO": ("COL", "Colombia"),
    "CY": ("CYP", "Cyprus"),
    "CZ": ("CZE", "Czech Republic", "Czechia"),
    "KY": ("CYM", "Cayman Islands", "Cayman"),
    "CH": ("CHE", "Switzerland"),
    "DE": ("DEU", "Germany", "Deutschland"),
    "DK": ("DNK", "Denmark"),
    "EE": ("EST", "Estonia"),
    "ES": ("ESP", "Spain"),
    "FI": ("FIN", "Finland"),
    "FR": ("FRA", "France"),
    "GB": ("GBR", "UK", "U.K.", "United Kingdom", "Great Britain", "England"),
    "GG": ("GGY", "Guernsey"),
    "GI": ("GIB", "Gibraltar"),
    "GR": ("GRC", "Greece"),
    "HK": ("HKG", "Hong Kong"),
    "HR": ("HRV", "Croatia"),
    "HU": ("HUN", "Hungary"),
    "IE": ("IRL", "Ireland", "Republic of Ireland", "Eire"),
    "IL": ("ISR", "Israel"),
    "IM": ("IMN", "Isle of Man"),
    "IN": ("IND", "India"),
    "IS": ("ISL", "Iceland"),
    "IT": ("ITA", "Italy"),
    "JE": ("JEY", "Jersey"),
    "JP": ("JPN", "Japan"),
    "KR": ("KOR", "South Korea", "Korea"),
    "LI": ("LIE", "Liechtenstein"),
    "LT": ("LTU", "Lithuania"),
    "LU": ("LUX", "Luxembourg", "Luxemburg"),
    "LV": ("LVA", "Latvia"),
    "MH": ("MHL", "Marshall Islands"),
    "MT": ("MLT", "Malta"),
    "MX": ("MEX", "Mexico"),
    "NL": ("NLD", "Netherlands", "The Netherlands", "Holland"),
    "NO": ("NOR", "Norway"),
    "NZ": ("NZL", "New Zealand"),
    "PA": ("PAN", "Panama"),
    "PL": ("POL", "Poland"),
    "PR": ("PRI", "Puerto Rico"),
    "PT": ("PRT", "Portugal"),
    "RO": ("ROU", "Romania"),
    "SE": ("SWE", "Sweden"),
    "SG": ("SGP", "Singapore"),
    "SI": ("SVN", "Slovenia"),
    "SK": ("SVK", "Slovakia", "Slovak Republic"),
    "TR": ("TUR", "Turkey", "Türkiye"),
    "VG": ("VGB", "British Virgin Islands", "BVI"),
    "ZA": ("ZAF", "South Africa"),
}
"""ISO 3166 codes and the spellings that stand for them; any other country keeps its own text."""

OTHER_COUNTRIES: Final = frozenset(
    name.lower()
    for country in (
        "AD AND Andorra", "AG ATG Antigua and Barbuda", "AL ALB Albania", "AM ARM Armenia", "AO AGO Angola",
        "AW ABW Aruba", "AZ AZE Azerbaijan", "BA BIH Bosnia and Herzegovina", "BB BRB Barbados", "BD BGD Bangladesh",
        "BH BHR Bahrain", "BO BOL Bolivia", "BW BWA Botswana", "BY BLR Belarus", "BZ BLZ Belize",
        "CI CIV Ivory Coast", "CM CMR Cameroon", "CR CRI Costa Rica", "CW CUW Curacao", "DO DOM Dominican Republic",
        "DZ DZA Algeria", "EC ECU Ecuador", "EG EGY Egypt", "ET ETH Ethiopia", "FO FRO Faroe Islands",
        "GE GEO Georgia", "GH GHA Ghana", "GL GRL Greenland", "GT GTM Guatemala", "HN HND Honduras",
        "ID IDN Indonesia", "IQ IRQ Iraq", "JM JAM Jamaica", "JO JOR Jordan", "KE KEN Kenya",
        "KH KHM Cambodia", "KN KNA Saint Kitts and Nevis", "KW KWT Kuwait", "KZ KAZ Kazakhstan", "LB LBN Lebanon",
        "LC LCA Saint Lucia", "LK LKA Sri Lanka", "LR LBR Liberia", "MA MAR Morocco", "MC MCO Monaco",
        "MD MDA Moldova", "ME MNE Montenegro", "MK MKD North Macedonia", "MN MNG Mongolia", "MO MAC Macau",
        "MU MUS Mauritius", "MY MYS Malaysia", "MZ MOZ Mozambique", "NA NAM Namibia", "NG NGA Nigeria",
        "NI NIC Nicaragua", "OM OMN Oman", "PE PER Peru", "PG PNG Papua New Guinea", "PH PHL Philippines",
        "PK PAK Pakistan", "PY PRY Paraguay", "QA QAT Qatar", "RS SRB Serbia", "RU RUS Russia",
        "SA SAU Saudi Arabia", "SC SYC Seychelles", "SM SMR San Marino", "SN SEN Senegal", "SV SLV El Salvador",
        "SX SXM Sint Maarten", "TH THA Thailand", "TN TUN Tunisia", "TT TTO Trinidad and Tobago", "TW TWN Taiwan",
        "TZ TZA Tanzania", "UA UKR Ukraine", "UG UGA Uganda", "UY URY Uruguay", "UZ UZB Uzbekistan",
        "VE VEN Venezuela", "VI VIR US Virgin Islands", "VN VNM Vietnam", "ZM ZMB Zambia", "ZW ZWE Zimbabwe",
        "AN ANT Netherlands Antilles", "RU RUS Russian Federation", "CW CUW Cura\u00e7ao", "MO MAC Macao",
        "VN VNM Viet Nam", "CI CIV Cote d Ivoire",
    )
    for name in country.split(" ", 2)
)  # fmt: skip
"""Codes and names of the others in lower case, by which a country is known and not a slip."""

INDUSTRIES: Final = (
    "Aerospace & Defense",
    "Automotive",
    "Banking, Finance, Insurance & Real Estate",
    "Beverage, Food & Tobacco",
    "Capital Equipment",
    "Chemicals, Plastics & Rubber",
    "Construction & Building",
    "Consumer goods: Durable",
    "Consumer goods: Non-durable",
    "Containers, Packaging & Glass",
    "Energy: Electricity",
    "Energy: Oil & Gas",
    "Environmental Industries",
    "Forest Products & Paper",
    "Healthcare & Pharmaceuticals",
    "High Tech Industries",
    "Hotel, Gaming & Leisure",
    "Media: Advertising, Printing & Publishing",
    "Media: Broadcasting & Subscription",
    "Media: Diversified & Production",
    "Metals & Mining",
    "Retail",
    "Services: Business",
    "Services: Consumer",
    "Sovereign & Public Finance",
    "Telecommunications",
    "Transportation: Cargo",
    "Transportation: Consumer",
    "Utilities: Electric",
    "Utilities: Oil & Gas",
    "Utilities: Water",
    "Wholesale",
)
"""The 32 industries of the CLO list of Moody's, in its spelling."""
