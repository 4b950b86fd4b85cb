"""Arrow streams: folders of Hugging Face's datasets in, a file that they read out."""

import json
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.cli import apply, select
from lops_adapters.core import LopsError
from lops_adapters.formats.files import find
from lops_adapters.formats.readers import open_table

from ..noisy import noisy_texts

pa = pytest.importorskip("pyarrow")
NAMES = ["class 0", "class 1"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A data set on disk, in two files, with class ids; returns its texts and labels."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    texts, labels, _ = noisy_texts(n=60, k=2, noise=0.1)
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=NAMES)}
    )
    codes = [NAMES.index(label) for label in labels]
    data = datasets.Dataset.from_dict({"text": texts, "label": codes}, features=features)
    data.save_to_disk("saved", num_shards=2)
    return texts, codes


def test_a_folder_of_datasets(rows):
    """Columns are found by name, ids are classes; what is kept is read by datasets."""
    from datasets import Dataset

    texts, codes = rows
    select.main(["saved", "--encoder", "none", "--quiet", "--output", "out"])
    found = [
        (row["text"], row["label"])
        for part in ("kept", "rejected")
        for row in Dataset.from_file(f"out/{part}.arrow")
    ]
    assert sorted(found) == sorted(zip(texts, codes, strict=True))
    table = open_table(find(["out/kept.arrow"]))
    labels = [cells[0] for _, _, cells in table.cells(("label",))]
    assert set(labels) == set(NAMES)


def test_corrections(rows):
    from datasets import Dataset

    texts, codes = rows
    Path("c.csv").write_text(f"row,label\n1,{NAMES[1 - codes[0]]}\n60,\n")
    apply.main(["c.csv", "saved", "--output", "new.arrow"])
    new = Dataset.from_file("new.arrow")
    assert new.features["label"].names == NAMES
    assert new["text"][:] == texts[:-1]
    assert new["label"][:] == [1 - codes[0], *codes[1:-1]]


@pytest.mark.parametrize("new", ["new_stream", "new_file"])
def test_batches_of_both_kinds(tmp_path, new):
    """Long batches are cut, empty ones give nothing."""
    path = tmp_path / "t.arrow"
    schema = pa.schema([("n", pa.int64())])
    batches = [
        pa.RecordBatch.from_pydict({"n": list(range(n))}, schema=schema) for n in (3, 0, 20_000)
    ]
    with getattr(pa.ipc, new)(str(path), schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    table = open_table([path])
    assert [len(block) for block in table.blocks()] == [3, 8192, 8192, 3616]
    cells = [(number, row[0]) for _, number, row in table.cells(("n",))]
    assert cells == [*zip(range(1, 4), range(3), strict=True),
                     *((i + 4, i) for i in range(20_000))]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"ARROW1 no file", b"no stream at all"])
def test_no_arrow(tmp_path, content):
    (tmp_path / "t.arrow").write_bytes(content)
    with pytest.raises(LopsError, match=r"t.arrow cannot be read as Arrow"):
        open_table([tmp_path / "t.arrow"])


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_lists_of_one_class_id(tmp_path, suffix):
    """As ``datasets`` writes texts that may have several labels."""
    kind = {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"}
    about = json.dumps({"info": {"features": {"label": kind}}})
    schema = pa.schema({"text": pa.string(), "label": pa.list_(pa.int64())}, {"huggingface": about})
    table = pa.table({"text": ["a", "b", "c"], "label": [[0], [], [1, 0]]}, schema)
    path = tmp_path / f"a{suffix}"
    if suffix == ".arrow":
        with pa.ipc.new_stream(str(path), schema) as writer:
            writer.write_table(table)
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(table, path)
    opened = open_table([path])
    (block,) = opened.blocks()
    assert block.cells(["label"]) == [[NAMES[:1], [], NAMES[::-1]]]
    new = block.replaced("label", {0: NAMES[1]})
    assert new.cells(["label"])[0][0] == NAMES[1:]
    assert new.records(["label"])[0] == ([1],)


def test_metadata_that_is_nested_too_deeply(tmp_path):
    schema = pa.schema({"text": pa.string()}, {"huggingface": "[" * 100_000})
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), schema) as writer:
        writer.write_table(pa.table({"text": ["a"]}, schema))
    assert open_table([tmp_path / "a.arrow"]).start.names == {}


def test_ends_of_texts_outside_the_file(tmp_path):
    """Reading there could end the process."""
    table = pa.table({"text": ["a", "bc", "def"]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    right, wrong = (np.array([0, 1, 3, last], np.int32).tobytes() for last in (6, 99))
    content = sink.getvalue().to_pybytes()
    assert content.count(right) == 1
    path = tmp_path / "a.arrow"
    path.write_bytes(content.replace(right, wrong))
    with pytest.raises(LopsError, match=r"a\.arrow cannot be read as Arrow \(In column"):
        list(open_table([path]).cells(("text",)))
