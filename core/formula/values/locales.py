"""How dates and numbers are written, by locale.

The table from which texts are read and made.

Excel takes this from the regional settings of the computer that calculates. Separators, orders and the names of months
and days are those of the CLDR (version 42), in the short forms of Windows where these differ (Mrz, Sep); the letters of
format codes are the ones that Excel knows in that language. Words such as TRUE stay English, as in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from core.formula.values.value import locale_in_use

Order = Literal["mdy", "dmy", "ymd"]


@dataclass(frozen=True, slots=True)
class Locale:
    """How one language in one country writes numbers and dates."""

    tag: str
    """Language and country: de-DE."""
    lcid: int
    """The number of the language in a format code, as in [$-407]."""
    decimal: str
    group: str
    """What stands between thousands."""
    order: Order
    """Of day, month and year where all are numbers."""
    months: tuple[str, ...]
    months_short: tuple[str, ...]
    days: tuple[str, ...]
    """From Sunday on."""
    days_short: tuple[str, ...]
    currency: str
    amount: str
    """An amount of money, # for its digits."""
    amount_below_zero: str
    long_date: str
    """Under [$-F800], as an English format code."""
    long_time: str = "hh:mm:ss"
    """Under [$-F400]."""
    letters: str = "ymdh"
    """Year, month, day and hour in a format code."""
    general: str = "general"
    """What the format General is called, in lower case."""
    native_days: tuple[tuple[str, ...], ...] = ()
    """The days of the week of aaaa and aaa, where mmmm and dddd are English; a date there may have marks behind its
    numbers, 2024年1月31日."""

    @property
    def has_dotted_dates(self) -> bool:
        """Whether 31.12.2024 is a date.

        Wherever a point does not begin the decimals, and in Switzerland.
        """
        return self.decimal != "." or self.tag == "de-CH"


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ENGLISH: Final = (
    _names("January February March April May June July August September October November December"),
    _names("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    _names("Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
    _names("Sun Mon Tue Wed Thu Fri Sat"),
)
_GERMAN: Final = (
    _names("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    _names("Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez"),
    _names("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag"),
    _names("So Mo Di Mi Do Fr Sa"),
)
_FRENCH: Final = (
    _names("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    _names("janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."),
    _names("dimanche lundi mardi mercredi jeudi vendredi samedi"),
    _names("dim. lun. mar. mer. jeu. ven. sam."),
)
_SPANISH: Final = (
    _names("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    _names("ene feb mar abr may jun jul ago sep oct nov dic"),
    _names("domingo lunes martes miércoles jueves viernes sábado"),
    _names("dom lun mar mié jue vie sáb"),
)
_ITALIAN: Final = (
    _names("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
    _names("gen feb mar apr mag giu lug ago set ott nov dic"),
    _names("domenica lunedì martedì mercoledì giovedì venerdì sabato"),
    _names("dom lun mar mer gio ven sab"),
)
_DUTCH: Final = (
    _names("januari februari maart april mei juni juli augustus september oktober november december"),
    _names("jan feb mrt apr mei jun jul aug sep okt nov dec"),
    _names("zondag maandag dinsdag woensdag donderdag vrijdag zaterdag"),
    _names("zo ma di wo do vr za"),
)
_PORTUGUESE: Final = (
    _names("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
    _names("jan fev mar abr mai jun jul ago set out nov dez"),
    _names("domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado"),
    _names("dom seg ter qua qui sex sáb"),
)
_NORWEGIAN: Final = (
    _names("januar februar mars april mai juni juli august september oktober november desember"),
    _names("jan feb mar apr mai jun jul aug sep okt nov des"),
    _names("søndag mandag tirsdag onsdag torsdag fredag lørdag"),
    _names("søn man tir ons tor fre lør"),
)
_JAPANESE: Final = (tuple(f"{day}曜日" for day in "日月火水木金土"), tuple("日月火水木金土"))
_CHINESE: Final = (tuple(f"星期{day}" for day in "日一二三四五六"), tuple("日一二三四五六"))

_BARE: Final = "dddd d mmmm yyyy"
_WITH_POINT: Final = "dddd, d. mmmm yyyy"
_WITH_POINT_ONLY: Final = "dddd d. mmmm yyyy"
_WITH_DE: Final = 'dddd, d "de" mmmm "de" yyyy'
_MARKED: Final = 'yyyy"年"m"月"d"日"'

DEFAULT: Final = Locale(
    "en-US", 0x409, ".", ",", "mdy", *_ENGLISH, "$", "$#", "($#)", "dddd, mmmm d, yyyy", "h:mm:ss AM/PM"
)

_NARROW: Final = "\u202f"
_WIDE: Final = "\u00a0"

LOCALES: Final[dict[str, Locale]] = {
    row.tag: row
    for row in (
        DEFAULT,
        Locale("en-GB", 0x809, ".", ",", "dmy", *_ENGLISH, "£", "£#", "-£#", "dd mmmm yyyy"),
        Locale("en-IE", 0x1809, ".", ",", "dmy", *_ENGLISH, "€", "€#", "-€#", "dddd d mmmm yyyy"),
        Locale("en-AU", 0xC09, ".", ",", "dmy", *_ENGLISH, "$", "$#", "-$#", "dddd, d mmmm yyyy", "h:mm:ss AM/PM"),
        Locale(
            "de-DE",
            0x407,
            ",",
            ".",
            "dmy",
            *_GERMAN,
            "€",
            "# €",
            "-# €",
            _WITH_POINT,
            letters="jmth",
            general="standard",
        ),
        Locale(
            "de-CH",
            0x807,
            ".",
            "’",
            "dmy",
            *_GERMAN,
            "CHF",
            "CHF #",
            "CHF-#",
            _WITH_POINT,
            letters="jmth",
            general="standard",
        ),
        Locale(
            "fr-FR", 0x40C, ",", _NARROW, "dmy", *_FRENCH, "€", "# €", "-# €", _BARE, letters="amjh", general="standard"
        ),
        Locale(
            "es-ES", 0xC0A, ",", ".", "dmy", *_SPANISH, "€", "# €", "-# €", _WITH_DE, letters="amdh", general="estándar"
        ),
        Locale(
            "it-IT", 0x410, ",", ".", "dmy", *_ITALIAN, "€", "# €", "-# €", _BARE, letters="amgh", general="standard"
        ),
        Locale(
            "nl-NL", 0x413, ",", ".", "dmy", *_DUTCH, "€", "€ #", "€ -#", _BARE, letters="jmdu", general="standaard"
        ),
        Locale(
            "pt-BR",
            0x416,
            ",",
            ".",
            "dmy",
            *_PORTUGUESE,
            "R$",
            "R$ #",
            "-R$ #",
            _WITH_DE,
            letters="amdh",
            general="geral",
        ),
        Locale(
            "nb-NO",
            0x414,
            ",",
            _WIDE,
            "dmy",
            *_NORWEGIAN,
            "kr",
            "kr #",
            "-kr #",
            _WITH_POINT_ONLY,
            letters="åmdt",
            general="standard",
        ),
        Locale(
            "ja-JP",
            0x411,
            ".",
            ",",
            "ymd",
            *_ENGLISH,
            "¥",
            "¥#",
            "-¥#",
            _MARKED,
            "h:mm:ss",
            general="g/標準",
            native_days=_JAPANESE,
        ),
        Locale(
            "zh-CN",
            0x804,
            ".",
            ",",
            "ymd",
            *_ENGLISH,
            "¥",
            "¥#",
            "-¥#",
            _MARKED,
            "h:mm:ss",
            general="g/通用格式",
            native_days=_CHINESE,
        ),
    )
}
"""All there are, by tag."""

_BY_TAG: Final = {tag.lower(): row for tag, row in LOCALES.items()}
BY_MARK: Final = {
    mark: row for row in LOCALES.values() for mark in (row.tag.upper(), f"{row.lcid:X}", f"{row.lcid:04X}")
}
"""By how a format code names them: [$-407], [$-de-DE]; in capitals."""


class UnknownLocale(ValueError):
    """There is no such locale; the message has those that there are."""

    def __init__(self, tag: str) -> None:
        near = get_close_matches(tag[:40], LOCALES, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        super().__init__(f"{tag[:40]!r} is no locale that is known here; there are {', '.join(LOCALES)}{hint}")


def locale_of(tag: str) -> Locale:
    """Return the locale of a tag, read without case (de_DE too).

    Raises:
        UnknownLocale: there is none.
    """
    locale = known_locale(tag)
    if locale is None:
        raise UnknownLocale(tag)
    return locale


def known_locale(tag: str) -> Locale | None:
    """Return the same, or None."""
    return _BY_TAG.get(tag.replace("_", "-").lower())


def current() -> Locale:
    """Return the locale of the calculation that this thread is in."""
    return locale_in_use() or DEFAULT
