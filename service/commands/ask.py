"""The ask command: a question in plain English over a portfolio workbook, with no server, straight on the core."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from service.commands.compliance import read_day
from service.commands.limits import limited
from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, emit, json_of
from service.commands.progress import busy
from service.commands.reading import DayOption, DealOption, MappingOption, read_interpreted, read_rules
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.questions.answer import Answer

EXIT_NOT_ANSWERED: Final = 1

# Heavy imports (NumPy, core) stand inside the command, so that `cushion --help` answers at once.


def ask(
    file: Path,
    question: str,
    /,
    *,
    previous: Path | None = None,
    deal: DealOption = None,
    mapping: MappingOption = None,
    as_of: DayOption = None,
    output: Output | None = None,
) -> int:
    """Answer a question about a portfolio workbook, such as "How much par matures before 2028?".

    The answer says how the question was understood. A question with a word that is neither known nor in the data is not
    answered: three that can be are told. The exit code is 0 with an answer, 1 without one, and 2 when a file cannot be
    read or there is no question. The JSON has question, answered, text, understood, query, figures, names, warnings and
    suggestions.

    Parameters
    ----------
    file:
        The workbook with the loans and, for the coverage tests, the notes, as `cushion compliance` takes it.
    question:
        At most 1,000 characters.
    previous:
        The same deal's workbook of a month before, for questions about what changed.
    """
    day = read_day(as_of)
    chosen, definition = read_rules(mapping, deal)
    with busy(f"Reading {file.name}"):
        from core.insights.subject import Subject
        from core.questions.answer import QuestionError
        from core.questions.ask import ask as asked

        rules = {"definition": definition}
        before = None
        if previous is not None:
            then = read_interpreted(previous, mapping=chosen, definition=definition)
            before = Subject(name=previous.name, portfolio=then, rules=rules)
        portfolio = read_interpreted(file, mapping=chosen, day=day, definition=definition)
        with limited(file):
            try:
                answer = asked(question, [Subject(name=file.name, portfolio=portfolio, rules=rules, previous=before)])
            except QuestionError as error:
                raise Refused(str(error)) from error
    emit(_page(answer), output or Output())
    return 0 if answer.answered else EXIT_NOT_ANSWERED


def _page(answer: Answer) -> OutputPage:
    """The answer, a sentence a line; as rows its figures."""
    sentences = [f"Understood: {answer.understood}"] * bool(answer.understood)
    sentences += answer.text.replace(". ", ".\n").split("\n")
    lines = [Line(sentence) for sentence in sentences]
    return OutputPage(
        blocks=lines,
        rows=Grid(columns=_FIGURES, items=answer.figures),
        document=json_of(answer),
        notes=lines,
    )


_FIGURES: Final = [OutputColumn(name) for name in ("name", "of", "identifier", "subject", "value", "unit", "text")]
