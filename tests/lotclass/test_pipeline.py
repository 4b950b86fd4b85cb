"""What the network is trained on, at both insertion points, and what a run folder holds."""

import json
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.datasets import Dataset
from lops_adapters.lotclass import pipeline
from lops_adapters.lotclass import rows as row_making
from lops_adapters.lotclass.probe import LotclassProbe
from lops_adapters.runs.job import Job
from lops_adapters.selection import keep_all

from ..framework_tools import copy_killed, kept_by, read_rows
from .toys import ARMS, CLASSES, SMALL

SHARED = ["rows", "standard-selection", "standard-category"]


def selects(keep):
    """A selector that keeps what ``keep(n)`` says."""

    return lambda samples, labels: kept_by(keep(len(samples)), samples, labels)


class Recorder:
    """Selectors that keep every second sample at the places in ``at``, and notes of what they and
    the networks were given.
    """

    def __init__(self, monkeypatch, at=("rows", "refresh"), keep=lambda n: np.arange(n) % 2 == 0):
        self.asked, self.fitted = [], []
        fit = LotclassProbe.fit

        places = cycle(("rows", "refresh"))  # the order in which an arm makes its selectors

        def selector(job, method, probe, **_):
            place = next(places)
            chosen = selects(keep) if place in at else keep_all

            def select(samples, labels):
                self.asked.append((method, place, list(samples), list(labels)))
                return chosen(samples, labels)

            return select

        def record(probe, samples, codes, n_classes, *, seed=0, updates=None):
            self.fitted.append((list(samples), list(codes), n_classes, seed, updates))
            return fit(probe, samples, codes, n_classes, seed=seed, updates=updates)

        monkeypatch.setattr(Job, "selector", selector)
        monkeypatch.setattr(LotclassProbe, "fit", record)


def same_samples(found, wanted):
    return len(found) == len(wanted) and all(
        (one.ids == other.ids).all() and (one.places == other.places).all()
        for one, other in zip(found, wanted, strict=True)
    )


def test_the_network_is_trained_on_exactly_what_is_kept(monkeypatch, dataset, go, head_start):
    recorder = Recorder(monkeypatch)
    metrics = go(dataset, head_start, arms=["lops"], resume=True).metrics
    (method, place, samples, labels), *refreshes = recorder.asked
    table = read_rows(head_start / "pseudo_labels.csv")
    assert (method, place, labels) == ("lops", "rows", [row["pseudo_label"] for row in table])
    ((trained, codes, n_classes, seed, updates),) = recorder.fitted
    assert updates == 2 * -(-len(samples) // 12)  # as many as the Standard arm's
    assert same_samples(trained, samples[::2])
    assert [CLASSES[code] for code in codes] == labels[::2]
    assert (n_classes, seed) == (3, 0)
    first, second = metrics["arms"]["lops"]["iterations"]
    assert (first["pseudo_labels"], first["selected"], first["rule"]) == (
        len(samples),
        len(trained),
        "every-second",
    )
    assert [asked[:2] for asked in refreshes] == [("standard", "refresh")] * 3
    assert [len(samples) for _, _, samples, _ in refreshes] == [36, 24, 24]
    assert second["pseudo_labels"] == 84
    assert second["selected"] == 42


def test_rows_are_masked_documents(finished, dataset, tokenizer):
    """The indicative positions of a row are masked, nothing else is; the score is their number."""
    with np.load(finished.path / "work" / "rows.npz") as stored:
        documents_of, codes, starts, places = (
            stored[key] for key in ("documents", "codes", "starts", "places")
        )
    table = read_rows(finished.path / "pseudo_labels.csv")
    assert [row["id"] for row in table] == [dataset.corpus.ids[i] for i in documents_of]
    assert [row["pseudo_label"] for row in table] == [CLASSES[code] for code in codes]
    assert [int(row["score"]) for row in table] == np.diff(starts).tolist()
    assert min(np.diff(starts)) > 0
    assert len(set(zip(documents_of.tolist(), codes.tolist(), strict=True))) == len(table)
    assert len(np.unique(documents_of)) < len(table)  # some speak of two classes
    row = tokenizer(dataset.corpus.texts[documents_of[0]], truncation=True, max_length=40)[
        "input_ids"
    ]
    sample = pipeline.masked(np.array(row), places[: starts[1]], tokenizer.mask_token_id)
    assert (sample.ids[sample.places] == tokenizer.mask_token_id).all()
    assert (np.delete(sample.ids, sample.places) == np.delete(row, sample.places)).all()
    assert tokenizer.mask_token_id not in row


def test_arms_share_what_they_can(finished):
    names = {path.stem for path in (finished.path / "work").iterdir()}
    own = {f"{arm}-{stage}" for arm in ARMS for stage in ("selection", "self-training")}
    assert names == {"rows", "standard-category", "lops-category", *own}
    standard, lops, refresh = (finished.metrics["arms"][arm]["iterations"] for arm in ARMS)
    shared = {"selected", "pseudo_labels", "micro_f1", "macro_f1", "noise"}
    assert {key: standard[0][key] for key in shared} == {key: refresh[0][key] for key in shared}
    assert standard[0]["selected"] == standard[0]["pseudo_labels"] == lops[0]["pseudo_labels"]
    assert 0 < lops[0]["selected"] < lops[0]["pseudo_labels"]
    assert standard[1]["selected"] == standard[1]["pseudo_labels"] == lops[1]["selected"] == 84
    assert 0 < refresh[1]["selected"] < refresh[1]["pseudo_labels"] == 84
    assert [item["rule"] for item in refresh[1]["refreshes"]] == ["algorithm1"] * 3
    assert {item["rule"] for item in lops[1]["refreshes"]} == {"standard"}


def test_a_selector_that_keeps_everything_gives_the_standard_arm(
    monkeypatch, dataset, go, head_start, finished
):
    """To the last bit, also where probes were trained on the way."""

    def selector(job, method, build, **_):
        probe = replace(build(), epochs=1)

        def select(samples, labels):
            probe.fit(samples[:6], np.arange(6) % 3, 3, seed=9)
            return keep_all(samples, labels)

        return select

    monkeypatch.setattr(Job, "selector", selector)
    go(dataset, head_start, arms=["lops", "lops-refresh"], resume=True)
    wanted = finished.path / "standard"
    for arm in ("lops", "lops-refresh"):
        for name in (
            "predictions.csv",
            "selection-0.csv",
            "model/network/model.safetensors",
            "model/network/head.safetensors",
        ):
            assert (head_start / arm / name).read_bytes() == (wanted / name).read_bytes(), (
                arm,
                name,
            )


def test_refreshes_that_keep_nothing_leave_the_network(
    monkeypatch, dataset, go, finished, tmp_path
):
    path = copy_killed(finished, tmp_path / "run", SHARED)
    Recorder(monkeypatch, ("refresh",), lambda n: np.zeros(n, dtype=bool))
    second = go(dataset, path, arms=["lops-refresh"], resume=True).metrics["arms"]["lops-refresh"][
        "iterations"
    ][1]
    assert (second["updates"], second["selected"], second["selected_noise"]) == (0, 0, None)
    with (
        np.load(path / "work" / "standard-category.npz") as category,
        np.load(path / "work" / "lops-refresh-self-training.npz") as last,
    ):
        assert (category["probabilities"] == last["probabilities"]).all()


def test_tables_of_its_own(finished):
    for arm in ARMS:
        refreshes = (1, 2, 3) if arm == "lops-refresh" else ()
        found = {path.name for path in (finished.path / arm).glob("selection-*.csv")}
        assert found == {f"selection-{number}.csv" for number in (0, *refreshes)}
    words = json.loads((finished.path / "category_vocabulary.json").read_text(encoding="utf-8"))
    assert list(words) == list(CLASSES)
    assert {label: len(own) for label, own in words.items()} == finished.metrics["words_per_class"]
    assert all(
        label in own and 0 < len(own) <= finished.settings.vocabulary_size
        for label, own in words.items()
    )
    assert len({word for own in words.values() for word in own}) == sum(map(len, words.values()))


def test_metrics_of_its_own(finished):
    metrics = finished.metrics
    assert 0 < metrics["pseudo_labels"]["noise"] < 0.5
    assert metrics["name_sources"] == dict.fromkeys(CLASSES, "corpus")
    assert 0 <= metrics["masked_accuracy"] <= 1
    assert set(metrics["seconds"]) == {"language_model", "rows"}
    for arm in metrics["arms"].values():
        first, second = arm["iterations"]
        assert [first["stage"], second["stage"]] == ["masked category prediction", "self-training"]
        selected = ("selected", "selected_noise")
        assert [arm[key] for key in selected] == [first[key] for key in selected]
        assert first["seconds"] >= first["seconds_selection"] >= 0
        assert second["updates"] == 7
        assert len(second["refreshes"]) == 3
    assert metrics["arms"]["standard"]["micro_f1"] > 0.6


def test_measurements_are_right(finished, dataset):
    gold = dict(zip(dataset.corpus.ids, dataset.gold.labels, strict=True))
    about = finished.metrics["pseudo_labels"]
    rows = read_rows(finished.path / "pseudo_labels.csv")
    assert about["coverage"] == len({row["id"] for row in rows}) / 90
    for arm in ARMS:
        first, _ = finished.metrics["arms"][arm]["iterations"]
        stage = "lops-category" if arm == "lops" else "standard-category"
        with np.load(finished.path / "work" / f"{stage}.npz") as stored:
            codes = stored["probabilities"].argmax(axis=1)
        assert first["micro_f1"] == pytest.approx(
            np.mean(
                [CLASSES[code] == label for code, label in zip(codes, gold.values(), strict=True)]
            )
        )
    second = finished.metrics["arms"]["lops-refresh"]["iterations"][1]
    tables = [
        read_rows(finished.path / "lops-refresh" / f"selection-{number}.csv")
        for number in (1, 2, 3)
    ]
    check_selection(second, [row for table in tables for row in table], gold)
    for refresh, table in zip(second["refreshes"], tables, strict=True):
        assert refresh["selected"] == sum(row["selected"] == "1" for row in table)
    assert [len(table) for table in tables] == [36, 24, 24]
    with np.load(finished.path / "work" / "lops-refresh-self-training.npz") as stored:
        assert [row["id"] for row in tables[1]] == [
            dataset.corpus.ids[i] for i in stored["1:documents"]
        ]
        assert [row["pseudo_label"] for row in tables[1]] == [
            CLASSES[code] for code in stored["1:codes"]
        ]


def check_selection(row, table, gold):
    kept = [item for item in table if item["selected"] == "1"]
    assert (row["pseudo_labels"], row["selected"]) == (len(table), len(kept))
    for key, items in (("noise", table), ("selected_noise", kept)):
        assert row[key] == pytest.approx(
            np.mean([gold[item["id"]] != item["pseudo_label"] for item in items])
        )


def test_rare_names_are_refused_before_the_language_model(monkeypatch, dataset, go, tmp_path):
    monkeypatch.setattr(
        pipeline, "prepare_language_model", lambda *_, **__: pytest.fail("long work")
    )
    with pytest.raises(LopsError, match="hold a name of 3 of 3 classes, wanted at least 80 each"):
        go(dataset, tmp_path / "run", min_named=80)


def test_faithful(monkeypatch, dataset, go, tmp_path):
    """Special tokens can be indicative, the loss is over places, and rounds are whole."""
    asked = []
    positions = row_making.indicative_positions

    def noted(*args, special, **kwargs):
        asked.append(special)
        return positions(*args, special=special, **kwargs)

    monkeypatch.setattr(row_making, "indicative_positions", noted)
    fit, by_token = LotclassProbe.fit, []
    monkeypatch.setattr(
        LotclassProbe,
        "fit",
        lambda probe, *args, **kwargs: (
            by_token.append(probe.by_token) or fit(probe, *args, **kwargs)
        ),
    )
    done = go(dataset, tmp_path / "run", arms=["standard"], faithful=True)
    assert asked == by_token == [True]
    assert done.metrics["arms"]["standard"]["iterations"][1]["updates"] == 6


def test_seed_words_as_names(dataset, go, tmp_path):
    done = go(
        dataset, tmp_path / "run", arms=["standard"], supervision="keywords", self_train_epochs=0.0
    )
    words = json.loads((done.path / "category_vocabulary.json").read_text(encoding="utf-8"))
    assert all(set(own) & set(dataset.corpus.seeds[label]) for label, own in words.items())
    second = done.metrics["arms"]["standard"]["iterations"][1]
    assert (second["updates"], second["pseudo_labels"], second["refreshes"]) == (0, 0, [])
    assert second["noise"] is second["selected_noise"] is None


# The untrained network predicts one class.
@pytest.mark.filterwarnings("ignore:.*nothing is selected")
@pytest.mark.filterwarnings("ignore:the selection keeps 48 of 90 samples")
def test_a_checkpoint_with_a_head_and_bytes(dataset, go, masked_roberta, tmp_path):
    """The whole way with a byte-level vocabulary; a random model finds nothing, so thresholds are
    low.
    """
    few = replace(dataset.corpus, ids=dataset.corpus.ids[:30], texts=dataset.corpus.texts[:30])
    done = go(
        Dataset(few),
        tmp_path / "run",
        arms=["lops"],
        encoder=masked_roberta,
        match_threshold=0,
        top=200,
        vocabulary_size=200,
        min_rows=1,
        epochs=1,
    )
    assert done.metrics["masked_accuracy"] is None
    words = json.loads((done.path / "category_vocabulary.json").read_text(encoding="utf-8"))
    assert all(
        word.isalpha() and not word.startswith("\u0120") for own in words.values() for word in own
    )
    assert list(done.metrics["arms"]) == ["lops"]


def test_seeds(monkeypatch, dataset, go, finished, tmp_path):
    """The seed reaches network, probe and order; the language model and the rows are the same for
    all.
    """
    fit, seeds = LotclassProbe.fit, []

    def noted(probe, *given, seed, **more):
        seeds.append(seed)
        return fit(probe, *given, seed=seed, **more)

    monkeypatch.setattr(LotclassProbe, "fit", noted)
    done = go(dataset, tmp_path / "run", arms=["lops"], seed=5)
    for name in ("pseudo_labels.csv", "category_vocabulary.json"):
        assert (done.path / name).read_bytes() == (finished.path / name).read_bytes()
    assert done.metrics["masked_accuracy"] == finished.metrics["masked_accuracy"]
    for name in ("lops/predictions.csv", "lops/selection-0.csv"):
        assert (done.path / name).read_bytes() != (finished.path / name).read_bytes()
    assert seeds == [5]


def made_from(prepared):
    """The supervision and threshold that made the rows, and the words of the classes."""
    about = prepared.about
    return about["supervision"], about["match_thresholds"], prepared.tables


@pytest.mark.parametrize("most", [{"min_named": 5}, {"min_named": 1, "min_rows": 30}])
def test_seed_words_where_names_are_rare(dataset, ready, tmp_path, most):
    """Names that one document holds, for each class another one."""
    corpus = dataset.corpus
    texts = [*corpus.texts, *(f"zyzzyva{i} is here" for i in range(3))]
    rare = replace(
        corpus,
        texts=tuple(texts),
        ids=tuple(map(str, range(len(texts)))),
        names={label: (f"zyzzyva{i}",) for i, label in enumerate(corpus.classes)},
    )
    with pytest.warns(LopsWarning, match=r"using seed words instead of class names \(--superv"):
        found = made_from(ready(Dataset(rare), tmp_path / "auto", **most))
    same = ready(Dataset(rare), tmp_path / "keywords", supervision="keywords", **most)
    assert found == made_from(same)
    assert found[0] == "keywords"
    with pytest.raises(LopsError, match="too few documents"):
        ready(Dataset(rare), tmp_path / "names", supervision="names", **most)


def test_lower_thresholds_where_seed_words_are_not_enough(dataset, ready, tmp_path):
    """Only classes with too few rows get one, and then have enough."""
    said = r"--match-threshold \d for \w+(, \d for \w+)* instead of 5"
    with pytest.warns(LopsWarning, match=said):
        found = ready(dataset, tmp_path / "auto", match_threshold=5)
    supervision, thresholds, _ = made_from(found)
    assert supervision == "keywords"
    rows = np.bincount(found.samples.codes, minlength=3)
    assert min(rows) >= SMALL["min_rows"]
    assert min(thresholds.values()) < max(thresholds.values()) == 5
    with pytest.raises(LopsError, match="Give --supervision auto"):
        ready(dataset, tmp_path / "asked", match_threshold=5, supervision="keywords")
