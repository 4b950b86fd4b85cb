"""Arrow streams (.arrow), as Hugging Face's datasets save them to disk."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.formats import base
from lops_adapters.formats.base import Block, Names, Reading, Start
from lops_adapters.formats.class_ids import class_names
from lops_adapters.formats.lines import Unpacked
from lops_adapters.formats.parquet import (
    BatchBlock,
    Parquet,
    ParquetRows,
    cast,
    import_pyarrow,
    without_views,
)
from lops_adapters.remote import opened


class Arrow(Parquet):
    """A stream of record batches, or an Arrow file; a stream is written."""

    name = native = "arrow"
    suffixes = (".arrow",)

    def start(self, path: Path, reading: Reading) -> Start:
        pyarrow, _ = import_pyarrow(path)
        schema, _ = next(_batches(pyarrow, path))
        types = without_views(pyarrow, schema)
        return Start(self.name, tuple(schema.names), reading, types, names=class_names(schema))

    def blocks(self, path: Path, start: Start, columns: Names | None = None) -> Iterator[Block]:
        pyarrow, _ = import_pyarrow(path)
        number, limit = 0, Unpacked(path, "save it as JSONL")
        with _damaged(pyarrow, path):
            for _, batch in islice(_batches(pyarrow, path), 1, None):
                batch.validate(full=True)  # or reading its cells may end the process
                for first in range(0, len(batch), base.BLOCK_ROWS):
                    part = batch.slice(first, base.BLOCK_ROWS)
                    limit.count(part.nbytes)
                    arrays = list(map(cast, part.columns, start.types.types))
                    typed = pyarrow.RecordBatch.from_arrays(arrays, schema=start.types)
                    rows = range(number + 1, number + 1 + len(part))
                    yield BatchBlock(path, rows, typed, start.names)
                    number += len(part)

    def parts(self, path: Path, rows: int) -> list[Any]:
        """Return the file as a whole, since a stream has no places to begin at."""
        return [None]

    def writer(
        self, path: Path, start: Start, added: Sequence[str], like: base.Like, escape: bool
    ) -> base.Writer:
        return ArrowRows(path, start, added, like)


def _batches(pyarrow: Any, path: Path) -> Iterator[tuple[Any, Any]]:
    with _damaged(pyarrow, path), opened(path) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        reader = (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(file)
        yield reader.schema, None
        count = reader.num_record_batches if is_file else None
        batches = reader if count is None else map(reader.get_batch, range(count))
        for batch in batches:
            yield reader.schema, batch


@contextmanager
def _damaged(pyarrow: Any, path: Path) -> Iterator[None]:
    try:
        yield
    except pyarrow.ArrowException as error:
        raise LopsError(f"{path} cannot be read as Arrow ({error!s:.200})") from None


class ArrowRows(ParquetRows):
    """A stream with the schema of the input, or one inferred from the first block."""

    def _writer(self, sink: Any, schema: Any) -> Any:
        return self._pyarrow.ipc.new_stream(sink, schema)
