"""Configurations to mappings.

What is kept of a profile, and every fault with its place.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.portfolio.mapping.profiles import configure
from core.portfolio.mapping.profiles.configure import (
    ConfigurationError,
    UnknownProfile,
    configure_mapping,
    own_fields,
    resolve_targets,
)
from core.portfolio.mapping.profiles.parameters import DECIMALS_MAX, ENTRIES_MAX, LENGTH_MAX, TEXT_LENGTH_MAX
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import AUXILIARY_FIELDS, PROFILES, Mapping
from core.portfolio.sheets.headings.matcher import matcher

COLUMNS = {
    "Par": {"target": "par_value", "type": "number"},
    "Name": {"target": "borrower_name", "type": "string", "required": True},
    "Ends": {"target": "maturity_date", "type": "date"},
    "Lite": {"target": "cov_lite", "type": "boolean"},
}


def document(**changes: Any) -> dict[str, Any]:
    return {"source_type": "clo_holdings", "mappings": COLUMNS, **changes}


def mapping(**changes: Any) -> Mapping:
    return configure_mapping(document(**changes), id="map_1", name="Own")


def faults(**changes: Any) -> dict[str, str]:
    """Return place -> what is wrong."""
    with pytest.raises(ConfigurationError) as refused:
        mapping(**changes)
    return {".".join(place): what for place, what in refused.value.faults}


def test_a_mapping_without_a_profile_has_its_own_fields_and_the_auxiliary_ones() -> None:
    own = mapping()
    assert [field.target for field in own.fields] == ["par_value", "borrower_name", "maturity_date", "cov_lite"]
    assert (own.id, own.name, own.source_type) == ("map_1", "Own", "clo_holdings")
    assert own.fields[0].aliases == ("Par",)
    assert [field.required for field in own.fields] == [False, True, False, False]
    assert own.auxiliary == AUXILIARY_FIELDS
    assert own.anchors == ("par_value",)


def test_a_custom_mapping_is_anchored_by_all_its_targets() -> None:
    own = mapping(source_type="custom", mappings={"A": {"target": "alpha"}, "B": {"target": "beta", "type": "number"}})
    assert own.anchors == ("alpha", "beta")
    assert own.auxiliary == ()
    assert [field.type for field in own.fields] == ["string", "number"]


def test_a_profile_keeps_its_fields_and_gets_the_new_names_first() -> None:
    own = mapping(
        source_type="custom",
        profile_id="standard_clo",
        mappings={"Loan Amt": {"target": "par_value", "type": "number", "aliases": ["LA"]}, "Desk": {"target": "desk"}},
    )
    profile = PROFILES["standard_clo"]
    assert [field.target for field in own.fields] == [*(standard.target for standard in profile.fields), "desk"]
    par = next(field for field in own.fields if field.target == "par_value")
    assert par.aliases[:3] == ("Loan Amt", "LA", "Par Amount")
    assert par.required
    assert own.anchors == profile.anchors


def test_a_name_that_one_claims_is_taken_from_the_profile() -> None:
    own = mapping(profile_id="standard_clo", mappings={"coupon": {"target": "spread", "type": "number"}})
    fields = {field.target: field for field in own.fields}
    assert "Coupon" not in fields["all_in_rate"].aliases
    assert [target for target, _, _ in matcher(own).options("Coupon")] == ["spread"]


def test_a_name_that_is_a_field_s_own_can_feed_another() -> None:
    own = mapping(profile_id="standard_clo", mappings={"Rating": {"target": "rating_agency_a", "type": "string"}})
    assert [target for target, _, _ in matcher(own).options("rating")] == ["rating_agency_a"]
    assert "rating" not in resolve_targets(own)["rating"]["sources"]


def test_a_claimed_name_is_taken_from_auxiliary_fields_too() -> None:
    own = mapping(mappings={**COLUMNS, "WAL": {"target": "facility_size", "type": "number"}})
    life = next(field for field in own.auxiliary if field.target == "average_life")
    assert "WAL" not in life.aliases


def test_a_custom_mapping_may_extend_a_profile() -> None:
    own = mapping(source_type="custom", profile_id="standard_servicer", mappings={})
    assert own.source_type == "custom"
    assert [field.target for field in own.fields] == [
        standard.target for standard in PROFILES["standard_servicer"].fields
    ]


def test_two_columns_of_one_target_stand_in_the_order_of_their_aliases() -> None:
    funded = {"target": "par_value", "type": "number", "aliases": ["Funded Par"], "default": 5}
    total = {"target": "par_value", "type": "number", "required": True}
    first = {"Funded": {**funded, "aliases": ["Funded Par", "total"]}, "Total": total}
    second = {"Funded": funded, "Total": {**total, "aliases": ["Par", "funded"]}}
    for columns, expected in (
        (first, ("Funded", "Funded Par", "total")),
        (dict(reversed(first.items())), ("Funded", "Funded Par", "total")),
        (second, ("Total", "Par", "funded", "Funded Par")),
        (dict(reversed(second.items())), ("Total", "Par", "funded", "Funded Par")),
    ):
        (par,) = mapping(mappings=columns).fields
        assert par.aliases == expected, columns
        assert par.required
        assert par.default == 5.0


def test_two_columns_of_one_target_need_an_order() -> None:
    """An object has none.

    What was stored before was taken in the order in which it was written.
    """
    columns = {"Funded": {"target": "par_value"}, "Total": {"target": "par_value", "aliases": ["Sum"]}}
    message = "feeds par_value, as 'Funded' does: one of them names the other among its aliases"
    assert faults(mappings=columns) == {"mappings.Total": message}
    stored = configure_mapping(document(mappings=columns), id="m", name="M", is_stored=True)
    assert stored.fields[0].aliases == ("Funded", "Total", "Sum")


def test_resolved_says_what_feeds_each_target() -> None:
    assert resolve_targets(mapping())["par_value"] == {
        "sources": ["Par", "par_value"],
        "type": "number",
        "required": False,
    }
    named = mapping(mappings={"Par Value": {"target": "par_value", "type": "number", "required": True}})
    assert resolve_targets(named) == {"par_value": {"sources": ["Par Value"], "type": "number", "required": True}}
    assert len(resolve_targets(PROFILES["standard_clo"])) == 25


def test_transforms_and_rules_are_kept_in_order() -> None:
    own = mapping(
        transforms=[
            {"field": "borrower_name", "operation": "uppercase"},
            {"field": "par_value", "operation": "multiply", "parameters": {"factor": 1000, "unused": None}},
        ],
        validation_rules=[
            {"field": "par_value", "rule": "range", "parameters": {"min": 0}, "message": "odd par"},
            {"field": "maturity_date", "rule": "range", "parameters": {"max": "2099-12-31"}},
        ],
    )
    assert [(transform.field, transform.operation, transform.parameters) for transform in own.transforms] == [
        ("borrower_name", "uppercase", {}),
        ("par_value", "multiply", {"factor": 1000}),
    ]
    assert [(rule.rule, rule.message) for rule in own.rules] == [("range", "odd par"), ("range", None)]
    assert hash(own) == hash(own)


def test_an_unknown_profile_and_a_profile_of_another_source() -> None:
    with pytest.raises(UnknownProfile) as refused:
        mapping(profile_id="standard_bond")
    assert refused.value.faults[0][0] == ("profile_id",)
    with pytest.raises(UnknownProfile):
        mapping(profile_id=5)
    assert "profile of servicer_snapshot" in faults(profile_id="standard_servicer")["profile_id"]
    assert issubclass(ConfigurationError, MappingError)


def test_a_configuration_maps_something() -> None:
    assert "no column is mapped" in faults(mappings={})["mappings"]
    assert mapping(mappings={}, profile_id="standard_clo").fields == PROFILES["standard_clo"].fields
    assert "source_type" in faults(source_type="bonds")
    assert "source_type" in faults(source_type=None)


@pytest.mark.parametrize(
    ("column", "place"),
    [
        ("par_value", ""),
        ({}, ".target"),
        ({"target": "par value"}, ".target"),
        ({"target": "1par"}, ".target"),
        ({"target": "p" * 65}, ".target"),
        ({"target": "pär"}, ".target"),
        ({"target": 5}, ".target"),
        ({"target": "own", "type": "money"}, ".type"),
        ({"target": "own", "type": ["string"]}, ".type"),
        ({"target": "spread", "type": "string"}, ".type"),
        ({"target": "facility_size", "type": "string"}, ".type"),
        ({"target": "own", "type": "number", "default": "5"}, ".default"),
        ({"target": "own", "type": "number", "default": True}, ".default"),
        ({"target": "own", "type": "number", "default": float("nan")}, ".default"),
        ({"target": "own", "type": "number", "default": 10**400}, ".default"),
        ({"target": "own", "type": "boolean", "default": 1}, ".default"),
        ({"target": "own", "type": "date", "default": "31.12.2030"}, ".default"),
        ({"target": "own", "type": "date", "default": "2030-02-30"}, ".default"),
        ({"target": "own", "type": "date", "default": "2030-W01-1"}, ".default"),
        ({"target": "own", "type": "date", "default": "1900-01-01"}, ".default"),
        ({"target": "own", "default": 5}, ".default"),
        ({"target": "own", "default": " "}, ".default"),
        ({"target": "own", "default": "\ud800"}, ".default"),
        ({"target": "own", "default": "x" * (TEXT_LENGTH_MAX + 1)}, ".default"),
        ({"target": "own", "required": "yes"}, ".required"),
        ({"target": "own", "aliases": "A"}, ".aliases"),
        ({"target": "own", "aliases": [1]}, ".aliases"),
        ({"target": "own", "aliases": ["x"] * (configure.ALIASES_MAX + 1)}, ".aliases"),
        ({"target": "own", "aliases": ["fine", "--"]}, ".aliases.1"),
        ({"target": "own", "aliases": ["x" * (configure.HEADER_LENGTH_MAX + 1)]}, ".aliases.0"),
    ],
)
def test_faults_of_a_column(column: Any, place: str) -> None:
    assert list(faults(mappings={"Column": column})) == [f"mappings.Column{place}"]


@pytest.mark.parametrize("name", ["", "  ", "%", "x" * (configure.HEADER_LENGTH_MAX + 1)])
def test_faults_of_a_column_s_name(name: str) -> None:
    assert list(faults(mappings={name: {"target": "own"}})) == [f"mappings.{name}"]


def test_a_target_that_is_no_standard_field_is_one_s_own() -> None:
    columns = {"Par": {"target": "par_valeu", "type": "number"}, "Desk": {"target": "desk"}}
    for source_type in ("clo_holdings", "servicer_snapshot", "custom"):
        custom = mapping(source_type=source_type, mappings=columns)
        assert [(field.target, field.type) for field in custom.fields] == [("par_valeu", "number"), ("desk", "string")]


@pytest.mark.parametrize(
    ("source_type", "profile", "nearest"),
    [
        ("clo_holdings", None, {"par_valeu": "par_value", "Spraed": "spread", "desk": None, "loan_id": "loanx_id"}),
        (
            "clo_holdings",
            "standard_clo",
            {"par_valeu": "par_value", "Spraed": "spread", "desk": None, "loan_id": "loanx_id"},
        ),
        ("servicer_snapshot", None, {"par_valeu": None, "Spraed": None, "desk": None, "wal": None}),
        ("custom", None, {}),
        ("custom", "standard_clo", {"par_valeu": "par_value", "Spraed": "spread", "loan_id": "loanx_id"}),
    ],
)
def test_fields_of_one_s_own_are_named(source_type: str, profile: str | None, nearest: dict[str, str | None]) -> None:
    targets = ["par_valeu", "Spraed", "desk", "loan_id", "desk"]
    if source_type == "servicer_snapshot":
        targets = ["par_valeu", "Spraed", "desk", "wal", "loan_id", "days_open"]
    own = own_fields(source_type, profile, targets)
    assert {named_field.target: named_field.near for named_field in own} == nearest
    for own_field in own:
        assert own_field.message.startswith(f"{own_field.target} is no standard field of ")
        assert own_field.message.endswith(
            f"; did you mean {own_field.near}?" if own_field.near else "as a field of your own"
        )


def test_columns_that_contradict_each_other() -> None:
    same = {"Loan-ID": {"target": "a"}, "loan id": {"target": "b"}}
    custom = {"source_type": "custom"}
    assert "feeds a already" in faults(mappings=same, **custom)["mappings.loan id"]
    alias = {"X": {"target": "a"}, "Y": {"target": "b", "aliases": ["x"]}}
    assert "feeds a already" in faults(mappings=alias, **custom)["mappings.Y"]
    types = {"X": {"target": "a"}, "Y": {"target": "a", "type": "number"}}
    assert "mappings.Y.type" in faults(mappings=types, **custom)
    defaults = {"X": {"target": "a", "default": "1"}, "Y": {"target": "a", "default": "2"}}
    assert "mappings.Y.default" in faults(mappings=defaults, **custom)


def test_too_much_of_anything() -> None:
    many = {f"Column {at}": {"target": f"t{at}"} for at in range(configure.COLUMNS_MAX + 1)}
    assert "more than" in faults(mappings=many)["mappings"]
    transform = {"field": "par_value", "operation": "round", "parameters": {"decimals": 2}}
    assert "transforms" in faults(transforms=[transform] * (configure.TRANSFORMS_MAX + 1))
    assert list(faults(transforms=[transform] * 11)) == ["transforms.10"]
    rule = {"field": "par_value", "rule": "positive"}
    assert "validation_rules" in faults(validation_rules=[rule] * (configure.RULES_MAX + 1))
    assert list(faults(validation_rules=[rule] * 11)) == ["validation_rules.10"]
    wide = {"field": "borrower_name", "rule": "regex", "parameters": {"pattern": "a{450}"}}
    assert "steps" in faults(validation_rules=[wide] * 3)["validation_rules.2.parameters"]
    assert len(faults(transforms=[{}] * 150)) <= configure.FAULTS_MAX


def test_mappings_transforms_and_rules_have_their_forms() -> None:
    assert "mappings" in faults(mappings=[1])
    assert "mappings" in faults(mappings=None)
    assert "transforms" in faults(transforms={"a": 1})
    assert "transforms.0" in faults(transforms=["trim"])
    assert "validation_rules.0" in faults(validation_rules=[None])


@pytest.mark.parametrize(
    ("target", "operation", "parameters", "place"),
    [
        ("other", "trim", {}, "field"),
        (None, "trim", {}, "field"),
        (["par_value"], "round", {"decimals": 2}, "field"),
        ("borrower_name", "reverse", {}, "operation"),
        ("borrower_name", None, {}, "operation"),
        ("borrower_name", "multiply", {"factor": 2}, "operation"),
        ("par_value", "trim", {}, "operation"),
        ("par_value", "replace", {"pattern": "a", "replacement": "b"}, "operation"),
        ("cov_lite", "round", {"decimals": 2}, "operation"),
        ("par_value", "date_format", {"input_format": "YYYY-MM-DD", "output_format": "DD"}, "operation"),
        ("par_value", "multiply", [], "parameters"),
        ("par_value", "multiply", {}, "parameters.factor"),
        ("par_value", "multiply", {"factor": None}, "parameters.factor"),
        ("par_value", "multiply", {"factor": "2"}, "parameters.factor"),
        ("par_value", "multiply", {"factor": True}, "parameters.factor"),
        ("par_value", "multiply", {"factor": float("inf")}, "parameters.factor"),
        ("par_value", "multiply", {"factor": 2, "times": 3}, "parameters.times"),
        ("par_value", "divide", {"divisor": 0}, "parameters.divisor"),
        ("par_value", "divide", {"divisor": 0.0}, "parameters.divisor"),
        ("par_value", "divide", {"factor": 5, "divisor": 5}, "parameters.factor"),
        ("par_value", "round", {"decimals": 2.5}, "parameters.decimals"),
        ("par_value", "round", {"decimals": -1}, "parameters.decimals"),
        ("par_value", "round", {"decimals": DECIMALS_MAX + 1}, "parameters.decimals"),
        ("par_value", "round", {"decimals": True}, "parameters.decimals"),
        ("borrower_name", "replace", {"pattern": "(", "replacement": ""}, "parameters.pattern"),
        ("borrower_name", "replace", {"pattern": "(?=a)", "replacement": ""}, "parameters.pattern"),
        ("borrower_name", "replace", {"pattern": "", "replacement": ""}, "parameters.pattern"),
        ("borrower_name", "replace", {"pattern": "a" * 301, "replacement": ""}, "parameters.pattern"),
        ("borrower_name", "replace", {"pattern": "a", "replacement": 5}, "parameters.replacement"),
        ("borrower_name", "replace", {"pattern": "a"}, "parameters.replacement"),
        ("borrower_name", "replace", {"pattern": "(a)", "replacement": r"\2"}, "parameters"),
        ("borrower_name", "replace", {"pattern": "(a)", "replacement": r"\x"}, "parameters"),
        ("maturity_date", "date_format", {"output_format": "YYYY"}, "parameters.input_format"),
        ("maturity_date", "date_format", {"input_format": "MM/DD"}, "parameters.input_format"),
        ("maturity_date", "date_format", {"input_format": "%Q"}, "parameters.input_format"),
        (
            "maturity_date",
            "date_format",
            {"input_format": "YYYY-MM-DD", "output_format": "hello"},
            "parameters.output_format",
        ),
        ("borrower_name", "lookup", {"mapping": {}}, "parameters.mapping"),
        ("borrower_name", "lookup", {"mapping": ["a"]}, "parameters.mapping"),
        ("borrower_name", "lookup", {"mapping": {"a": 1}}, "parameters.mapping"),
        ("borrower_name", "lookup", {"mapping": {"a": "x", "A ": "y"}}, "parameters.mapping"),
        ("par_value", "lookup", {"mapping": {"a": "x"}}, "parameters.mapping"),
        (
            "borrower_name",
            "lookup",
            {"mapping": {str(at): "x" for at in range(ENTRIES_MAX + 1)}},
            "parameters.mapping",
        ),
    ],
)
def test_faults_of_a_transform(target: Any, operation: Any, parameters: Any, place: str) -> None:
    transform = {"field": target, "operation": operation, "parameters": parameters}
    assert list(faults(transforms=[transform])) == [f"transforms.0.{place}"]


def test_what_reads_cells_comes_before_arithmetic() -> None:
    lookup = {"field": "par_value", "operation": "lookup", "parameters": {"mapping": {"none": 0}}}
    times = {"field": "par_value", "operation": "multiply", "parameters": {"factor": 2}}
    assert len(mapping(transforms=[lookup, times]).transforms) == 2
    assert list(faults(transforms=[times, lookup])) == ["transforms.1.operation"]
    assert list(faults(transforms=[lookup, lookup])) == ["transforms.1.operation"]
    words = {"field": "borrower_name", "operation": "lookup", "parameters": {"mapping": {"a": "b"}}}
    assert len(mapping(transforms=[{"field": "borrower_name", "operation": "trim"}, words, words]).transforms) == 3


@pytest.mark.parametrize(
    ("target", "rule", "parameters", "place"),
    [
        ("other", "required", {}, "field"),
        ("par_value", "nice", {}, "rule"),
        ("par_value", ["positive"], {}, "rule"),
        ("borrower_name", "positive", {}, "rule"),
        ("maturity_date", "non_negative", {}, "rule"),
        ("borrower_name", "range", {"min": 1}, "rule"),
        ("par_value", "regex", {"pattern": "a"}, "rule"),
        ("par_value", "length", {"max": 2}, "rule"),
        ("cov_lite", "unique", {}, "rule"),
        ("par_value", "positive", {"min": 1}, "parameters.min"),
        ("par_value", "range", {}, "parameters"),
        ("par_value", "range", {"min": 2, "max": 1}, "parameters"),
        ("par_value", "range", {"min": "2"}, "parameters.min"),
        ("maturity_date", "range", {"min": 2}, "parameters.min"),
        ("maturity_date", "range", {"min": "2030-01-02", "max": "2030-01-01"}, "parameters"),
        ("borrower_name", "regex", {"pattern": "["}, "parameters.pattern"),
        ("borrower_name", "regex", {}, "parameters.pattern"),
        ("borrower_name", "length", {"min": -1}, "parameters.min"),
        ("borrower_name", "length", {"min": 1.5}, "parameters.min"),
        ("borrower_name", "length", {"max": LENGTH_MAX + 1}, "parameters.max"),
        ("borrower_name", "length", {"min": 3, "max": 2}, "parameters"),
        ("borrower_name", "length", {}, "parameters"),
        ("borrower_name", "enum", {"values": []}, "parameters.values"),
        ("borrower_name", "enum", {"values": "abc"}, "parameters.values"),
        ("borrower_name", "enum", {"values": [1]}, "parameters.values"),
        ("par_value", "enum", {"values": ["1"]}, "parameters.values"),
        ("cov_lite", "enum", {"values": [0]}, "parameters.values"),
        ("maturity_date", "enum", {"values": ["soon"]}, "parameters.values"),
    ],
)
def test_faults_of_a_rule(target: str, rule: Any, parameters: Any, place: str) -> None:
    rule_item = {"field": target, "rule": rule, "parameters": parameters}
    assert list(faults(validation_rules=[rule_item])) == [f"validation_rules.0.{place}"]


@pytest.mark.parametrize("message", [5, "x" * (configure.MESSAGE_LENGTH_MAX + 1)])
def test_faults_of_a_rule_s_message(message: Any) -> None:
    rule_item = {"field": "par_value", "rule": "positive", "message": message}
    assert list(faults(validation_rules=[rule_item])) == ["validation_rules.0.message"]


def test_all_faults_are_told_at_once() -> None:
    messages = faults(
        mappings={"A": {"target": "?"}, "B": {"target": "b", "type": "x"}, "Par": COLUMNS["Par"]},
        transforms=[{"field": "par_value", "operation": "trim"}],
        validation_rules=[{"field": "par_value", "rule": "regex"}],
    )
    assert list(messages) == [
        "mappings.A.target",
        "mappings.B.type",
        "transforms.0.operation",
        "validation_rules.0.rule",
    ]
