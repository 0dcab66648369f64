"""What figures read of a portfolio, and what of it each warning is about: it makes figures doubtful that read it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from core.portfolio.model.notes import DataWarning

Concern = Literal[
    "masked_inputs", "blank_inputs", "estimate", "stand_in", "conflict", "ambiguous_column", "implausible",
    "joined_by_name", "left_out",
]  # fmt: skip
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
    """What a field says; the field itself where it is none of the catalogue's, such as one of a mapping's own."""
    if field in _INPUT_OF:
        return _INPUT_OF[field]
    heads = [name for name in _INPUT_OF if field.startswith((f"{name}_", f"{name}."))]
    return _INPUT_OF[max(heads, key=len)] if heads else field


_INPUT_OF: Final = {field: name for name, fields in FIELDS.items() for field in fields}


class Meaning(NamedTuple):
    """What a warning means for figures."""

    concern: Concern
    inputs: tuple[str, ...] = ()
    """What it is about where the warning itself names no fields; `ANY`: everything. None: it is about its fields."""


WARNINGS: Final[dict[str, Meaning]] = {
    "masked_ratings": Meaning("masked_inputs", ("ratings",)),
    "masked_by_rating_table": Meaning("stand_in", ("ratings",)),
    "masked_word": Meaning("masked_inputs"),
    "required_missing": Meaning("blank_inputs"),
    "unreadable_cells": Meaning("blank_inputs"),
    "page_loans_without_row": Meaning("blank_inputs"),
    "error_cells": Meaning("blank_inputs", (ANY,)),
    "no_rating": Meaning("blank_inputs", ("ratings",)),
    "unrated_not_ccc": Meaning("stand_in", ("ratings",)),
    "no_price": Meaning("blank_inputs", ("price",)),
    "no_maturity": Meaning("blank_inputs", ("life",)),
    "no_base_rate": Meaning("blank_inputs", ("base_rate",)),
    "reference_coupon_unknown": Meaning("blank_inputs", ("coupon",)),
    "excess_spread_as_printed": Meaning("stand_in", ("coupon",)),
    "excess_coupon_floored": Meaning("stand_in", ("coupon",)),
    "reference_coupon_by_test": Meaning("stand_in", ("coupon",)),
    "interest_estimated": Meaning("estimate", ("interest",)),
    "fees_estimated": Meaning("estimate", ("fees",)),
    "may_differ_from_excel": Meaning("estimate", (ANY,)),
    "circular_reference": Meaning("estimate", (ANY,)),
    "not_converged": Meaning("estimate", (ANY,)),
    "interest_as_printed": Meaning("stand_in", ("interest",)),
    "amount_stated": Meaning("stand_in"),
    "amount_differs": Meaning("conflict"),
    "figure_corrected": Meaning("stand_in"),
    "correction_left_out": Meaning("conflict"),
    "index_rate_stated": Meaning("stand_in", ("base_rate",)),
    "index_rate_differs": Meaning("conflict", ("base_rate",)),
    "haircuts_as_printed": Meaning("stand_in", ("haircuts",)),
    "reading_proposed": Meaning("stand_in"),
    "reading_differs": Meaning("conflict"),
    "ccc_by_rating_table": Meaning("stand_in", ("rating_table",)),
    "ccc_excess_not_shown": Meaning("stand_in", ("haircuts",)),
    "industries_by_table": Meaning("stand_in", ("industry",)),
    "obligor_families": Meaning("stand_in", ("obligor",)),
    "defaults_as_printed": Meaning("stand_in", ("default",)),
    "recovery_assumed": Meaning("stand_in", ("recovery_agency",)),
    "recovery_agency": Meaning("stand_in", ("recovery_agency",)),
    "no_moodys_rating": Meaning("stand_in", ("moodys_factor",)),
    "lives_by_maturity": Meaning("stand_in", ("life_basis",)),
    "no_lien": Meaning("stand_in", ("lien",)),
    "lien_of_names": Meaning("stand_in", ("lien",)),
    "lien_unrecognised": Meaning("stand_in", ("lien",)),
    "bonds_secured": Meaning("stand_in", ("secured",)),
    "as_of_stands_in": Meaning("stand_in", ("day",)),
    "as_of_footer": Meaning("stand_in", ("day",)),
    "page_stands_in": Meaning("stand_in"),
    "par_is_commitment": Meaning("stand_in", ("par",)),
    "par_less_unfunded": Meaning("stand_in", ("par",)),
    "par_is_funded": Meaning("ambiguous_column", ("par",)),
    "industry_of_headings": Meaning("stand_in", ("industry",)),
    "definition_currency": Meaning("conflict", (ANY,)),
    "definition_days": Meaning("conflict", (ANY,)),
    "definition_limits": Meaning("conflict", (ANY,)),
    "home_elsewhere": Meaning("implausible", ("country",)),
    "definition_classes": Meaning("conflict", ("notes",)),
    "as_of_conflict": Meaning("conflict", ("day",)),
    "labels_differ": Meaning("conflict"),
    "cash_differs": Meaning("conflict", ("cash",)),
    "notes_differ": Meaning("conflict", ("notes",)),
    "page_conflict": Meaning("conflict"),
    "page_total_differs": Meaning("conflict"),
    "conflicting_lots": Meaning("conflict", ("ratings", "life")),
    "column_stands_in": Meaning("ambiguous_column"),
    "par_by_printed": Meaning("ambiguous_column", ("par",)),
    "ratings_by_printed": Meaning("ambiguous_column"),
    "factor_by_printed": Meaning("ambiguous_column", ("moodys_factor",)),
    "names_not_split": Meaning("ambiguous_column", ("obligor",)),
    "signs_differ": Meaning("ambiguous_column"),
    "names_above": Meaning("ambiguous_column", ("obligor",)),
    "ambiguous_column": Meaning("ambiguous_column"),
    "unit_doubtful": Meaning("ambiguous_column"),
    "short_months": Meaning("ambiguous_column", ("life",)),
    "base_rate_by_level": Meaning("ambiguous_column", ("base_rate",)),
    "rating_of_another_scale": Meaning("ambiguous_column"),
    "bare_rates": Meaning("ambiguous_column", ("rates", "coupon_type")),
    "ambiguous_date": Meaning("ambiguous_column", ("day", "life")),
    "rule_broken": Meaning("implausible"),
    "as_of_outside_life": Meaning("implausible", ("day",)),
    "past_maturity": Meaning("implausible", ("life",)),
    "far_maturity": Meaning("implausible", ("life",)),
    "matures_after_deal": Meaning("implausible", ("life",)),
    "par_scale": Meaning("implausible", ("notes", "cash")),
    "par_unlike_notes": Meaning("implausible", ("par",)),
    "negative_par": Meaning("implausible", ("par",)),
    "page_joined_by_name": Meaning("joined_by_name"),
    "affiliates_by_name": Meaning("joined_by_name", ("obligor",)),
    "obligors_alike": Meaning("joined_by_name", ("obligor",)),
    "second_loan_sheet": Meaning("joined_by_name", ("par",)),
    "rows_without_par": Meaning("left_out", ("par",)),
    "rows_after_end": Meaning("left_out", ("par",)),
    "no_collateral": Meaning("left_out", ("par",)),
    "unidentified_rows": Meaning("left_out", ("par",)),
    "page_rows_without_loan": Meaning("left_out"),
    "page_rows_ambiguous": Meaning("left_out"),
    "other_currency": Meaning("left_out", ("par",)),
}
"""What the warnings that make figures doubtful mean, by code. The others of `WARNING_CODES` say how the file was read,
compared or traded, and make no figure doubtful; that a published figure differs is told in its own row."""


def concern_of(warning: DataWarning) -> Concern:
    """In what way a warning of `WARNINGS` makes figures doubtful: a loan without a par that can be read is left out."""
    if warning.code == "unreadable_cells" and warning.fields == ("par_value",):
        return "left_out"
    return WARNINGS[warning.code].concern


def inputs_of(warning: DataWarning) -> frozenset[str]:
    """What a warning is about; nothing where it makes no figure doubtful."""
    meaning = WARNINGS.get(warning.code)
    if meaning is None:
        return frozenset()
    return frozenset(map(input_of, warning.fields)) if warning.fields else frozenset(meaning.inputs)
