"""Whatever a stranger writes comes out as plain text.

Nothing that a page, a terminal or a reader could be led by.
"""

from __future__ import annotations

import random
import re
import unicodedata

from core.grounding.clean import REMOVED, clean
from tests.rows import every

KNOWN = "Booking.com Holdings"
ROWS = [
    ("<b>Three</b> tests fail.<br/>", "Three tests fail."),
    ("WARF <3,000, a < b, c<d and 5 < 6", "WARF <3,000, a < b, c< d and 5 < 6"),
    ("<scr<script>ipt>alert(1)</script>x", "< scrx"),
    ("a <script>alert(1)</script>b", "a b"),
    ("&lt;img src=x onerror=alert(1)&gt; ok", "ok"),
    ("&amp;amp;lt;b&amp;amp;gt;x S&amp;P", "x S&P"),
    ("＜b＞wide＜/b＞", "wide"),
    ("<a href='x' <b>y", "< a href='x' y"),
    ("<!-- hidden --> y", "y"),
    ("<think>5, or 6?</think>Five.", "Five."),
    ("![seen](https://e.example/?q=secret) and [here](https://e.example/a_(b)) or [a][1]\n[1]: https://e.example",
     "and here or a"),
    (f"https://e.example/x http:e.example www.e.example //e.example/x evil.com/x {KNOWN}",
     f"{REMOVED} {REMOVED} {REMOVED} {REMOVED} {REMOVED} {KNOWN}"),
    ("evil.bank, evil.top/x, 1.2.3.4/x, evil\u3002com, the e.g. i.e. U.S. at 7.5x.",
     f"{REMOVED}, {REMOVED} {REMOVED} {REMOVED}, the e.g. i.e. U.S. at 7.5x."),
    ("JavaScript:alert(1) data:text/html;base64,AA mailto:a@b.example tel:+123 Data: 5 loans",
     f"{REMOVED} {REMOVED} {REMOVED} {REMOVED} Data: 5 loans"),
    ("\x1b[31mred\x1b[0m \x1b]0;title\x07\u202eabc\u200b\x00\ufeff", "red abc"),
    ("5\ufe0f\u20e3 a\u0301\u0301\u0301\u0301 \U000e0041", "5 a\u0301\u0301"),
    ("one\r\ntwo\u2028three\n\n\n\nfour \t", "one\ntwo\nthree\n\nfour"),
    ("1. One\n2) Two\n12. It passes", "- One\n- Two\n- It passes"),
    ("Plain text stays: 12.5 % (limit 7.5 %), U.S. No. 1; S&P.",
     "Plain text stays: 12.5 % (limit 7.5 %), U.S. No. 1; S&P."),
]  # fmt: skip


@every("text, plain", ROWS)
def test_markup_goes_and_text_stays(text: str, plain: str) -> None:
    assert clean(text, known=KNOWN) == plain


def test_whatever_is_put_together_is_no_markup() -> None:
    """Pieces of markup in any order, one within the other.

    No tag, link or sign that is not seen comes out.
    """
    chance = random.Random(15)
    pieces = [text for text, _ in ROWS]
    pieces += ["<", ">", "&lt;", "&#60;", "&#x3c;script&gt;", "</", "](", "![", "https", "://", "\x1b["]
    pieces += ["a", ".com", "www", ".", " ", "\n", "&", "amp;", "script", "<script", "<style>", "(", "javascript", ":"]
    for _ in range(400):
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 12)))
        out = clean(text)
        assert not re.search(r"<[a-zA-Z/!?]|[a-z]://\S|javascript:|!\[[^\]]*\]\(|\]\(https?:", out), (text, out)
        assert all(sign == "\n" or unicodedata.category(sign)[0] != "C" for sign in out), (text, out)
        assert clean(out) == out, (text, out)
