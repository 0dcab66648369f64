"""What is kept by a text that a stranger chose is short."""

from __future__ import annotations

from core.remembered import CHARACTERS_MAX, remembered


def test_only_short_texts_are_kept() -> None:
    asked: list[str] = []

    @remembered(2)
    def length(text: str, times: int = 1) -> int:
        asked.append(text)
        return times * len(text)

    short, long = "s" * CHARACTERS_MAX, "l" * (CHARACTERS_MAX + 1)
    assert [length(short), length(short), length(short, 2)] == [CHARACTERS_MAX, CHARACTERS_MAX, 2 * CHARACTERS_MAX]
    assert [length(long), length(long)] == [CHARACTERS_MAX + 1] * 2
    assert asked == [short, short, long, long]
