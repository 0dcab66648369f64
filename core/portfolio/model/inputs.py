"""What figures read of a portfolio, and which warnings make them doubtful."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from core.portfolio.model.notes import DataWarning

Concern = Literal[
    "masked_inputs",
    "blank_inputs",
    "estimate",
    "stand_in",
    "conflict",
    "ambiguous_column",
    "implausible",
    "joined_by_name",
    "left_out",
]
"""In what way a warning makes a figure doubtful; `core.compliance.result.DoubtCode` says what each means."""

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "par": ("par_value", "unfunded"),
    "cash": ("deal.principal_cash",),
    "ratings": ("rating", "facility_rating", "rank", "facility_rank"),
    "recovery": ("recovery_rate",),
    "rates": ("spread", "floor", "all_in_rate"),
    "base_rate": ("deal.base_rate", "base_rate_level", "base_rate"),
    "coupon": ("deal.reference_coupon", "deal.excess_spread"),
    "price": ("price",),
    "purchase": ("purchase_price", "is_discount"),
    "life": ("maturity_date", "average_life", "years_to_maturity"),
    "industry": ("industry",),
    "country": ("country", "is_home"),
    "obligor": ("obligor", "borrower_name", "issuer_id", "obligor_par"),
    "lien": ("lien_type", "lien", "is_bond"),
    "coupon_type": ("coupon_type", "is_fixed"),
    "cov_lite": ("cov_lite",),
    "size": ("facility_size",),
    "quotes": ("quote_depth",),
    "default": ("is_defaulted", "days_past_due", "default_date"),
    "notes": ("tranches",),
    "interest": ("deal.interest_collected", "deal.interest_receivable", "deal.interest_other"),
    "fees": ("deal.senior_fees",),
    "period": ("deal.next_payment", "deal.payment_days"),
    "day": ("deal.as_of", "as_of"),
    "accrued": ("purchased_accrued_interest",),
    "moodys_factor": (),
    "recovery_agency": (),
    "secured": (),
    "life_basis": (),
    "haircuts": (),
    "rating_table": ("deal.masked_ccc",),
}
"""What a figure may read -> the fields that say it, in the names of `Portfolio.source_cells`; a name also stands for
those that begin with it (rating for rating_agency_a, tranches for tranches.current_balance). Those without fields are
choices that one measure alone makes: by whose ratings the factor is, whose recovery rates are averaged, which bonds are
senior secured, to which day lives are taken, whose haircuts count, and by which table."""

ANY: Final = "any"
"""What every figure reads."""


def input_of(field: str) -> str:
    """Return what a field says; the field itself where the catalogue has none."""
    if field in _INPUT_OF:
        return _INPUT_OF[field]
    heads = [name for name in _INPUT_OF if field.startswith((f"{name}_", f"{name}."))]
    return _INPUT_OF[max(heads, key=len)] if heads else field


_INPUT_OF: Final = {field: name for name, fields in FIELDS.items() for field in fields}


class InputMeaning(NamedTuple):
    """What a warning means for figures."""

    concern: Concern
    inputs: tuple[str, ...] = ()
    """What it is about where the warning itself names no fields; `ANY`: everything. None: it is about its fields."""


WARNINGS: Final[dict[str, InputMeaning]] = {
    "masked_ratings": InputMeaning("masked_inputs", ("ratings",)),
    "masked_by_rating_table": InputMeaning("stand_in", ("ratings",)),
    "masked_word": InputMeaning("masked_inputs"),
    "required_missing": InputMeaning("blank_inputs"),
    "unreadable_cells": InputMeaning("blank_inputs"),
    "page_loans_without_row": InputMeaning("blank_inputs"),
    "error_cells": InputMeaning("blank_inputs", (ANY,)),
    "no_rating": InputMeaning("blank_inputs", ("ratings",)),
    "unrated_not_ccc": InputMeaning("stand_in", ("ratings",)),
    "no_price": InputMeaning("blank_inputs", ("price",)),
    "no_maturity": InputMeaning("blank_inputs", ("life",)),
    "no_base_rate": InputMeaning("blank_inputs", ("base_rate",)),
    "reference_coupon_unknown": InputMeaning("blank_inputs", ("coupon",)),
    "excess_spread_as_printed": InputMeaning("stand_in", ("coupon",)),
    "excess_coupon_floored": InputMeaning("stand_in", ("coupon",)),
    "reference_coupon_by_test": InputMeaning("stand_in", ("coupon",)),
    "interest_estimated": InputMeaning("estimate", ("interest",)),
    "fees_estimated": InputMeaning("estimate", ("fees",)),
    "may_differ_from_excel": InputMeaning("estimate", (ANY,)),
    "circular_reference": InputMeaning("estimate", (ANY,)),
    "not_converged": InputMeaning("estimate", (ANY,)),
    "interest_as_printed": InputMeaning("stand_in", ("interest",)),
    "amount_stated": InputMeaning("stand_in"),
    "amount_differs": InputMeaning("conflict"),
    "figure_corrected": InputMeaning("stand_in"),
    "correction_left_out": InputMeaning("conflict"),
    "index_rate_stated": InputMeaning("stand_in", ("base_rate",)),
    "index_rate_differs": InputMeaning("conflict", ("base_rate",)),
    "haircuts_as_printed": InputMeaning("stand_in", ("haircuts",)),
    "reading_proposed": InputMeaning("stand_in"),
    "reading_differs": InputMeaning("conflict"),
    "ccc_by_rating_table": InputMeaning("stand_in", ("rating_table",)),
    "ccc_excess_not_shown": InputMeaning("stand_in", ("haircuts",)),
    "industries_by_table": InputMeaning("stand_in", ("industry",)),
    "obligor_families": InputMeaning("stand_in", ("obligor",)),
    "defaults_as_printed": InputMeaning("stand_in", ("default",)),
    "recovery_assumed": InputMeaning("stand_in", ("recovery_agency",)),
    "recovery_agency": InputMeaning("stand_in", ("recovery_agency",)),
    "no_moodys_rating": InputMeaning("stand_in", ("moodys_factor",)),
    "lives_by_maturity": InputMeaning("stand_in", ("life_basis",)),
    "no_lien": InputMeaning("stand_in", ("lien",)),
    "lien_of_names": InputMeaning("stand_in", ("lien",)),
    "lien_unrecognised": InputMeaning("stand_in", ("lien",)),
    "flag_unrecognised": InputMeaning("stand_in"),
    "bonds_secured": InputMeaning("stand_in", ("secured",)),
    "as_of_stands_in": InputMeaning("stand_in", ("day",)),
    "as_of_footer": InputMeaning("stand_in", ("day",)),
    "page_stands_in": InputMeaning("stand_in"),
    "par_is_commitment": InputMeaning("stand_in", ("par",)),
    "par_less_unfunded": InputMeaning("stand_in", ("par",)),
    "par_is_sum": InputMeaning("stand_in"),
    "par_is_funded": InputMeaning("ambiguous_column", ("par",)),
    "values_of_headings": InputMeaning("stand_in"),
    "industry_of_headings": InputMeaning("stand_in", ("industry",)),
    "definition_currency": InputMeaning("conflict", (ANY,)),
    "definition_days": InputMeaning("conflict", (ANY,)),
    "definition_limits": InputMeaning("conflict", (ANY,)),
    "home_elsewhere": InputMeaning("implausible", ("country",)),
    "definition_classes": InputMeaning("conflict", ("notes",)),
    "as_of_conflict": InputMeaning("conflict", ("day",)),
    "labels_differ": InputMeaning("conflict"),
    "cash_differs": InputMeaning("conflict", ("cash",)),
    "notes_differ": InputMeaning("conflict", ("notes",)),
    "page_conflict": InputMeaning("conflict"),
    "page_total_differs": InputMeaning("conflict"),
    "conflicting_lots": InputMeaning("conflict", ("ratings", "life")),
    "column_stands_in": InputMeaning("ambiguous_column"),
    "par_by_printed": InputMeaning("ambiguous_column", ("par",)),
    "ratings_by_printed": InputMeaning("ambiguous_column"),
    "factor_by_printed": InputMeaning("ambiguous_column", ("moodys_factor",)),
    "names_not_split": InputMeaning("ambiguous_column", ("obligor",)),
    "signs_differ": InputMeaning("ambiguous_column"),
    "names_above": InputMeaning("ambiguous_column", ("obligor",)),
    "ambiguous_column": InputMeaning("ambiguous_column"),
    "unit_doubtful": InputMeaning("ambiguous_column"),
    "rates_differ": InputMeaning("implausible", ("rates",)),
    "country_unrecognised": InputMeaning("stand_in", ("country",)),
    "equal_rows": InputMeaning("implausible", ("par",)),
    "borrower_of_above": InputMeaning("implausible", ("obligor",)),
    "short_months": InputMeaning("ambiguous_column", ("life",)),
    "base_rate_by_level": InputMeaning("ambiguous_column", ("base_rate",)),
    "rating_of_another_scale": InputMeaning("ambiguous_column"),
    "bare_rates": InputMeaning("ambiguous_column", ("rates", "coupon_type")),
    "ambiguous_date": InputMeaning("ambiguous_column", ("day", "life")),
    "rule_broken": InputMeaning("implausible"),
    "as_of_outside_life": InputMeaning("implausible", ("day",)),
    "past_maturity": InputMeaning("implausible", ("life",)),
    "far_maturity": InputMeaning("implausible", ("life",)),
    "matures_after_deal": InputMeaning("implausible", ("life",)),
    "par_scale": InputMeaning("implausible", ("notes", "cash")),
    "par_unlike_notes": InputMeaning("implausible", ("par",)),
    "negative_par": InputMeaning("implausible", ("par",)),
    "page_joined_by_name": InputMeaning("joined_by_name"),
    "affiliates_by_name": InputMeaning("joined_by_name", ("obligor",)),
    "obligors_alike": InputMeaning("joined_by_name", ("obligor",)),
    "second_loan_sheet": InputMeaning("joined_by_name", ("par",)),
    "page_not_read": InputMeaning("left_out", ("par",)),
    "total_differs": InputMeaning("conflict", ("par",)),
    "layout_guessed": InputMeaning("ambiguous_column", ("par",)),
    "rows_without_par": InputMeaning("left_out", ("par",)),
    "rows_after_end": InputMeaning("left_out", ("par",)),
    "no_collateral": InputMeaning("left_out", ("par",)),
    "bare_loans": InputMeaning("implausible", ("par",)),
    "earlier_rows": InputMeaning("left_out", ("par",)),
    "days_mixed": InputMeaning("conflict"),
    "deals_mixed": InputMeaning("conflict"),
    "unidentified_rows": InputMeaning("left_out", ("par",)),
    "list_left_out": InputMeaning("left_out", ("par",)),
    "page_rows_without_loan": InputMeaning("left_out"),
    "page_rows_ambiguous": InputMeaning("left_out"),
    "other_currency": InputMeaning("left_out", ("par",)),
}
"""What the warnings that make figures doubtful mean, by code. The others of `WARNING_CODES` say how the file was read,
compared or traded, and make no figure doubtful; that a published figure differs is told in its own row."""


def concern_of(warning: DataWarning) -> Concern:
    """Return in what way a warning makes figures doubtful.

    A loan without a par that can be read is left out.
    """
    if warning.code == "unreadable_cells" and warning.fields == ("par_value",):
        return "left_out"
    return WARNINGS[warning.code].concern


def inputs_of(warning: DataWarning) -> frozenset[str]:
    """Return what a warning is about; nothing where it makes no figure doubtful."""
    meaning = WARNINGS.get(warning.code)
    if meaning is None:
        return frozenset()
    return frozenset(map(input_of, warning.fields)) if warning.fields else frozenset(meaning.inputs)
