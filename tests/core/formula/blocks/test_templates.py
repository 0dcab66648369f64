"""Every template: checked, compiled, and its example rows."""

from __future__ import annotations

from core.formula.blocks import TEMPLATES, check
from core.formula.blocks.templates import Template
from core.grid.address import column_name
from core.recalc.apply import NamedColumns, preview
from core.recalc.book import Book
from tests.rows import every


@every("template", TEMPLATES.values(), ids=lambda template: template.id)
def test_a_template_gives_what_its_examples_say(template: Template) -> None:
    schema = {input_value.column: input_value.type for input_value in template.inputs}
    result = check(template.graph, schema)
    assert (result.errors, result.warnings) == ((), ())
    assert result.formula is not None
    assert set(result.columns) == set(schema)
    assert [node.id for node in template.graph.nodes if node.type == "column_ref"] == [
        input_value.node_id for input_value in template.inputs
    ]
    columns = {
        column_name(at): [input_value.column, *(values[at] for values, _ in template.examples)]
        for at, input_value in enumerate(template.inputs)
    }
    book = Book.from_columns({"S": columns})
    headed = NamedColumns(book.sheets[0], 0, list(schema))
    shown = preview(book, headed, result.formula, 200)
    assert [row.output for row in shown] == [answer for _, answer in template.examples]
