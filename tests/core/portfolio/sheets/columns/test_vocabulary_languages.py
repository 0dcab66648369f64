"""Headings of European managers: the balance of the day is par, not the first one nor the commitment."""

from __future__ import annotations

import pytest

from tests.core.portfolio.conftest import MapRows

NAMES = ["Alder Inc", "Birch LLC", "Cedar plc", "Dogwood Ltd", "Elm GmbH", "Fir S.A."]
PAR = [1_000_000.0 + 250_000 * at for at in range(6)]
SPREADS = [400.0, 425.0, 350.0, 500.0, 525.0, 375.0]

LISTS = [
    # borrower, the larger amount that is not par, par, spread, maturity
    ("Kreditnehmer", "Nennbetrag (EUR)", "Restschuld (EUR)", "Marge (bps)", "Endf\u00e4lligkeit"),
    ("Schuldner", "Ursprungsbetrag", "Aktueller Saldo", "Zinsmarge", "Laufzeitende"),
    ("Emittent", "Anfangssaldo", "Endsaldo", "Zinsaufschlag", "F\u00e4lligkeit"),
    ("Darlehensnehmer", "Kreditzusage", "Ausstehender Betrag", "Marge", "F\u00e4lligkeitsdatum"),
    ("Emprunteur", "Montant initial", "Encours", "Marge (pb)", "\u00c9ch\u00e9ance"),
    ("D\u00e9biteur", "Engagement", "Capital restant d\u00fb", "Marge", "Date d'\u00e9ch\u00e9ance"),
    ("\u00c9metteur", "Solde d'ouverture", "Solde de cl\u00f4ture", "Marge", "\u00c9ch\u00e9ance"),
    ("Prestatario", "Importe nominal", "Saldo vivo", "Margen (pb)", "Vencimiento"),
    ("Deudor", "Saldo inicial", "Saldo final", "Diferencial", "Fecha de vencimiento"),
    ("Deudor", "Saldo de apertura", "Saldo de cierre", "Diferencial", "Vencimiento"),
    ("Debitore", "Importo originario", "Debito residuo", "Margine", "Scadenza"),
    ("Emittente", "Saldo iniziale", "Saldo finale", "Spread", "Data di scadenza"),
    ("Deudor", "Saldo anterior", "Saldo actual", "Diferencial", "Vencimiento"),
    ("Debitore", "Saldo precedente", "Saldo attuale", "Margine", "Scadenza"),
    ("Emprunteur", "Encours pr\u00e9c\u00e9dent", "Encours", "Marge", "\u00c9ch\u00e9ance"),
    ("Kreditnehmer", "Saldo Vormonat", "Saldo", "Marge", "F\u00e4lligkeit"),
    ("Kredietnemer", "Hoofdsom", "Uitstaand saldo", "Opslag", "Einddatum"),
]


@pytest.mark.parametrize("heads", LISTS, ids=[" ".join(heads[:3]) for heads in LISTS])
@pytest.mark.parametrize("par_first", [True, False])
def test_a_list_in_another_language(map_rows: MapRows, heads: tuple[str, ...], par_first: bool) -> None:
    borrower, larger, par, spread, maturity = heads
    body = [
        [name, *(amounts if par_first else amounts[::-1]), SPREADS[at], "2031-01-31"]
        for at, name in enumerate(NAMES)
        for amounts in ([PAR[at], PAR[at] * 1.3],)
    ]
    pair = [par, larger] if par_first else [larger, par]
    portfolio = map_rows([[borrower, *pair, spread, maturity], *body])
    assert portfolio.numbers["par_value"].tolist() == PAR
    assert portfolio.numbers["spread"].tolist() == SPREADS
    assert len(portfolio.names["borrower_name"].values) == 6
    assert "maturity_date" in portfolio.numbers


@pytest.mark.parametrize("head", ["Amount", "Betrag", "Montant en EUR", "Importe", "Importo (EUR)", "Units"])
def test_an_amount_alone_is_par(map_rows: MapRows, head: str) -> None:
    body = [[name, PAR[at], SPREADS[at], "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Borrower", head, "Spread", "Maturity"], *body])
    assert portfolio.numbers["par_value"].tolist() == PAR


@pytest.mark.parametrize(
    ("price", "purchase"),
    [("Prix", "Prix d'achat"), ("Precio de mercado", "Precio de compra"), ("Prezzo", "Prezzo di acquisto"),
     ("Kurs", "Einstandskurs"), ("Marktpreis", "Kaufpreis")],
)  # fmt: skip
@pytest.mark.parametrize("price_first", [True, False])
def test_a_purchase_price_is_no_price(map_rows: MapRows, price: str, purchase: str, price_first: bool) -> None:
    pair, cells = [price, purchase], [97.5, 99.25]
    if not price_first:
        pair, cells = pair[::-1], cells[::-1]
    body = [[name, PAR[at], *cells, "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Issuer", "Par Amount", *pair, "Maturity"], *body])
    assert portfolio.numbers["price"].tolist() == [97.5] * 6
    assert portfolio.numbers["purchase_price"].tolist() == [99.25] * 6


@pytest.mark.parametrize("heading", ["Montant non tir\u00e9", "Importe no dispuesto", "Nicht gezogener Betrag"])
def test_what_is_not_drawn_is_no_par(map_rows: MapRows, heading: str) -> None:
    body = [[name, PAR[at], PAR[at] / 2, "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Issuer", "Par Amount", heading, "Maturity"], *body])
    assert portfolio.numbers["par_value"].tolist() == PAR
    assert portfolio.numbers["unfunded"].tolist() == [par / 2 for par in PAR]


@pytest.mark.parametrize(
    ("price", "rival"),
    [("Kurs", "Wechselkurs"), ("Cours", "Cours de change"), ("Prix", "Prix pr\u00e9c\u00e9dent"),
     ("Precio", "Precio anterior"), ("Prezzo", "Prezzo precedente"), ("Kurs", "Kurs Vormonat")],
)  # fmt: skip
def test_a_rate_of_exchange_or_an_earlier_price_is_no_price(map_rows: MapRows, price: str, rival: str) -> None:
    body = [[name, PAR[at], 97.25, 98.5, "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Issuer", "Par Amount", rival, price, "Maturity"], *body])
    assert portfolio.numbers["price"].tolist() == [98.5] * 6


@pytest.mark.parametrize("heading", ["Rating Moody's bei Emission", "Moody's \u00e0 l'\u00e9mission"])
def test_a_rating_of_the_issue_date_feeds_nothing(map_rows: MapRows, heading: str) -> None:
    body = [[name, PAR[at], "B2", "Ba2", "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Issuer", "Par Amount", "Moody's Rating", heading, "Maturity"], *body])
    assert {field for field in portfolio.ranks if portfolio.ranks[field].any()} == {"rating_agency_a"}


@pytest.mark.parametrize(
    "label",
    ["Summe", "Gesamt", "Gesamtsumme", "Total g\u00e9n\u00e9ral", "Somme", "Sous-total", "Suma", "Totale", "Somma",
     "Totaal"],
)  # fmt: skip
def test_a_total_in_another_language_is_no_loan(map_rows: MapRows, label: str) -> None:
    body = [[name, PAR[at], "TLB", "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Issuer", "Par Amount", "Facility", "Maturity"], *body, [label, sum(PAR) + 5, None, None]])
    assert len(portfolio) == 6
    assert "page_total_differs" in [warning.code for warning in portfolio.notes.warnings]


@pytest.mark.parametrize(
    "label",
    ["Barmittel", "Liquidit\u00e4t", "Bankguthaben", "Liquidit\u00e9s", "Tr\u00e9sorerie", "Efectivo",
     "Liquidit\u00e0", "Liquide Mittel"],
)  # fmt: skip
def test_cash_in_another_language_is_no_loan(map_rows: MapRows, label: str) -> None:
    body = [[name, PAR[at], "TLB", "2031-01-31"] for at, name in enumerate(NAMES)]
    portfolio = map_rows([["Issuer", "Par Amount", "Facility", "Maturity"], *body, [label, 5e6, None, None]])
    assert (len(portfolio), portfolio.notes.cash_rows) == (6, 1)
