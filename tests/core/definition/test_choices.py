"""The closed list of choices.

Names, options that a definition may say, and what they move.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from core.definition import Definition, parse, to_document
from core.definition.choices import BY_NAME, CHOICES, NamedChoice, Option, Setting, setting_of, with_settings
from core.portfolio.model.inputs import FIELDS

OPTIONS = [(choice, option) for choice in CHOICES for option in choice.options]


def test_names_are_unique() -> None:
    assert Counter(choice.name for choice in CHOICES).most_common(1)[0][1] == 1
    for choice in CHOICES:
        assert Counter(option.name for option in choice.options).most_common(1)[0][1] == 1
        assert BY_NAME[choice.name] is choice
        assert choice.option(choice.options[-1].name) is choice.options[-1]


def test_what_a_choice_moves_is_something_that_figures_read() -> None:
    assert {name for choice in CHOICES for name in choice.inputs} <= set(FIELDS)
    assert all(choice.inputs for choice in CHOICES if choice.group != "status")


def document(option: Option) -> dict[str, Any]:
    """A document that says an option alone."""
    result: dict[str, Any] = {}
    for setting in option.sets:
        section = result
        for name in setting.path[:-1]:
            section = section.setdefault(name, {})
        section[setting.path[-1]] = setting.document
    return {
        name: {key: value for key, value in section.items() if value is not None} for name, section in result.items()
    }


@pytest.mark.parametrize(("choice", "option"), OPTIONS, ids=lambda item: item.name)
def test_an_option_is_one_that_a_definition_may_say(choice: NamedChoice, option: Option) -> None:
    definition = with_settings(Definition(), option.sets)
    words = parse(document(option))
    assert to_document(definition) == to_document(words)
    if option.sets:
        assert setting_of(definition, choice) == option.name
        assert definition.stated >= {setting.key for setting in option.sets}


def test_a_definition_that_says_nothing_says_the_first_option() -> None:
    by_name = {choice.name: setting_of(Definition(), choice) for choice in CHOICES}
    first = {choice.name: choice.options[0].name for choice in CHOICES if choice.options[0].sets}
    assert {name: by_name[name] for name in first} == first
    assert {by_name[name] for name in by_name.keys() - first.keys()} == {None}


def test_a_value_that_is_no_option_is_none() -> None:
    other_definition = with_settings(Definition(), (Setting("ratings.a.masked", "B3"),))
    assert setting_of(other_definition, BY_NAME["masked_a"]) is None


def test_words_have_no_name_twice_in_the_genitive() -> None:
    words = [option.words for _, option in OPTIONS] + [choice.words for choice in CHOICES]
    assert not [word for word in words if "'s's" in word or "{" in word or word.endswith(".")]
