"""What a run is given, and the one function that runs any framework."""

import json
import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError, LopsWarning, Selection
from lops_adapters.datasets import Corpus, Dataset, GoldLabels
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.runs import job as job_room
from lops_adapters.runs.arms import read_arms
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.framework import FRAMEWORKS, Framework, class_words, named, run
from lops_adapters.runs.job import Job
from lops_adapters.runs.metrics import best_arm, finished_arms
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.runs.stages import Given, Prepared, Samples, Stage
from lops_adapters.selection import METHODS, build, keep_all
from lops_adapters.selection.canonical import as_selector
from lops_adapters.selection.methods.auto_keep import prefer
from lops_adapters.self_training.settings import SelfTrainingSettings
from lops_adapters.westclass.settings import WestclassSettings

from ..self_training.toys import documents

KNOWN = ("standard", "lops", "lops-twice")
CORPUS = Corpus("toy", ("a", "b", "c"), ("one", "two", "three"), ("x", "y"), {})
GOLD = GoldLabels(("x", "y", "y"))


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("standard,lops", ["standard", "lops"]),
        ("lops,standard", ["standard", "lops"]),
        (" lops , ", ["lops"]),
        ("lops,lops", ["lops"]),
        ("lops-twice", ["lops-twice"]),
        ("lops-twice,lops,standard", list(KNOWN)),
    ],
)
def test_arms(text, arms):
    assert read_arms(text, KNOWN) == arms


@pytest.mark.parametrize("text", ["", ",", "LOPS", "lops,nolops", "standard lops", "twice"])
def test_no_arms(text):
    with pytest.raises(LopsError, match="wanted some of standard, lops, lops-twice") as error:
        read_arms(text, KNOWN)
    assert repr(text) in str(error.value)
    with pytest.raises(LopsError, match=r"'standrd' is unknown .did you mean standard\?.; wanted"):
        read_arms("standrd,lops", KNOWN)


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    """An arm more."""

    MORE_ARMS: ClassVar[tuple[str, ...]] = ("lops-twice",)
    PLACES: ClassVar[tuple[str, ...]] = ("twice",)


class Toy(Framework[ToySettings]):
    """Notes what it is asked and given."""

    name = "toy"
    title = "The toy"
    settings = ToySettings
    modules = ()

    def __init__(self, measured=None):
        own = [] if measured is None else np.setdiff1d(np.arange(3), measured)
        self.given = Given(np.array(own, dtype=int), np.zeros(len(own), dtype=int))
        self.calls, self.golds = [], {}

    def check(self, arms, settings, dataset):
        """Note the call."""
        self.calls.append("check")

    def prepare(self, corpus, job):
        """Three pseudo-labels, two of them of measured documents."""
        self.calls.append("prepare")
        assert job.gold is None
        places = self.given.others(3)[:2]
        codes, ids = np.zeros(len(places), dtype=np.int64), [corpus.ids[i] for i in places]
        samples = Samples(ids, codes, corpus.classes, np.ones(len(places)), places)
        return Prepared(
            corpus=corpus,
            samples=samples,
            seconds={"labels": 1.0},
            about={"of_its_own": 7},
            tables={"words.json": {"x": ["ex"]}},
            given=self.given,
        )

    def run_arm(self, arm, prepared, job):
        """Note the gold labels; two stages that predict the second, then the first class."""
        self.golds[arm] = job.gold
        for number in range(2):
            self.calls.append(f"{arm} {number}")
            yield Stage(
                samples=prepared.samples,
                selection=keep_all(prepared.samples.ids, prepared.samples.labels),
                probabilities=np.eye(2, dtype=np.float32)[[1 - number] * 3],
                seconds={"selection": 0.5, "classifier": 1.0},
                extra={"more": number},
                tables={f"table-{number}.csv": (["a"], [[number]])},
            )


@pytest.fixture
def job(tmp_path):
    folder = RunFolder.open(tmp_path / "run", {"settings": {}}, resume=False)
    return Job(folder, ToySettings(keep=0.25, every=6), 4, "cpu", quiet=True)


def test_a_run_in_order(job):
    """Those that are told how many to keep come last."""
    toy, path = Toy(), job.folder.path
    metrics = run(toy, Dataset(CORPUS, GOLD), job, ["standard", "random", "optimal"])
    arms = [f"{arm} {number}" for arm in ("standard", "optimal", "random") for number in (0, 1)]
    assert toy.calls == ["check", "prepare", *arms]
    assert json.loads((path / "metrics.json").read_text()) == metrics
    assert list(metrics) == [
        "framework", "title", "dataset", "n_documents", "classes", "pseudo_labels", "seconds",
        "of_its_own", "arms",
    ]  # fmt: skip
    assert (metrics["framework"], metrics["dataset"], metrics["n_documents"]) == ("toy", "toy", 3)
    assert metrics["classes"] == ["x", "y"]
    assert metrics["pseudo_labels"] == {"count": 2, "noise": 0.5, "coverage": 2 / 3}
    assert list(metrics["arms"]) == ["standard", "optimal", "random"]
    assert metrics["arms"]["standard"]["micro_f1"] == pytest.approx(1 / 3)
    assert metrics["arms"]["standard"]["seconds"] == 3
    first, second = metrics["arms"]["standard"]["iterations"]
    assert (first["micro_f1"], second["micro_f1"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (first["iteration"], second["iteration"], second["more"]) == (0, 1, 1)
    assert (first["seconds"], first["seconds_selection"], first["selected"]) == (1.5, 0.5, 2)
    assert {file.name for file in path.glob("*.*")} == {
        "class_words.json", "config.json", "metrics.json", "predictions.csv", "pseudo_labels.csv",
        "to_check.csv", "words.json",
    }  # fmt: skip
    assert {file.name for file in (path / "standard").iterdir()} == {
        "predictions.csv", "selection-0.csv", "selection-1.csv", "table-0.csv", "table-1.csv",
    }  # fmt: skip


def test_a_resumed_run_says_which_trained_classifier_is_missing(job, caplog):
    model = job.folder.arm("lops") / "model"
    model.mkdir()
    (model / "lops.json").write_text("{}")
    run(Toy(), Dataset(CORPUS, GOLD), job, ["standard", "lops"])
    (said,) = [text for text in caplog.messages if "holds no classifier" in text]
    assert said.startswith(f"{job.folder.path / 'standard' / 'model'} holds no classifier;")
    assert f"delete standard-*.npz in {job.folder.work} and resume" in said


def test_gold_labels_go_to_the_arm_that_is_defined_by_them_alone(job):
    toy = Toy()
    run(toy, Dataset(CORPUS, GOLD), job, ["standard", "lops", "optimal", "lops-twice"])
    assert toy.golds.pop("optimal").tolist() == ["x", "y", "y"]
    assert toy.golds == dict.fromkeys(("standard", "lops", "lops-twice"))


def test_some_documents_are_measured(job):
    metrics = run(Toy(np.array([0, 2])), Dataset(CORPUS, GOLD), job, ["lops"])
    assert metrics["pseudo_labels"]["noise"] == 0.5
    assert metrics["arms"]["lops"]["micro_f1"] == 0.5
    none = run(Toy(np.array([], dtype=int)), Dataset(CORPUS, GOLD), job, ["lops"])
    assert none["arms"]["lops"]["micro_f1"] is None


def test_metrics_grow_arm_by_arm(job):
    class Stops(Toy):
        def run_arm(self, arm, prepared, job):
            if arm == "lops":
                raise RuntimeError
            return super().run_arm(arm, prepared, job)

    with pytest.raises(RuntimeError):
        run(Stops(), Dataset(CORPUS, GOLD), job, ["standard", "lops"])
    assert list(finished_arms(job.folder)) == ["standard"]
    metrics = run(Toy(), Dataset(CORPUS, GOLD), job, ["lops"])
    assert list(metrics["arms"]) == ["standard", "lops"]


def test_the_labels_of_a_run_are_the_best_arms(job):
    def predict(arms):
        metrics = run(Toy(), Dataset(CORPUS, GOLD), job, arms)
        path = job.folder.path / "predictions.csv"
        best = job.folder.path / best_arm(metrics) / "predictions.csv"
        assert path.read_bytes() == best.read_bytes()
        return best_arm(metrics)

    assert predict(["optimal"]) == "optimal"
    assert predict(["standard"]) == "standard"
    assert predict(["random"]) == "standard"
    assert predict(["lops"]) == "lops"
    arms = dict.fromkeys(["standard", "lops", "committee-documents"])
    assert best_arm({"arms": arms}) == "committee-documents"  # as lops_adapters.load prefers


class Probe:
    """Stands for a probe."""


@pytest.fixture
def built(monkeypatch):
    """What the selection's own ``build`` is given, and what its selectors are asked: each keeps all
    but the last sample.
    """
    given = []

    def build(method, probe=None, **options):
        note = SimpleNamespace(method=method, probe=probe, asked=[], **options)
        given.append(note)

        def select(samples, labels):
            note.asked.append(list(samples))
            mask = np.arange(len(samples)) < len(samples) - 1
            return Selection(mask, mask * 1.0, mask * 1.0, {}, method, f"{method} is done")

        return select

    monkeypatch.setattr(job_room, "build", build)
    return given


@pytest.fixture
def auto(job):
    """The job that finds how much to keep."""
    return replace(job, settings=replace(job.settings, keep="auto"))


def test_the_arm_that_finds_how_much_to_keep(job, built):
    selection = job.selector("lops-adaptive", Probe)(["a", "b"], ["x", "y"])
    assert (built[0].method, built[0].keep) == ("ranked", 1.0)
    assert selection.stopped == "keep 1.000 by too few samples; ranked is done"


def shout(samples):
    """Texts of samples that are none."""
    return [sample.upper() for sample in samples]


def test_the_selector_is_as_the_settings_say(job, built):
    probe = Probe()
    selection = job.selector("lops", lambda: probe)(["a", "b", "c"], ["x", "y", "y"])
    (given,) = built
    assert (selection.kept.tolist(), selection.stopped) == ([0, 1], "algorithm1 is done")
    assert given.asked == [["a", "b", "c"]]
    assert (given.method, given.probe) == ("algorithm1", probe)
    assert (given.keep, given.every) == (0.25, 6)
    assert (given.seed, given.quiet) == (4, True)
    assert given.n is given.gold is given.per_class is None
    job.selector("probability", Probe, seed=0, n=7, per_class=True)
    given = built[1]
    assert (given.seed, given.n, given.per_class) == (0, 7, True)


def test_gold_and_checked_labels_by_position(job, built):
    gold, checked = np.array(["x", "y", "z"]), {1: "x", 2: None, 7: "y"}
    job = replace(job, gold=gold, checked=checked)
    for method in ("optimal", "committee", "lops", "standard"):
        job.selector(method, Probe, positions=np.array([2, 0, 1]))
        job.selector(method, Probe)
    assert built[0].gold.tolist() == ["z", "x", "y"]
    assert built[2].checked == {0: None, 2: "x"}
    for note in built[1:]:
        assert note.gold is None
        assert note is built[2] or not hasattr(note, "checked")


@pytest.mark.parametrize("keep", [0.25, "auto"])
def test_a_probe_is_built_only_where_it_is_needed(job, built, keep):
    job, asked = replace(job, settings=replace(job.settings, keep=keep)), []
    for method in METHODS:
        selector = job.selector(method, lambda method=method: asked.append(method))
        selector(["a", "b"], ["x", "y"])
    assert asked == [name for name, method in METHODS.items() if method.needs_probe]
    assert "ranked" in asked
    assert {"standard", "random", "committee"}.isdisjoint(asked)


def test_tau_auto_is_what_a_linear_probe_prefers(auto, built):
    """Whatever the framework's own probe is, and on texts also where its samples are none."""
    probe = Probe()
    samples, labels = documents(60, seed=3)
    selector = auto.selector("lops-adaptive", lambda: probe, seed=9, texts=list)
    selection = selector(samples, labels)
    (given,) = built
    held_out = as_selector(lambda labelled: prefer(labelled, LinearProbe(quiet=True), 9), 9)
    wanted = held_out(samples, labels).per_class
    assert (given.method, given.probe, given.seed) == ("ranked", probe, 9)
    assert {label: math.ceil(keep * wanted[label].count) for label, keep in given.keep.items()} == {
        label: report.kept for label, report in wanted.items()
    }
    assert given.asked == [samples]
    assert " on average by 3-fold cross-validation; ranked is done" in selection.stopped
    read = []
    auto.selector("lops", Probe, texts=lambda given: read.append(given) or shout(given))(
        ["word a", "word b", "word c"], ["x", "y", "y"]
    )
    assert read == [["word a", "word b", "word c"]]


def test_labels_of_frameworks_are_no_evidence(job, built):
    for method in ("committee", "automatic", "lops"):
        job.selector(method, Probe)
    committee, automatic, lops = built
    for note in (committee, automatic):
        assert (note.sure, note.count_label) == (0.95, False)
    assert not hasattr(lops, "sure")


def test_tau_auto_is_not_asked_where_nothing_depends_on_it(auto, built):
    for method in ("automatic", "committee", "standard", "optimal"):
        auto.selector(method, Probe)(["a", "b"], ["x", "y"])
    auto.selector("probability", Probe, n=1)(["a", "b"], ["x", "y"])
    assert [note.method for note in built] == [
        "automatic", "committee", "standard", "optimal", "probability",
    ]  # fmt: skip
    assert all(note.probe != LinearProbe(quiet=True) for note in built)


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_judge_texts_get_texts(job, built, method):
    job.selector(method, Probe, texts=shout)(["a", "b", "c"], ["x", "y", "x"])
    job.selector(method, Probe)(["a", "b", "c"], ["x", "y", "x"])
    assert [note.asked[0] for note in built] == [
        ["A", "B", "C"] if method == "committee" else ["a", "b", "c"],
        ["a", "b", "c"],
    ]


@pytest.mark.parametrize("method", METHODS)
def test_cross_validation_of_two_samples_keeps_both(job, built, method):
    selection = job.selector(method, Probe)(["a", "b"], ["x", "y"])
    whole = method in ("automatic", "committee", "confident-learning")
    assert selection.kept.tolist() == ([0, 1] if whole else [0])
    assert built[0].asked == ([] if whole else [["a", "b"]])
    assert whole == (selection.stopped.startswith("too few samples for cross-validation"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("keep", [0.5, "auto"])
def test_one_class_is_kept_whole(job, built, method, keep):
    """With one class a probe learns nothing; the probe of keep auto neither."""
    job = replace(job, settings=ConweaSettings(keep=keep))
    selector = job.selector(method, Probe)
    if method == "standard":
        assert selector(["a", "b", "c"], ["x"] * 3).kept.tolist() == [0, 1]  # built's
        return
    with pytest.warns(LopsWarning, match="^all 3 pseudo-labels are 'x'; nothing is selected$"):
        selection = selector(["a", "b", "c"], ["x"] * 3)
    assert selection.kept.tolist() == [0, 1, 2]
    assert selection.stopped == "all 3 pseudo-labels are 'x': everything is kept"
    assert all(note.asked == [] for note in built)


@pytest.mark.parametrize(
    ("settings", "classifier", "given"),
    [
        (ConweaSettings, "hybrid", "own"),
        (ConweaSettings, "linear", "static"),
        (SelfTrainingSettings, "linear", "own"),
    ],
)
def test_the_committee_reads_the_encoder_of_the_classifier(job, built, settings, classifier, given):
    """That of self-training with any classifier."""
    chosen = settings(classifier=classifier, encoder="own")
    replace(job, settings=chosen).selector("committee", Probe)
    assert built[0].encoder == given


def test_the_words_of_the_classes():
    corpus = Corpus(
        "toy", ("a",), ("one",), ("x", "y"), {"x": ["seed", "ex"]}, {"x": ["ex", "iks"]}
    )
    names_only = {"x": ["ex", "iks"], "y": ["y"]}
    both = {"x": ["ex", "iks", "seed"], "y": ["y"]}

    def words(name, **settings):
        framework = named(name)
        return class_words(corpus, framework.settings(**settings))

    assert {name: words(name) for name in FRAMEWORKS} == {
        "conwea": both,
        "lotclass": names_only,
        "self_training": both,
        "westclass": both,
        "xclass": names_only,
    }
    assert words("lotclass", supervision="keywords") == both
    assert words("westclass", supervision="names") == names_only


def test_a_run_knows_the_words_of_its_classes(job):
    class Notes(Toy):
        def prepare(self, corpus, job):
            self.words = [job.words]
            return super().prepare(corpus, job)

        def run_arm(self, arm, prepared, job):
            self.words.append(job.words)
            return super().run_arm(arm, prepared, job)

    toy = Notes()
    run(toy, Dataset(CORPUS, GOLD), job, ["standard", "optimal"])
    assert toy.words == [{"x": ["x"], "y": ["y"]}] * 3


def finish(job, stage, n):
    """Store a selection of n of 20 samples, half of them in each class."""
    texts, labels = [f"text {i}" for i in range(20)], ["x", "y"] * 10
    job.folder.select(stage, lambda: build("random", n=n)(texts, labels))
    return texts, labels


def test_random_is_the_control_of_the_first_finished_arm(job):
    assert job.controlled("{}-selection", "random") is None
    for arm, n in (("lops-all", 2), ("standard", 20), ("random", 12)):
        finish(job, f"{arm}-selection", n)
        assert job.controlled("{}-selection", "random") is None
    for arm, n in (("lops", 4), ("lops-adaptive", 10), ("automatic", 6), ("committee", 8)):
        texts, labels = finish(job, f"{arm}-selection", n)
        assert job.controlled("{}-selection", "random") == arm
        assert job.controlled("{}-0-selection", "random") is None
        selector = job.selector("random", Probe, control_of="{}-selection")
        selection = selector(texts, labels)
        assert [report.kept for report in selection.per_class.values()] == [n / 2, n / 2]
        why = {report.why for report in selection.per_class.values()}
        assert why == {f"random, as many as {arm} keeps"}


def test_a_control_is_of_the_arm_that_it_is_named_after(job):
    for arm, n in (("lops", 4), ("committee", 8)):
        texts, labels = finish(job, f"{arm}-selection", n)
    selector = job.selector("random-of-lops", Probe, control_of="{}-selection")
    selection = selector(texts, labels)
    assert [report.kept for report in selection.per_class.values()] == [2, 2]
    assert {report.why for report in selection.per_class.values()} == {
        "random, as many as lops keeps"
    }


def test_a_control_selects_where_its_arm_does(job):
    for arm, n in (("committee", 8), ("committee-twice", 4)):
        texts, labels = finish(job, f"{arm}-selection", n)
    for control, n in (("random", 8), ("random-twice", 4), ("random-of-committee-twice", 4)):
        selection = job.selector(control, Probe, control_of="{}-selection")(texts, labels)
        assert len(selection.kept) == n


def test_a_control_runs_after_its_arm_and_not_without_it(job):
    toy, arms = Toy(), ["random-of-corrected", "random-of-lops", "lops", "corrected"]
    metrics = run(toy, Dataset(CORPUS, GOLD), job, arms)
    assert set(metrics["arms"]) == set(arms)
    assert [call for call in toy.calls if call.endswith("0")][:2] == ["lops 0", "corrected 0"]
    with pytest.raises(LopsError, match="random-of-lops is the control of lops; add it to arms"):
        run(toy, Dataset(CORPUS, GOLD), job, ["standard", "random-of-lops"])


def test_corrected_rejects_nothing_and_its_control_changes_as_many_labels(job):
    texts, gold = documents(60)
    labels = np.array(gold, dtype=object)
    labels[:6] = [next(name for name in dict.fromkeys(gold) if name != one) for one in gold[:6]]
    select = job.selector("corrected", LinearProbe, correct=True)
    found, _ = job.folder.select("corrected-selection", lambda: select(texts, labels))
    assert len(found.kept) == 60
    assert (found.labels != labels).any()
    control = job.selector("random-of-corrected", Probe, control_of="{}-selection")(texts, labels)
    assert len(control.kept) == 60
    changed = [sorted(zip(labels, one.labels, strict=True)) for one in (found, control)]
    assert changed[0] == changed[1]
    assert found.labels.tolist() != control.labels.tolist()


def test_labels_are_corrected_among_documents_only():
    known = WestclassSettings.known_arms()
    assert {"corrected-documents", "random-of-corrected-documents", "random-of-lops"} <= set(known)
    assert not {"corrected", "random-of-corrected"} & set(known)
    assert {"corrected", "random-of-corrected"} <= set(ConweaSettings.known_arms())


def test_random_without_an_arm_to_control_keeps_tau(job):
    texts, labels = finish(job, "lops-selection", 4)
    for given in ({}, {"control_of": "{}-0-selection"}, {"control_of": None}):
        selection = job.selector("random", Probe, **given)(texts, labels)
        assert [report.kept for report in selection.per_class.values()] == [3, 3]  # a quarter
    assert len(job.selector("random", Probe, n=2)(texts, labels).kept) == 2


def test_the_words_go_to_the_methods_that_use_them(job, built):
    words = {"x": ["goal"], "y": ["law"]}
    aware = Job(job.folder, job.settings, 4, "cpu", quiet=True, words=words)
    for method in METHODS:
        aware.selector(method, Probe)
    using = [given.method for given in built if hasattr(given, "words")]
    assert using == [name for name, method in METHODS.items() if "words" in method.options]
    assert "committee" in using
    assert all(given.words == words for given in built if given.method in using)
    assert all(given.device == "cpu" for given in built if given.method == "committee")
