"""Trying a mapping on sample rows: what comes of them, and their faults."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import msgspec
import numpy as np

from core.portfolio.cells import checkpoint
from core.portfolio.cells.typed import NormalColumn
from core.portfolio.mapping.normalise import CellFault, NormalisedRows, SampleError, normalise_rows
from core.portfolio.mapping.profiles.configure import OwnField
from core.portfolio.model.fields import Mapping
from service.mappings.schema import ANSWER_BYTES_MAX, Finding, MappingTooSlow, Trial
from service.platform.base.problem import ValidationFailed
from service.platform.route.api import Raw

SAMPLE: Final = ["body", "sample_data"]
VALUE_BYTES: Final = 16
"""About what a figure, a date or null takes in JSON, with the marks about it."""
VALUES_AT_ONCE: Final = 20_000
"""Values that are encoded in one go: nothing else of the process runs meanwhile, some milliseconds."""

TEXT_GROWTH_BYTES_MAX: Final = 256 * 1024 * 1024
"""By how much replacing may lengthen all texts of a sample or a workbook together, step after step."""


@contextmanager
def mapping_time(seconds: float) -> Iterator[None]:
    """Within, and in this thread, a mapping may take so much time.

    Raises:
        MappingTooSlow: it did not come to its end: a few steps can make much work, or text, of many rows.
    """
    end, left_bytes = time.monotonic() + seconds, TEXT_GROWTH_BYTES_MAX

    def question(grown_bytes: int) -> None:
        nonlocal left_bytes
        left_bytes -= grown_bytes
        if left_bytes < 0:
            raise MappingTooSlow.at(["body"], f"replacing makes more than {TEXT_GROWTH_BYTES_MAX:,} bytes of text")
        if time.monotonic() > end:
            raise MappingTooSlow.at(["body"], f"the limit is {seconds:g} seconds")

    with checkpoint.checking(question):
        yield


def try_sample(
    mapping: Mapping, rows: list[dict[str, Any]], *, own_fields: Sequence[OwnField], strict: bool, seconds_max: float
) -> Raw:
    """Return the answer, encoded; the mapping's own fields stand among the warnings.

    Raises:
        ValidationFailed: the sample, or what comes of it, is larger than one request may be.
        MappingTooSlow: it takes longer than it may.
    """
    try:
        with mapping_time(seconds_max):
            normalised = normalise_rows(mapping, rows)
    except SampleError as error:
        raise ValidationFailed.at(SAMPLE, str(error)) from None
    _check_size(sum(_bytes_of(target, column) for target, column in normalised.columns.items()))
    return Raw(msgspec.json.encode(_trial(normalised, own_fields, strict=strict)), "application/json")


def _check_size(size_bytes: int) -> None:
    if size_bytes > ANSWER_BYTES_MAX:
        message = f"the mapped rows take at least {size_bytes:,} bytes, more than {ANSWER_BYTES_MAX:,}"
        raise ValidationFailed.at(SAMPLE, message)


def _bytes_of(target: str, column: NormalColumn) -> int:
    """Estimate a field's bytes in the answer, before rows are made."""
    size_bytes = len(column) * (len(target) + VALUE_BYTES)
    if column.type == "string":
        codes = column.text.codes
        size_bytes += int(np.diff(column.text.text.offsets)[codes[codes >= 0]].sum())
    return size_bytes


def _trial(normalised: NormalisedRows, own_fields: Sequence[OwnField], *, strict: bool) -> Trial:
    own = [
        Finding(row=None, field=own_field.target, rule="own_field", message=own_field.message, value=None)
        for own_field in own_fields
    ]
    warning_count = normalised.warning_count + len(own)
    return Trial(
        valid=normalised.is_valid and not (strict and warning_count),
        rows_processed=normalised.row_count,
        rows_valid=normalised.row_count - normalised.rows_invalid,
        rows_invalid=normalised.rows_invalid,
        mapped_data=cast(list[dict[str, Any]], _encode(normalised)),
        warnings=[*own, *(_finding(fault) for fault in normalised.warnings)],
        errors=[_finding(fault) for fault in normalised.errors],
        warning_count=warning_count,
        error_count=normalised.error_count,
        unmapped_columns=normalised.unmapped_columns,
        missing_required_columns=normalised.missing_required_columns,
    )


def _encode(normalised: NormalisedRows) -> msgspec.Raw:
    """Return the mapped rows in JSON, made some at a time.

    All of them as objects would take ten times the memory.
    """
    height = max(1, VALUES_AT_ONCE // max(1, len(normalised.columns)))
    parts: list[bytes] = []
    size_bytes = 0
    for start in range(0, normalised.row_count, height):
        parts.append(msgspec.json.encode(normalised.rows(start, min(start + height, normalised.row_count)))[1:-1])
        size_bytes += len(parts[-1])
        _check_size(size_bytes)  # again, since JSON may write one sign as six
    return msgspec.Raw(b"[%b]" % b",".join(parts))


def _finding(fault: CellFault) -> Finding:
    return Finding(row=fault.row, field=fault.field, rule=fault.rule, message=fault.message, value=fault.value)
