"""Words of the names of instruments, shares and industries."""

from __future__ import annotations

import re
from typing import Final

from core.portfolio.cells.string_pool import key

LENGTH_MAX: Final = 160
"""Characters of a text that is looked at; a longer one is prose."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DEBT: Final = _words(
    "loan loans tl tla tlb tlc tld tlb1 tlb2 tlb3 tlb4 revolver revolvers revolving rcf rc facility facilities note"
    " notes bond bonds ddtl dd unitranche lien 1l 2l debt debenture debentures mezzanine mezz frn frns fac ssn ssns"
    " sub subordinated superpriority tlx"
)
"""Words of which the name of a debt instrument has one."""

EQUITY: Final = _words(
    "equity equities stock stocks share shares warrant warrants unit units membership partnership partner partners"
    " preferred common ordinary"
)
"""Words of which the name of a share has one."""

_EQUITY_ALONE: Final = _words("equity equities stock stocks shares warrant warrants units unit share")
"""Words that make a share of any name of an instrument without a word for debt."""

_INTEREST: Final = _words("interest interests")
_OWNED: Final = _words("lp llc llp membership member members partnership partner partners")
"""Words of whom an interest makes a share."""

_ABOUT: Final = _words(
    "a b c d e f g h i ii iii iv first second third term senior snr sr secured unsecured junior jr out last in of the"
    " and for to delayed draw drawn undrawn funded unfunded incremental initial tranche credit line letter letters"
    " swingline acquisition capex bridge pik toggle eur euro euros usd dollar dollars gbp sterling chf sek nok dkk"
    " aud cad us add on new replacement refinancing refi extended extension amended amendment restated repriced"
    " repricing multicurrency multi currency floating fixed rate due holdco opco super priority exit dip debtor"
    " possession additional original other investment investments cash interest interests class series participating"
    " convertible non voting llc lp limited member members profits llp llc's redeemable cumulative option options"
    " right rights escrow collateral purchase institutional covenant lite cov libor sofr euribor sonia prime plus"
    " commitment commitments portion part no security securities obligation obligations stub takeback tack mirror"
    " side car local closing date"
)
"""Words beside them that name no company."""

_NUMBER: Final = re.compile(r"(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)?|[a-z]\d{1,2}|tl[a-z]?\d{0,2}")
"""A year, a number, and the number of a class or a tranche beside them."""

_INDUSTRY: Final = _words(
    "aerospace defense defence automotive automobiles automobile components banking banks finance financial"
    " financials insurance real estate beverage beverages food tobacco capital equipment goods chemicals plastics"
    " rubber construction building consumer durable durables nondurable containers packaging glass energy electricity"
    " oil gas environmental industries forest products paper healthcare health care pharmaceuticals pharmaceutical"
    " biotechnology life sciences high tech technology hotel hotels gaming leisure lodging restaurants casinos media"
    " advertising printing publishing broadcasting subscription diversified production metals mining retail retailing"
    " retailers services business sovereign public telecommunications telecommunication telecom transportation cargo"
    " utilities utility electric water wholesale software hardware semiconductors semiconductor information"
    " communications communication entertainment providers supplies commercial professional household personal"
    " apparel textiles luxury machinery industrial industrials materials distributors distribution trading companies"
    " conglomerates airlines air freight logistics marine road rail infrastructure internet computers electronics"
    " electronic instruments engineering education cable satellite drugs cosmetics toiletries staples discretionary"
    " it interactive wireless independent power renewable renewables fuels consumable specialty specialized markets"
    " management development reits reit trusts mortgage thrifts farming agriculture agricultural ecological sports"
    " manufacturing manufacturers surface transport shipping grocery drug fuel facilities tools multiline"
    " homebuilding home furnishings product industry sector buildings leasing staffing waste travel"
)
_JOINING: Final = _words("and of the other non general misc miscellaneous except excluding etc corp or")

_OF_POOLS: Final = _words(
    "total totals sum subtotal grand overall aggregate all portfolio portfolios pool pools par face amount amounts"
    " balance balances principal value market notional holding holdings group groups company issuer issuers obligor"
    " obligors borrower borrowers position positions asset assets deal fund clo cdo page report count average avg"
    " weighted wtd source bloomberg markit moodys moody s p sp fitch rated rating unrated nr wr ccc caa caa1 caa2"
    " caa3 ba1 ba2 ba3 bb bbb spread coupon price maturity wal warf was outstanding current performing defaulted"
    " default excess adjusted eligible ineligible number per by from with at as lines europe european north america"
    " american asia world rest uk area region country countries state sectors level net gross liabilities exposure"
    " exposures concentration"
)
"""Words of what a total is of, besides those above."""


def is_of_pools(line: str) -> bool:
    """Return whether a key has only words of what a total is of: "first lien loans"."""
    words = line.split()
    known = (DEBT, EQUITY, _ABOUT, _INDUSTRY, _JOINING, _OF_POOLS)
    return len(line) > LENGTH_MAX or all(
        any(word in names for names in known) or _NUMBER.fullmatch(word) is not None or word.isdigit() for word in words
    )


def only_instrument(line: str) -> bool:
    """Return whether a key has an instrument's words alone: "first lien term loan"."""
    words = line.split()
    if (
        not words
        or len(line) > LENGTH_MAX
        or (DEBT.isdisjoint(words) and EQUITY.isdisjoint(words) and "term" not in words)
    ):
        return False
    return all(word in DEBT or word in EQUITY or word in _ABOUT or _NUMBER.fullmatch(word) for word in words)


def has_instrument(line: str) -> bool:
    """Return whether a key names a debt instrument, or the year it is due."""
    words = line.split()
    return not DEBT.isdisjoint(words) or "term" in words or any(_TERM.fullmatch(word) for word in words)


_TERM: Final = re.compile(r"tl[a-z]?\d{0,2}|b\d{1,2}|ddtl\d?")


def is_equity(line: str) -> bool:
    """Return whether a key names shares and no debt: "common stock", "llc units".

    A company may have such a word in its name, so all words are those of shares.
    """
    words = line.split()
    if not words or len(line) > LENGTH_MAX or not DEBT.isdisjoint(words) or "term" in words:
        return False
    is_interest = not _INTEREST.isdisjoint(words) and not _OWNED.isdisjoint(words)
    if _EQUITY_ALONE.isdisjoint(words) and not is_interest:
        return False
    return all(word in EQUITY or word in _ABOUT or _NUMBER.fullmatch(word) is not None for word in words)


_CONTRACT: Final = re.compile(
    r"(?:(?:interest|rate|currency|cross|basis|credit|default|total|return|asset|inflation|fx|ir) )*swaps?"
    r"(?: contracts?| agreements?)?|(?:fx|foreign exchange|currency) (?:forwards?|spots?|hedges?)(?: contracts?)?"
    r"|forwards?(?: contracts?)?|(?:interest rate )?(?:swaptions?|hedges?)|hedging|derivatives?"
    r"|futures?(?: contracts?)?|cds|irs|(?:us |united states )?(?:treasury|t) (?:bills?|notes?|bonds?)|treasuries"
    r"|money (?:market|mkt)(?: (?:funds?|instruments?))?|mmf|liquidity funds?|commercial paper|repos?"
    r"|(?:reverse )?repurchase agreements?"
)
"""Types of contracts, and of cash that is invested."""

_FUND: Final = re.compile(
    r"\b(?:interest rate|currency|basis|credit default|total return|asset) swaps?\b"
    r"|\b(?:fx|foreign exchange) forwards?\b|\b(?:treasury|t) bills?\b|\bliquidity funds?\b"
    r"|\bmoney (?:market|mkt)\b|\bcash management$"
    r"|\b(?:govt|government|treasury)\b.*\b(?:portfolio|funds?|obligations)\b"
)
"""Words of the names of such things."""


def is_contract(line: str) -> bool:
    """Return whether a key is the type of a contract, a Treasury bill or a fund."""
    return len(line) <= LENGTH_MAX and _CONTRACT.fullmatch(line) is not None


def is_fund(line: str) -> bool:
    """Return whether a key has words for a money fund, a Treasury bill or a contract."""
    return len(line) <= LENGTH_MAX and _FUND.search(line) is not None


_FIGURES: Final = re.compile(
    r"[\s:\u2010-\u2015-]*(?:\(?(?:[$€£]?\d[\d.,]{0,20}\s?%?|continued|cont['.]?d?)\)?[\s:.\u2010-\u2015-]*){0,4}$",
    re.IGNORECASE,
)


def without_figures(text: str) -> str:
    """Return a heading less figures behind its name: "Software - 12.3 %"."""
    return _FIGURES.sub("", " ".join(text[:LENGTH_MAX].split()))


def is_industry(text: str) -> bool:
    """Return whether all words of a text are those of industries."""
    words = key(without_figures(text)).split()
    return (
        bool(words) and not _INDUSTRY.isdisjoint(words) and all(word in _INDUSTRY or word in _JOINING for word in words)
    )
