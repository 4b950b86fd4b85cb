"""Results of finished stages: kept, read back, and removed where they do not fit."""

import datetime

import numpy as np

from lops_adapters.scale.stages import (
    Stages,
    classes_from_json,
    classes_to_json,
    drawn_from_json,
    drawn_to_json,
)
from lops_adapters.selection.draw import Draw
from lops_adapters.tables.classes import Labels
from lops_adapters.tables.rows import Wanted

WANTED = Wanted("text", "label", abstain=["?"])


def classes(*labels):
    found = Labels()
    for label in labels:
        found.add(label, "here")
    return found.numbered(WANTED)


def drawn(*rows):
    found, numbers = Draw(10), np.arange(len(rows), dtype=np.uint64)
    found.add(numbers * np.uint64(2**60), numbers % np.uint64(2), numbers.astype(int), rows)
    return found.result()


def test_results_are_read_back(tmp_path):
    stages = Stages(tmp_path / "out", {"seed": 1, "pair": (1, 2)})
    assert stages.load("count") is None
    stages.save("count", [1, 2])
    again = Stages(tmp_path / "out", {"seed": 1, "pair": (1, 2)})
    assert again.load("count") == [1, 2]
    assert Stages(tmp_path / "out", {"seed": 2}).load("count") is None
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_result_is_not_used(tmp_path):
    stages = Stages(tmp_path / "out", {})
    (stages.folder / "count.json").write_text('{"half')
    assert stages.load("count") is None
    (stages.folder / "about.json").write_text("")
    stages.save("draw", 1)
    assert Stages(tmp_path / "out", {}).load("draw") is None


def test_classes():
    for found in (classes("b", "a", "?", "b", None), classes(2, 1, 2), classes(1.5, 2.5)):
        back = classes_from_json(classes_to_json(found))
        assert back.counts.tolist() == found.counts.tolist()
        assert (back.names, back.name_of, back.values) == (found.names, found.name_of, found.values)
        assert back.abstained == found.abstained
    days = classes(datetime.date(2020, 1, 1), datetime.date(2020, 1, 2))
    assert classes_to_json(days) is None


def test_a_sample():
    found = drawn(("one", ("one", "a", None)), ("two", ("two", "b", 3)))
    back = drawn_from_json(drawn_to_json(found))
    for one, other in zip(found[:3], back[:3], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert back.rows == found.rows
    assert drawn_to_json(drawn(("one", (b"bytes",)))) is None
