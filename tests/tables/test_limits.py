"""Files that unpack to far more than they hold, and memory that grows with the sample only."""

import subprocess
import sys
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import base, lines, parquet
from lops_adapters.formats.readers import open_table
from lops_adapters.tables import engine

pa = pytest.importorskip("pyarrow")
ROOT = Path(__file__).parents[2]
MESSAGE = r"repeated\.parquet unpacks to more than 200 times its size; .* save it as JSONL"


def repeated(path, rows, values):
    """A file whose rows repeat a few values: it holds each value once."""
    from pyarrow.parquet import write_table

    columns = {}
    for name, distinct in values.items():
        places = pa.array([i % len(distinct) for i in range(rows)], pa.int32())
        columns[name] = pa.DictionaryArray.from_arrays(places, pa.array(distinct))
    write_table(pa.table(columns), path, store_schema=False)
    return path


def test_equal_rows_of_a_parquet_file(tmp_path, monkeypatch):
    """200 MB of rows in 5 kB; the limit counts them as they are read."""
    monkeypatch.setattr(lines, "LARGE", 10**8)
    path = repeated(tmp_path / "repeated.parquet", 40_000, {"text": ["y" * 5000], "label": ["a"]})
    assert path.stat().st_size < 10_000
    table = open_table([path], quiet=True)
    with pytest.raises(LopsError, match=MESSAGE):
        sum(map(len, table.blocks()))
    monkeypatch.setattr(lines, "LARGE", 3 * 10**8)
    assert len(next(iter(table.blocks()))) == base.BLOCK_ROWS


def test_blocks_of_long_values_are_short(tmp_path, monkeypatch):
    path = repeated(tmp_path / "a.parquet", 100, {"text": ["y" * 50_000, "z"], "label": ["a", "b"]})
    monkeypatch.setattr(parquet, "LARGE", 10 * 50_002)
    blocks = list(open_table([path], quiet=True).blocks())
    assert [len(block) for block in blocks] == [10] * 10
    assert [label for block in blocks for label in block.cells(["label"])[0]] == ["a", "b"] * 50
    assert blocks[3].numbers[0] == 31


def test_pages_that_unpack_to_too_much(tmp_path, monkeypatch):
    from pyarrow.parquet import write_table

    path = tmp_path / "repeated.parquet"
    zeros = pa.array([b"\0" * 2**22])
    write_table(pa.table({"text": zeros}), path, compression="zstd", use_dictionary=False)
    monkeypatch.setattr(lines, "LARGE", 2**21)
    with pytest.raises(LopsError, match=MESSAGE):
        next(iter(open_table([path], quiet=True).blocks()))


def test_a_table_is_held_by_its_unpacked_size(tmp_path):
    path = repeated(tmp_path / "a.parquet", 1000, {"text": ["y" * 1000], "label": ["a"]})
    table = open_table([path], quiet=True)
    assert table.loaded(10**6).held is None
    assert len(table.loaded(2 * 10**6).held) == 1
    assert path.stat().st_size < engine.IN_MEMORY


MEASURED = """
import resource, sys
from lops_adapters.cli import select
arguments = ["--text", "text", "--label", "label", "--encoder", "none", "--quiet"]
for path in sys.argv[1:]:
    select.main([path, *arguments, "--probe-rows", "1000", "--output", f"{path}-lops"])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_grows_with_the_sample_not_with_the_rows(tmp_path):
    """SECURITY.md says so. 50 MB of rows more take less than a quarter more."""
    pytest.importorskip("resource")
    texts = [f"word{i % 7} word{i % 11} thing{i % 13} {'-' * 1500}" for i in range(999)]
    values = {"text": texts, "label": [f"class {i % 7}" for i in range(999)]}
    paths = [repeated(tmp_path / f"{rows}.parquet", rows, values) for rows in (4000, 40_000)]
    command = [sys.executable, "-c", MEASURED, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    few, many = (int(line) for line in done.stdout.splitlines() if line.isdecimal())
    assert many < 1.25 * few


def test_a_held_text_that_is_not_utf_8(tmp_path):
    """Of a damaged file, which pyarrow reads without a look at its texts."""
    path = repeated(tmp_path / "a.parquet", 4, {"text": ["abcdefgh"], "label": ["x"]})
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abc\xc4efgh"))
    (block,) = open_table([path], quiet=True).loaded(10**6).held
    with pytest.raises(LopsError, match=r"cannot read .*a\.parquet: a text that is not UTF-8"):
        block.cells(["text"])
