"""How a file was read, in words.

The readings used, and how many printed figures tie.
"""

from __future__ import annotations

from core.portfolio.model.interpretation import Choice, Interpretation, Reading, State
from tests.rows import every


def interpretation_of(*choices: tuple[State, bool, str]) -> Interpretation:
    """An interpretation with a reading of each state, changed or not, in these words."""
    both = [
        Choice(
            name="denominator",
            state=state,
            reading=Reading(option=words, words=words, ties=[]),
            runner_up=None,
            differs=False,
            changed=changed,
        )
        for state, changed, words in choices
    ]
    return Interpretation(choices=both, figures=52, tied_before=41, tied=1_047, hold_out=None)


@every(
    "choices, words",
    [
        ([], ""),
        ([("open", False, "at par"), ("stated", False, "at zero")], ""),
        ([("taken", False, "at par")], "at par; 1,047 of 52 printed figures tie"),
        (
            [("taken", False, "at par"), ("open", False, "x"), ("proposed", True, "no cash"), ("taken", True, "b")],
            "no cash (by one amount); b; at par; 1,047 of 52 printed figures tie",
        ),
        ([("proposed", False, "as ever")], "as ever; 1,047 of 52 printed figures tie"),
    ],
)
def test_what_is_used_is_in_words(choices: list[tuple[State, bool, str]], words: str) -> None:
    assert interpretation_of(*choices).read_as == words


def test_used_and_changed_are_of_the_states_that_figures_decide() -> None:
    states: list[State] = ["taken", "open", "proposed", "stated"]
    interpretation = interpretation_of(*((state, state != "taken", state) for state in states))
    assert [choice.state for choice in interpretation.used] == ["taken", "proposed"]
    assert [choice.state for choice in interpretation.changed] == ["proposed"]
