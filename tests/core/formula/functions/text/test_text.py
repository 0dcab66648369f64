"""The text families.

Parts, changes, joins and splits of text, characters, amounts, regular expressions.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.formula.functions.text.text import TEXT_MAX, joined, spread
from tests.core.formula.calculated import calculated, same
from tests.core.formula.places import value
from tests.rows import every

CELLS = {"A1": "apple pie", "A2": 12.5, "A3": True, "B1": "Ä", "B2": None, "B3": "x", "C1": "a😀b"}

PARTS = (
    ('=LEN("")', 0), ("=LEN(A1)", 9), ("=LEN(A2)", 4), ("=LEN(A3)", 4), ("=LEN(B2)", 0), ("=LEN(C1)", 4),
    ("=LENB(B1)", 1), ('=LEFT("abc")', "a"), ('=LEFT("abc",2.9)', "ab"), ('=LEFT("abc",0)', ""),
    ('=LEFT("abc",9)', "abc"), ('=LEFT("abc",-1)', "#VALUE!"), ("=LEFT(A3,2)", "TR"), ("=LEFT(C1,3)", "a😀"),
    ('=RIGHT("abc",2)', "bc"), ('=RIGHT("abc",0)', ""), ('=RIGHT("abc",-1)', "#VALUE!"), ("=RIGHT(C1,3)", "😀b"),
    ("=RIGHTB(1234,2)", "34"), ('=MID("abcdef",2,3)', "bcd"), ('=MID("abc",4,1)', ""), ('=MID("abc",0,1)', "#VALUE!"),
    ('=MID("abc",1,-1)', "#VALUE!"), ('=MIDB("abc",2,9)', "bc"), ("=MID(C1,4,1)", "b"), ('=FIND("p","apple")', 2),
    ('=FIND("P","apple")', "#VALUE!"), ('=FIND("p","apple",3)', 3), ('=FIND("","abc",2)', 2), ('=FIND("","abc",4)', 4),
    ('=FIND("","abc",5)', "#VALUE!"), ('=FIND("a","abc",0)', "#VALUE!"), ('=FIND("b",C1)', 4),
    ('=SEARCH("P","apple")', 2), ('=SEARCH("p*e","apple")', 2), ('=SEARCH("~*","a*b")', 2),
    ('=SEARCH("?e","apple")', 4), ('=SEARCH("z","apple")', "#VALUE!"), ('=SEARCHB("ß","Straße")', 5),
)  # fmt: skip

CHANGES = (
    ('=SUBSTITUTE("a-b-c","-","+")', "a+b+c"), ('=SUBSTITUTE("a-b-c","-","+",2)', "a-b+c"),
    ('=SUBSTITUTE("a-b","-","+",3)', "a-b"), ('=SUBSTITUTE("abc","","x")', "abc"),
    ('=SUBSTITUTE("aaa","a","b",0)', "#VALUE!"), ('=SUBSTITUTE("aaaa","aa","b")', "bb"),
    ('=SUBSTITUTE("Abc","a","x")', "Abc"), ('=REPLACE("abcdef",2,3,"X")', "aXef"), ('=REPLACE("abc",4,1,"d")', "abcd"),
    ('=REPLACE("abc",9,1,"d")', "abcd"), ('=REPLACE("abc",0,1,"d")', "#VALUE!"), ('=REPLACEB("abc",1,0,"d")', "dabc"),
    ('=UPPER("straße é")', "STRAßE É"), ('=LOWER("ÄBC İ")', "äbc İ"), ('=PROPER("o\'neil 3d mIX")', "O'Neil 3D Mix"),
    ("=PROPER(A3)", "True"), ('=TRIM("  a   b ")', "a b"), ('=TRIM(CHAR(160)&"a")', "\xa0a"),
    ('=TRIM("a"&CHAR(9)&" b")', "a\t b"), ('=CLEAN("a"&CHAR(7)&CHAR(127)&CHAR(160)&"b")', "a\x7f\xa0b"),
    ('=REPT("ab",2.9)', "abab"), ('=REPT("a",0)', ""), ('=REPT("a",-1)', "#VALUE!"), ('=LEN(REPT("a",32767))', 32767),
    ('=REPT("a",32768)', "#VALUE!"), ('=REPT("",1E9)', ""), ('=REPT("ab",1E300)', "#VALUE!"),
    ('=EXACT("a","A")', False), ('=EXACT(1,"1")', True), ("=T(A1)", "apple pie"), ("=T(A2)", ""), ("=T(A3)", ""),
    ('=T({"a",1})', [["a", ""]]), ("=T(1/0)", "#DIV/0!"), ('=SUBSTITUTE(REPT("a",32767),"a","bb")', "#VALUE!"),
    ('=REPLACE(REPT("a",32767),1,0,"b")', "#VALUE!"),
    ('=ENCODEURL("http://a.b/c d?e=ä&f")', "http%3A%2F%2Fa.b%2Fc%20d%3Fe%3D%C3%A4%26f"), ('=HYPERLINK("x")', "x"),
    ('=HYPERLINK("x",5)', 5), ('=HYPERLINK("x",1/0)', "#DIV/0!"), ("=PHONETIC(A1:B3)", "apple pieÄx"),
)  # fmt: skip

JOINS = (
    ('=CONCAT("a",1,TRUE,B2)', "a1TRUE"), ("=CONCAT(A1:B3)", "apple pieÄ12.5TRUEx"), ("=CONCAT({1,2;3,4})", "1234"),
    ("=CONCAT(A1,1/0)", "#DIV/0!"), ('=CONCAT(REPT("a",32767),"b")', "#VALUE!"), ('=CONCATENATE("a",1,TRUE)', "a1TRUE"),
    ("=CONCATENATE(0.1+0.2,1/3)", "0.30.333333333333333"), ('=TEXTJOIN(",",TRUE,"a","","b")', "a,b"),
    ('=TEXTJOIN(",",FALSE,"a","","b")', "a,,b"), ('=TEXTJOIN({",",";"},TRUE,1,2,3,4)', "1,2;3,4"),
    ("=TEXTJOIN(,TRUE,1,2)", "12"), ('=TEXTJOIN("-",TRUE,A1:B3)', "apple pie-Ä-12.5-TRUE-x"),
    ('=TEXTJOIN("-",,B1:B3)', "Ä-x"), ('=TEXTJOIN(REPT("a",20000),TRUE,1,2,3)', "#VALUE!"),
    ('=TEXTJOIN(",",TRUE,1/0)', "#DIV/0!"),
)  # fmt: skip

SPLITS = (
    ('=TEXTBEFORE("a-b-c","-")', "a"), ('=TEXTBEFORE("a-b-c","-",2)', "a-b"), ('=TEXTBEFORE("a-b-c","-",-1)', "a-b"),
    ('=TEXTBEFORE("a-b-c","-",-2)', "a"), ('=TEXTBEFORE("a-b","x")', "#N/A"),
    ('=TEXTBEFORE("a-b","x",,,,"none")', "none"), ('=TEXTBEFORE("a-b","-",0)', "#VALUE!"),
    ('=TEXTBEFORE("a-b","-",9)', "#VALUE!"), ('=TEXTBEFORE("a-b","-",2,,1)', "a-b"),
    ('=TEXTBEFORE("a-b","-",3,,1)', "#N/A"), ('=TEXTBEFORE("aXb","x",,1)', "a"), ('=TEXTBEFORE("aXb","x")', "#N/A"),
    ('=TEXTBEFORE("a;b,c",{",",";"})', "a"), ('=TEXTBEFORE("abc","")', ""), ('=TEXTBEFORE("abc","",-1)', "abc"),
    ('=TEXTBEFORE("abc","b",,2)', "#VALUE!"), ('=TEXTAFTER("a-b-c","-")', "b-c"), ('=TEXTAFTER("a-b-c","-",2)', "c"),
    ('=TEXTAFTER("a-b-c","-",-1)', "c"), ('=TEXTAFTER("a-b-c","-",-3)', "#N/A"), ('=TEXTAFTER("a-b","-",2,,1)', ""),
    ('=TEXTAFTER("a-b","-",-2,,1)', "a-b"), ('=TEXTAFTER("abc","")', "abc"), ('=TEXTAFTER("abc","",-1)', ""),
    ('=TEXTSPLIT("a,b,c",",")', [["a", "b", "c"]]), ('=TEXTSPLIT("a,b;c",",",";")', [["a", "b"], ["c", "#N/A"]]),
    ('=TEXTSPLIT("a,b;c",",",";",,,"-")', [["a", "b"], ["c", "-"]]), ('=TEXTSPLIT("a;b",,";")', [["a"], ["b"]]),
    ('=TEXTSPLIT("a,,b",",")', [["a", "", "b"]]), ('=TEXTSPLIT("a,,b",",",,TRUE)', [["a", "b"]]),
    ('=TEXTSPLIT("aXbxc","x",,,1)', [["a", "b", "c"]]), ('=TEXTSPLIT("a.b-c",{".","-"})', [["a", "b", "c"]]),
    ('=TEXTSPLIT("abc","")', "#VALUE!"), ('=TEXTSPLIT("","-")', ""), ('=TEXTSPLIT("aab",{"a","aa"})', [["", "b"]]),
)  # fmt: skip

CHARACTERS = (
    ("=CHAR(65)", "A"), ("=CHAR(65.9)", "A"), ("=CHAR(128)", "€"), ("=CHAR(129)", "\x81"), ("=CHAR(255)", "ÿ"),
    ("=CHAR(0)", "#VALUE!"), ("=CHAR(256)", "#VALUE!"), ('=CHAR("x")', "#VALUE!"), ('=CODE("A")', 65),
    ('=CODE("€")', 128), ("=CODE(CHAR(129))", 129), ('=CODE("Ω")', 63), ('=CODE("")', "#VALUE!"), ("=CODE(5)", 53),
    ("=SUM(CODE(CHAR(SEQUENCE(255))))", 32640), ("=UNICHAR(9731)", "☃"), ("=UNICHAR(128512)", "😀"),
    ("=UNICHAR(0)", "#VALUE!"), ("=UNICHAR(55296)", "#N/A"), ("=UNICHAR(1114112)", "#VALUE!"),
    ('=UNICODE("😀")', 128512), ('=UNICODE("")', "#VALUE!"), ('=ASC("ＡＢＣ　１２３！")', "ABC 123!"),
    ('=ASC("ガパー")', "ｶﾞﾊﾟｰ"),
    ('=DBCS("ABC 1")', "ＡＢＣ　１"), ('=JIS("ｶﾞﾊﾟ")', "ガパ"), ('=DBCS("ｱﾞ")', "ア゛"),
)  # fmt: skip

AMOUNTS = (
    ('=TEXT(1234.567,"0.0")', "1234.6"), ('=TEXT("1234.567","0.0")', "1234.6"), ('=TEXT("1/2/2020","yyyy")', "2020"),
    ('=TEXT("abc","0.0")', "abc"), ('=TEXT(TRUE,"0")', "TRUE"), ('=TEXT(B2,"0.0")', "0.0"), ("=TEXT(5,0)", "5"),
    ('=TEXT(5,"0 units")', "#VALUE!"), ('=TEXT(1/0,"0")', "#DIV/0!"), ('=TEXT({1,2},"0.0")', [["1.0", "2.0"]]),
    ('=TEXT(1.5,"")', ""), ('=TEXT(-1,"yyyy")', "#VALUE!"), ('=VALUE("$1,000")', 1000), ('=VALUE("12:00")', 0.5),
    ("=VALUE(A2)", 12.5), ("=VALUE(B2)", 0), ("=VALUE(A3)", "#VALUE!"), ('=VALUE("")', "#VALUE!"),
    ('=VALUE("abc")', "#VALUE!"), ('=NUMBERVALUE("2.500,27",",",".")', 2500.27), ('=NUMBERVALUE("3.5%")', 0.035),
    ('=NUMBERVALUE("9%%")', 0.0009), ('=NUMBERVALUE("")', 0), ('=NUMBERVALUE(" 3 000 ")', 3000),
    ('=NUMBERVALUE("1.2.3")', "#VALUE!"), ('=NUMBERVALUE("1.2,3")', "#VALUE!"), ('=NUMBERVALUE("x")', "#VALUE!"),
    ('=NUMBERVALUE("1,5",",")', 1.5), ("=FIXED(1234.567)", "1,234.57"), ("=FIXED(1234.567,1)", "1,234.6"),
    ("=FIXED(1234.567,-1)", "1,230"), ("=FIXED(-1234.567,-1,TRUE)", "-1230"), ("=FIXED(44.332)", "44.33"),
    ("=FIXED(0.005)", "0.01"), ("=FIXED(-0.001)", "0.00"), ("=FIXED(5,-1)", "10"), ("=FIXED(4,-1)", "0"),
    ("=FIXED(1,128)", "#VALUE!"), ("=LEN(FIXED(1,127))", 129), ("=DOLLAR(1234.567,2)", "$1,234.57"),
    ("=DOLLAR(-1234.567,-2)", "($1,200)"), ("=DOLLAR(-0.123,4)", "($0.1230)"), ("=DOLLAR(99.888)", "$99.89"),
    ("=DOLLAR(0)", "$0.00"), ("=BAHTTEXT(1234)", "หนึ่งพันสองร้อยสามสิบสี่บาทถ้วน"), ("=BAHTTEXT(0)", "ศูนย์บาทถ้วน"),
    ("=BAHTTEXT(21.25)", "ยี่สิบเอ็ดบาทยี่สิบห้าสตางค์"), ("=BAHTTEXT(-0.5)", "ลบห้าสิบสตางค์"),
    ("=BAHTTEXT(11000000)", "สิบเอ็ดล้านบาทถ้วน"), ("=BAHTTEXT(101)", "หนึ่งร้อยหนึ่งบาทถ้วน"),
    ("=VALUETOTEXT(1.5)", "1.5"), ('=VALUETOTEXT("a""b")', 'a"b'), ('=VALUETOTEXT("a""b",1)', '"a""b"'),
    ("=VALUETOTEXT(1/0)", "#DIV/0!"), ("=VALUETOTEXT(TRUE,1)", "TRUE"), ("=VALUETOTEXT(1,2)", "#VALUE!"),
    ('=ARRAYTOTEXT({1,"a";TRUE,#N/A})', "1, a, TRUE, #N/A"), ('=ARRAYTOTEXT({1,"a";TRUE,#N/A},1)', '{1,"a";TRUE,#N/A}'),
    ("=ARRAYTOTEXT(A2:B2,1)", "{12.5,}"), ("=ARRAYTOTEXT(5,1)", "{5}"),
)  # fmt: skip

PATTERNS = (
    ('=REGEXTEST("abc123","[0-9]+")', True), ('=REGEXTEST("abc","[0-9]")', False), ('=REGEXTEST("ABC","abc")', False),
    ('=REGEXTEST("ABC","abc",1)', True), ('=REGEXTEST("a","(")', "#VALUE!"), ('=REGEXTEST("a","a",2)', "#VALUE!"),
    ('=REGEXTEST("a b","a\\hb")', True), ('=REGEXTEST("a.b","\\Qa.b\\E")', True),
    ('=REGEXTEST("ä","^[[:alpha:]]$")', True), ('=REGEXTEST({"a","1"},"[0-9]")', [[False, True]]),
    ('=REGEXEXTRACT("ab12cd34","[0-9]+")', "12"), ('=REGEXEXTRACT("ab12cd34","[0-9]+",1)', [["12", "34"]]),
    ('=REGEXEXTRACT("ab12","([a-z]+)([0-9]+)(x)?",2)', [["ab", "12", ""]]), ('=REGEXEXTRACT("ab","[0-9]")', "#N/A"),
    ('=REGEXEXTRACT("ab","a",3)', "#VALUE!"), ('=REGEXREPLACE("a1b2","[0-9]","#")', "a#b#"),
    ('=REGEXREPLACE("a1b2","[0-9]","#",2)', "a1b#"), ('=REGEXREPLACE("a1b2","[0-9]","#",-2)', "a#b2"),
    ('=REGEXREPLACE("a1b2","[0-9]","#",5)', "a1b2"), ('=REGEXREPLACE("ab","(a)(b)","$2${1}$$")', "ba$"),
    ('=REGEXREPLACE("ab","(?<x>a)","<${x}>")', "<a>b"), ('=REGEXREPLACE("ab","a","$1")', "#VALUE!"),
    ('=REGEXREPLACE("abc","","-")', "-a-b-c-"),
)  # fmt: skip


@every("formula, expected", PARTS + CHANGES + JOINS + SPLITS + CHARACTERS + AMOUNTS + PATTERNS)
def test_gives_excels_answer(formula: str, expected: Any) -> None:
    assert same(calculated(formula, CELLS), expected)


def test_a_date_text_without_a_year_is_of_this_one() -> None:
    assert value('=VALUE("1/31")') == 46_053
    assert value('=VALUE("Feb 3")') == 46_056


def test_patterns_and_replacements_without_end_are_errors() -> None:
    assert same(value('=REGEXTEST(REPT("a",40)&"!","^(a|aa)+$")'), "#VALUE!")
    assert same(value('=REGEXTEST("a",REPT("a",3000))'), "#VALUE!")
    assert same(value('=REGEXREPLACE(REPT("a",20000),"a","bb")'), "#VALUE!")
    assert same(value('=REGEXREPLACE(REPT("a",30000),"a",REPT("b",30000))'), "#VALUE!")


def test_long_arrays_are_not_joined_past_a_cell() -> None:
    assert same(value("=ARRAYTOTEXT(SEQUENCE(200000))"), "#VALUE!")
    assert same(value("=CONCAT(SEQUENCE(200000))"), "#VALUE!")
    assert value('=LEN(TEXTJOIN("-",,SEQUENCE(3000)))') == 2_999 + 9 + 180 + 2_700 + 8_004


def test_many_delimiters_are_found_in_one_pass() -> None:
    assert value("=COLUMNS(TEXTSPLIT(CONCAT(UNICHAR(SEQUENCE(20000,,200))),UNICHAR(SEQUENCE(20000,,200))))") == 20_001


@given(st.text(max_size=30))
def test_units_of_utf_16_come_together_again(text: str) -> None:
    assert len(spread(text)) == len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert joined(spread(text)) == text


@given(st.text(max_size=12), st.integers(0, 14))
def test_left_and_the_rest_are_the_whole(text: str, count: int) -> None:
    cells = {"A1": text, "A2": count}
    assert calculated("=LEN(LEFT(A1,A2))+LEN(MID(A1,A2+1,99))=LEN(A1)", cells) is True


def test_no_text_is_longer_than_a_cell_holds() -> None:
    assert len(str(calculated(f'=REPT("a",{TEXT_MAX})', {}))) == TEXT_MAX
