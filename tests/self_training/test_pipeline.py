"""What flows where: the insertion point, what is trained on, what returns to the pool, what is
added, what a run folder holds.
"""

from itertools import pairwise

import numpy as np
import pytest

from lops_adapters import datasets
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets import Corpus, Dataset, GoldLabels
from lops_adapters.probes.base import cut
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.pseudo_labels import exclusive_string_match, string_match
from lops_adapters.runs.job import Job
from lops_adapters.runs.metrics import finished_arms
from lops_adapters.selection import keep_all
from lops_adapters.selection.by_rank import fitted_to_shares
from lops_adapters.self_training import pipeline

from ..framework_checks import assert_learnt_at
from ..framework_tools import kept_by, read_rows, write_folder
from .toys import CLASSES, SEEDS, documents


def rows_of(done, arm):
    return done.metrics["arms"][arm]["iterations"]


class Recorder:
    """Selectors that keep what ``keep(labels, round)`` says, and notes of what they and the
    classifiers were given and said.
    """

    def __init__(self, monkeypatch, keep, predict=None):
        self.asked, self.trained, self.said = [], [], []
        fit, predict_proba = LinearProbe.fit, LinearProbe.predict_proba
        read, texts = LinearProbe.read, {}

        def select(samples, labels):
            mask = keep(np.array(labels), len(self.asked))
            self.asked.append((list(samples), list(labels)))
            return kept_by(mask, samples, labels, "toy")

        def record(probe, samples, codes, n_classes, *, seed=0):
            self.trained.append((texts["cut"], list(codes), n_classes, seed))
            return fit(probe, samples, codes, n_classes, seed=seed)

        def predicted(probe, samples):
            found = predict_proba(probe, samples)
            self.said.append(found if predict is None else predict(found, len(self.said)))
            return self.said[-1]

        def noted(probe, samples):
            texts["all"] = list(samples)
            return read(probe, samples)

        def cut_and_noted(counts, positions):
            texts["cut"] = [texts["all"][i] for i in positions]
            return cut(counts, positions)

        monkeypatch.setattr(pipeline, "cut", cut_and_noted)
        monkeypatch.setattr(LinearProbe, "read", noted)

        def selector(_, method, *__, **___):
            return keep_all if method == "standard" else select

        monkeypatch.setattr(Job, "selector", selector)
        monkeypatch.setattr(LinearProbe, "fit", record)
        monkeypatch.setattr(LinearProbe, "predict_proba", predicted)


def every_second(labels, _):
    return np.arange(len(labels)) % 2 == 0


def test_algorithm_2_step_by_step(monkeypatch, dataset, go, tmp_path):
    """Select, train on what is kept, return the rest to the pool, add what the classifier is sure
    of; against sets kept here.
    """
    recorder = Recorder(monkeypatch, every_second)
    done = go(dataset, tmp_path / "run", arms=["lops"])
    texts, ids = dataset.corpus.texts, dataset.corpus.ids
    initial = string_match(texts, SEEDS)
    current = dict(zip(initial.positions.tolist(), initial.labels.tolist(), strict=True))
    came_back = 0
    for number, ((samples, labels), (trained, codes, k, seed), said) in enumerate(
        zip(recorder.asked, recorder.trained, recorder.said, strict=True)
    ):
        assert samples == [texts[i] for i in sorted(current)]
        assert labels == [current[i] for i in sorted(current)]
        assert trained == samples[::2]
        assert [CLASSES[code] for code in codes] == labels[::2]
        assert (k, seed) == (3, number)
        row = rows_of(done, "lops")[number]
        assert row["pseudo_labels"] == len(samples)
        assert row["selected"] == row["trained_on"] == len(trained)
        assert row["coverage"] == len(samples) / 90
        if not number:
            assert row["initial"] == len(initial.positions)
        rejected = sorted(current)[1::2]
        assert row["rejected"] == len(rejected)
        kept = {i: current[i] for i in sorted(current)[::2]}
        added = {
            i: CLASSES[said[i].argmax()] for i in range(90) if i not in kept and said[i].max() > 0.6
        }
        came_back += len(set(added) & set(rejected))
        table = read_rows(done.path / "lops" / f"bootstrapped-{number}.csv")
        assert {row["id"]: row["pseudo_label"] for row in table} == {
            ids[i]: name for i, name in added.items()
        }
        assert [float(row["score"]) for row in table] == pytest.approx(
            [said[i].max() for i in added], abs=1e-5
        )
        assert row["bootstrapped"] == len(added)
        current = {**kept, **added}
    assert len(recorder.asked) == 3
    assert came_back  # the rejected return to the pool, and what is sure of them is added again
    predicted = [row["predicted"] for row in read_rows(done.path / "lops" / "predictions.csv")]
    assert predicted == [CLASSES[code] for code in recorder.said[-1].argmax(axis=1)]


def test_by_rank_step_by_step(monkeypatch, dataset, go, tmp_path):
    """Select once, then add the better half of each class of the others; what is in stays in."""
    recorder = Recorder(monkeypatch, every_second)
    done = go(dataset, tmp_path / "run", arms=["lops"], delta=None)
    initial = string_match(dataset.corpus.texts, SEEDS)
    labels = dict(zip(initial.positions.tolist(), initial.labels.tolist(), strict=True))
    current = {i: labels[i] for i in sorted(labels)[::2]}
    first = np.array([list(current.values()).count(name) for name in CLASSES]) / len(current)
    for number, said in enumerate(recorder.said):
        _, codes, *_ = recorder.trained[number]
        assert [CLASSES[code] for code in codes] == [current[i] for i in sorted(current)]
        predicted = np.bincount(said.argmax(axis=1), minlength=3) / 90
        fitted = fitted_to_shares(said, (first + predicted + 1 / 3) / 3)
        added = {}
        for code, name in enumerate(CLASSES):
            own = [i for i in range(90) if i not in current and fitted[i].argmax() == code]
            ranked = sorted(own, key=lambda i, code=code: -fitted[i, code])
            added |= dict.fromkeys(ranked[: (len(own) + 1) // 2], name)
        table = read_rows(done.path / "lops" / f"bootstrapped-{number}.csv")
        assert {row["id"]: row["pseudo_label"] for row in table} == {
            f"d{i}": name for i, name in added.items()
        }
        assert added
        current = {**current, **added}
    rows = rows_of(done, "lops")
    assert [row["rule"] for row in rows] == ["toy", "standard", "standard"]
    assert [row["rejected"] for row in rows] == [24, 0, 0]


def test_classes_keep_their_number_where_one_is_missing(monkeypatch, tmp_path, go):
    """The first class has no seed word in any text, as in the released code's bug: numbered anew,
    law would be arts when it is added to.
    """
    texts, labels = documents()
    data = write_folder(tmp_path / "toy", texts, labels, {**SEEDS, "arts": ["zyzzyva"]})
    recorder = Recorder(monkeypatch, every_second)
    done = go(datasets.load_dataset(data, quiet=True), tmp_path / "run", arms=["lops"])
    for number, ((_, asked), (_, codes, k, _)) in enumerate(
        zip(recorder.asked, recorder.trained, strict=True)
    ):
        assert set(asked) == {"law", "sport"}
        assert set(codes) == {1, 2}
        assert [CLASSES[code] for code in codes] == asked[::2]
        assert k == 3
        table = read_rows(done.path / "lops" / f"selection-{number}.csv")
        assert [row["pseudo_label"] for row in table] == asked
        assert rows_of(done, "lops")[number]["classes_without_pseudo_labels"] == ["arts"]
    predicted = {
        row["id"]: row["predicted"] for row in read_rows(done.path / "lops" / "predictions.csv")
    }
    of_two = [i for i, label in enumerate(labels) if label != "arts"]
    assert np.mean([predicted[f"d{i}"] == labels[i] for i in of_two]) > 0.8
    assert (
        rows_of(done, "lops")[1]["noise"] < 0.6
    )  # the third of arts, and few others; with two numberings nearly all


def test_a_class_that_loses_all_samples(monkeypatch, dataset, go, tmp_path):
    def not_arts(labels, number):
        return labels != "arts" if number == 0 else np.ones(len(labels), dtype=bool)

    def never_arts(probabilities, _):
        return probabilities * [0, 1, 1]

    recorder = Recorder(monkeypatch, not_arts, never_arts)
    with pytest.warns(LopsWarning, match="and no sample of arts"):
        done = go(dataset, tmp_path / "run", arms=["lops"])
    assert [row["classes_without_pseudo_labels"] for row in rows_of(done, "lops")] == [
        [],
        ["arts"],
        ["arts"],
    ]
    assert [set(codes) for _, codes, _, _ in recorder.trained] == [{1, 2}] * 3
    assert rows_of(done, "lops")[0]["rejected"] == recorder.asked[0][1].count("arts") > 0


def test_an_empty_pool(dataset, go, tmp_path):
    """Every document is pseudo-labelled from the start, so there is nothing to bootstrap."""
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "id,label\n" + "".join(f"d{i},{CLASSES[i % 3]}\n" for i in range(90)), encoding="utf-8"
    )
    done = go(dataset, tmp_path / "run", arms=["standard"], pseudo_labels=str(mine))
    assert [
        (row["pseudo_labels"], row["coverage"], row["bootstrapped"])
        for row in rows_of(done, "standard")
    ] == [(90, 1, 0)] * 3
    assert done.metrics["pseudo_labels"] == {"count": 90, "noise": 0, "coverage": 1}
    assert [row["score"] for row in read_rows(done.path / "pseudo_labels.csv")] == ["1"] * 90


def test_baselines_keep_as_many_as_lops_whatever_the_order(dataset, go, finished, tmp_path):
    done = go(dataset, tmp_path / "run", arms=["random", "lops"])
    assert rows_of(done, "random")[0]["n"] == rows_of(done, "lops")[0]["trained_on"] < 49
    for one, other in zip(rows_of(done, "random"), rows_of(done, "lops"), strict=True):
        assert one["n"] == other["trained_on"]
        assert one["selected"] == min(one["n"], one["pseudo_labels"])
    assert [row["n"] for row in rows_of(done, "lops")] == [None] * 3
    assert (done.path / "random" / "predictions.csv").read_bytes() == (
        finished.path / "random" / "predictions.csv"
    ).read_bytes()


def test_fewer_pseudo_labels_than_n(monkeypatch, dataset, go, tmp_path):
    def larger(run):
        arms = finished_arms(run)
        arms["lops"]["iterations"][0]["trained_on"] = 1000
        return arms

    monkeypatch.setattr(pipeline, "finished_arms", larger)
    done = go(dataset, tmp_path / "run", arms=["lops", "random"])
    first, second, _ = rows_of(done, "random")
    sizes = [first[key] for key in ("n", "selected", "pseudo_labels", "rule")]
    assert sizes == [1000, 49, 49, "standard"]
    assert first["stopped"] == "1000 of 49 pseudo-labels wanted: everything is kept"
    assert second["rule"] != "standard"


def test_per_class(dataset, go, tmp_path):
    """Ranking methods take the same share of every class; lops keeps to its rule."""
    shares = {}
    for per_class in (False, True):
        done = go(
            dataset,
            tmp_path / str(per_class),
            arms=["lops", "probability"],
            iterations=1,
            per_class=per_class,
        )
        shares[per_class] = [
            [
                report["kept"] / report["count"]
                for report in rows_of(done, arm)[0]["per_class"].values()
            ]
            for arm in ("lops", "probability")
        ]
    assert shares[True][0] == shares[False][0]
    assert (
        np.ptp(shares[True][1]) < 0.08 < np.ptp(shares[False][1])
    )  # one sample of the smallest class


def test_a_class_that_fades_is_named_once(monkeypatch, dataset, go, tmp_path, caplog):
    few = CLASSES[0]
    Recorder(monkeypatch, lambda labels, _: (labels != few) | (np.cumsum(labels == few) == 1))
    with caplog.at_level("WARNING", logger="lops_adapters"):
        go(dataset, tmp_path / "run", arms=["lops"])
    said = [record.message for record in caplog.records if "is shrinking" in record.message]
    assert len(said) == 1
    assert said[0].startswith(f"lops, iteration 0: the share of {few} (")
    assert "Try --arms committee, or automatic --per-class, or no --delta" in said[0]


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")
def test_baselines_without_lops_keep_a_fraction(dataset, go, tmp_path):
    for keep, n in ((0.5, 24), (0.01, 1), (1, 49)):
        sizes = {"n_from": "keep", "keep": keep, "iterations": 1}
        done = go(dataset, tmp_path / str(keep), arms=["random"], **sizes)
        assert rows_of(done, "random")[0]["n"] == n
    with pytest.raises(
        LopsError, match="random keeps as many as lops, which is not among the methods"
    ):
        go(dataset, tmp_path / "other", arms=["standard", "random"])


def test_a_fresh_probe_and_a_fresh_classifier_each_round(
    monkeypatch, dataset, go, tmp_path, finished
):
    built = []
    updates = LinearProbe.updates
    monkeypatch.setattr(
        LinearProbe,
        "updates",
        lambda self, *args: built.append((self, args[3])) or updates(self, *args),
    )
    go(dataset, tmp_path / "run", arms=["lops"], seed=5)
    # Per round: the probe of lops; the classifier.
    assert len({id(probe) for probe, _ in built}) == 6
    assert [seed for _, seed in built] == [5] * 2 + [6] * 2 + [7] * 2
    one, other = (path / "lops" / "predictions.csv" for path in (tmp_path / "run", finished.path))
    assert one.read_bytes() != other.read_bytes()


def test_the_probe_of_another_kind(dataset, go, tmp_path):
    done = go(dataset, tmp_path / "run", arms=["lops"], probe="linear", epochs=7)
    assert_learnt_at(
        read_rows(done.path / "lops" / "selection-0.csv"), 4
    )  # its own number of epochs


def test_faithful(monkeypatch, dataset, go, tmp_path):
    """At least delta; OptimalFilter rejects for good; seed words are regular expressions."""
    Recorder(
        monkeypatch,
        lambda labels, _: np.arange(len(labels)) < 30,
        lambda found, _: np.tile([0.75, 0.25, 0], (90, 1)),
    )
    sizes = {}
    for faithful in (False, True):
        done = go(
            dataset,
            tmp_path / f"run-{faithful}",
            delta=0.75,
            arms=["lops", "optimal"],
            faithful=faithful,
        )
        sizes[faithful] = [rows_of(done, arm)[1]["pseudo_labels"] for arm in ("lops", "optimal")]
    assert sizes == {False: [30, 30], True: [90, 90 - 19]}
    done = go(dataset, tmp_path / "run-below", delta=0.7, arms=["lops", "optimal"])
    assert [rows_of(done, arm)[1]["pseudo_labels"] for arm in ("lops", "optimal")] == [90, 90]
    corpus = dataset.corpus
    seeds = {**corpus.seeds, "arts": ("gal+ery", "paint")}
    pointed = Dataset(
        Corpus(corpus.name, corpus.ids, corpus.texts, corpus.classes, seeds), dataset.gold
    )
    for faithful in (False, True):
        exclusive = {
            "pseudo_labels": "exclusive-string-match",
            "iterations": 1,
            "faithful": faithful,
        }
        done = go(pointed, tmp_path / f"exclusive-{faithful}", arms=["standard"], **exclusive)
        assert done.metrics["pseudo_labels"]["count"] == len(
            exclusive_string_match(corpus.texts, seeds, regex=faithful)
        )
    assert len(exclusive_string_match(corpus.texts, seeds, regex=True)) > len(
        exclusive_string_match(corpus.texts, seeds)
    )


def test_metrics_of_each_round(finished, dataset):
    stored = finished.metrics
    assert stored["pseudo_labels"]["count"] == 49
    assert list(stored["arms"]) == ["standard", "lops", "optimal", "random"]
    gold = dict(zip(dataset.corpus.ids, dataset.gold.labels, strict=True))
    for arm, result in stored["arms"].items():
        rows = result["iterations"]
        for row in rows:
            table = read_rows(finished.path / arm / f"selection-{row['iteration']}.csv")
            wrong = [entry["pseudo_label"] != gold[entry["id"]] for entry in table]
            assert row["noise"] == pytest.approx(np.mean(wrong))
            kept = [
                bad for bad, entry in zip(wrong, table, strict=True) if entry["selected"] == "1"
            ]
            assert row["selected_noise"] == pytest.approx(np.mean(kept))
            assert row["selected"] == row["trained_on"] == len(kept)
            assert row["rejected"] == len(table) - len(kept)
        for row, after in pairwise(rows):
            assert after["pseudo_labels"] == row["trained_on"] + row["bootstrapped"]
    f1 = {arm: result["micro_f1"] for arm, result in stored["arms"].items()}
    assert f1["optimal"] >= f1["lops"] > f1["standard"]


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")
def test_gold_labels_of_one_class_and_documents_without_text(go, tmp_path):
    texts = ["", "...", *documents(30)[0]]
    corpus = Corpus("odd", [f"x{i}" for i in range(32)], texts, CLASSES, SEEDS)
    done = go(Dataset(corpus, GoldLabels(["law"] * 32)), tmp_path / "run")
    assert len(read_rows(done.path / "lops" / "predictions.csv")) == 32


def test_the_method_defined_by_gold_labels_keeps_what_is_right(finished, dataset, go, tmp_path):
    for row in finished.metrics["arms"]["optimal"]["iterations"]:
        assert row["selected_noise"] == 0
        assert row["selected"] == round(row["pseudo_labels"] * (1 - row["noise"]))
    gold = GoldLabels([*dataset.gold.labels[1:], dataset.gold.labels[0]])
    other = go(Dataset(dataset.corpus, gold), tmp_path / "run", arms=["optimal"], iterations=1)
    assert rows_of(other, "optimal")[0]["selected_noise"] == 0
    one, moved = (path / "optimal" / "selection-0.csv" for path in (finished.path, other.path))
    assert one.read_bytes() != moved.read_bytes()
