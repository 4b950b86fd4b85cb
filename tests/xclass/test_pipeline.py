"""What flows where: the insertion point, what the classifier is trained on, what a run folder
holds.
"""

import json

import numpy as np
import pytest

from lops_adapters import load
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets import Corpus, Dataset, GoldLabels
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass import pipeline
from lops_adapters.xclass.alignment import Alignment
from lops_adapters.xclass.pipeline import prepare
from lops_adapters.xclass.words import cleaned

from ..framework_tools import Recorder, pretend, pretend_settings, read_rows
from .toys import ARMS, CLASSES, documents


def resumed(go, dataset, path, **changed):
    """Go on with a run as if it had been started with other settings; the stages that are stored
    are taken as they are. ``go`` may be ``ready``.
    """
    pretend_settings(path, **{name: changed[name] for name in changed.keys() - {"arms"}})
    return go(dataset, path, resume=True, **changed)


def test_the_classifier_is_trained_on_exactly_what_is_kept(monkeypatch, dataset, go, head_start):
    recorder = Recorder(monkeypatch, TransformerProbe)
    metrics = go(dataset, head_start, resume=True).metrics
    assert len(recorder.asked) == len(recorder.trained) == len(recorder.predicted) == 3
    for arm, (samples, labels), (trained, codes, n_classes) in zip(
        ARMS, recorder.asked, recorder.trained, strict=True
    ):
        table = read_rows(head_start / arm / "selection-0.csv")
        assert samples == [
            dataset.corpus.texts[dataset.corpus.ids.index(row["id"])] for row in table
        ]
        assert labels == [row["pseudo_label"] for row in table]
        assert trained == samples[::2]
        assert [CLASSES[code] for code in codes] == labels[::2]
        assert n_classes == 3
        row = metrics["arms"][arm]["iterations"][0]
        assert (row["pseudo_labels"], row["selected"], row["rule"]) == (
            len(samples),
            len(trained),
            "every-second",
        )
    assert recorder.predicted == [list(dataset.corpus.texts)] * 3
    half, same, everything = (samples for samples, _ in recorder.asked)
    assert half == same
    assert everything == list(dataset.corpus.texts)


@pytest.mark.parametrize(("fraction", "part"), [(0.5, 2), (0.2, 5), (1.0, 1)])
def test_standard_is_the_most_confident_part_of_each_class(
    dataset, ready, head_start, fraction, part
):
    samples = resumed(ready, dataset, head_start, confident=fraction).samples
    with np.load(head_start / "work" / "alignment.npz") as stored:
        codes, confidence = stored["codes"], stored["confidence"]
    assert len(np.unique(confidence)) == len(codes) == 90
    expected = []
    for code in range(3):
        own = np.flatnonzero(codes == code)
        expected += own[np.argsort(-confidence[own])][: len(own) // part].tolist()
    expected.sort()
    assert samples.positions.tolist() == expected
    assert samples.ids == [dataset.corpus.ids[i] for i in expected]
    assert samples.codes.tolist() == codes[expected].tolist()
    assert samples.scores.tolist() == confidence[expected].tolist()


def test_what_the_arms_start_from(finished):
    files = {arm: (finished.path / arm / "pseudo_labels-0.csv").read_bytes() for arm in ARMS}
    assert files["lops-all"] != files["lops"]
    first = {arm: finished.metrics["arms"][arm]["iterations"][0] for arm in ARMS}
    assert (
        first["standard"]["selected"]
        == first["standard"]["pseudo_labels"]
        == first["lops"]["pseudo_labels"]
        == 44
    )
    assert 0 < first["lops"]["selected"] < 44
    assert first["lops-all"]["pseudo_labels"] == 90
    assert 44 < first["lops-all"]["selected"] < 90
    assert len(read_rows(finished.path / "lops" / "predictions.csv")) == 90  # the rejected too


DIRTY = "Write to someone@example.org: caf\u00e9, &lt;b&gt;now&lt;/b&gt;!"


@pytest.mark.parametrize("faithful", [False, True])
def test_the_same_text_for_training_and_prediction_unless_faithful(
    monkeypatch, dataset, go, head_start, faithful
):
    """Cleaned text is for the vectors and the training; here the vectors are taken from a stored
    stage.
    """
    corpus = dataset.corpus
    dirty = Corpus(
        corpus.name,
        corpus.ids,
        tuple(f"{DIRTY} {text}" for text in corpus.texts),
        corpus.classes,
        corpus.seeds,
    )
    config = json.loads((head_start / "config.json").read_text())
    config["dataset"]["sha256"] = dirty.checksum
    pretend(head_start, config)
    recorder = Recorder(monkeypatch, TransformerProbe)
    resumed(go, Dataset(dirty), head_start, arms=["lops-all"], faithful=faithful)
    seen = [cleaned(text) for text in dirty.texts] if faithful else list(dirty.texts)
    assert recorder.asked[0][0] == seen
    assert recorder.trained[0][0] == seen[::2]
    assert recorder.predicted == [list(dirty.texts)]
    assert ("@" in recorder.trained[0][0][0]) is not faithful


@pytest.mark.parametrize("faithful", [False, True])
def test_vectors_are_of_cleaned_text_only_if_faithful(
    monkeypatch, dataset, ready, tmp_path, faithful
):
    read, asked = pipeline.read_words, []

    def noted(texts, *, faithful, quiet):
        asked.append(faithful)
        return read(texts, faithful=faithful)

    monkeypatch.setattr(pipeline, "read_words", noted)
    assert right(ready(dataset, tmp_path / "run", faithful=faithful), dataset) > 1 / 3
    assert asked == [faithful]


def right(prepared, dataset):
    """The share of documents that are aligned with their class."""
    gold = np.array(dataset.gold.labels)[prepared.readable]
    return np.mean(np.array(CLASSES)[prepared.alignment.codes] == gold)


def test_the_table_of_class_words(finished):
    words = json.loads((finished.path / "class_words.json").read_text(encoding="utf-8"))
    assert list(words) == list(CLASSES)
    counts = {name: len(found) for name, found in words.items()}
    assert counts == finished.metrics["words_per_class"]
    assert all(0 < count < finished.settings.class_words for count in counts.values())


def test_metrics_of_its_own(finished):
    metrics = finished.metrics
    assert metrics["pseudo_labels"]["count"] == 44
    assert 0 < metrics["pseudo_labels"]["noise"] < 0.5
    assert metrics["name_vectors"] == dict.fromkeys(CLASSES, "corpus")
    assert metrics["documents_without_words"] == 0
    assert set(metrics["seconds"]) == {"representation", "alignment"}


def test_measurements_are_right(finished, dataset):
    gold = dict(zip(dataset.corpus.ids, dataset.gold.labels, strict=True))
    with np.load(finished.path / "work" / "alignment.npz") as stored:
        codes = {"representation": stored["represented"], "alignment": stored["codes"]}
    with np.load(finished.path / "work" / "representation.npz") as stored:
        vectors, classes = (
            found / np.linalg.norm(found, axis=1, keepdims=True)
            for found in (stored["documents"], stored["classes"])
        )
    assert (codes["representation"] == (vectors @ classes.T).argmax(axis=1)).all()
    assert (codes["representation"] != codes["alignment"]).any()
    for stage, found in codes.items():
        right = np.mean(
            [CLASSES[code] == label for code, label in zip(found, gold.values(), strict=True)]
        )
        assert finished.metrics["stages"][stage]["micro_f1"] == pytest.approx(right)
        assert right > 0.6


def test_a_class_that_wins_no_document(monkeypatch, dataset, go, tmp_path):
    """Its name is said, the others go on, and the columns of the classifier stay those of all
    classes.
    """
    aligned = pipeline.align

    def without_law(*args, **kwargs):
        found = aligned(*args, **kwargs)
        return Alignment(np.where(found.codes == 1, 2, found.codes), found.confidence)

    monkeypatch.setattr(pipeline, "align", without_law)
    with pytest.warns(LopsWarning, match="no document is aligned with law: .* cannot learn it"):
        done = go(dataset, tmp_path / "run", arms=["lops"])
    (row,) = done.metrics["arms"]["lops"]["iterations"]
    assert row["classes_without_pseudo_labels"] == ["law"]
    with np.load(tmp_path / "run" / "work" / "lops-classifier.npz") as stored:
        assert stored["probabilities"].shape == (90, 3)
    labels = {row["pseudo_label"] for row in read_rows(tmp_path / "run" / "pseudo_labels.csv")}
    assert labels == {"arts", "sport"}
    with np.load(tmp_path / "run" / "work" / "alignment.npz") as stored:
        assert set(stored["codes"]) == {0, 2}


def test_all_documents_in_one_class(monkeypatch, dataset, ready, tmp_path):
    monkeypatch.setattr(
        pipeline,
        "align",
        lambda documents, *_, **__: Alignment(np.zeros(90, dtype=np.int64), np.arange(90.0)),
    )
    with (
        pytest.warns(LopsWarning, match="no document is aligned with law, sport"),
        pytest.raises(
            LopsError, match="all 45 pseudo-labels are 'arts'; wanted at least two classes"
        ),
    ):
        ready(dataset, tmp_path / "run")


@pytest.mark.filterwarnings(
    "ignore::lops_adapters.core.LopsWarning"
)  # so few documents teach little
def test_documents_without_words_are_aligned_with_nothing_but_predicted(go, tmp_path):
    """Positions among the readable documents are no positions in the corpus."""
    texts, labels = documents(45)
    odd = ["", "... !", "?", "zyzzyva quux", "  "]
    # two: a shift by all classes would be none
    texts, labels = ([*odd[:2], *texts, *odd[2:]], ["arts"] * 2 + labels + ["law"] * 3)
    corpus = Corpus("odd", tuple(f"x{i}" for i in range(50)), tuple(texts), CLASSES)
    done = go(Dataset(corpus, GoldLabels(labels)), tmp_path / "run", arms=["lops-all"])
    assert done.metrics["documents_without_words"] == 4
    readable = [*range(2, 47), 48]
    table = read_rows(done.path / "lops-all" / "pseudo_labels-0.csv")
    assert [row["id"] for row in table] == [f"x{i}" for i in readable]
    assert done.metrics["arms"]["lops-all"]["iterations"][0]["coverage"] == 46 / 50
    right = [row["pseudo_label"] == labels[int(row["id"][1:])] for row in table]
    assert np.mean(right) > 0.6
    assert done.metrics["arms"]["lops-all"]["iterations"][0]["noise"] == pytest.approx(
        1 - np.mean(right)
    )
    assert done.metrics["stages"]["alignment"]["micro_f1"] == pytest.approx(np.mean(right))
    assert len(read_rows(done.path / "lops-all" / "predictions.csv")) == 50
    prepared = prepare(corpus, done.job)
    assert prepared.readable.tolist() == readable


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")
@pytest.mark.parametrize("changed", [{"components": 500}, {"min_count": 10_000}])
def test_other_ways(dataset, ready, tmp_path, changed):
    prepared = ready(dataset, tmp_path / "run", **changed)
    assert right(prepared, dataset) > 0.5
    if "min_count" in changed:
        assert set(prepared.about["words_per_class"].values()) == {0}


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")
def test_the_linear_probe(dataset, go, head_start):
    done = resumed(go, dataset, head_start, arms=["lops"], probe="linear", every="epoch")
    row = done.metrics["arms"]["lops"]["iterations"][0]
    assert row["pseudo_labels"] == 44
    assert 0 < row["selected"] <= 44


def test_seeds(monkeypatch, dataset, go, head_start, finished):
    """The seed reaches the probe and the classifier."""
    seeds = []
    updates = TransformerProbe.updates

    def noted(probe, prepared, codes, n_classes, seed, *more):
        seeds.append(seed)
        return updates(probe, prepared, codes, n_classes, seed, *more)

    monkeypatch.setattr(TransformerProbe, "updates", noted)
    config = json.loads((head_start / "config.json").read_text())
    pretend(head_start, {**config, "seed": 5})
    go(dataset, head_start, arms=["lops"], resume=True, seed=5)
    assert seeds == [5, 5]
    one, other = (path / "lops" / "predictions.csv" for path in (head_start, finished.path))
    assert one.read_bytes() != other.read_bytes()


def test_rounds_follow_and_are_the_result(dataset, go, tmp_path):
    """Among all predictions; the model and the predictions are of the last round."""
    arms = ["standard", "lops", "lops-all", "committee", "random"]
    done = go(dataset, tmp_path / "run", arms, classifier="linear", rounds=2)
    texts, n = dataset.corpus.texts, len(dataset.corpus)
    for arm, result in done.metrics["arms"].items():
        own, *rounds = result["iterations"]
        assert "stage" not in own
        assert [row["stage"] for row in rounds] == ["round 1", "round 2"][: len(rounds)]
        assert [row["iteration"] for row in rounds] == [1, 2][: len(rounds)]
        assert rounds[0]["pseudo_labels"] == n
        assert result["macro_f1"] == rounds[-1]["macro_f1"]
        table = read_rows(done.path / arm / "selection-documents.csv")
        assert sum(row["selected"] == "1" for row in table) == rounds[0]["selected"]
        predicted = [row["predicted"] for row in read_rows(done.path / arm / "predictions.csv")]
        assert load(done.path, arm=arm, device="cpu").predict(texts) == predicted
    rows = {arm: result["iterations"] for arm, result in done.metrics["arms"].items()}
    assert len(rows["standard"]) == 2  # nothing is rejected, so nothing can return
    assert rows["standard"][1]["selected"] == n
    assert rows["lops"][1]["rule"] == rows["lops-all"][1]["rule"] == "released"
    for number, all_aligned in enumerate([90, n]):  # what the committee chooses among
        both = [rows[arm][number] for arm in ("committee", "random")]
        assert {row["pseudo_labels"] for row in both} == {all_aligned}
        assert len({row["selected"] for row in both}) == 1
