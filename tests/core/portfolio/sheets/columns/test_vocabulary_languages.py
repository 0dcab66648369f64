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
