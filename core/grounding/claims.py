"""What a sentence asserts without a figure.

A status, a direction, a rating, a currency; and whether a fact says so.

A sentence is read by rows of words (`_ROWS`), each with the claim that it makes. A claim is supported where a fact
makes the same one of the same subject: a name that facts are about, or words of the fact's own sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.grounding.fact import KnownFact
from core.grounding.figures import CURRENCIES, NUMERALS, plain

SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=[^a-z])|\n")
"""What stands between two sentences."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a sentence asserts.

    `text[start:end]` are its words; `accepts` are the values of a fact that support it, of the same kind; `states` are
    those that it supports where a fact makes it.
    """

    kind: str
    accepts: frozenset[str]
    states: frozenset[str]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    values: tuple[str, ...]
    """What the claim is; behind it the stronger claims that include it."""
    negated: frozenset[str]
    """What the claim is with a "not" before it."""
    words: re.Pattern[str]


def _row(kind: str, values: str, negated: str, words: str) -> _Row:
    return _Row(
        kind, tuple(values.split()), frozenset(negated.split()), re.compile(rf"(?i)(?<![\w-])(?:{words})(?![\w-])")
    )


_EARLIER: Final = r"(?:before|last|in|at|the (?:month|quarter|year) before)"
_A_LIMIT: Final = r"(?:limits?|thresholds?|triggers?|requirements?|covenants?)"
_LIMITS: Final = rf"(?:its|the|all|their|every|each) (?:\w+ )?{_A_LIMIT}"
_BOUND: Final = (
    rf"(?:(?:its|the|that|their|all|any|a|every|what is) )?(?:[\w/-]+ )??"
    rf"(?:{_A_LIMIT}|maximum|minimum|caps?|ceilings?|floors?|required|allowed|permitted)"
)
"""What a figure has to stay above or below."""
_ABOVE: Final = (
    r"(?:above|over|in excess of|(?:higher|greater|more) than|exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|tops|topped)"
)
_BELOW: Final = r"(?:below|under|beneath|(?:lower|less) than|short of)"
_IS: Final = r"(?:is|are|was|were|looks?|looked|seems?|seemed|remains?|remained|stays?|stayed|turned)"
_ROOM: Final = r"(?:\w+ )?(?:headroom|cushions?|room)"
_BY_WHOM: Final = r"(?:by (?:Moody's|S&P|Fitch|the agenc(?:y|ies)))"
_AGENCY: Final = r"(?:Moody's|S&P|Fitch)(?: has| have)?"
_MOVES: Final = (
    r"(?:edg|tick|inch|creep|mov|trend|drift|head|push|shift|nudg|step|shoot)(?:es?|s|ed|ing)?"
    r"|(?:crept|shot|c[oa]me|coming|go|gone|got|went)"
)
"""What goes up or down."""
_ROWS: Final = (
    _row(
        "verdict", "pass", "fail",
        r"pass(?:es|ed|ing)?|satisf\w+|meets?|met|compl(?:y|ies|ied|iant)|in compliance|cured?|clears?|cleared"
        rf"|(?:within|inside) {_LIMITS}|in good (?:standing|shape)|in the green|ok(?:ay)?|healthy|onside|on side"
        r"|within (?:tolerance|bounds)|sufficient|adequate|acceptable|tolerable|unproblematic|success(?:ful)?"
        rf"|respect(?:s|ed|ing)? {_LIMITS}|conform(?:s|ed|ing)?|holds(?: up)?(?=[.,;]|$)|to spare"
        rf"|(?:(?<=\bis )|(?<=\bare )|(?<=\blooks )|(?<=\blook )|(?<=\bremains )|(?<=\bstays ))"
        r"(?:fine|good|green|sound|safe|solid|well|in order|on track)"
        rf"|ha(?:s|ve) (?:(?:a|some|ample|plenty of|enough|comfortable) ){{1,2}}{_ROOM}(?! (?:of|is) (?:[-−]|minus))"
        rf"|ha(?:s|ve) {_ROOM}(?! (?:of|is) (?:[-−]|minus))(?<!no headroom)(?<!no cushion)(?<!no room)",
    ),
    _row(
        "verdict", "fail", "pass",
        r"fail(?:s|ed|ing|ures?)?|(?:in )?breach(?:es|ed|ing)?|(?:in )?violat\w+|non-?complian\w+|out of compliance"
        r"|flunk(?:s|ed)|insufficient|inadequate|unacceptable|excessive|too (?:high|low)|unsuccessful|broken"
        r"|(?:lost|loses) compliance"
        rf"|trip(?:s|ped)|falls? short|fell short|fallen short|miss(?:es|ed)|outside(?: of)? {_LIMITS}|in the red"
        rf"|(?:beyond|past) {_LIMITS}|cross(?:es|ed) {_LIMITS}|br(?:eaks?|oke|oken) {_LIMITS}|under ?water"
        r"|off-?side|off side|out of (?:bounds|line)|non-?conforming|in trouble|(?:(?<=\bis )|(?<=\bare ))red"
        rf"|(?:has|have|with|leav(?:es?|ing)) (?:no|zero) {_ROOM}|lack(?:s|ed|ing)? {_ROOM}"
        rf"|(?:lost|exhausted|used up|eaten up) (?:its|the|all|their) {_ROOM}",
    ),
    _row(
        "verdict", "warning fail", "pass",
        r"problems?|(?:(?<=\ba )|(?<=\bany )|(?<=\bno )|(?<=\bthe )|(?<=\bfor )|(?<=\bof )|(?<=\braises )|(?<=\bmain ))"
        r"(?:concerns?|worry|worries)|at risk|in danger|under pressure",
    ),
    _row("verdict", "warning", "pass fail", r"warnings?|in (?:its|the) warning band|on watch"),
    _row("verdict", "skipped", "pass fail warning", r"skipped|not (?:run|tested)"),
    _row("position", "above", "below", rf"{_ABOVE} {_BOUND}"),
    _row("position", "below", "above", rf"{_BELOW} {_BOUND}"),
    _row("event", "of default", "", r"events? of default"),
    _row(
        "event", "diverted", "",
        r"(?:being|been|is|are|was|were) (?:\w+ )?(?:diverted|trapped|redirected)|diverts|trapping|cash-trapping",
    ),
    _row("credit", "performing", "defaulted", r"performing|current on (?:its|their|all)"),
    _row(
        "credit", "defaulted", "performing",
        r"in default|default(?:s|ed)|bankrupt\w*|in restructuring|insolven(?:t|cy)|non-?performing|delinquent"
        r"|in (?:administration|receivership|liquidation|arrears)|past due"
        r"|(?:went|gone) bust|stopped paying",
    ),
    _row("credit", "distressed defaulted", "performing", r"(?:is|are|was|were) (?:distressed|impaired)|in distress"),
    _row(
        "direction", "up", "down flat",
        r"rose|ris(?:es?|en|ing)|increas(?:es?|ed|ing)|grew|grow(?:s|n|ing)|gain(?:s|ed|ing)?|climb(?:s|ed|ing)?"
        r"|widen(?:s|ed|ing)?|jump(?:s|ed|ing)?|surg(?:es|ed|ing)|soar(?:s|ed|ing)?|rall(?:y|ies|ied)|rebound(?:s|ed)"
        r"|spik(?:es|ed)|swell(?:s|ed)|doubled|tripled|picked up"
        rf"|{_IS} (?:now )?up(?! to)|up (?:by|from|on|since)|higher than {_EARLIER}"
        rf"|(?:{_MOVES}) (?:up(?! to)|upwards?|higher)|{_IS} (?:now )?higher(?! than)",
    ),
    _row(
        "direction", "down", "up flat",
        r"fell(?! short)|fall(?:s|en|ing)?(?! short)|declin(?:es?|ed|ing)|decreas(?:es?|ed|ing)|drop(?:s|ped|ping)?"
        r"|shr[aiu]nk\w*|narrow(?:s|ed|ing)|tighten(?:s|ed|ing)|plung(?:es|ed|ing)|slid(?:es|ing)?|erod(?:es|ed|ing)"
        r"|dip(?:s|ped)|eas(?:es|ed|ing)|slip(?:s|ped|ping)|sank|sunk|slump(?:s|ed)|tumbl(?:es|ed)|retreat(?:s|ed)|halved"
        rf"|{_IS} (?:now )?down|down (?:by|from|on|since)|lower than {_EARLIER}"
        rf"|(?:{_MOVES}) (?:down|downwards?|lower|off)|{_IS} (?:now )?lower(?! than)",
    ),
    _row("direction", "flat", "up down", rf"unchanged|stable|flat|steady|constant|the same as {_EARLIER}"),
    _row(
        "trend", "better", "worse",
        r"improv(?:es?|ed|ing|ements?)|better|stronger|strengthen(?:s|ed|ing)|recover(?:s|ed|ing)",
    ),
    _row("trend", "worse", "better", r"wors(?:e|ens?|ened|ening)|deteriorat\w+|weaker|weaken(?:s|ed|ing)"),
    _row(
        "change of rating", "upgrade", "downgrade",
        rf"upgrad(?:es?|ed|ing)|{_AGENCY} (?:raised|lifted|raises|lifts)"
        rf"|(?:raised|lifted) (?:[\w+-]+ ){{0,4}}{_BY_WHOM}",
    ),
    _row(
        "change of rating", "downgrade", "upgrade",
        rf"downgrad(?:es?|ed|ing)|{_AGENCY} (?:lowered|cuts?|lowers)|(?:lowered|cut) (?:[\w+-]+ ){{0,4}}{_BY_WHOM}",
    ),
)  # fmt: skip
_MOVED: Final = re.compile(r"(?i)(?<![\w-])(?:moved|changed)(?![\w-])")
"""A direction that is not said."""
_RATING: Final = re.compile(
    r"(?<![\w/+-])(?:AAA|AA[+-]?|A[+-]|BBB[+-]?|BB[+-]?|B[+-]|CCC[+-]?|CC|Aaa|Aa[123]?|A[123]|Baa[123]?|Ba[123]?|B[123]"
    r"|Caa[123]?|Ca|(?:(?<=rated )|(?<=rating of )|(?<=rating )|(?<=rating is ))[ABCD])(?![\w+-])"
    r"|(?i:(?<!\w)(?:investment[- ]grade|(?:speculative|sub-investment)[- ]grade|junk|fallen angel|speculative"
    r"|high[- ]yield|unrated|not rated"
    r"|(?:credit ?)?watch (?:positive|negative)|rating (?:was |has been |is )?withdrawn|lost (?:its|their) ratings?"
    r"|(?:positive|negative|stable) outlook|outlook (?:is )?(?:positive|negative|stable))(?!\w))"
)
"""A rating, or a class of ratings."""
_SPELT_RATING: Final = re.compile(
    r"(?i)(?<!\w)(single|double|triple)[- ]([ABC])([+-](?!\w)|[- ](?:plus|minus))?(?![\w+])"
)
_MOODYS: Final = {
    "aaa": "aaa", "aa+": "aa1", "aa": "aa2", "aa-": "aa3", "a+": "a1", "a": "a2", "a-": "a3", "bbb+": "baa1",
    "bbb": "baa2", "bbb-": "baa3", "bb+": "ba1", "bb": "ba2", "bb-": "ba3", "b+": "b1", "b": "b2", "b-": "b3",
    "ccc+": "caa1", "ccc": "caa2", "ccc-": "caa3", "cc": "ca", "c": "c",
}  # fmt: skip
"""The scale of S&P and Fitch, from the best on, in that of Moody's."""
_SCALES: Final = (tuple(_MOODYS), tuple(_MOODYS.values()))
_MORE_CURRENCIES: Final = {
    "sterling": "GBP", "franc": "CHF", "francs": "CHF", "canadian dollar": "CAD", "australian dollar": "AUD",
    "c$": "CAD", "a$": "AUD", "ca$": "CAD", "au$": "AUD", "swedish kronor": "SEK", "norwegian kroner": "NOK",
    "danish kroner": "DKK",
}  # fmt: skip
_CURRENCY: Final = re.compile(
    rf"(?i)US\$|(?<!\w)(?:CA?|AU?)\$|[$€£¥]|(?<!\w)(?:(?:canadian|australian) dollar(?=s?(?!\w))"
    rf"|(?:{'|'.join(word for word in (*_MORE_CURRENCIES, *CURRENCIES) if word.replace(' ', '').isalpha())})(?!\w))"
)

NOT: Final = re.compile(r"(?i)(?:\bnot|n't|\bno longer|\bnever|\bwithout(?: a| any)?|\bno)(?:\s\w+){0,2}\s$")
"""What turns the word behind it into its opposite."""
_SUPPOSED: Final = re.compile(
    r"(?i)\b(?:if|were (?=\w+ to\b)|were (?:it|they|all)|would|could|(?-i:may)(?! \d)|might|can|should|until"
    r"|unless|before (?:it|they|the|any|one|a))\b"
)
"""A sentence on what may be."""
_IF: Final = re.compile(r"(?i)\b(?:if|unless|were (?=\w+ to\b)|were (?:it|they|all))\b")
_CONDITION: Final = re.compile(
    r"(?i)\b(?:if|unless|until|before (?:it|they|the|any|one|a)|beyond|when|whenever|were (?:it|they|all|the))\b"
    r"|\b(?:above|below|over|under) (?:its|the|that)\b"
)
"""With a word of `_SUPPOSED`: a sentence on what is not so."""
_ALL: Final = re.compile(
    r"(?i)\b(?:everything|everyone|all|every|each|both|any|fully|entirely|across the board|always)\b"
)
_NONE: Final = re.compile(r"(?i)\b(?:no(?! longer)|none|nothing|nobody|neither|zero)\b")
_REST: Final = re.compile(r"(?i)\b(?:other|others|rest|remaining|except|otherwise|apart from)\b")
_COUNTED: Final = re.compile(r"(?i)\b\d+ (?:tests? of \d+|of \d+ tests)\b[^:]*\b(?:fail\w*|pass\w*)")
"""A fact that tells how many tests of how many fail: the rest do not."""
_COUNT: Final = re.compile(rf"(?i)\d|\b(?:{'|'.join(NUMERALS)})\b")
_CLAUSE: Final = re.compile(r"(?i)[,;:()]|\b(?:and|but|while|whereas|although|though|because|since|so|yet)\b")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z&']*[+-]?|\d[\w.,%]*")
_CHANGE: Final = re.compile(r"from\s+\D{0,4}?([−-]?[\d.,]*\d)\D{0,12}?\s+to\s+\D{0,4}?([−-]?[\d.,]*\d)")
_SIGNED: Final = re.compile(r"(?:\bby|\bof|\(|:|\bare?|\bis)\s(?:[A-Z]{3} )?([+−-])\d")
_BOUND_OF_A_FACT: Final = re.compile(
    r"(?i)\b(at most|at least|(?:limit|threshold|trigger|maximum|minimum)(?: is| of)?)[: ]{1,2}"
    r"(?:[A-Z]{3} )?([\d.,]*\d)"
)
"""A limit, and its figure."""
_FIGURE_OF_A_FACT: Final = re.compile(
    r"(?i)(?:\bis|\bto|\bat|\bof|\bwith|:)\s(?:[A-Z]{3} )?([−-]?[\d.,]*\d)(?! \w+ \d{4})"
)
_BESIDE_A_FIGURE: Final = re.compile(
    rf"(?i)(?<![\w-])(?:({_ABOVE})|({_BELOW})) (?:the (?:required|allowed) )?(?:[A-Z]{{3}} |[$€£])?([\d.,]*\d)"
)
_RATED_FROM: Final = re.compile(r"\bfrom ([A-Z][A-Za-z]{0,2}[123+-]?) to ([A-Z][A-Za-z]{0,2}[123+-]?)(?![\w+])")
_DOUBT: Final = re.compile(r"(?i)\b(?:doubt\w*|uncertain\w*|unclear|disput\w+)")
"""What a sentence on a doubtful status says."""
_COUNTS_NONE: Final = re.compile(r"(?i)\bfail\w*|\bbreach\w*")

_EMPTY: Final = (
    "a an the this that these those it its itself they them their there here which who what is are was were be "
    "been being am do does did done has have had having will shall would could may might can should must and or "
    "but nor if then than as at by for from in into of off on onto out over to under up down upon with within "
    "without about above below after before between beyond during since until against not no never longer still "
    "now currently today yet already only just also too even both either neither each every all any some none "
    "nothing everything everyone other others rest remaining another's overall entirely fully comfortably "
    "narrowly clearly easily barely however therefore thus hence moreover furthermore additionally meanwhile yes "
    "test tests ratio ratios figure figures measure measures level levels deal deals portfolio portfolios pool "
    "book clo structure transaction requirement requirements limit limits threshold thresholds trigger triggers "
    "covenant covenants cushion headroom margin room points point percent bps required maximum minimum most least "
    "loan loans asset assets result results status month months quarter year years last previous prior run report "
    "value current one ones we our us you your so because while whereas although though when where how why very "
    "more less further namely said says say shows show showing means mean sits sit stands stand remains remain "
    "continues continue becomes become became stays stay is's it's isn't doesn't don't aren't way result's good "
    "bad main chief biggest major sole time period date across board whole entire position positions state "
    "states situation "
)
_EMPTY_WORDS: Final = frozenset(_EMPTY.split())
"""Words that name no subject."""
_QUALIFIERS: Final = frozenset(
    ("senior", "junior", "mezzanine", "subordinated", "largest", "smallest", "second", "third")
)
"""Words that make another test or loan of what they stand before."""
_SAME: Final = {
    "oc": "overcollateralisation", "overcollateralization": "overcollateralisation", "ic": "coverage", "warf": "warf",
    "was": "was", "industries": "industry", "obligors": "obligor", "countries": "country", "classes": "class",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _FactClaim:
    """A claim that a fact makes."""

    value: str
    words: frozenset[str]
    things: frozenset[str]
    is_sweeping: bool
    is_supposed: bool
    is_doubtful: bool
    """The fact says so itself: a sentence may claim the same only with a word of doubt."""


class Claims:
    """The claims of facts, and which sentences make others."""

    def __init__(self, facts: list[KnownFact], things: re.Pattern[str]) -> None:
        self._things = things
        self._known: dict[str, list[_FactClaim]] = {}
        self._words: set[str] = set()
        self._sentences: set[str] = set()
        self._counts_tests = False
        self._limits: set[float] = set()
        for fact in facts:
            everything = plain(f"{fact.text} {fact.about}")
            self._words |= _words(everything)
            self._counts_tests |= bool(_COUNTED.search(everything))
            for currency in (*_CURRENCY.findall(everything), fact.unit):
                if code := _currency(currency):
                    self._add("currency", code, everything)
            for sentence in SENTENCE.split(plain(fact.text)):
                self._sentences.add(sentence.strip())
                self._read(f"{sentence} {fact.about}" if fact.about not in sentence else sentence)
            if fact.value == 0 and _COUNTS_NONE.search(fact.text):
                self._add("verdict", "pass", "", is_sweeping=True)

    @property
    def currencies(self) -> frozenset[str]:
        """The codes of the currencies that facts name."""
        return frozenset(known.value for known in self._known.get("currency", ()))

    def unsupported(self, sentence: str, before: str) -> bool:
        """Return whether a sentence makes a claim that no fact supports.

        Args:
            before: the sentence in front of it, which "it" may speak of.
        """
        read = plain(sentence)
        if read.strip() in self._sentences:
            return False
        supposed = bool(_SUPPOSED.search(read))
        if supposed and _CONDITION.search(read):
            return any(not self._has(claim.kind, claim.accepts) for claim in _named_claims(read))
        at = 0
        for claim in sorted(
            (*_claims(read), *_named_claims(read), *self._beside_limits(read)), key=lambda claim: claim.start
        ):
            if not self._supports(claim, read, at, before, is_supposed=supposed):
                return True
            at = claim.end if claim.kind == "verdict" else at
        return bool(_MOVED.search(read)) and not supposed and "direction" not in self._known

    def _add(self, kind: str, value: str, text: str, *, is_sweeping: bool = False, is_supposed: bool = False) -> None:
        doubtful = bool(_DOUBT.search(text))
        known = _FactClaim(value, _words(text), self._things_in(text), is_sweeping, is_supposed, doubtful)
        self._known.setdefault(kind, []).append(known)

    def _read(self, sentence: str) -> None:
        """Take what a sentence of a fact claims, and the directions of its figures."""
        for claim in (*_claims(sentence), *_named_claims(sentence)):
            sweeping = not _subject(sentence, 0, claim)[0] and bool(
                _ALL.search(sentence, 0, claim.start) or _NONE.search(sentence, 0, claim.start)
            )
            supposed = _is_supposed(sentence, claim.start)
            for value in claim.states:
                self._add(claim.kind, value, sentence, is_sweeping=sweeping, is_supposed=supposed)
        for match in _CHANGE.finditer(sentence):
            first, second = (_number(figure) for figure in match.groups())
            if first is None or second is None:
                continue
            value = "flat" if first == second else "up" if first < second else "down"
            self._add("direction", value, sentence, is_supposed=_is_supposed(sentence, match.start()))
        for match in _SIGNED.finditer(sentence):
            value = "up" if match[1] == "+" else "down"
            self._add("direction", value, sentence, is_supposed=_is_supposed(sentence, match.start()))

        self._read_limits(sentence)
        for match in _RATED_FROM.finditer(sentence):
            old, new = (_rank(rating) for rating in match.groups())
            if old is not None and new is not None and old != new:
                self._add("change of rating", "downgrade" if old < new else "upgrade", sentence)

    def _read_limits(self, sentence: str) -> None:
        """Take on which side of its limit a figure is.

        By both, else by the verdict, else either.
        """
        verdicts = {value for claim in _claims(sentence) if claim.kind == "verdict" for value in claim.states}
        sides: set[str] = set()
        bound = _BOUND_OF_A_FACT.search(sentence)
        if bound is not None and (limit := _number(bound[2])) is not None:
            self._limits.add(limit)
            numbers = (_number(match[1]) for match in _FIGURE_OF_A_FACT.finditer(sentence, 0, bound.start()))
            known = [figure for figure in numbers if figure is not None]
            if known:
                sides = {"above"} if known[-1] > limit else {"below"} if known[-1] < limit else {"above", "below"}
            elif verdicts in ({"pass"}, {"fail"}) and bound[1].lower() in ("at most", "at least"):
                sides = {"below" if (verdicts == {"pass"}) == (bound[1].lower() == "at most") else "above"}
        if not sides and (bound is not None or verdicts & {"pass", "fail", "warning"}):
            sides = {"above", "below"}
        for side in sides:
            self._add("position", side, sentence, is_supposed=bool(_IF.search(sentence)))

    def _beside_limits(self, sentence: str) -> Iterator[Claim]:
        """Yield what a sentence says to be above or below a figure that is a limit."""
        for match in _BESIDE_A_FIGURE.finditer(sentence):
            if _number(match[3]) in self._limits:
                negated = bool(NOT.search(sentence, 0, match.start()))
                side = frozenset(("above" if (match[1] is not None) != negated else "below",))
                yield Claim("position", side, side, match.start(), match.end())

    def _things_in(self, text: str) -> frozenset[str]:
        return frozenset(self._things.findall(text.lower()))

    def _has(self, kind: str, accepts: frozenset[str]) -> bool:
        return any(known.value in accepts for known in self._known.get(kind, ()))

    def _supports(self, claim: Claim, sentence: str, at: int, before: str, *, is_supposed: bool) -> bool:
        facts = [known for known in self._known.get(claim.kind, ()) if is_supposed or not known.is_supposed]
        if claim.kind == "verdict" and not _DOUBT.search(sentence):
            facts = [known for known in facts if not known.is_doubtful]
        agreeing = [known for known in facts if known.value in claim.accepts]
        if claim.kind == "currency":
            return bool(agreeing)
        subject, window = _subject(sentence, at, claim)
        things = self._things_in(window)
        counted = _COUNT.search(window) is not None and not things
        if claim.kind in ("verdict", "credit") and not subject and not things:
            if _REST.search(sentence) and self._counts_tests:
                return True
            if _ALL.search(window) or _NONE.search(window) or re.search(r"(?i)\b(?:deal|portfolio|clo|pool)\b", window):
                return any(known.is_sweeping for known in agreeing)
        if not subject and not things:
            things = self._things_in(sentence[: claim.start]) or self._things_in(sentence) or self._things_in(before)
        if any(known.is_sweeping for known in agreeing):
            return True
        if things:
            return any(
                things & known.things or (subject and not known.things and subject <= known.words) for known in agreeing
            )
        if counted or not subject:
            return bool(agreeing)
        return self._supports_subject(claim, subject, window, facts)

    def _supports_subject(
        self, claim: Claim, subject: frozenset[str], window: str, facts: Sequence[_FactClaim]
    ) -> bool:
        """Return whether a fact of the words that a claim is about agrees, and none contradicts a claim on all."""
        strange = {word for word in subject if word not in self._words}
        if strange == subject or any(_is_name(word, window) for word in strange):
            return False
        answers = {known.value in claim.accepts for known in facts if subject - strange <= known.words}
        is_of_all = bool(_ALL.search(window) or _NONE.search(window))
        return True in answers and not (is_of_all and False in answers)


def _claims(sentence: str) -> Iterator[Claim]:
    for row in _ROWS:
        for match in row.words.finditer(sentence):
            clause = max((cut.end() for cut in _CLAUSE.finditer(sentence, 0, match.start())), default=0)
            negated = bool(NOT.search(sentence, clause, match.start()) or _NONE.search(sentence, clause, match.start()))
            accepts = row.negated if negated else frozenset(row.values)
            states = row.negated if negated else frozenset(row.values[:1])
            yield Claim(row.kind, accepts, states, match.start(), match.end())


def _named_claims(sentence: str) -> Iterator[Claim]:
    """Yield the ratings and currencies that a sentence names."""
    for match in _RATING.finditer(sentence):
        rating = frozenset((match[0].lower().replace("-grade", " grade"),))
        yield Claim("rating", rating, rating, match.start(), match.end())
    for match in _SPELT_RATING.finditer(sentence):
        letters = match[2].lower() * ("single", "double", "triple").index(match[1].lower()) + match[2].lower()
        sign = {"plus": "+", "minus": "-"}.get((match[3] or "").lower().strip(" -"), match[3] or "")
        written = (letters + sign,) if sign else (letters, f"{letters}+", f"{letters}-")
        ratings = frozenset(scale for name in written for scale in (name, _MOODYS.get(name, name)))
        yield Claim("rating", ratings, ratings, match.start(), match.end())
    for match in _CURRENCY.finditer(sentence):
        currency = frozenset((_currency(match[0]),))
        yield Claim("currency", currency, currency, match.start(), match.end())


def _currency(written: str) -> str:
    """Return the code of a currency; empty where it is none."""
    return _MORE_CURRENCIES.get(written.lower()) or CURRENCIES.get(written.lower(), "")


def _rank(rating: str) -> int | None:
    """Return the place of a rating on its agency's scale, the best first."""
    return next((scale.index(rating.lower()) for scale in _SCALES if rating.lower() in scale), None)


def _number(written: str) -> float | None:
    """Return None where it is none: 31.12.2025."""
    try:
        return float(written.replace(",", "").replace("−", "-").strip("."))
    except ValueError:
        return None


def _is_supposed(sentence: str, at: int) -> bool:
    """Return whether the clause of a place says what may be, or the sentence has an "if"."""
    cuts = [(cut.start(), cut.end()) for cut in _CLAUSE.finditer(sentence)]
    start = max((end for _, end in cuts if end <= at), default=0)
    end = min((start for start, _ in cuts if start >= at), default=len(sentence))
    return bool(_IF.search(sentence) or _SUPPOSED.search(sentence, start, end))


def _subject(sentence: str, at: int, claim: Claim) -> tuple[frozenset[str], str]:
    """Return the words that say what a claim is about, and the part of the sentence where they stand.

    They are those of its clause before it, else of the clause behind it, else of all before it.
    """
    cuts = [cut.end() for cut in _CLAUSE.finditer(sentence, at, claim.start)]
    behind = _CLAUSE.search(sentence, claim.end)
    windows = (
        sentence[max([at, *cuts]) : claim.start],
        sentence[claim.end : behind.start() if behind else len(sentence)],
        sentence[at : claim.start],
    )
    for window in windows:
        if words := _words(window):
            return words, window
    return frozenset(), f"{windows[2]} {windows[1]}"


def _words(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text) if not word[0].isdigit())
    return frozenset(
        _SAME.get(word, word)
        for word in words
        if word not in _EMPTY_WORDS and word not in NUMERALS and not any(row.words.fullmatch(word) for row in _ROWS)
    )


def _is_name(word: str, window: str) -> bool:
    """Return whether an unknown word may be a name.

    A letter, capitals, or a capital within the sentence.
    """
    written = re.search(rf"(?i)\b{re.escape(word)}(?!\w)", window)
    is_capital = written is not None and written.start() > 0 and not written[0][0].islower()
    return len(word) < 3 or word in _QUALIFIERS or is_capital
