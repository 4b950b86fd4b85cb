import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from lops_adapters.core import RULES, LopsError
from lops_adapters.integrations.sklearn import LopsSelector
from lops_adapters.probes.estimator import EstimatorProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build

from ..probes.toys import topic_texts

pandas = pytest.importorskip("pandas", reason="columns and tables are pandas'")

TEXTS, CODES = topic_texts(90, seed=0)
NOISY = CODES.copy()
NOISY[::7] = (CODES[::7] + 1) % 3
NAMES = np.array(["sun", "ice", "fog"])[NOISY]
CENTRES = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, -4.0]])
POINTS = CENTRES[CODES] + np.random.default_rng(0).normal(size=(90, 2))
# Random labels teach some classifiers nothing, and the checks of other projects know nothing of our
# warning.
quiet = pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")


@quiet
@parametrize_with_checks(
    [
        LopsSelector(random_state=0),
        LopsSelector(MLPClassifier((4,)), method="ranked", epochs=1, random_state=0),
    ]
)
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


FAILURES = {
    "check_samplers_fit": "wants sampling_strategy_, an attribute of samplers that balance classes",
    "check_samplers_string": "its texts are single letters, no words to the linear probe",
}


@pytest.mark.filterwarnings("ignore")
def test_is_an_imbalanced_learn_sampler():
    """Every check of imbalanced-learn's suite for samplers passes but those named above, which fail
    for the reasons given.
    """
    checks = pytest.importorskip(
        "imblearn.utils.estimator_checks", reason="imbalanced-learn is not installed"
    )
    failed, passed = {}, 0
    selector = LopsSelector(MLPClassifier((4,)), epochs=1, random_state=0)
    for estimator, check in checks.estimator_checks_generator(selector):
        try:
            check(estimator)
        except Exception as error:
            failed[check.func.__name__] = repr(error)
        else:
            passed += 1
    assert set(failed) == set(FAILURES), failed
    assert passed >= 10


def test_the_tags_say_what_a_probe_reads():
    assert LopsSelector().__sklearn_tags__().input_tags.sparse
    assert LopsSelector(SGDClassifier()).__sklearn_tags__().input_tags.sparse
    for probe in ("linear", LinearProbe(), make_pipeline(TfidfVectorizer(), SGDClassifier())):
        assert not LopsSelector(probe).__sklearn_tags__().input_tags.sparse


def test_a_polars_table_of_one_column():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    kept, _ = LopsSelector(random_state=0).fit_resample(polars.DataFrame({"t": TEXTS}), NAMES)
    wanted, _ = LopsSelector(random_state=0).fit_resample(TEXTS, NAMES)
    assert kept["t"].to_list() == wanted


def column(texts):
    return np.array(texts, dtype=object)[:, None]


def one_column(texts):
    return pandas.DataFrame({"t": texts})


@pytest.mark.parametrize("kind", [list, np.array, pandas.Series, column, one_column])
def test_texts_of_any_container_come_back_in_it(kind):
    labels = NAMES.tolist() if kind is list else NAMES
    X = kind(TEXTS)
    selector = LopsSelector(method="ranked", random_state=0)
    kept, kept_labels = selector.fit_resample(X, labels)
    wanted = build("ranked", LinearProbe(), seed=0)(TEXTS, NAMES).kept
    assert selector.sample_indices_.tolist() == wanted.tolist()
    assert type(kept) is type(X)
    if kind in (pandas.Series, one_column):
        assert kept.index.tolist() == wanted.tolist()
    assert type(kept_labels) is type(labels)
    assert np.asarray(kept).ravel().tolist() == [TEXTS[i] for i in wanted]
    assert list(kept_labels) == NAMES[wanted].tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "probe",
    [None, GaussianNB(), Perceptron(), MLPClassifier((8,), learning_rate_init=0.03)],
    ids=str,
)
@quiet
def test_any_classifier_with_partial_fit_drops_wrong_labels(probe, rule):
    selector = LopsSelector(probe, method=rule, keep=0.5, random_state=0)
    kept, labels = selector.fit_resample(POINTS, NAMES)
    positions = selector.sample_indices_
    np.testing.assert_array_equal(kept, POINTS[positions])
    assert labels.tolist() == NAMES[positions].tolist()
    wrong = NOISY != CODES
    assert wrong[positions].mean() < wrong.mean()
    assert selector.selection_.rule == rule


@pytest.mark.parametrize(
    "probe", [MultinomialNB(), make_pipeline(TfidfVectorizer(), SGDClassifier(loss="log_loss"))]
)
def test_a_classifier_for_texts(probe):
    selector = LopsSelector(probe, method="ranked", epochs=2, random_state=0)
    kept, _ = selector.fit_resample(TEXTS, NAMES)
    assert kept == [TEXTS[i] for i in selector.sample_indices_]
    wrong = NOISY != CODES
    assert wrong[selector.sample_indices_].mean() < wrong.mean()
    expected = build("ranked", EstimatorProbe(probe, epochs=2), seed=0)(TEXTS, NAMES)
    np.testing.assert_array_equal(selector.sample_indices_, expected.kept)


def test_sparse_rows_select_as_dense_ones():
    vectors = TfidfVectorizer().fit_transform(TEXTS)
    probe = MultinomialNB()
    kept, _ = LopsSelector(probe, keep=0.9, random_state=0).fit_resample(vectors, NAMES)
    dense, _ = LopsSelector(probe, keep=0.9, random_state=0).fit_resample(vectors.toarray(), NAMES)
    assert sparse.issparse(kept)
    np.testing.assert_array_equal(kept.toarray(), dense)
    again, _ = LopsSelector(probe, keep=0.9, random_state=0).fit_resample(vectors.tocoo(), NAMES)
    np.testing.assert_array_equal(again.toarray(), dense)


@pytest.mark.parametrize("X", [TEXTS, POINTS], ids=["texts", "points"])
def test_the_seed_decides(X):
    picks = [
        LopsSelector(method="ranked", keep=0.3, random_state=seed)
        .fit(X, NAMES)
        .sample_indices_.tolist()
        for seed in (1, 1, 2)
    ]
    assert picks[0] == picks[1] != picks[2]
    state = np.random.get_state()[1].tolist()
    LopsSelector(random_state=0).fit(X, NAMES)
    assert np.random.get_state()[1].tolist() == state


def test_the_given_probe_is_not_trained():
    probe, classifier = LinearProbe(epochs=2), GaussianNB()
    LopsSelector(probe).fit(TEXTS, NAMES)
    LopsSelector(classifier).fit(POINTS, NAMES)
    with pytest.raises(LopsError, match="untrained"):
        probe.predict_proba(TEXTS[:1])
    assert not hasattr(classifier, "classes_")


def test_one_hot_rows_come_back():
    one_hot = np.eye(3, dtype=int)[NOISY]
    kept, rows = LopsSelector(random_state=0).fit_resample(POINTS, one_hot)
    other, labels = LopsSelector(random_state=0).fit_resample(POINTS, NOISY)
    np.testing.assert_array_equal(kept, other)
    np.testing.assert_array_equal(rows.argmax(axis=1), labels)


def test_a_step_of_a_pipeline():
    pipeline = pytest.importorskip("imblearn.pipeline", reason="imbalanced-learn is not installed")
    steps = [
        ("select", LopsSelector(random_state=0)),
        ("vectors", TfidfVectorizer()),
        ("classifier", LogisticRegression()),
    ]
    whole = pipeline.Pipeline(steps).fit(TEXTS, NAMES)
    kept, labels = LopsSelector(random_state=0).fit_resample(TEXTS, NAMES)
    by_hand = TfidfVectorizer().fit(kept)
    np.testing.assert_array_equal(whole.named_steps["vectors"].vocabulary_, by_hand.vocabulary_)
    classifier = LogisticRegression().fit(by_hand.transform(kept), labels)
    assert (
        whole.predict(TEXTS).tolist() == classifier.predict(by_hand.transform(TEXTS)).tolist()
    )  # all of them, dropped ones too
    search = GridSearchCV(
        pipeline.Pipeline(steps), {"select__keep": [0.5, 0.9], "select__method": ["ranked"]}, cv=2
    ).fit(TEXTS, NAMES)
    assert len(search.cv_results_["params"]) == 2


def test_works_without_imbalanced_learn():
    code = (
        "import sys; sys.modules['imblearn'] = None\n"
        "from lops_adapters.integrations.sklearn import LopsSelector\n"
        "texts, labels = ['late goal', 'low rates'] * 9, ['a', 'b'] * 9\n"
        "print(len(LopsSelector(random_state=0).fit_resample(texts, labels)[0]))\n"
        "print(sorted({'torch', 'keras', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["18", "[]"]


@pytest.mark.parametrize(
    ("settings", "X", "y", "message"),
    [
        ({"probe": 3}, TEXTS, NAMES, "probe is 3; wanted the name of a probe"),
        (
            {"probe": LogisticRegression()},
            POINTS,
            NAMES,
            "wanted a scikit-learn classifier with partial_fit",
        ),
        ({"probe": "linear"}, POINTS, NAMES, "X holds numbers and probe is 'linear'"),
        ({"probe": "best"}, TEXTS, NAMES, "probe is 'best'"),
        ({"epochs": 0}, POINTS, NAMES, "epochs is 0"),
        ({"batch_size": 1.5}, POINTS, NAMES, "batch_size is 1.5"),
        ({"keep": 0}, POINTS, NAMES, "keep is 0"),
        ({}, TEXTS, ["a"] * 90, "found 1 class among 90"),
        ({}, [*TEXTS[:-1], None], NAMES, "None at position 89; wanted a string"),
        ({}, POINTS, np.ones((90, 2), dtype=int), "not supported"),
        ({}, TEXTS, None, "requires y"),
    ],
)
def test_bad_input_is_refused(settings, X, y, message):
    with pytest.raises(LopsError, match=message):
        LopsSelector(**settings).fit(X, y)


def test_lengths_have_to_agree():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LopsSelector().fit_resample(TEXTS, NAMES[:5])
