"""Values that formats cannot hold, repaired or refused before the work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError

_SURROGATE = re.compile("[\ud800-\udfff]")


def valid_text(text: str) -> str:
    r"""Return a text with lone surrogates, which UTF-8 cannot hold, replaced by U+FFFD.

    >>> valid_text("half \ud83d of an emoji")
    'half � of an emoji'
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def valid(value: Any) -> Any:
    """Return a value of JSON with :func:`valid_text` of every string in it."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [valid(item) for item in value]
    if isinstance(value, dict):
        return {valid_text(key): valid(item) for key, item in value.items()}
    return value


def writable_schema(pyarrow: Any, schema: Any) -> Any:
    """Return a schema with plain strings and bytes where it has views, which cannot be selected."""
    plain = {"string_view": pyarrow.large_string(), "binary_view": pyarrow.large_binary()}
    for place, field in enumerate(schema):
        if str(field.type) in plain:
            schema = schema.set(place, field.with_type(plain[str(field.type)]))
    return schema


def check_schema(pyarrow: Any, parquet: Any, schema: Any, path: Path) -> None:
    """Raise a LopsError about the first column whose rows cannot be written as Parquet."""
    for field in schema:
        alone = pyarrow.schema([field])
        try:
            empty = pyarrow.RecordBatch.from_arrays(
                [pyarrow.array([], type=field.type)], schema=alone
            )
            with parquet.ParquetWriter(pyarrow.BufferOutputStream(), alone) as file:
                file.write_batch(empty.take(pyarrow.array([], type=pyarrow.int64())))
        except pyarrow.ArrowException:
            raise LopsError(
                f"{path}: column {field.name!r} has the type {field.type}, whose rows cannot be "
                "written as Parquet; cast or drop the column, or give --format jsonl"
            ) from None
