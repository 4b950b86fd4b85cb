import io

import numpy as np
import pytest

from lops_adapters.core import RULES, LearningOrder, LopsError
from lops_adapters.integrations.recorder import Record


def training(seed=0, n=60, k=3, checkpoints=4):
    """Pseudo-labels, and the probabilities of a classifier that grows surer of most of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    scores = rng.normal(size=(checkpoints, n, k))
    scores[:, np.arange(n), codes] += np.linspace(0, 2, checkpoints)[:, None]
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    return np.array(["sun", "ice", "fog"])[codes].tolist(), probabilities.astype(np.float32)


def recorded(labels, probabilities, **settings):
    record = Record(labels, **settings)
    for scores in probabilities:
        record.observe(scores)
    return record


def same(one, other):
    assert one.kept.tolist() == other.kept.tolist()
    np.testing.assert_array_equal(one.learnt_at, other.learnt_at)
    np.testing.assert_array_equal(one.confidence, other.confidence)
    assert one.per_class == other.per_class


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("keep", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_selects_as_the_core_does(rule, keep, seed):
    labels, probabilities = training(seed)
    order = LearningOrder(labels, tau=keep, rule=rule, seed=seed, horizon=4.0, max_checkpoints=5)
    for scores in probabilities:
        order.observe(scores)
    same(recorded(labels, probabilities).select(rule, keep, seed=seed), order.select())


def test_what_was_recorded_comes_back():
    labels, probabilities = training()
    record = recorded(labels, probabilities)
    own = probabilities[:, np.arange(60), record.codes]
    assert record.probabilities().dtype == np.float32
    np.testing.assert_array_equal(record.probabilities(), own)
    np.testing.assert_array_equal(record.predictions(), probabilities.argmax(axis=2))
    assert record.seen.all()


def test_samples_that_were_not_seen_are_marked():
    record = Record(["a", "a", "b", "b"])
    record.observe([[0.75, 0.25], [0.5, 0.5]], positions=[2, 0])
    record.observe([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], positions=[0, 1, 2])
    assert record.predictions().tolist() == [[0, -1, 0, -1], [0, 1, 1, -1]]
    np.testing.assert_array_equal(
        record.probabilities(),
        np.float32([[0.5, np.nan, 0.25, np.nan], [0.75, 0.25, 0.75, np.nan]]),
    )


@pytest.mark.parametrize("rule", RULES)
def test_skipping_what_is_decided_selects_the_same(rule):
    labels, probabilities = training()
    record = Record(labels, horizon=4.0)
    for scores in probabilities:
        left = record.order(rule, 0.4).undecided
        record.observe(scores[left], positions=left)
    assert record.seen.sum() < record.seen.size
    same(record.select(rule, 0.4), recorded(labels, probabilities).select(rule, 0.4))


def test_a_record_with_gaps_refuses_a_choice_it_was_not_made_for():
    labels, probabilities = training()
    record = Record(labels)
    for scores in probabilities:
        left = record.order("algorithm1", 0.1).undecided
        record.observe(scores[left], positions=left)
    with pytest.raises(
        LopsError, match=r"matter for method='released' and keep=1\.0 were skipped at time 2\.0"
    ):
        record.select("released", 1.0)


@pytest.mark.parametrize("horizon", [None, 7.0])
def test_survives_a_file(tmp_path, horizon):
    labels, probabilities = training()
    record = recorded(labels, probabilities, classes=["ice", "sun", "fog"], horizon=horizon)
    record.observe(probabilities[0][:5], positions=range(5), time=5.5)
    record.save(tmp_path / "record.npz")
    again = Record.load(tmp_path / "record.npz")
    assert (again.classes, again.times, again.horizon) == (record.classes, record.times, horizon)
    np.testing.assert_array_equal(again.probabilities(), record.probabilities())
    np.testing.assert_array_equal(again.predictions(), record.predictions())
    again.observe(probabilities[1], time=6.5)
    assert len(again.times) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["record.npz"]


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "record.npz"
    Record(["a", "b"]).save(path)
    before = path.read_bytes()
    with pytest.raises(LopsError, match=r"a class is called \('a', 1\); wanted text or a number"):
        Record([("a", 1), ("b", 2)]).save(path)
    assert path.read_bytes() == before


ARCHIVE = io.BytesIO()
np.savez(ARCHIVE, x=np.zeros(3))
OTHER = ARCHIVE.getvalue()  # not of a record


@pytest.mark.parametrize("content", [None, b"", b"not a record", b"PK\x03\x04 cut", OTHER])
def test_what_is_no_record_is_refused(tmp_path, content):
    path = tmp_path / "record.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LopsError, match="cannot be read as a record"):
        Record.load(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": np.full((4, 3), 0.3)}, r"shape \(4, 3\); wanted \(4, 2\)"),
        ({"predictions": np.full((4, 2), np.nan)}, "sample 0 hold NaN"),
        (
            {"predictions": np.array([[4.0, -2.0]] * 4)},
            "run from -2 to 4; wanted probabilities: apply a softmax",
        ),
        ({"predictions": ["a", "b", "b", "a"]}, r"shape \(4,\); wanted \(4, 2\)"),
        (
            {"predictions": np.full((4, 2), 0.5), "time": 0.0},
            r"time is 0\.0; wanted more than 0\.0",
        ),
        ({"predictions": np.full((4, 2), 0.5), "time": 9.0}, r"beyond the horizon of 3\.0"),
        (
            {"predictions": np.full((2, 2), 0.5), "positions": [1, 4]},
            "positions run from 1 to 4; wanted 0 to 3",
        ),
    ],
)
def test_bad_predictions_are_refused_and_nothing_is_recorded(arguments, message):
    record = Record(["a", "a", "b", "b"], horizon=3.0)
    with pytest.raises(LopsError, match=message):
        record.observe(**arguments)
    assert record.times == []


def test_nothing_recorded_is_said():
    with pytest.raises(LopsError, match="no checkpoint was recorded"):
        Record(["a", "b"]).select()
