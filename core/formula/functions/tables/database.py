"""The database functions.

A table with headings, and criteria as a second table (rows are alternatives).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from core.formula.functions.catalogue import Argument, Takes, function
from core.formula.language.parser import parse
from core.formula.machine.machine import compile as compile_tree
from core.formula.ranges.environment import Environment
from core.formula.values.criteria import Criterion
from core.formula.values.value import DIV0, NUM, VALUE, Array, Error, Failure, fold

DATABASE = Argument("database", Takes.RANGE, "The table, its headings in the first row.")
FIELD = Argument("field", Takes.RANGE, "The column: its heading, or its number from 1.")
CRITERIA = Argument(
    "criteria",
    Takes.RANGE,
    "Headings over conditions: those of one row must all hold, those of any row suffice.",
)


def table_of(cells: Any) -> Array:
    """Return an argument that must be a table."""
    if isinstance(cells, Array):
        return cells
    raise Failure(cells if isinstance(cells, Error) else VALUE)


def headings(table: Array) -> dict[str, int]:
    """Return the columns of a table by heading, without case; of equals the first."""
    columns: dict[str, int] = {}
    for column in range(table.columns):
        heading = table.at(0, column)
        if heading is not None and not isinstance(heading, Error):
            columns.setdefault(name_of(heading), column)
    return columns


def name_of(heading: Any) -> str:
    """Return a heading as text that compares without case."""
    if isinstance(heading, float) and heading.is_integer():
        heading = int(heading)
    return fold(str(heading))


def column_of(table: Array, field: Any) -> int | None:
    """Return the column that a field argument names.

    None where it is left empty. #VALUE! where there is none such.
    """
    if isinstance(field, Array):
        if field.rows * field.columns > 1:
            raise Failure(VALUE)
        field = field.at(0, 0)
    if isinstance(field, Error):
        raise Failure(field)
    if field is None:
        return None
    place = headings(table).get(name_of(field)) if isinstance(field, str) else int(field) - 1
    if place is None or not 0 <= place < table.columns:
        raise Failure(VALUE)
    return place


Condition = Callable[[int], bool]
"""Whether a record (a row of the table, 1 for the first) meets one cell of the criteria."""


def on_column(table: Array, column: int, criterion: Criterion) -> Condition:
    """Return the condition that stands under a heading of the table."""
    return lambda row: criterion.matches(table.at(row, column))


def computed(environment: Environment, cells: Array, row: int, column: int) -> Condition:
    """Return the condition that stands under any other heading.

    A formula written for the first record.

    Moved down with the record, its relative references follow. A constant holds for all records when it is TRUE.
    """
    reference, value = cells.reference, cells.at(row, column)
    text = reference and environment.formula(reference.sheet, reference.top + row, reference.left + column)
    if not (reference and text):
        return lambda _: value is True
    top, left = reference.top + row, reference.left + column
    program = compile_tree(parse(text, top, left), arrays=False, text=text)

    def holds(record: int) -> bool:
        home = environment.sheet, environment.row, environment.column
        environment.sheet = reference.sheet or environment.sheet
        environment.row, environment.column = top + record - 1, left
        try:
            return program.run(environment) is True
        finally:
            environment.sheet, environment.row, environment.column = home

    return holds


def alternatives(environment: Environment, table: Array, criteria: Array) -> list[list[Condition]]:
    """Return the conditions of each row of a criteria table.

    Blanks and empty texts ask nothing.

    Raises:
        Failure: VALUE for headings alone.
    """
    if criteria.rows < 2:
        raise Failure(VALUE)
    columns = headings(table)
    rows = []
    for row in range(1, criteria.rows):
        conditions = []
        for column in range(criteria.columns):
            wanted, heading = criteria.at(row, column), criteria.at(0, column)
            if wanted is None or wanted == "":
                continue
            place = None if heading is None or isinstance(heading, Error) else columns.get(name_of(heading))
            if place is None:
                conditions.append(computed(environment, criteria, row, column))
            else:
                criterion = Criterion(wanted, date_1904=environment.date_1904, begins=True)
                conditions.append(on_column(table, place, criterion))
        rows.append(conditions)
    return rows


def records(environment: Environment, table: Array, criteria: Array) -> Iterator[int]:
    """Yield the rows of a table that meet one row of the criteria at least."""
    choices = alternatives(environment, table, criteria)
    for row in range(1, table.rows):
        environment.spend(len(choices))
        if any(all(condition(row) for condition in conditions) for conditions in choices):
            yield row


def database_of(cells: Any) -> Array:
    """Return a table with one record at least: headings alone are #VALUE!."""
    table = table_of(cells)
    if table.rows < 2:
        raise Failure(VALUE)
    return table


def chosen(environment: Environment, database: Any, field: Any, criteria: Any) -> list[Any]:
    """Return the field's cells in the records that meet the criteria. #VALUE! without a field."""
    table = database_of(database)
    column = column_of(table, field)
    if column is None:
        raise Failure(VALUE)
    return [table.at(row, column) for row in records(environment, table, table_of(criteria))]


def numbers(cells: list[Any]) -> list[float]:
    """Return the numbers among cells; an error among them is the answer."""
    for cell in cells:
        if isinstance(cell, Error):
            raise Failure(cell)
    return [cell for cell in cells if isinstance(cell, float)]


def squares(values: list[float]) -> float:
    """Return the sum of the squared distances from the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


def mean(values: list[float]) -> float | Error:
    return math.fsum(values) / len(values) if values else DIV0


def largest(values: list[float]) -> float:
    return max(values, default=0.0)


def smallest(values: list[float]) -> float:
    return min(values, default=0.0)


def product(values: list[float]) -> float:
    return math.prod(values) if values else 0.0


def variance(values: list[float]) -> float | Error:
    return squares(values) / (len(values) - 1) if len(values) > 1 else DIV0


def variance_of_all(values: list[float]) -> float | Error:
    return squares(values) / len(values) if values else DIV0


def deviation(values: list[float]) -> float | Error:
    return math.sqrt(squares(values) / (len(values) - 1)) if len(values) > 1 else DIV0


def deviation_of_all(values: list[float]) -> float | Error:
    return math.sqrt(squares(values) / len(values)) if values else DIV0


EXAMPLE = '{"k","v";1,10;2,20;3,40},"v",{"k";">1"}'

AGGREGATES: tuple[tuple[str, str, Callable[[list[float]], float | Error], float | Error], ...] = (
    ("DSUM", "The sum of a column in the records that meet criteria.", lambda values: sum(values, 0.0), 60.0),
    ("DAVERAGE", "The mean of a column in the records that meet criteria.", mean, 30.0),
    ("DMAX", "The largest number of a column in the records that meet criteria.", largest, 40.0),
    ("DMIN", "The smallest number of a column in the records that meet criteria.", smallest, 20.0),
    ("DPRODUCT", "The product of a column in the records that meet criteria.", product, 800.0),
    (
        "DSTDEV",
        "The standard deviation of a column, the records that meet criteria a sample.",
        deviation,
        math.sqrt(200),
    ),
    (
        "DSTDEVP",
        "The standard deviation of a column, the records that meet criteria being all.",
        deviation_of_all,
        10.0,
    ),
    ("DVAR", "The variance of a column, the records that meet criteria being a sample.", variance, 200.0),
    ("DVARP", "The variance of a column, the records that meet criteria being all.", variance_of_all, 100.0),
)


def enter(name: str, description: str, aggregate: Callable[[list[float]], float | Error], value: float | Error) -> None:
    """One row of AGGREGATES into the catalogue."""

    @function(
        name,
        "database",
        description,
        DATABASE,
        FIELD,
        CRITERIA,
        examples=((f"={name}({EXAMPLE})", value),),
        environment=True,
    )
    def body(environment: Environment, database: Any, field: Any, criteria: Any) -> float | Error:
        return aggregate(numbers(chosen(environment, database, field, criteria)))


for each in AGGREGATES:
    enter(*each)


def counted(environment: Environment, database: Any, field: Any, criteria: Any, counts: Callable[[Any], bool]) -> float:
    """Return how many records that meet the criteria have a field that counts.

    Without a field all of them.
    """
    table = database_of(database)
    column = column_of(table, field)
    rows = records(environment, table, table_of(criteria))
    return float(sum(column is None or counts(table.at(row, column)) for row in rows))


@function(
    "DCOUNT",
    "database",
    "Counts a column's numbers in the records that meet criteria; the records where no column is given.",
    DATABASE,
    FIELD,
    CRITERIA,
    examples=((f"=DCOUNT({EXAMPLE})", 2.0),),
    environment=True,
)
def dcount(environment: Environment, database: Any, field: Any, criteria: Any) -> float:
    return counted(environment, database, field, criteria, lambda cell: isinstance(cell, float))


@function(
    "DCOUNTA",
    "database",
    "Counts a column's cells that are not blank in the records that meet criteria.",
    DATABASE,
    FIELD,
    CRITERIA,
    examples=((f"=DCOUNTA({EXAMPLE})", 2.0),),
    environment=True,
)
def dcounta(environment: Environment, database: Any, field: Any, criteria: Any) -> float:
    return counted(environment, database, field, criteria, lambda cell: cell is not None)


@function(
    "DGET",
    "database",
    "The cell of the one record that meets criteria and is not blank; #VALUE! for none, #NUM! for several.",
    DATABASE,
    FIELD,
    CRITERIA,
    examples=((f"=DGET({EXAMPLE.replace('>1', '=2')})", 20.0), (f"=DGET({EXAMPLE})", NUM)),
    environment=True,
)
def dget(environment: Environment, database: Any, field: Any, criteria: Any) -> Any:
    cells = [cell for cell in chosen(environment, database, field, criteria) if cell is not None]
    if len(cells) > 1:
        return NUM
    return cells[0] if cells and cells[0] != "" else VALUE
