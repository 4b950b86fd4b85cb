import json
import logging
import os

import numpy as np
import pytest

from lops_adapters.core import LearningOrder, LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.runs.folder import (
    RunFolder,
    describe,
    free_folder,
    selection_arrays,
    selection_from,
    slug,
)
from lops_adapters.selection import Corrected, keep_all
from lops_adapters.storage import pack_strings, unpack_strings

CORPUS = Corpus("toy", ("a", "b"), ("one", "two"), ("x", "y"), {"x": ("one",)})


def config(seed=0, corpus=CORPUS, framework="conwea", device="cpu", **settings):
    return describe(
        framework, {"keep": 0.5, "every": None, "sizes": (1, 2), **settings}, seed, corpus, device
    )


@pytest.fixture
def run(tmp_path):
    return RunFolder.open(tmp_path / "run", config(), resume=False)


def test_config_says_what_the_run_was(run):
    stored = json.loads((run.path / "config.json").read_text())
    assert (stored["framework"], stored["seed"], stored["device"]) == ("conwea", 0, "cpu")
    assert stored["settings"] == {"keep": 0.5, "every": None, "sizes": [1, 2]}
    assert stored["dataset"]["sha256"] == CORPUS.checksum
    assert stored["dataset"]["seeds"] == {"x": ["one"]}
    assert {"python", "numpy", "lops_adapters", "torch"} <= set(stored["versions"])
    assert stored["versions"]["numpy"] == np.__version__
    assert {"git_commit", "command", "started", "threads"} <= set(stored)


def test_a_folder_with_a_run_needs_resume(run):
    with pytest.raises(
        LopsError, match=r"run already holds a run; give --resume to .*, or another --output"
    ):
        RunFolder.open(run.path, config(), resume=False)
    before = (run.path / "config.json").read_bytes()
    # another device is no other run
    assert RunFolder.open(run.path, config(device="cuda"), resume=True) == run
    assert (run.path / "config.json").read_bytes() == before


def test_resume_where_nothing_is_starts(tmp_path):
    assert RunFolder.open(tmp_path / "a" / "b", config(), resume=True).work.is_dir()
    (tmp_path / "empty").mkdir()
    assert RunFolder.open(tmp_path / "empty", config(), resume=False).work.is_dir()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (config(every=3), "settings.every = None, not 3"),
        (config(extra=1), "settings.extra = None, not 1"),
        (config(framework="xclass"), "framework = 'conwea', not 'xclass'"),
        (
            config(corpus=Corpus("toy", ("a", "b"), ("one", "two"), ("x", "y"), {"x": ("two",)})),
            "dataset.seeds = {'x': ['one']}",
        ),
    ],
)
def test_what_differs_is_named(run, other, words):
    with pytest.raises(LopsError) as error:
        RunFolder.open(run.path, other, resume=True)
    assert f"{run.path} was started with {words}" in str(error.value)
    assert "resume with the same options, or give another --output" in str(error.value)


def test_other_versions_are_worth_a_line(run, caplog):
    other = config()
    other["versions"]["numpy"] = "0.1"
    with caplog.at_level(logging.WARNING, logger="lops_adapters"):
        RunFolder.open(run.path, other, resume=True)
    assert f" with numpy 0.1, started with {np.__version__}: numbers may differ" in caplog.text


def test_other_threads_are_worth_one_line(run, caplog):
    other = config()
    found = other["threads"]["blas"]
    other["threads"].update(blas=17, processors=99)
    with caplog.at_level(logging.WARNING, logger="lops_adapters"):
        assert RunFolder.open(run.path, other, resume=True) == run
    (line,) = caplog.messages
    assert line.startswith("resumed with threads blas 17, processors 99, started with blas ")
    assert f"blas {found}" in line
    assert line.endswith(": numbers may differ in the last digits")


@pytest.mark.parametrize("note", [None, [], "damaged"])
def test_config_without_versions_and_threads_resumes(run, note, caplog):
    stored = json.loads((run.path / "config.json").read_text())
    (run.path / "config.json").write_text(json.dumps({**stored, "versions": note, "threads": note}))
    assert RunFolder.open(run.path, config(), resume=True) == run
    assert not caplog.messages


def test_a_run_that_stored_nothing_leaves_nothing(tmp_path):
    run = RunFolder.open(tmp_path / "run", config(), resume=False)
    run.discard_unstarted()
    assert not run.path.exists()
    run = RunFolder.open(tmp_path / "run", config(keep=0.7), resume=False)
    (run.work / "vectors.json").write_text("{}")
    run.discard_unstarted()
    assert (run.path / "config.json").is_file()
    (run.work / "vectors.json").unlink()
    (run.path / "notes.txt").write_text("mine")
    run.discard_unstarted()
    assert [path.name for path in run.path.iterdir()] == ["notes.txt"]


def test_a_finished_run_whose_stages_are_gone_keeps_its_settings(run):
    (run.path / "metrics.json").write_text("{}")
    run.discard_unstarted()
    assert RunFolder.open(run.path, config(), resume=True) == run


def test_stages_are_computed_once(run):
    calls = []

    def compute():
        calls.append(1)
        return {"a": np.arange(3), "text": pack_strings(["ö", ""])}

    first, seconds = run.stage("one", compute)
    again, same = run.stage("one", compute)
    assert calls == [1]
    assert seconds == same >= 0
    assert first["a"].tolist() == again["a"].tolist() == [0, 1, 2]
    assert set(again) == {"a", "text"}
    assert unpack_strings(again["text"]) == ["ö", ""]


def test_a_stage_that_fails_is_not_stored(run):
    with pytest.raises(ZeroDivisionError):
        run.stage("one", lambda: {"a": np.array(1 / 0)})
    assert not list(run.work.iterdir())
    assert run.stage("one", lambda: {"a": np.array(1)})[0]["a"] == 1


def learnt():
    order = LearningOrder(
        ["b", "b", "a", "a", "a"],
        tau=0.4,
        rule="ranked",
        max_checkpoints=3,
        classes=["a", "b", "c"],
        seed=3,
    )
    order.observe(
        np.array(
            [[0.1, 0.8, 0.1], [0.6, 0.2, 0.2], [0.2, 0.7, 0.1], [0.3, 0.4, 0.3], [0.1, 0.1, 0.8]]
        ),
        time=0.25,
    )
    order.observe(["a", "a", "a", "b", "a"], time=1.5)
    return order.select()


@pytest.mark.parametrize(
    "make", [learnt, lambda: keep_all("xyz", ["q", "r", "q"])], ids=["lops", "keep all"]
)
def test_selections_come_back(run, make):
    selection = make()
    for found in (
        selection_from(selection_arrays(selection)),
        run.select("s", make)[0],
        run.select("s", pytest.fail)[0],
    ):
        for name in ("kept", "rejected", "mask", "learnt_at", "confidence"):
            one, other = getattr(found, name), getattr(selection, name)
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        assert found.per_class == selection.per_class
        assert list(found.per_class) == list(selection.per_class)
        assert (found.rule, found.stopped) == (selection.rule, selection.stopped)


def test_a_model_is_replaced_when_the_new_one_is_complete(run):
    folder = run.arm("lops") / "model"
    run.save_model(folder, lambda path: (path / "weights").write_text("old"))

    def half(path):
        (path / "weights").write_text("ne")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run.save_model(folder, half)
    assert (folder / "weights").read_text() == "old"
    run.save_model(folder, lambda path: (path / "other").write_text("new"))
    assert sorted(path.name for path in folder.iterdir()) == ["other"]
    assert [path.name for path in run.arm("lops").iterdir()] == ["model"]


def test_what_a_killed_write_left_is_removed(run):
    for folder in (run.path, run.work, run.arm("lops")):
        (folder / ".lops-0-selection.npz.4321.tmp").write_bytes(b"PK half")
    half = run.arm("lops") / ".model.4321.tmp" / "network"
    half.mkdir(parents=True)
    (half / ".weights.4321.tmp").write_bytes(b"half")
    (run.path / ".notes").write_text("mine")
    RunFolder.open(run.path, config(), resume=True)
    assert sorted(path.name for path in run.path.rglob("*")) == [
        ".notes",
        "config.json",
        "lops",
        "work",
    ]


def test_free_folders(tmp_path):
    base = tmp_path / "runs" / "name"
    assert free_folder(base, resume=False) == free_folder(base, resume=True) == base
    base.mkdir(parents=True)
    assert free_folder(base, resume=False).name == "name-2"
    assert free_folder(base, resume=True) == base
    base.with_name("name-2").mkdir()
    assert free_folder(base, resume=False).name == "name-3"
    assert free_folder(base, resume=True).name == "name-2"


@pytest.mark.parametrize(
    ("text", "name"),
    [("a b/c", "a-b-c"), ("../..", "..-.."), ("ö/", "run"), ("conwea-x-seed0", "conwea-x-seed0")],
)
def test_names_of_folders(text, name):
    assert slug(text) == name
    assert "/" not in slug(text)


def altered(run, change):
    """The run, whose only stage has two arrays, with one of them changed."""
    first = {"scores": np.array([0.5, 0.25, 1.0]), "codes": np.arange(3)}
    run.stage("one", lambda: first)
    path = run.work / "one.npz"
    with np.load(path) as stored:
        arrays = {key: stored[key] for key in stored.files}
    change(arrays)
    np.savez(path, **arrays)
    return RunFolder.open(run.path, config(), resume=True)


CHANGES = {
    "an array less": lambda arrays: arrays.pop("codes"),
    "an array more": lambda arrays: arrays.update(more=np.zeros(1)),
    "NaN": lambda arrays: arrays.update(scores=np.array([0.5, np.nan, 1.0])),
    "a row short": lambda arrays: arrays.update(codes=np.arange(2)),
    "another shape": lambda arrays: arrays.update(codes=np.arange(3)[None]),
    "another type": lambda arrays: arrays.update(codes=np.arange(3, dtype=np.uint64)),
    "exchanged": lambda arrays: arrays.update(codes=arrays["scores"], scores=arrays["codes"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_stage_that_can_be_read_and_does_not_fit(run, change):
    run = altered(run, CHANGES[change])
    with pytest.raises(LopsError, match=r"one\.npz is of another run, or was changed; delete it"):
        run.stage("one", pytest.fail)


def test_a_stage_without_a_digest(run):
    run = altered(run, lambda arrays: arrays.pop("digest"))
    with pytest.raises(LopsError, match=r"one\.npz cannot be read .*digest.*; delete it and res"):
        run.stage("one", pytest.fail)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
@pytest.mark.parametrize("name", ["config.json", "work/one.npz"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(run, name):
    run.stage("one", lambda: {"codes": np.arange(3)})
    (run.path / name).unlink()
    os.mkfifo(run.path / name)
    with pytest.raises(LopsError, match="is a pipe or a device; wanted a file"):
        RunFolder.open(run.path, config(), resume=True).stage("one", pytest.fail)


@pytest.mark.parametrize("name", ["work", "lops"])
def test_a_file_in_the_place_of_a_folder(run, name):
    if (run.path / name).exists():
        (run.path / name).rmdir()
    (run.path / name).write_text("mine")
    with pytest.raises(LopsError, match=f"{name} is no folder; move it away and resume"):
        RunFolder.open(run.path, config(), resume=True).arm("lops")
    assert (run.path / name).read_text() == "mine"


@pytest.mark.parametrize("share", [0, 0.5])
def test_a_stage_that_was_cut(run, share):
    run.stage("one", lambda: {"codes": np.arange(3)})
    path = run.work / "one.npz"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(LopsError, match=r"one\.npz cannot be read .*; delete it and resume"):
        RunFolder.open(run.path, config(), resume=True).stage("one", pytest.fail)


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"keep": 0.4}, {"framework": "xclass"}, {"name": "two"}, {}]
)
def test_a_stage_of_another_run(tmp_path, other):
    """Of another seed, setting or framework; of the same run, under another name."""
    name = other.pop("name", "one")
    path, arrays = tmp_path / "other", {"codes": np.arange(3)}
    RunFolder.open(path, config(**other), resume=False).stage("one", lambda: arrays)
    run = RunFolder.open(tmp_path / "run", config(), resume=False)
    (path / "work" / "one.npz").rename(run.work / f"{name}.npz")
    if other or name != "one":
        with pytest.raises(LopsError, match=r"is of another run, or was changed; delete it and"):
            run.stage(name, pytest.fail)
    else:
        assert run.stage(name, pytest.fail)[0]["codes"].tolist() == [0, 1, 2]


def test_a_run_whose_arm_lops_is_another_one_today_is_not_resumed(tmp_path):
    old = config(method="ranked", keep="auto")
    RunFolder.open(tmp_path / "run", old, resume=False)
    with pytest.raises(LopsError, match="an older version, whose arm lops is lops-adaptive today"):
        RunFolder.open(tmp_path / "run", config(method="algorithm1"), resume=True)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["keep"] == "auto"


def test_a_correction_is_stored_with_the_labels_from_before():
    before, after = (np.array(labels, dtype=object) for labels in (["x", "y"], ["y", "y"]))
    arrays = selection_arrays(Corrected(keep_all(["a", "b"], after), after, before))
    found = selection_from(dict(arrays))
    assert isinstance(found, Corrected)
    assert (found.labels.tolist(), found.before.tolist()) == (["y", "y"], ["x", "y"])
    del arrays["before"]  # as older runs
    assert selection_from(arrays).before.tolist() == ["y", "y"]
