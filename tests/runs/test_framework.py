"""What a run is given, and the one function that runs any framework."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus, Dataset, GoldLabels
from lops_adapters.runs import framework as room
from lops_adapters.runs.files import finished_arms
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.framework import FRAMEWORKS, Framework, Job, named, read_arms, run
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.selection import METHODS, build, keep_all

KNOWN = ("standard", "lops", "lops-twice")
CORPUS = Corpus("toy", ("a", "b", "c"), ("one", "two", "three"), ("x", "y"), {})
GOLD = GoldLabels(("x", "y", "y"))


def test_names():
    for name in FRAMEWORKS:
        assert named(name).name == name
        assert named(name) is named(name)


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


def test_an_arm_that_a_framework_lacks():
    with pytest.raises(LopsError, match="wanted some of standard, lops, comma"):
        read_arms("standard,lops-twice", ("standard", "lops"))


def test_a_misspelt_arm_is_named():
    with pytest.raises(LopsError, match=r"'standrd' is unknown .did you mean standard\?.; wanted"):
        read_arms("standrd,lops", KNOWN)


class Toy(Framework[FrameworkSettings]):
    """Notes what it is asked and given."""

    name = "toy"
    title = "The toy"
    settings = FrameworkSettings
    modules = ()

    def __init__(self, measured=None):
        self.calls, self.golds, self.positions = [], {}, measured

    def check(self, arms, settings, dataset):
        """Note the call."""
        self.calls.append("check")

    def in_order(self, arms):
        """Return the arms backwards."""
        return arms[::-1]

    def prepare(self, corpus, job):
        """Note the call."""
        self.calls.append("prepare")
        assert job.gold is None
        return corpus

    def measured(self, prepared):
        """Return what the test wants."""
        return self.positions

    def tables(self, prepared, job):
        """Note the call."""
        self.calls.append("tables")

    def about(self, prepared, evaluator):
        """Return a key of the framework's own."""
        self.calls.append("about")
        return {"pseudo_labels": {"count": 3, "noise": evaluator.noise([0, 1], ["x", "x"])}}

    def run_arm(self, arm, prepared, job):
        """Note the gold labels."""
        self.calls.append(arm)
        self.golds[arm] = job.gold
        return arm

    def arm_tables(self, arm, result, prepared, job):
        """Write a table."""
        (job.folder.arm(arm) / "table.csv").write_text(result)
        self.calls.append(f"{arm} tables")

    def rows(self, result, prepared, evaluator):
        """Return one iteration."""
        count = 3 if self.positions is None else len(self.positions)
        scores = evaluator.scores(["y"] * count)
        return [{"iteration": 0, **scores, "selected": 3, "selected_noise": None, "seconds": 1.5}]


@pytest.fixture
def job(tmp_path):
    folder = RunFolder.open(tmp_path / "run", {"settings": {}}, resume=False)
    return Job(folder, FrameworkSettings(tau=0.25, rule="ranked", every=6), 4, "cpu", quiet=True)


def test_a_run_in_order(job):
    toy = Toy()
    metrics = run(toy, Dataset(CORPUS, GOLD), job, ["standard", "optimal"])
    arms = ["optimal", "optimal tables", "standard", "standard tables"]
    assert toy.calls == ["check", "prepare", "tables", "about", *arms]
    assert json.loads((job.folder.path / "metrics.json").read_text()) == metrics
    assert list(metrics) == [
        "framework", "title", "dataset", "n_documents", "classes", "pseudo_labels", "arms",
    ]  # fmt: skip
    assert (metrics["framework"], metrics["dataset"], metrics["n_documents"]) == ("toy", "toy", 3)
    assert metrics["classes"] == ["x", "y"]
    assert metrics["pseudo_labels"] == {"count": 3, "noise": 0.5}
    assert list(metrics["arms"]) == ["standard", "optimal"]
    assert metrics["arms"]["standard"]["micro_f1"] == pytest.approx(2 / 3)


def test_gold_labels_go_to_the_arm_that_is_defined_by_them_alone(job):
    toy = Toy()
    run(toy, Dataset(CORPUS, GOLD), job, ["standard", "lops", "optimal", "lops-twice"])
    assert toy.golds.pop("optimal").tolist() == ["x", "y", "y"]
    assert toy.golds == dict.fromkeys(("standard", "lops", "lops-twice"))


def test_without_gold_labels(job):
    metrics = run(Toy(), Dataset(CORPUS), job, ["lops"])
    assert metrics["pseudo_labels"]["noise"] is None
    assert metrics["arms"]["lops"]["micro_f1"] is metrics["arms"]["lops"]["macro_f1"] is None


def test_some_documents_are_measured(job):
    metrics = run(Toy(np.array([0, 2])), Dataset(CORPUS, GOLD), job, ["lops"])
    assert metrics["pseudo_labels"]["noise"] == 0.5
    assert metrics["arms"]["lops"]["micro_f1"] == 0.5
    none = run(Toy(np.array([], dtype=int)), Dataset(CORPUS, GOLD), job, ["lops"])
    assert none["arms"]["lops"]["micro_f1"] is None


def test_metrics_grow_arm_by_arm(job):
    class Stops(Toy):
        def run_arm(self, arm, prepared, job):
            if arm == "standard":
                raise RuntimeError
            return super().run_arm(arm, prepared, job)

    with pytest.raises(RuntimeError):
        run(Stops(), Dataset(CORPUS, GOLD), job, ["standard", "lops"])
    assert list(finished_arms(job.folder)) == ["lops"]
    metrics = run(Toy(), Dataset(CORPUS, GOLD), job, ["standard"])
    assert list(metrics["arms"]) == ["standard", "lops"]


def test_a_missing_library_is_refused_before_anything(job, monkeypatch):
    toy = Toy()
    monkeypatch.setattr(toy, "needs", lambda settings: ("no_such_module",))
    monkeypatch.setitem(room.extras.LIBRARIES, "no_such_module", ("No such module", None))
    words = r"The toy needs No such module, .*pip install 'lops_adapters\[toy\]'"
    with pytest.raises(LopsError, match=words):
        run(toy, Dataset(CORPUS), job, ["lops"])
    assert toy.calls == []


class Probe:
    """Stands for a probe."""


@pytest.fixture
def built(monkeypatch):
    """What the selection's own ``build`` is given."""
    given = []

    def build(method, probe, **options):
        given.append(SimpleNamespace(method=method, probe=probe, **options))
        return f"selector of {method}"

    monkeypatch.setattr(room, "build", build)
    return given


def test_the_selector_is_as_the_settings_say(job, built):
    probe = Probe()
    assert job.selector("lops", lambda: probe).selector == "selector of lops"
    (given,) = built
    assert (given.method, given.probe) == ("lops", probe)
    assert (given.tau, given.rule, given.every) == (0.25, "ranked", 6)
    assert (given.seed, given.quiet) == (4, True)
    assert given.n is given.gold is given.stratified is None


def test_what_a_call_says_goes_before(job, built):
    gold = np.array(["x"])
    job.selector("probability", Probe, seed=0, n=7, gold=gold, stratified=True)
    (given,) = built
    assert (given.seed, given.n, given.stratified) == (0, 7, True)
    assert given.gold is gold


def test_the_gold_labels_of_the_job_are_not_handed_on_unasked(job, built):
    Job(job.folder, job.settings, 0, "cpu", True, np.array(["x"])).selector("optimal", Probe)
    assert built[0].gold is None


def test_a_probe_is_built_only_where_it_is_needed(job, built):
    asked = []
    for method in METHODS:
        job.selector(method, lambda method=method: asked.append(method))
    assert asked == [name for name, method in METHODS.items() if method.needs_probe]
    assert "lops" in asked
    assert "standard" not in asked


def test_standard_keeps_everything(job):
    selector = job.selector("standard", lambda: pytest.fail("a probe for nothing"))
    assert selector(["a", "b"], ["x", "y"]).kept.tolist() == [0, 1]


def test_the_control_does_not_depend_on_the_order_of_rows(job):
    texts, labels = [f"text {i}" for i in range(40)], ["x", "y"] * 20
    job.folder.select("lops-selection", lambda: build("random", n=17)(texts, labels))
    order = np.random.default_rng(0).permutation(40)
    moved = [texts[i] for i in order], [labels[i] for i in order]
    selector = job.selector("random", Probe, control_of="{}-selection")
    here, there = selector(texts, labels), selector(*moved)
    assert len(here.kept) == 17
    np.testing.assert_array_equal(there.mask, here.mask[order])


CLASSES = ("x", "y")
NAMED = Corpus(
    "toy", ("a",), ("one",), CLASSES, {"x": ("goal", "match", "goal")},
    names={"x": ("sports", "goal"), "y": ("law",)},
)  # fmt: skip


def test_the_words_of_a_class_are_its_names_then_its_seed_words_each_once():
    assert Toy().class_words(NAMED) == {"x": ["sports", "goal", "match"], "y": ["law"]}
    assert Toy().class_words(CORPUS) == {"x": ["x"], "y": ["y"]}  # a label names its class


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


def test_a_run_gives_every_arm_the_words(job):
    seen = []

    class Notes(Toy):
        def run_arm(self, arm, prepared, job):
            seen.append(job.words)
            return super().run_arm(arm, prepared, job)

    run(Notes(), Dataset(CORPUS, GOLD), job, ["standard", "lops"])
    assert seen == [{"x": ["x"], "y": ["y"]}] * 2


SAMPLES, LABELS = [f"text {i}" for i in range(12)], ["x", "y", "y"] * 4


def finish(job, arm, kept):
    """Store a selection of an arm, under the name of its stage."""

    def select():
        whole = keep_all(SAMPLES, LABELS)
        mask = np.isin(np.arange(12), kept)
        counts = {label: sum(LABELS[i] == label for i in kept) for label in "xy"}
        reports = {
            label: report._replace(kept=counts[label]) for label, report in whole.per_class.items()
        }
        return Selection(mask, whole.learnt_at, whole.confidence, reports, arm, "told")

    job.folder.select(f"{arm}-2-selection", select)


def test_random_is_the_control_of_the_first_that_is_finished(job):
    stages = "{}-2-selection"
    assert job.controlled(stages) is None
    free = job.selector("random", Probe, control_of=stages)(SAMPLES, LABELS)
    assert len(free.kept) == 3  # of each class the fraction tau, 1/4: 1 of 4 and 2 of 8
    told = {"lops": ([0, 1], (1, 1)), "automatic": ([0, 3, 6, 1], (3, 1))}
    for arm, (kept, expected) in {**told, "committee": ([1, 2, 4], (0, 3))}.items():
        finish(job, arm, kept)
        assert job.controlled(stages) == arm
        assert job.controlled("{}-3-selection") is None
        found = job.selector("random", Probe, control_of=stages)(SAMPLES, LABELS)
        assert tuple(found.per_class[label].kept for label in "xy") == expected
        assert {report.why for report in found.per_class.values()} == {
            f"random, as many as {arm} keeps"
        }
    alone = job.selector("random", Probe)(SAMPLES, LABELS)
    np.testing.assert_array_equal(alone.mask, free.mask)
