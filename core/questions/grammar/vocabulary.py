"""What an analyst's words mean: phrases to the quantities, fields, groups, tests and relations of a query.

A phrase is written as people say it; `phrases` brings it to the stems of `tokens`. Of two phrases at a place the longer
one counts. A word that is in no table is a name out of the data, or the question is not understood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from core.questions.answer import Unit
from core.questions.grammar.tokens import tokens_of


@dataclass(frozen=True, slots=True)
class Quantity:
    """What can be said of a set of loans, or of each of them."""

    name: str
    unit: Unit
    words: str
    """Phrases, separated by bars."""
    column: str | None = None
    """The field of a loan that it is, or averages."""
    test_id: str | None = None
    """The test of the catalogue whose measure it is over a set of loans."""
    is_average: bool = False
    """Whether a set has the average, weighted by par, where nothing is said of how."""


QUANTITIES: Final = {
    "par": Quantity(
        "par", "amount",
        "par|par value|par amount|principal balance|principal|balance|notional|face|face value|face amount|"
        "outstanding balance|outstanding|size|position size|amount|dollars|exposure|exposed|money|"
        "invested|aggregate principal balance|apb|funded par|funded|holding size|dollar amount|loan size|"
        "par balance|par outstanding|stake|volume",
        column="par_value",
    ),
    "share": Quantity(
        "share", "percent",
        "share|percent|percentage|pct|proportion|weight|weighting|allocation|fraction|concentration|portion|%|"
        "percent of par|percentage of par|share of par|proportion of par|weight by par|portfolio weight|"
        "share of the portfolio|percent of the portfolio|percentage of the portfolio|% of the portfolio|% of par|"
        "share of the pool|percent of the pool|percentage of the pool|percent of the deal|share of the book|"
        "percent of the book|percentage of the book|percent of collateral|share of the collateral|"
        "percent of total par|% of total par|share of total par",
    ),
    "count": Quantity(
        "count", "count",
        "number|count|how many|nr of|no of|nr|number of|count of|total number of|how many different|how many distinct|"
        "how many separate|how many individual|how many unique",
    ),
    "market_value": Quantity("market value", "amount",
        "market value|mv|marked value|fair value|mtm value|value at market"),
    "price": Quantity(
        "price", "price",
        "price|priced|mark|marked|bid|market price|trading price|trading|trade|trades|quoted price|mtm|px|marks|"
        "bids|trading at|marked at|priced at|quoted at|bid price|weighted average price|wap|wa price|"
        "weighted average bid|average mark|pricing|prices",
        "price", "weighted_average_price", is_average=True,
    ),
    "purchase_price": Quantity(
        "purchase price", "price",
        "purchase price|what we paid|cost|cost price|acquisition price|bought at|purchased at|entry price|purchase cost|"
        "cost basis",
        "purchase_price", is_average=True,
    ),
    "spread": Quantity(
        "spread", "bps",
        "spread|margin|loan margin|contractual spread|coupon spread|dm|spread over sofr|spread over libor|"
        "spread over index|loan spread|credit spread|average margin|stated spread|nominal spread|cash spread",
        "spread", is_average=True,
    ),
    "was": Quantity(
        "weighted average spread", "percent",
        "was|weighted average spread|wa spread|weighted avg spread|average weighted spread|portfolio spread|"
        "was level",
        test_id="was", is_average=True,
    ),
    "coupon": Quantity(
        "all-in rate", "percent",
        "coupon|all in rate|all in coupon|interest rate|coupon rate|wac|weighted average coupon|all in|cash coupon|"
        "weighted average all in rate|current rate|paying|pay rate|rate of interest",
        "all_in_rate", is_average=True,
    ),
    "floor": Quantity("floor", "percent",
        "floor|index floor|sofr floor|libor floor|rate floor|base rate floor", "floor",
                      is_average=True),
    "maturity": Quantity(
        "maturity", "date",
        "maturity|maturity date|final maturity|stated maturity|mature|maturing|matures|due date|fall due|"
        "falling due|due|come due|coming due|comes due|expire|repayment date|final maturity date|maturity profile|"
        "mature on|maturity wall|maturities",
        "maturity_date",
    ),
    "wal": Quantity(
        "weighted average life", "years",
        "wal|weighted average life|average life|remaining life|time to maturity|remaining term|years to maturity|"
        "weighted avg life|tenor|remaining maturity|average maturity|weighted average maturity|wam|"
        "average remaining life",
        test_id="wal", is_average=True,
    ),
    "warf": Quantity(
        "weighted average rating factor", "factor",
        "warf|weighted average rating factor|rating factor|average rating factor|average rating|"
        "weighted average rating|wa rating factor|moodys warf|moodys weighted average rating factor|credit quality",
        test_id="average_rating_factor", is_average=True,
    ),
    "recovery": Quantity(
        "weighted average recovery rate", "percent",
        "warr|recovery rate|recovery|weighted average recovery rate|average recovery|average recovery rate|"
        "recoveries|weighted average recovery|wa recovery|wa recovery rate|recovery assumption",
        "recovery_rate", "weighted_average_recovery_rate", is_average=True,
    ),
    "diversity": Quantity(
        "diversity score", "score", "diversity|diversity score|moodys diversity|moodys diversity score|div score",
        test_id="diversity_score",
    ),
    "facility_size": Quantity("facility size", "amount",
        "facility size|issue size|global amount|tranche size|deal size of",
                              "facility_size", is_average=True),
    "days_past_due": Quantity("days past due", "days", "days past due|dpd|days delinquent|past due days|days late",
                              "days_past_due", is_average=True),
    "quote_depth": Quantity("quote depth", "count",
        "quote depth|depth|number of quotes|dealer quotes|quotes|bid depth|dealers",
                            "quote_depth", is_average=True),
    "unfunded": Quantity("unfunded amount", "amount",
        "unfunded|unfunded amount|undrawn|unfunded commitment|undrawn amount",
                         "unfunded"),
    "rating": Quantity("rating", "rating", "rating|rated|credit rating|agency rating|letter rating|ratings"),
    "moodys_rating": Quantity("Moody's rating", "rating",
        "moodys rating|moodys rated|moody rating|rating from moodys|moodys cfr|cfr|rated by moodys|"
        "moodys credit rating|rating by moodys", "rating_agency_a"),
    "sp_rating": Quantity("S&P rating", "rating",
        "sp rating|sp rated|rating from sp|rated by sp|rating by sp", "rating_agency_b"),
    "fitch_rating": Quantity("Fitch rating", "rating",
        "fitch rating|fitch rated|rating from fitch|rated by fitch|rating by fitch", "rating_agency_c"),
    "industry": Quantity("industry", "text", "", "industry"),
    "country": Quantity("country", "text", "", "country"),
    "lien": Quantity("lien", "text", "", "lien_type"),
    "index": Quantity("index", "text", "reference rate|base index|index", "base_rate"),
    "currency": Quantity("currency", "text", "", "currency"),
    "cusip": Quantity("CUSIP", "text", "cusip", "cusip"),
    "loanx": Quantity("LoanX ID", "text", "loanx|loanx id|lxid|lx id", "loanx_id"),
    "isin": Quantity("ISIN", "text", "isin", "isin"),
}  # fmt: skip

GROUPS: Final = {
    "loan":
        "loan|paper|everything|thing|facility|position|asset|holding|credit|collateral obligation|obligation|"
        "line item|instrument|security|line|debt obligation|collateral asset|term loan|loans and bonds|"
        "individual loan|single loan|single position",
    "obligor":
        "obligor|borrower|issuer|company|name|credit name|counterparty|borrower name|single name|obligor name|"
        "single obligor|individual obligor|individual borrower|single borrower|individual name|corporate|firm",
    "industry":
        "industry|sector|industry group|industry sector|moodys industry|industry classification|single industry",
    "country": "country|jurisdiction|domicile|geography|geographic|region|country of domicile|nationality",
    "rating_a":
        "moodys rating bucket|moodys letter rating|moodys rating category|moodys rating level|moodys rating grade",
    "rating_b": "sp rating bucket|sp letter rating|sp rating category|sp rating level|sp letter",
    "rating_c": "fitch rating bucket|fitch letter rating",
    "rating": "rating bucket|rating category|rating level|rating band|rating class|rating grade|rating notch",
    "lien": "lien|lien type|seniority|lien position|security type|ranking|security level",
    "year": "maturity year|year of maturity|year|calendar year|maturity bucket",
    "currency": "currency|denomination",
    "index": "index type|benchmark",
    "coupon_type":
        "coupon type|rate type|fixed floating|fixed and floating|fixed versus floating|fixed vs floating|"
        "interest type",
    "test":
        "test|covenant|compliance test|compliance check|trigger test|collateral quality test|quality test|"
        "constraint|metric|coverage and quality test|measure|limitation",
    "class": "class|tranche|note|class of notes|note class|liability|classes of notes|debt tranche|liability tranche",
    "deal": "deal|clo|workbook|transaction|fund|vehicle|portfolio|pool",
}  # fmt: skip

WHOLE: Final = (
    "portfolio|pool|deal|book|clo|collateral|fund|collateral pool|asset pool|whole portfolio|entire portfolio|"
    "loan book|workbook|in total|overall|collateral portfolio|underlying portfolio|total portfolio|loan portfolio|"
    "the whole book|whole book|whole pool|entire pool|whole deal|entire book|loan pool|as a whole"
)
"""The whole of the loans."""

_FIRST_LIEN: Final = (
    "first lien|senior secured|first lien senior secured|senior secured first lien|senior secured loan|1l|"
    "first lien loan|1st lien|first lien senior secured loan|senior secured first lien loan|first lien secured"
)
_OF_OTHER_LIENS: Final = "|".join(
    f"{no} {words}" for no in ("not", "non", "other than") for words in _FIRST_LIEN.split("|")
)
"""The same denied: its first words alone would leave the rest to say the opposite."""

FLAGS: Final = {
    "first_lien": _FIRST_LIEN,
    "second_lien": "second lien|2l|second lien loan|2nd lien|junior lien",
    "unsecured": "unsecured|senior unsecured|mezzanine|subordinated loan",
    "bond": "bond|high yield bond|senior secured bond|hy bond",
    "not_senior": f"{_OF_OTHER_LIENS}|junior|second lien and unsecured|second lien or unsecured|non senior",
    "cov_lite": "cov lite|covlite|covenant lite|covenant light|cov light|covenantlite|covlite loan",
    "covenanted": "covenanted|with maintenance covenant|with covenant|full covenant",
    "fixed": "fixed|fixed rate|fixed coupon|fixed rate asset|paying fixed",
    "floating": "floating|floating rate|floater|floating rate loan|variable rate|paying floating",
    "defaulted": "defaulted|is defaulted|are defaulted|in default|default|non performing|nonperforming|defaulted asset|defaulted obligation",
    "performing": "performing|non defaulted|not defaulted|not in default",
    "dip": "dip|debtor in possession",
    "current_pay": "current pay|current pay obligation",
    "deferring":
        "deferring|pay in kind|pik|piking|pik ing|deferring interest|paying in kind|payment in kind|pik toggle|"
        "deferrable",
    "long_dated":
        "long dated|matures after the deal|mature after the deal|maturing after the deal|maturing after our deal|"
        "mature after our deal",
    "participation": "participation",
    "bridge": "bridge loan|bridge",
    "revolver": "revolver|revolving|revolving loan|revolving facility|rcf",
    "delayed_draw": "delayed draw|ddtl|delayed draw term loan",
    "foreign":
        "foreign|non us|outside the us|outside us|outside the united states|not us|not in the us|offshore|"
        "non american|not from the us|outside of the us|international|overseas|not domiciled in the us|"
        "non domestic|outside america|outside the home country|outside the home countries",
    "domestic": "domestic|us based|us domiciled",
    "unrated":
        "unrated|not rated|without a rating|without any rating|no rating|missing rating|missing a rating|"
        "lacking a rating|without rating",
    "ccc":
        "rated ccc or below|rated ccc or lower|rated ccc or worse|rated caa or lower|"
        "rated caa or below|rated ccc and below|ccc|triple c|caa|ccc caa|caa ccc|ccc bucket|"
        "ccc rated|caa rated|ccc or lower|ccc or below|ccc and below|ccc or worse|caa or below|"
        "triple c rated|triple c or lower|ccc and lower|caa or lower|ccc category|ccc asset|"
        "ccc obligation|caa bucket|ccc loan|rated ccc|rated caa|triple c name",
    "investment_grade": "investment grade|ig rated|ig",
    "past_due": "past due|delinquent|overdue|in arrears|late",
    "distressed": "distressed|stressed",
    "watch": "on watch|watch list|watchlist|on credit watch|on watch negative|on negative watch|under review",
    "small": "small facility|small facilities",
    "discount": "discount obligation|discount",
    "matured": "matured|past maturity|past its maturity|past their maturity|already matured|beyond maturity",
    "unpriced":
        "unpriced|without a price|no price|missing price|missing a price|without price|lacking a price|not priced|"
        "without a mark|no mark|without marks|unmarked|without a quote",
}  # fmt: skip

TESTS: Final = {
    "single_obligor_concentration":
        "single obligor concentration|obligor concentration|largest obligor test|single name concentration|"
        "single name limit|largest obligor limit|obligor limit|single obligor limit|single obligor test|"
        "obligor concentration test|max obligor|issuer concentration|single issuer concentration|"
        "single borrower limit|largest single obligor|single borrower concentration|name concentration|"
        "borrower concentration|largest single name|single issuer limit",
    "top_5_concentration":
        "top 5 concentration|top five concentration|five largest obligors test|top 5 obligor concentration|"
        "top five obligor concentration|top 5 obligor limit|top 5 test|top five test|top 5 obligor test|"
        "five largest obligor test|five largest obligor limit|top five obligor test",
    "industry_concentration":
        "industry concentration|largest industry test|industry limit|sector concentration|industry test|"
        "largest industry limit|sector limit|single industry limit|largest industry concentration|"
        "industry concentration limit|maximum industry concentration",
    "second_industry_concentration":
        "second industry concentration|second largest industry test|second industry limit|second industry test|"
        "second largest industry limit|second largest industry concentration",
    "non_senior_secured_concentration":
        "non senior secured concentration|second lien limit|second lien test|second lien bucket|second lien basket|"
        "non senior secured limit|non senior secured test|second lien concentration|second lien and unsecured test|"
        "second lien and unsecured limit|non first lien limit|non senior bucket|junior lien limit|"
        "non senior secured bucket|second lien cap",
    "cov_lite_concentration":
        "cov lite concentration|cov lite limit|cov lite test|covenant lite limit|covenant lite test|"
        "covenant lite concentration|cov lite bucket|cov lite cap|covenant lite bucket",
    "ccc_bucket_pct":
        "ccc test|ccc limit|ccc concentration|ccc caa limit|caa limit|caa test|ccc bucket test|ccc bucket limit|"
        "ccc cap|ccc basket|ccc caa bucket|ccc percentage|ccc share|ccc caa concentration|ccc ratio|"
        "caa concentration|ccc bucket percentage|ccc level|ccc exposure|ccc pct|ccc excess test|triple c bucket|"
        "triple c limit|triple c test|caa ccc bucket",
    "average_rating_factor":
        "warf test|rating factor test|warf covenant|warf limit|average rating factor test|max warf",
    "weighted_average_recovery_rate":
        "warr test|recovery test|recovery rate test|recovery covenant|warr covenant|warr limit|"
        "weighted average recovery rate test",
    "oc_ratio":
        "junior oc|junior overcollateralization|junior overcollateralisation|oc ratio|oc test|oc|"
        "overcollateralization|overcollateralisation|junior oc ratio|junior oc test|par value test|par value ratio|"
        "junior par value|junior par value test|junior overcollateralization ratio|overcollateralization ratio|"
        "overcollateralisation ratio|overcollateralization test|overcollateralisation test|"
        "most junior oc|most junior oc test|oc coverage|over collateralization|over collateralisation|"
        "junior oc coverage|par coverage|junior par coverage",
    "oc_ratio_senior":
        "senior oc|senior overcollateralization|senior overcollateralisation|senior oc ratio|senior oc test|"
        "senior par value|senior par value test|senior overcollateralization ratio|most senior oc|"
        "senior par coverage|senior overcollateralisation ratio|senior overcollateralization test",
    "ic_ratio":
        "junior ic|junior interest coverage|ic ratio|ic test|ic|interest coverage|junior ic ratio|junior ic test|"
        "interest coverage ratio|interest coverage test|junior interest coverage ratio|"
        "junior interest coverage test",
    "ic_ratio_senior":
        "senior ic|senior interest coverage|senior ic ratio|senior ic test|senior interest coverage ratio|"
        "senior interest coverage test",
    "wal": "wal test|weighted average life test|wal covenant|wal limit|average life test",
    "was":
        "was test|weighted average spread test|minimum spread test|was covenant|minimum spread|spread test|"
        "was minimum|wa spread test|minimum weighted average spread|spread covenant",
    "diversity_score": "diversity test|diversity score test|diversity covenant|minimum diversity",
    "fixed_rate_concentration":
        "fixed rate concentration|fixed rate limit|fixed rate test|fixed rate bucket|fixed limit|"
        "fixed rate asset test|fixed rate basket|fixed bucket",
    "foreign_country_concentration":
        "foreign concentration|non us concentration|non us limit|foreign limit|non us test|"
        "foreign country concentration|foreign obligor limit|country concentration|foreign obligor test|"
        "non us bucket|foreign bucket|foreign country test|non us obligor limit|non us obligor test|"
        "foreign country limit|country limit|obligors outside the home country|obligors outside the home countries",
    "delinquency_pct":
        "delinquency|delinquency test|delinquency rate|defaulted and past due|delinquency limit|"
        "delinquency percentage|delinquency ratio",
    "interest_diversion_ratio":
        "interest diversion|interest diversion test|reinvestment oc|reinvestment oc test|diversion test|"
        "reinvestment overcollateralization|reinvestment overcollateralization test|interest diversion ratio|idt|"
        "reinvestment oc ratio|reinvestment overcollateralisation test",
    "price_below_80_pct":
        "below 80 test|priced below 80 test|sub 80 bucket|sub 80 test|sub 80 share|price below 80 test",
    "price_below_90_pct":
        "below 90 test|priced below 90 test|sub 90 bucket|sub 90 test|sub 90 share|price below 90 test",
    "weighted_average_price": "weighted average price test|average price test|wa price test|price test",
    "small_facility_concentration":
        "small facility concentration|small facility limit|small facility test|small facilities test|"
        "small facilities limit",
    "quoted_depth_pct": "quote depth test|quoted depth|quoted depth test|dealer quote test|depth test",
}  # fmt: skip

CATEGORIES: Final = {
    "coverage": "coverage|coverage test",
    "concentration": "concentration test|concentration limit|concentration limitation|profile test|"
    "portfolio profile test",
    "rating": "rating test|rating based test",
    "portfolio": "portfolio test",
    "liquidity": "liquidity|liquidity test",
    "oc": "oc tests|all oc test|overcollateralization tests|every oc test|each oc test|oc ratio by class|"
    "all the oc test",
    "ic": "ic tests|all ic test|interest coverage tests|every ic test|each ic test|ic ratio by class|all the ic test",
}

ASPECTS: Final = {
    "cushion": "how much par can we lose before|how much can we lose before|what loss would it take to breach|"
    "how much par can we lose until|what loss breach|how much loss until|cushion|headroom|room|buffer|slack|distance|margin of safety|breathing room|leeway|"
    "how far|how close|gap|wiggle room|how tight|margin to the limit|distance to trigger|"
    "distance to the trigger|distance to the limit|spare capacity|unused capacity|"
    "remaining capacity|capacity",
    "limit": "how large may|how big may|how high may|how low may|how large can|how big can|how high can|"
    "limit|threshold|trigger|covenant level|required level|requirement|minimum|maximum allowed|cap|"
    "trigger level|permitted|allowed|max|minimum required|minimum level|maximum level|required|hurdle|"
    "limit level|maximum permitted",
    "status": "status|result of|compliance status|state",
    "level": "level|value|current level|current value|reading|result|figure|ratio|print|print at|stand|standing|"
    "come in at|actual",
}

STATUSES: Final = {
    "pass": "pass|passing|passed|comply|compliant|in compliance|meet|met|meeting|satisfy|satisfied|satisfying|ok|okay|"
    "fine|green|comfortably pass|within limit|within the limit|within its limit|in the clear|within our limit|"
    "inside the limit",
    "fail": "fail|failing|failed|breach|breaching|breached|violate|violating|violated|out of compliance|in breach|"
    "broken|not pass|not passing|non compliant|noncompliant|failure|violation|trip|tripped|tripping|red|"
    "do not pass|does not pass|not in compliance|not meet|not met|do not meet|underwater|over the limit|"
    "above the limit|over its limit|above their limit|offside|out of bounds|not satisfied",
    "warning": "warning|in warning|warning band|at risk|amber|warning zone|on warning|near the limit|"
    "close to the limit|near its limit|close to their limit|in the warning band|"
    "near their limit|close to its limit|near a limit",
    "skipped": "skipped|not run|not tested|could not be run|not be run|not be tested|could not run|skipped test|"
    "not calculated",
}

SUPERLATIVES: Final = {
    # what is said -> (the most or the least, of which quantity; "" what else is named)
    ("most", ""):
        "largest|biggest|highest|top|greatest|most|max|maximum|heaviest|leading|main|major|rank|ranking|ranked|"
        "rank by|sorted by|ordered by|ranked by|sort by|order by|dominant|chunkiest|by far the largest|"
        "single largest|single biggest|in descending order|single highest",
    ("least", ""): "minimum|smallest|lowest|least|min|bottom|fewest|tiniest|slimmest",
    ("most", "spread"): "widest|highest yielding|highest spread|widest spread|highest paying|highest margin",
    ("least", "spread"): "tightest spread|lowest yielding|lowest spread|lowest margin",
    ("least", "price"):
        "cheapest|lowest priced|lowest price|worst priced|most distressed|lowest marked|weakest priced|lowest bid|"
        "lowest mark",
    ("most", "price"): "highest priced|highest price|richest|most expensive|best priced|highest mark",
    ("most", "maturity"):
        "longest|longest dated|latest maturity|longest maturity|latest maturing|last to mature|matures last|"
        "last maturing|furthest maturity|mature last|latest to mature",
    ("least", "maturity"):
        "shortest|earliest|nearest maturity|earliest maturity|shortest maturity|soonest|next to mature|"
        "first to mature|shortest dated|next maturity|earliest maturing|matures first|first maturing|mature first|"
        "mature next|matures next|nearest|mature soonest|next to come due|first to come due|matures soonest|"
        "come due first|matures earliest|mature earliest|upcoming maturity",
    ("most", "rank"):
        "worst rated|lowest rated|weakest|lowest rating|worst rating|worst credit quality|weakest rated|riskiest|"
        "lowest credit quality|weakest rating",
    ("least", "rank"): "best rated|highest rated|strongest|highest rating|best rating|best credit quality",
    ("least", "cushion"):
        "thinnest|tightest|slimmest cushion|thinnest cushion|smallest cushion|lowest cushion|least cushion|"
        "least headroom|least room|smallest headroom|lowest headroom|closest|nearest to breach|closest to breach|"
        "closest to failing|closest to its limit|closest to their limit|closest to the limit|nearest to failing|"
        "closest to breaching|closest to its trigger|closest to their trigger|most at risk|tightest cushion|"
        "tightest headroom|nearest to its limit|nearest to the limit|closest to a breach|closest to trigger|"
        "closest to tripping|closest to the trigger|nearest to breaching|least slack|closest to a limit|"
        "most likely to fail|most likely to breach|nearest its limit|smallest buffer|thinnest buffer|least buffer",
    ("worst", ""): "worst|poorest",
    ("best", ""): "best",
    ("most", "cushion"):
        "most cushion|largest cushion|widest cushion|most headroom|most room|biggest cushion|greatest cushion|"
        "largest headroom|biggest headroom|widest headroom|highest cushion|furthest from its limit|"
        "furthest from the limit|fattest cushion",
}  # fmt: skip

AGGREGATES: Final = {
    "average": "average|mean|avg|weighted average|wa|par weighted|weighted|par weighted average|weighted avg|"
    "weighted mean|typical",
    "simple": "simple average|unweighted|unweighted average|arithmetic average|arithmetic mean|straight average|"
    "simple mean|equal weighted average|equally weighted average",
    "median": "median|middle|median loan",
    "total": "total|sum|aggregate|combined|altogether|together|all together|sum of|totals|overall total|add up|"
    "cumulative",
}

COMPARISONS: Final = {
    ">": "above|over|more than|greater than|exceed|exceeding|higher than|larger than|bigger than|>|north of|"
    "in excess of|wider than|better than|longer than|older than|upwards of|beyond",
    ">=": "at least|>=|no less than|not less than|minimum of|not below|or more than|starting at",
    "<": "below|under|less than|lower than|<|fewer than|smaller than|cheaper than|south of|tighter than|worse than|"
    "shorter than|short of|sub|beneath",
    "<=": "at most|<=|no more than|not more than|up to|not above|maximum of|not over|not exceeding",
    "=": "equal to|exactly|=|equal|at exactly|precisely",
    "before": "before|prior to|earlier than|ahead of|sooner than",
    "after": "after|later than|past|following|subsequent to",
    "by": "until|through|by the end of|no later than|on or before|by end of|not later than",
    "from": "since|from|on or after|starting|beginning|from the start of",
    "in": "during|in the year|in calendar year|calendar year",
    "within": "within|in the next|over the next|next|in the coming|within the next|during the next|in less than|"
    "over the coming|coming|the coming",
    "between": "between",
}

OR_SO: Final = {
    ">=": "or more|or higher|or above|or over|or greater|and above|or larger|and over|and higher|or up|and up|"
    "or longer",
    "<=": "or less|or lower|or below|or under|and below|or fewer|or smaller|and under|and lower|or down",
    "worse": "or worse|and worse|or weaker",
    "better": "or better|and better|or stronger",
}

CHANGES: Final = {
    "change": "moved by|changed by|change by|go up or down|up or down|increase or decrease|"
    "rise or fall|better or worse|improve or worsen|went up or down|change|changed|changing|"
    "move|moved|movement|differ|delta|evolve|evolved|develop|developed|shift|shifted|"
    "development|changes",
    "up": "rose by|increased by|gained|rise by|went up by|up by|increase|increased|rise|rose|"
    "risen|grow|grew|grown|went up|gone up|up|climb|climbed|gained|raised|higher|jump|"
    "jumped|go up|rising|increasing|growing|widened|widen|rally|rallied|wider|appreciated|"
    "improved in price|went higher",
    "down": "down|fell by|dropped by|declined by|decreased by|fall by|drop by|went down by|down by|"
    "drop of|decline of|fall of|drop in|fall in|decline in|decrease|decreased|fall|fell|"
    "fallen|drop|dropped|decline|declined|went down|gone down|shrink|shrank|shrunk|lost|"
    "go down|falling|decreasing|declining|reduced|lower|cut|tightened|slip|slipped|tighten|"
    "traded down|slid|sank|marked down|dropping|come down|came down|depreciated|lowered|"
    "traded off|drops",
    "better": "improve|improved|improving|strengthen|strengthened|get better|got better|improvement|gotten better",
    "worse": "worsen|worsened|worsening|deteriorate|deteriorated|weaken|weakened|get worse|got worse|deteriorating|"
    "deterioration|gotten worse|erode|eroded",
}

MOVES: Final = {
    "added":
        "was bought|were bought|was added|been bought|been added|did we add|did we buy|new|newly added|"
        "added|new to the portfolio|entered|joined|newly purchased|bought|purchased|acquired|"
        "came in|come in|were added|additions|new purchases|purchases|new in the portfolio|"
        "new name|new loan|new position|buys|newly bought|arrived|new addition|addition",
    "removed":
        "was sold|were sold|been sold|was repaid|were repaid|sell|did we sell|sold|removed|"
        "exited|left|gone|dropped out|left the portfolio|no longer hold|"
        "no longer in the portfolio|sales|disappeared|paid off|repaid|prepaid|exit|rolled off|"
        "dropped out of the portfolio|disposed of|repaid in full|no longer held|fell out|"
        "no longer there|sell offs|departed|leave|came out of the portfolio|exits|rolled out",
    "downgraded":
        "downgraded|downgrade|downgrades|were downgraded|was downgraded|got downgraded|get downgraded|been downgraded|"
        "cut by moodys|rating cut|lower rating than|downgraded by|"
        "negative rating action|rating downgrade",
    "upgraded": "upgraded|upgrade|upgrades|rating upgrade|was upgraded|got upgraded|get upgraded|been upgraded|"
    "positive rating action|were upgraded",
    "rerated":
        "rating change|rating migration|rating changes|changed rating|rating moves|rating action|migrated|"
        "migration|rerated|ratings changed|rating movement",
    "paid_down":
        "paid down|pay down|paydown|partially repaid|amortized|amortised|paydowns|partly repaid|par decreased|"
        "par fell|par went down|lower par|par was reduced|repayment|prepayment",
    "repriced":
        "repriced tighter|repriced wider|repriced lower|repriced higher|repriced|spread changed|"
        "repricing|repricings|spread cut|spread fell|spread was cut|spread decreased|"
        "tighter spread|had their spread cut|spread reduced|spread reduction|"
        "had their spread reduced",
    "entered":
        "fell into|fall into|fallen into|moved into|move into|migrated into|went into|dropped into|slipped into|"
        "entered the|downgraded into|downgraded to|migrated to|dropped to|slipped to|moved to|newly rated|cut to|"
        "newly in",
    "newly_defaulted": "newly defaulted|new default|defaulted since|went into default|new defaults|entered default",
}  # fmt: skip

PERIODS: Final = {
    "change":
        "since last month|versus last month|vs last month|compared to last month|compared with last month|"
        "from last month|over the last month|over the month|month over month|month on month|since the last report|"
        "against last month|since the previous month|relative to last month|from the previous month|"
        "over the past month|since the prior month|vs the previous month|versus the previous month|"
        "since the last one|compared to the previous month|mom|this month|since the previous report|"
        "from one month to the next|during the month|during the last month|vs prior month|versus prior month|"
        "compared to prior month|month to month|since the last period|in the last month|since then|"
        "compared with the previous month|compared to the prior month|from a month ago|since a month ago|"
        "versus march|relative to the previous month|since the last month|vs the prior month|"
        "versus the prior month|in the past month|since last period|since the last file|since the previous file|"
        "over last month|than last month|than a month ago|between last month and this month|"
        "from last month to this month|in the month|since the last run|since last report|since prior month|"
        "since previous month|vs previous month|versus previous month|from the prior month|from prior month|"
        "compared with prior month|compared to previous month",
    "previous":
        "last month|previous month|prior month|a month ago|last report|previous report|one month ago|month ago|"
        "prior period|at the end of last month|in the previous month|in the prior month|the month before|"
        "last period|as of last month",
}  # fmt: skip

HISTORY: Final = (
    "trend|trended|over time|history|historical|historically|time series|evolution|trajectory|past runs|"
    "over past runs|over the runs|trending|track record|from run to run|over the last few months|recent months|"
    "in recent months|over the past few months|past few months|last few months|over the year|so far this year|"
    "all runs"
)
"""What asks for a test over the stored runs."""

ACTIONS: Final = {
    "sell":
        "would we get for|do we get for|we get for|sell|selling|sale of|sale|dispose of|get rid of|offload|exit|exiting|we sell|we sold|sold|liquidate|"
        "selling off|dump|remove|removing|trade out of|were sold|was sold|disposing of|drop out",
    "buy": "buy|buying|purchase|purchasing|purchase of|adding|add|bought|acquire|acquiring|we add|put on|invest",
    "downgrade":
        "downgrade|downgraded|downgrading|be downgraded|gets downgraded|were downgraded|was downgraded|"
        "is downgraded|downgrade of|cut|cut to|lowered to|fall to|drop to|falls to|slip|slips|slip to|migrate to|"
        "get cut to|downgraded to|get downgraded|got downgraded|are downgraded|downgrade to|is cut to|are cut to|"
        "lowered|move to|moved to|get cut|were cut|is cut|are cut|falls|slips to|gets cut to|goes to|go to|"
        "drops to|becomes|become|go down|goes down|went down|move down|moves down",
    "upgrade":
        "upgrade|upgraded|upgrading|upgrade of|get upgraded|is upgraded|are upgraded|were upgraded|was upgraded|"
        "upgraded to",
    "default":
        "default|defaults|defaulted|go into default|goes into default|were to default|default of|in default|"
        "defaulting|went into default|fail to pay|go bankrupt|goes bankrupt|went bust|go bust|bankruptcy of|"
        "go under|filed for bankruptcy|file for bankruptcy|goes bust|is defaulted|are defaulted|were defaulted|"
        "files for bankruptcy",
    "price_down":
        "mark down|mark down|marked down|marks fall|fall by|drop by|decline by|lose|price shock|"
        "haircut|traded down|trade down|mark drop|marks drop|marks decline|price fell by|"
        "falls by|drops by|fell|dropped|sell off|down by|fall in price|drop in price|fall|"
        "drop|decline|prices were|were marked down|was marked down|"
        "decrease by|lost|market drop|market fall|the market drop|the market fall",
    "price_up":
        "rally by|rally|rise by|mark up|prices recover|gain|marks rise|increase by|go up by|"
        "rose|recover|up by|prices rallied|rise|rallied",
    "price_to":
        "marked at|price fall to|price drop to|prices fall to|prices drop to|trade at|marked to|mark at|"
        "were marked at|priced at|were priced at|marked down to|price went to|price were|price is|price was|"
        "mark to|falls to a price of|trades at",
    "repay":
        "repay|repaid|prepay|prepaid|pay off|paid off|repays|prepays|pays off|redeem|is redeemed|refinanced|"
        "get repaid|is repaid|are repaid|prepay at par|repay at par|get taken out|taken out|were repaid|was repaid|"
        "gets repaid|gets prepaid",
}  # fmt: skip

IF: Final = (
    "if|what if|what would happen if|what happens if|suppose|supposing|assume|assuming|in case|assuming that|"
    "suppose that|were to|what happens to|what would happen to|impact of|effect of|effect on|impact on|"
    "what does it do to|what would it do to|if we were to|what happens when|if i|say we|what does|consequence of|"
    "consequence|pro forma for|pro forma|hypothetically|scenario where|what would that do to|where does|"
    "where would|in the event of|in the event that|scenario|impact|effect|simulate|what would happen|what happens|"
    "stress|shock|how would|what would|would|happen to|will|what will|how will"
)
"""What says that something is only supposed."""

ROOM: Final = (
    "how much room is left|how much room is left in|how much room is left for|how much room in|"
    "room is left in|we can hold|we may hold|how much more|how many more|how much additional|"
    "can we buy|can we add|could we buy|could we add|can i buy|can we still buy|can we take|"
    "can we still add|can we hold|may we buy|may we add|can be added|can be bought|"
    "how much can we add|how much can we buy|room for|room to buy|room to add|how much room for|"
    "capacity to buy|capacity to add|capacity for|headroom for|room left for|can we sell|"
    "before we hit|before we breach|before we fail|before breaching|before hitting|"
    "before failing|before the test fails|before it fails|before we trip|before tripping|"
    "before we reach|can the deal take|can the portfolio take|until we hit|can we put in|"
    "before it breaches|before the test is failed|before we exceed|before exceeding|"
    "before reaching|can the deal still take|before breach|before the bucket is full|is full|"
    "before it is full|until it is full|until the bucket is full|before the basket is full|"
    "before we are at the limit|without breaching|without failing|can we purchase|"
    "could we purchase|can we still purchase|until we breach|can we go"
)
"""What asks how much more of something there may be."""

NOT: Final = (
    "not|non|excluding|except|except for|other than|excluding the|ex|exclude|outside|outside of|apart from|"
    "without counting|but not"
)
WITHOUT: Final = (
    "without|no|missing|lack|lacking|have no|has no|with no|do not have|does not have|blank|empty|with missing|"
    "not have|without any"
)
NOT_KNOWN: Final = (
    "as a percentage of the limit|as a percent of the limit|as % of the limit|"
    "as a percentage of its limit|in percent of the limit|as a percentage of limit|loan to value|"
    "ltv|net asset value|nav|yield to maturity|expected loss|equity distribution|equity value|"
    "split rated|split rating|interest rate risk|discount margin|equity return|default rate|"
    "recovery rating|rating outlook|prepayment rate|cpr|cdr|loss given default|subordination|"
    "duration|convexity|leverage|ebitda|sponsor"
)
"""What analysts ask and no file of holdings says."""

MONTHS_BACK: Final = "last|past|previous|over the last|over the past|in the last|in the past"

PER: Final = (
    "by|per|each|every|across|break down|broken down by|break down by|split by|breakdown by|distribution by|"
    "grouped by|group by|for each|for every|by each|distribution of|breakdown of|split|breakdown|distribution|"
    "composition|mix|broken out by|break out by|stratify|stratification|profile|broken down|split out by|"
    "allocation by|divided by|bucketed by|sliced by|composition by|mix by|in each|in every|of each"
)
COMPARE: Final = (
    "split between|breakdown between|compare|versus|vs|compared to|compared with|against|"
    "difference between|relative to|comparison of|comparison|and how does it compare to|"
    "stack up against|difference in|differ from|gap between|as opposed to"
)
WHY: Final = (
    "why|explain|reason|driver|what drove|driven|cause|drive|what caused|what moved|due to what|because|"
    "what is driving|behind|reason for|contributor|contribute|contributed|contributing|what explains|drove"
)

FACTS: Final = {
    "principal_cash":
        "principal cash|cash left|cash is left|cash do we raise|cash would we raise|cash will we raise|what does it cost|"
        "what would it cost|cash|cash balance|principal account|principal proceeds|uninvested cash|cash position|"
        "principal collection account|cash on hand",
    "as_of":
        "as of date|as of|report date|reporting date|determination date|date of the figures|which day|what date|"
        "data as of|figures as of|date of the data|day are the figure of|as of day|what day|how old|dated|"
        "how recent",
    "reinvestment_end":
        "reinvestment period|end of the reinvestment period|reinvestment end|reinvestment end date|"
        "reinvestment period end|reinvesting|end of reinvestment|reinvestment period over",
    "closing_date": "closing date|close date|when did the deal close|deal close|issue date of the deal",
    "stated_maturity":
        "legal final|legal maturity|deal maturity|legal final maturity|maturity of the deal|maturity of the notes|"
        "stated maturity of the deal|stated maturity of the notes|deal final maturity|when does the deal mature",
    "next_payment": "next payment date|payment date|next payment|next distribution|next distribution date",
    "base_rate": "base rate|sofr|current sofr|benchmark rate|reference rate level",
    "deal_currency": "deal currency|reporting currency|base currency",
    "collateral_principal_amount":
        "collateral principal amount|cpa|aggregate collateral balance|total collateral|par plus cash|par and cash|"
        "total assets|par including cash|par with cash|acb|collateral balance",
    "adjusted_collateral_principal_amount":
        "adjusted collateral principal amount|acpa|oc numerator|adjusted par|adjusted collateral|"
        "numerator of the oc",
    "senior_fees": "senior fees|senior fee|senior expense",
    "interest_collected": "interest collected|interest received|interest proceeds|interest cash",
    "liabilities":
        "total debt|total liabilities|total notes outstanding|notes outstanding|debt outstanding|rated debt|"
        "liabilities|total rated debt|total note balance|liability total",
    "ccc_haircut": "ccc haircut|haircut for ccc|ccc haircut amount|caa haircut|haircut on ccc|haircut of the ccc loan",
    "ccc_excess": "ccc excess|excess ccc|caa excess",
    "defaulted_carried": "carrying value of defaulted|carried value of defaulted|carrying value of the default",
}  # fmt: skip

DATA: Final = {
    "missing": "data is missing|data are missing|what data is missing|data missing|missing|data gap|gap|data quality|"
    "incomplete|missing data|data issue|data problem|data quality issue|data quality problem|missing field|"
    "missing column|column missing|column absent|missing value|blank field",
    "warnings": "warning about the data|data warning|caveat|assumption|doubt about the data|trust the data|caveats|"
    "assumptions|reliable|assumed",
    "breaks": "trustee break|break|trustee difference|break with the trustee|reconciliation break|discrepancy|"
    "reconciliation|trustee|reconcile|reconciliation issue|discrepancies|trustee tape|"
    "differences with the trustee|difference to the trustee",
}

AGENCIES: Final = {
    "a": "moodys|by moodys|moody|from moodys|at moodys|for moodys|on moodys scale|moodys scale|per moodys",
    "b": "sp|by sp|from sp|at sp|for sp|on sp scale|sp scale|per sp|s and p",
    "c": "fitch|by fitch|from fitch|at fitch|for fitch|fitch scale|per fitch",
}
BY: Final = {
    "rating_a": "by moodys rating|per moodys rating|by moodys|each moodys rating|by moodys rating bucket|"
    "by moodys letter|for each moodys rating|across moodys rating|by moodys rating category",
    "rating_b": "by sp rating|per sp rating|by sp|each sp rating|by sp rating bucket|for each sp rating|"
    "across sp rating|by sp rating category",
    "rating_c": "by fitch rating|per fitch rating|by fitch|each fitch rating|by fitch rating bucket|"
    "for each fitch rating|by fitch rating category",
}
CALENDAR: Final = {
    "this_year": "this year|this calendar year|the current year|in the current year|the rest of the year|"
    "the remainder of the year",
    "next_year": "next year|next calendar year",
}
MORE: Final = {
    "most": "bigger|larger|greater|higher|more|wider|longer|better priced",
    "least": "smaller|lower|fewer|less|cheaper|tighter|shorter|thinner|slimmer",
}
"""Of two things that are set beside each other."""
ORDINALS: Final = {
    "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
NUMBERS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "dozen": 12, "a couple": 2, "couple": 2,
}  # fmt: skip

ASKS: Final = {
    "list": "summarise|summarize|summary of|summary|which|who|list|show|show me|give me|name|what are|tell me which|display|enumerate|identify|find|see|"
    "pull up|pull|whose",
    "much": "how much|how large|how big|what amount|how high|how low|how long|how wide|how heavily",
    "when": "when|by when",
    "where": "where",
    "hold": "hold|holding any|own|have any|holdings in|held|do we have|any exposure|invested in|"
    "in the portfolio|in our portfolio|on the book|in the book|in the pool|owned|are there any|is there any|"
    "are there|is there|in there",
    "yes": "is|are|do|does|did|has|have|can|could|am",
}

FILLER: Final = (
    "in basis points|in bps|in bp|in years|the|a|an|of|in|on|at|to|for|with|is|are|be|been|being|"
    "our|my|we|us|i|me|you|your|it|its|they|them|their|there|here|this|that|these|those|please|"
    "tell|now|right now|currently|current|presently|today|at present|at the moment|so|then|also|"
    "just|have|has|had|do|does|did|what|how|am|can|could|may|might|as|from|into|out|all|any|both|"
    "who|which|whose|where|when|about|get|got|give|want|need|know|like|would like|let|see|show|"
    "quick|quickly|exactly|really|actually|roughly|approximately|approx|about how|our own|s|t|"
    "was|were|if any|if there are any|per cent of|out of|hello|hi|hey|thanks|thank|ok so|kind|"
    "term|basis|by how much|each of|if|else|made|make|put|it is|up to now|still|already|on our|"
    "in our|sit|sitting|represent|representing|account|accounted|account for|make up|belong|"
    "belonging|comprise|consist|constitute|worth|worth of|carry|carrying|come|go|going|run|"
    "running|being held|latest|most recent|newest|look|looking|look at|take|please show|say|one|"
    "ones|that is|that are|who are|who is|which is|which are|that have|that has|with a|having|"
    "a total|for me|in place|based|domiciled|located|incorporated|type|kind of|sort of|amongst|"
    "among|lent|lend|lending|lent to|exist|end|over all|own|give me|back|against it|against its|"
    "against the|against their|its own|own limit|versus the limit|vs limit|relative to its limit|"
    "vs its limit|versus its limit|versus limit|against limit|level of|value of|bucket|basket|"
    "in full|pay|earn|doing|do on|in terms of|measured by|with respect to|in"
)
"""Words that change nothing."""

INDUSTRY_WORDS: Final = {
    "technology|tech|software|high tech": "High Tech Industries",
    "pharma|pharmaceutical|health care|healthcare|health": "Healthcare & Pharmaceuticals",
    "telecom|telco|telecommunication": "Telecommunications",
    "financial|insurance|banking|finance|bank|real estate": "Banking, Finance, Insurance & Real Estate",
    "aerospace|defense|defence": "Aerospace & Defense",
    "auto|automotive|automobile|car": "Automotive",
    "food|beverage|tobacco": "Beverage, Food & Tobacco",
    "chemical|plastic|rubber": "Chemicals, Plastics & Rubber",
    "construction|building|building material": "Construction & Building",
    "packaging|container|glass": "Containers, Packaging & Glass",
    "oil and gas|oil gas|oil|energy oil and gas": "Energy: Oil & Gas",
    "gaming|leisure|hotel|lodging|casino": "Hotel, Gaming & Leisure",
    "business service": "Services: Business",
    "consumer service": "Services: Consumer",
    "metal|mining": "Metals & Mining",
    "retailer|retail": "Retail",
    "capital good|capital equipment|machinery": "Capital Equipment",
    "paper|forest product": "Forest Products & Paper",
    "environmental": "Environmental Industries",
    "broadcasting": "Media: Broadcasting & Subscription",
    "advertising|printing|publishing": "Media: Advertising, Printing & Publishing",
    "durable consumer good|consumer durable": "Consumer goods: Durable",
    "non durable consumer good|consumer non durable|consumer nondurable": "Consumer goods: Non-durable",
}
"""What people say for an industry of the standard list."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a phrase can mean."""

    kind: str
    value: object


def _entries() -> Iterator[tuple[str, Meaning]]:
    for name, quantity in QUANTITIES.items():
        yield quantity.words, Meaning("quantity", name)
    for kind, table in (
        ("group", GROUPS), ("flag", FLAGS), ("test", TESTS), ("category", CATEGORIES), ("aspect", ASPECTS),
        ("status", STATUSES), ("aggregate", AGGREGATES), ("comparison", COMPARISONS), ("or_so", OR_SO),
        ("change", CHANGES), ("move", MOVES), ("period", PERIODS), ("action", ACTIONS), ("fact", FACTS), ("data", DATA),
        ("ask", ASKS), ("agency", AGENCIES), ("calendar", CALENDAR), ("more", MORE), ("by", BY),
    ):  # fmt: skip
        for value, words in table.items():
            yield words, Meaning(kind, value)
    for way, words in SUPERLATIVES.items():
        yield words, Meaning("superlative", way)
    for kind, words in (
        ("whole", WHOLE), ("if", IF), ("room", ROOM), ("not", NOT), ("without", WITHOUT), ("per", PER),
        ("compare", COMPARE), ("why", WHY), ("history", HISTORY), ("back", MONTHS_BACK), ("filler", FILLER), ("or", "or|plus"),
        ("unknown", NOT_KNOWN), ("rater", "rate|rates"), ("than", "than"), ("senior", "senior"), ("first", "first"), ("months", "months|in months"),
        ("meager", "so thin|thin|so tight|so low|so small|small|low|so high|high|so large|so weak"), ("fraction", "half|half of"), ("swap", "swap|replace|exchange|switch"), ("and", "and|as well as|along with"),
    ):  # fmt: skip
        yield words, Meaning(kind, kind)
    for word, number in ORDINALS.items():
        yield word, Meaning("ordinal", number)
    for word, number in NUMBERS.items():
        yield word, Meaning("numeral", number)


@cache
def phrases() -> dict[tuple[str, ...], tuple[Meaning, ...]]:
    """Every phrase by its stems -> what it can mean."""
    found: dict[tuple[str, ...], dict[Meaning, None]] = {}
    for words, meaning in _entries():
        for phrase in words.split("|"):
            if stems := stems_of(phrase):
                found.setdefault(stems, {})[meaning] = None
    return {stems: tuple(meanings) for stems, meanings in found.items()}


def stems_of(phrase: str) -> tuple[str, ...]:
    """A phrase as the tokens of a question are written."""
    return tuple(word for token in tokens_of(phrase) for word in token.text.split())


@cache
def longest_phrase() -> int:
    """Words of the longest phrase."""
    return max(map(len, phrases()))
