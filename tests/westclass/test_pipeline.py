"""What the network is trained on, and what a run folder holds."""

import json

import numpy as np
import pytest

from lops_adapters.datasets import Corpus
from lops_adapters.encoders.word_vectors import WordVectors
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.runs import job as job_room
from lops_adapters.runs.job import Job
from lops_adapters.selection import keep_all
from lops_adapters.westclass import pipeline
from lops_adapters.westclass.pipeline import find_labelled, find_seeds, prepare
from lops_adapters.westclass.pseudo_documents import generate, shapes
from lops_adapters.westclass.tokens import PAD, tokenize, word_counts

from ..framework_tools import Recorder, job_for, kept_by, read_rows
from .toys import CLASSES, SEEDS, settings

NETWORKS = {"cnn": KerasProbe, "han": HanProbe}
# Document i is of class i modulo 3; the first of these labels is wrong on purpose.
LABELLED = (
    ("d3", "law"), ("d6", "fine_arts"), ("d9", "fine_arts"), ("d4", "law"), ("d10", "law"),
    ("d5", "sport"), ("d11", "sport"),
)  # fmt: skip


@pytest.mark.parametrize(("network", "copies"), [("cnn", 10), ("han", 1)])
@pytest.mark.parametrize("labelled", [(), LABELLED])
def test_the_network_is_trained_on_what_is_kept_and_on_labelled_documents(
    monkeypatch, dataset, go, tmp_path, network, copies, labelled
):
    recorder = Recorder(monkeypatch, NETWORKS[network])
    kind = "documents" if labelled else "keywords"
    settings = {"network": network, "supervision": kind, "labelled": labelled}
    done = go(dataset, tmp_path / "run", ["lops"], pretrain_epochs=1, **settings)
    ((asked, labels),), ((trained, codes, n_classes),) = recorder.asked, recorder.trained
    prepared = prepare(dataset.corpus, done.job)
    assert asked == prepared.pseudo_documents
    assert labels == [label for label in CLASSES for _ in range(12)]
    given = {dataset.corpus.ids.index(name): label for name, label in labelled}
    assert n_classes == 3
    expected = [(sample, label) for sample, label in zip(asked[::2], labels[::2], strict=True)]
    expected += [
        (prepared.documents[place], given[place]) for place in sorted(given) for _ in range(copies)
    ]
    assert [
        (sample, CLASSES[code]) for sample, code in zip(trained, codes, strict=True)
    ] == expected
    assert not [place for place in given if prepared.documents[place] in asked]
    row = done.metrics["arms"]["lops"]["iterations"][0]
    assert (row["pseudo_labels"], row["selected"], row["rule"]) == (36, 18, "every-second")


def test_names_and_scores_of_pseudo_documents(finished):
    rows = read_rows(finished.path / "pseudo_labels.csv")
    assert [row["id"] for row in rows] == [
        f"{label}-{i}" for label in CLASSES for i in range(1, 13)
    ]
    assert {row["score"] for row in rows} == {f"{0.8 + 0.2 / 3:g}"}
    texts = read_rows(finished.path / "pseudo_documents.csv")
    labels = [(row["id"], row["pseudo_label"]) for row in rows]
    assert [(row["id"], row["pseudo_label"]) for row in texts] == labels
    assert all(row["text"] for row in texts)


def test_given_labels_stay_the_target_and_are_not_measured(monkeypatch, dataset, go, tmp_path):
    held, usual = [], pipeline.self_train
    monkeypatch.setattr(
        pipeline, "self_train", lambda *args, **more: held.append(args[4]) or usual(*args, **more)
    )
    documents = {"supervision": "documents", "labelled": LABELLED}
    sizes = {"pretrain_epochs": 1, "max_iterations": 1}
    done = go(dataset, tmp_path / "run", ["standard"], **documents, **sizes)
    ids, labelled = dataset.corpus.ids, dict(LABELLED)
    given = {ids[i]: CLASSES[code] for i, code in zip(*held[0], strict=True)}
    assert given == labelled
    measured = [i for i in range(72) if ids[i] not in labelled]
    predicted = read_rows(done.path / "standard" / "predictions.csv")
    assert len(predicted) == 72
    right = sum(predicted[i]["predicted"] == dataset.gold.labels[i] for i in measured)
    arm = done.metrics["arms"]["standard"]
    assert arm["micro_f1"] == pytest.approx(right / 65)
    assert done.metrics["labelled_documents"] == 7
    assert arm["iterations"][1]["pseudo_labels"] == arm["iterations"][1]["selected"] == 65


def test_names_of_the_data_are_the_seeds(dataset):
    corpus, chosen = dataset.corpus, settings(supervision="names")
    named = Corpus(
        corpus.name, corpus.ids, corpus.texts, corpus.classes, names={"sport": ["match", "goal"]}
    )
    known = {"fine", "arts", "law", "sport", "match", "goal"}
    found = find_seeds(named, [], find_labelled(named, chosen), chosen, known)
    assert found["sport"] == [("match",), ("goal",)]
    assert found["law"] == [("law",)]


def test_keywords_are_the_seeds_of_the_corpus(dataset, finished):
    corpus, chosen = dataset.corpus, finished.settings
    known = {word for words in SEEDS.values() for word in words} | {"fine", "arts", "people"}
    found = find_seeds(corpus, [], find_labelled(corpus, chosen), chosen, known)
    assert found == {
        "fine_arts": [("gallery",), ("fine", "arts")],
        "law": [("judge",), ("verdict",), ("trial",)],
        "sport": [("match",)],
    }
    topics = json.loads((finished.path / "topics.json").read_text(encoding="utf-8"))
    assert all(topics[label][0] in words for label, words in SEEDS.items())
    assert [len(words) for words in topics.values()] == finished.metrics["topic_size"]


def test_words_of_labelled_documents_are_the_seeds(dataset):
    corpus = dataset.corpus
    documents = tokenize(corpus.texts)
    chosen = settings(supervision="documents", labelled=LABELLED)
    labelled = find_labelled(corpus, chosen)
    assert labelled.positions.tolist() == [3, 4, 5, 6, 9, 10, 11]
    assert [CLASSES[code] for code in labelled.codes] == [
        "law", "law", "sport", "fine_arts", "fine_arts", "law", "sport",
    ]  # fmt: skip
    found = find_seeds(corpus, documents, labelled, chosen, set(word_counts(documents)))
    for label, words in found.items():
        own = [
            documents[place]
            for place, code in zip(labelled.positions, labelled.codes, strict=True)
            if CLASSES[code] == label
        ]
        assert words
        assert {word for (word,) in words} <= set(word_counts(own))


@pytest.mark.filterwarnings(
    "ignore::lops_adapters.core.LopsWarning"
)  # a random encoder learns little
@pytest.mark.parametrize(("probe", "network"), [("linear", "han"), ("transformer", "cnn")])
def test_other_probes(monkeypatch, dataset, go, bert, tmp_path, probe, network):
    monkeypatch.setattr(
        NETWORKS[network], "watch", lambda *_, **__: pytest.fail("another probe was asked for")
    )
    settings = {"probe": probe, "network": network, "every": "epoch", "method": "released"}
    settings |= {"encoder": bert, "pretrain_epochs": 1, "max_iterations": 1}
    done = go(dataset, tmp_path / "run", ["lops"], **settings)
    row = done.metrics["arms"]["lops"]["iterations"][0]
    assert row["rule"] == "released"
    assert 0 < row["selected"] <= row["pseudo_labels"] == 36
    learnt = [row["learnt_at"] for row in read_rows(done.path / "lops" / "selection-0.csv")]
    assert {float(time) % 1 for time in learnt if time} == {0}


def test_the_shapes_of_pseudo_documents():
    documents = tokenize(["A b. C d e f! G.", "A.", "Unknown words, only"])
    vectors = WordVectors(tuple("abcdefg.!"), np.ones((9, 2), dtype=np.float32))
    sizes = {"max_words": 3, "max_sentences": 2}
    assert shapes(documents, vectors, settings(**sizes)) == [[3], [2], [0]]
    assert shapes(documents, vectors, settings(**{**sizes, "max_words": 30})) == [[10], [2], [0]]
    assert shapes(documents, vectors, settings(network="han", **sizes)) == [[2, 3], [1], []]
    faithful = {"faithful": True, "max_sentences": 30}
    everything = WordVectors(
        (*vectors.words, "unknown", "words", ",", "only"), np.ones((13, 2), dtype=np.float32)
    )
    assert shapes(documents, everything, settings(max_words=30, **faithful)) == [
        [5]
    ]  # (10 + 2 + 4) / 3, rounded down
    assert shapes(documents, everything, settings(max_words=3, **faithful)) == [[3]]
    # 3 + 5 + 2 + 2 + 4 tokens in five sentences of three documents
    assert shapes(documents, everything, settings(network="han", max_words=30, **faithful)) == [[3]]
    assert shapes(documents[:1], everything, settings(network="han", max_words=30, **faithful)) == [
        [3, 3, 3]
    ]
    assert shapes(documents[:1], everything, settings(network="han", faithful=True, **sizes)) == [
        [3, 3]
    ]


@pytest.mark.parametrize("faithful", [False, True])
def test_words_at_large_come_as_often_as_in_the_corpus(monkeypatch, dataset, tmp_path, faithful):
    given = []
    monkeypatch.setattr(
        pipeline,
        "generate",
        lambda *args, **_: given.extend(args) or generate(*args, per_class=1, seed=0),
    )
    chosen = settings(faithful=faithful, max_words=40)
    prepared = prepare(dataset.corpus, job_for("westclass", chosen, tmp_path / "run", dataset))
    _, vectors, background, lengths = given
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    counts = word_counts(
        tokenize(dataset.corpus.texts, faithful=faithful)
    )  # whole documents, without padding
    expected = np.array([counts[word] for word in prepared.vectors.words])
    np.testing.assert_allclose(background, expected / expected.sum())
    assert (PAD in prepared.vectors.words) == faithful
    if faithful:
        assert lengths == [[int(counts.total() / 72)]]


def bytes_of(path):
    """The contents of a run's tables and models, by name."""
    files = [file for file in path.rglob("*") if file.is_file() and file.suffix != ".npz"]
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(files)
        if file.name not in ("config.json", "metrics.json")
    }


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:nothing was learnt:lops_adapters.core.LopsWarning"
)  # in so few updates
@pytest.mark.parametrize("network", NETWORKS)
def test_faithful(dataset, go, tmp_path, network):
    more = {
        "faithful": True,
        "vector_words": 1,
        "network": network,
        "min_count": 11,
        "pretrain_epochs": 4,
        "max_iterations": 4,
    }
    runs = [go(dataset, tmp_path / f"run{number}", ["lops"], **more) for number in range(2)]
    assert bytes_of(runs[0].path) == bytes_of(runs[1].path)
    assert len(bytes_of(runs[0].path)) == 11
    prepared = prepare(dataset.corpus, runs[0].job)
    counts = word_counts(tokenize(dataset.corpus.texts, faithful=True))
    assert set(prepared.vectors.words) == set(counts) | ({PAD} if network == "cnn" else set())
    lengths = np.linalg.norm(prepared.vectors.vectors, axis=1)
    seen = word_counts(prepared.documents)  # Word2Vec sees cut documents
    rare = np.array([seen[word] < 11 for word in prepared.vectors.words])
    assert rare.any()
    assert (np.abs(lengths[rare] - 1) > 1e-3).all()
    np.testing.assert_allclose(lengths[~rare], 1, atol=1e-5)
    shapes_found = {tuple(map(len, document)) for document in prepared.pseudo_documents}
    assert len(shapes_found) == 1  # one length for all
    if network == "cnn":
        assert shapes_found == {(20,)}
        assert all(len(document) == 1 and len(document[0]) == 20 for document in prepared.documents)
        assert any(document[0][-1] == PAD for document in prepared.documents)
        words = read_rows(runs[0].path / "pseudo_documents.csv")
        assert words
        assert not [row for row in words if PAD in row["text"]]


@pytest.mark.filterwarnings("ignore:nothing was learnt:lops_adapters.core.LopsWarning")
def test_everything_random_gets_the_seed(monkeypatch, dataset, go, tmp_path):
    seen = {}

    def recorded(name, function):
        def call(*args, **options):
            seen[name] = options["seed"]
            return function(*args, **options)

        return call

    for name in ("train_word_vectors", "generate", "self_train"):
        monkeypatch.setattr(pipeline, name, recorded(name, getattr(pipeline, name)))
    monkeypatch.setattr(job_room, "build", recorded("build", job_room.build))
    monkeypatch.setattr(KerasProbe, "fit", recorded("fit", KerasProbe.fit))
    go(dataset, tmp_path / "run", ["lops"], seed=3, pretrain_epochs=1, max_iterations=1)
    assert set(seen) == {"train_word_vectors", "generate", "build", "fit", "self_train"}
    assert seen.pop("build") == 3 + 2**31  # the probe's
    assert set(seen.values()) == {3}


@pytest.mark.parametrize(("faithful", "updates"), [(False, 18), (True, 9)])
def test_all_arms_make_the_same_updates_unless_faithful(
    monkeypatch, dataset, go, tmp_path, faithful, updates
):
    """36 pseudo documents in batches of 6, three times; 18 kept ones are passed six times."""
    sizes, asked, usual = [], [], KerasProbe.updates

    def training(network, *arguments):
        sizes.append([])
        for update in usual(network, *arguments):
            sizes[-1].append(update.samples)
            yield update

    def selector(_, arm, *__, **___):
        def select(samples, labels):
            asked.append((list(samples), list(labels)))
            if arm == "standard":
                return keep_all(samples, labels)
            return kept_by(np.arange(len(samples)) % 2 == 0, samples, labels)

        return select

    monkeypatch.setattr(Job, "selector", selector)
    monkeypatch.setattr(KerasProbe, "updates", training)
    done = go(dataset, tmp_path / "run", faithful=faithful, pretrain_epochs=3, max_iterations=1)
    assert asked[0] == asked[1]  # both arms start from the same pseudo documents
    assert [len(batches) for batches in sizes] == [18, updates]
    assert [sum(batches) for batches in sizes] == [108, 6 * updates]
    rows = [arm["iterations"][0] for arm in done.metrics["arms"].values()]
    assert [(row["updates"], row["selected"]) for row in rows] == [(18, 36), (updates, 18)]
