"""The estimator probe: what is its own. The conformance suite covers a classifier with partial_fit;
here are those that are fitted once, pipelines, vectors, and what is refused.
"""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from lops_adapters.core import LopsError
from lops_adapters.probes.estimator import EstimatorProbe, as_probe
from lops_adapters.selection import build
from lops_adapters.selection.committee.folds import Folded, predict_held_out

from .toys import topic_texts

K = 3
TEXTS, CODES = topic_texts(60, seed=3)
OTHERS, GOLD = topic_texts(60, seed=4)
VECTORS = np.eye(K)[CODES] + np.random.default_rng(0).normal(scale=0.1, size=(60, K))


def of_texts(classifier):
    return make_pipeline(CountVectorizer(), SelectKBest(f_classif, k=12), classifier)


FITTED_ONCE = {
    "predict_proba": LogisticRegression(),
    "decision_function": LinearSVC(),
    "pipeline": make_pipeline(TfidfVectorizer(), LogisticRegression()),
    "search": GridSearchCV(
        make_pipeline(TfidfVectorizer(), LogisticRegression()), {"logisticregression__C": [1, 10]}
    ),
}


@pytest.mark.parametrize("name", FITTED_ONCE)
def test_a_classifier_that_is_fitted_once(name, tmp_path):
    probe = EstimatorProbe(FITTED_ONCE[name])
    (snapshot,) = probe.watch(TEXTS, CODES, K)
    assert (snapshot.time, probe.max_epochs) == (1.0, 1)
    assert snapshot.probabilities.dtype == np.float32
    np.testing.assert_allclose(snapshot.probabilities.sum(axis=1), 1, atol=1e-5)
    predicted = probe.predict_proba(OTHERS)
    assert (predicted.argmax(axis=1) == GOLD).mean() > 0.8
    assert probe.predict_proba([]).shape == (0, K)
    np.testing.assert_array_equal(
        probe.predict_prepared(probe.prepare(OTHERS), np.array([5, 0])), predicted[[5, 0]]
    )
    probe.save(tmp_path)
    np.testing.assert_array_equal(EstimatorProbe.load(tmp_path).predict_proba(OTHERS), predicted)
    assert not hasattr(FITTED_ONCE[name], "classes_")  # a clone was trained


def test_two_classes_by_one_decision():
    texts, codes = TEXTS[:20], CODES[:20] % 2
    probe = EstimatorProbe(LinearSVC()).fit(texts, codes, 2)
    found = probe.predict_proba(texts)
    score = probe._model.decision_function(probe.prepare(texts))
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-score)), rtol=1e-5)


@pytest.mark.parametrize("classifier", [LogisticRegression(), SGDClassifier(loss="log_loss")])
def test_classes_without_samples_have_no_probability(classifier):
    codes = np.where(CODES == 1, 3, CODES)
    found = EstimatorProbe(classifier).fit(TEXTS, codes, 4).predict_proba(TEXTS)
    assert found.shape == (60, 4)
    assert set(found.argmax(axis=1)) == {0, 2, 3}
    alone = EstimatorProbe(classifier).fit(TEXTS, np.full(60, 2), 4).predict_proba(TEXTS)
    assert (alone.argmax(axis=1) == 2).all()


def test_a_pipeline_whose_last_step_learns_in_batches_has_checkpoints():
    """The steps before are fitted once, with the labels that they may need."""
    given = of_texts(MultinomialNB())
    probe = EstimatorProbe(given, epochs=2, batch_size=30)
    snapshots = list(probe.watch(TEXTS, CODES, K, every=1))
    assert [snapshot.time for snapshot in snapshots] == [0.5, 1.0, 1.5, 2.0]
    assert (probe.predict_proba(OTHERS).argmax(axis=1) == GOLD).mean() > 0.8
    whole = of_texts(MultinomialNB()).fit(TEXTS, CODES).predict_proba(OTHERS)
    once = EstimatorProbe(given, epochs=1, batch_size=60).fit(TEXTS, CODES, K)
    np.testing.assert_allclose(once.predict_proba(OTHERS), whole, atol=1e-5)
    tokens = [text.split() for text in OTHERS]
    np.testing.assert_array_equal(once.predict_proba(tokens), once.predict_proba(OTHERS))


def test_a_training_forgets_the_rows_of_the_one_before():
    """Prepared samples are transformed once per training, and anew in the next."""
    probe = EstimatorProbe(of_texts(MultinomialNB()), epochs=1)
    asked = probe.prepare(OTHERS)
    for texts, codes in ((TEXTS, CODES), (OTHERS, GOLD)):
        list(probe.updates(probe.prepare(texts, fit=True), codes, K, 0))
        fresh = probe.predict_proba(list(OTHERS))
        np.testing.assert_array_equal(probe.predict_prepared(asked), fresh)


@pytest.mark.parametrize(
    "classifier", [LogisticRegression(), SGDClassifier(), make_pipeline(StandardScaler(), SVC())]
)
def test_vectors(classifier):
    probe = EstimatorProbe(classifier).fit(VECTORS, CODES, K)
    assert (probe.predict_proba(np.eye(K)).argmax(axis=1) == np.arange(K)).all()
    assert (probe.predict_proba(list(VECTORS)).argmax(axis=1) == CODES).all()


def test_who_reads_texts():
    union = FeatureUnion([("words", CountVectorizer()), ("more", TfidfVectorizer())])
    for estimator, reads in (
        (LogisticRegression(), False),
        (make_pipeline(StandardScaler(), SVC()), False),
        (make_pipeline(union, SVC()), True),
        (VotingClassifier([("a", of_texts(LogisticRegression()))], voting="soft"), True),
        (FITTED_ONCE["search"], True),
    ):
        assert EstimatorProbe(estimator)._reads_texts is reads
    assert EstimatorProbe(SVC(), texts=True)._reads_texts


@pytest.mark.parametrize(
    "classifier",
    [
        SGDClassifier(loss="log_loss", random_state=7),
        make_pipeline(TfidfVectorizer(), MLPClassifier((4,), random_state=7)),
    ],
)
def test_the_seed_of_the_probe_replaces_random_state(classifier):
    first, again, other = (
        EstimatorProbe(classifier, batch_size=60)
        .fit(TEXTS, CODES, K, seed=seed)
        .predict_proba(TEXTS)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


class Odd(LogisticRegression):
    """A classifier of another library, without scikit-learn's tags."""

    def __sklearn_tags__(self):
        raise AttributeError("no tags")


def test_a_classifier_without_tags():
    assert EstimatorProbe(Odd()).name == "Odd"
    assert as_probe(Odd()).kind == "estimator"


def test_what_is_no_estimator_stays():
    probe = EstimatorProbe(LogisticRegression())
    for given in ("linear", None, probe, 3):
        assert as_probe(given) is given


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            LogisticRegression,
            r"the class LogisticRegression; wanted an object: LogisticRegression\(",
        ),
        (LinearRegression(), r"LinearRegression\(\); wanted a scikit-learn classifier"),
        (KMeans(), "wanted a scikit-learn classifier"),
        (
            VotingClassifier([("a", LogisticRegression())]),
            "neither predict_proba nor decision_function",
        ),
    ],
)
def test_what_is_no_classifier_is_refused(estimator, message):
    with pytest.raises(LopsError, match=message):
        as_probe(estimator)


def test_samples_that_the_classifier_cannot_read():
    with pytest.raises(LopsError, match=r"GaussianNB cannot be trained on these .*dense"):
        EstimatorProbe(GaussianNB()).fit(TEXTS, CODES, K)
    with pytest.raises(LopsError, match=r"MultinomialNB cannot be trained .*[Nn]egative"):
        EstimatorProbe(MultinomialNB()).fit(VECTORS - 2, CODES, K)
    with pytest.raises(LopsError, match="wanted texts, or SVC alone"):
        EstimatorProbe(of_texts(SVC())).fit(VECTORS, CODES, K)


def test_decisions_between_pairs_of_classes_are_refused():
    texts, _ = topic_texts(40, seed=0)
    probe = EstimatorProbe(SVC(decision_function_shape="ovo"))
    probe.fit(texts, np.arange(40) % 4, 4)
    with pytest.raises(LopsError, match=r"6 numbers per sample for 4 .*shape='ovr'"):
        probe.predict_proba(texts)


def test_automatic_looks_once_at_a_classifier_that_is_fitted_once():
    probe = EstimatorProbe(LogisticRegression())
    stopped = build("automatic", probe)(TEXTS, CODES).stopped
    assert re.fullmatch(
        r"3-fold cross-validation; labels preferred by the probe 9\d\.\d %", stopped
    )
    assert list(predict_held_out(probe, Folded(TEXTS, CODES, range(K), 3))) == [1.0]
