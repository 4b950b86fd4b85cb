"""What every probe promises, over a table of probes: a new probe is one more row in ROWS."""

import random
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from lops_adapters.core import LopsError
from lops_adapters.probes import PROBES, probe_class
from lops_adapters.probes.estimator import EstimatorProbe

from .toys import global_states, saved_bytes, topic_texts

# Small settings under which the toy texts are learnt: 2 epochs of 4 updates (10 samples, 3 an
# update) unless a test says otherwise.
SHORT = {"epochs": 2, "batch_size": 3}
SAME = {"precision": "float32", "device": "cpu"}  # on every machine
FROZEN = {**SHORT, **SAME, "max_tokens": 16, "cache": None}
ROWS = {
    "linear": SHORT,
    "embedding": {**FROZEN, "learning_rate": 0.3},
    "hybrid": FROZEN,
    "transformer": {**SHORT, **SAME, "learning_rate": 3e-3, "max_tokens": 16},
    "han": {**SHORT, **SAME, "learning_rate": 1e-2, "units": 8},
    "keras": {**SHORT, **SAME, "learning_rate": 0.1},
    "estimator": SHORT,
}
# Probes that need an object: no row of PROBES can make them.
GIVEN = {"estimator": lambda **settings: EstimatorProbe(SGDClassifier(loss="log_loss"), **settings)}
ENCODED = ("embedding", "hybrid", "transformer")
# Shares of right predictions that a probe exceeds after 10 epochs on 60 toy texts: on them and on
# 60 others. The vectors of an encoder with random weights tell little.
LEARNT = {"embedding": (0.7, 0.5)}
# A row's result may differ in the last bits of float32 with the rows it is computed with: matrix
# products of another shape add up in another order. Each of some tens of sums of up to 100 terms of
# size 1 carries about 1e-7; 1e-5 leaves room, and is far below what padding that takes part would
# do (1e-3 and more).
TOLERANCE = 1e-5
TEXTS, CODES = topic_texts(10, seed=1)
OTHERS, _ = topic_texts(7, seed=2, longest=40)
PER_EPOCH, EPOCHS = 4, 2
K = 3


@pytest.fixture(scope="module", params=ROWS)
def make(request, tiny):
    """Make a fresh probe of one row, with other settings where given."""
    kind = request.param
    settings = {**ROWS[kind], **({"encoder": tiny("bert")} if kind in ENCODED else {})}
    made = GIVEN.get(kind) or probe_class(kind)
    return lambda **changes: made(**{**settings, **changes})


def same(snapshots, others):
    return len(snapshots) == len(others) and all(
        a.time == b.time and np.array_equal(a.probabilities, b.probabilities)
        for a, b in zip(snapshots, others, strict=True)
    )


def updates_done(probe):
    """List that grows by one entry an update from now on."""
    done, original = [], probe.updates

    def counted(*args):
        for update in original(*args):
            done.append(update)
            yield update

    probe.updates = counted
    return done


@pytest.fixture(scope="module")
def snapshots(make):
    """What is seen after every update of the usual training."""
    return list(make().watch(TEXTS, CODES, K, every=1))


@pytest.fixture(scope="module")
def trained(make, tmp_path_factory):
    """A probe after the usual training, its updates and its files."""
    probe = make()
    done = updates_done(probe)
    assert probe.fit(TEXTS, CODES, K) is probe
    del probe.updates
    files = saved_bytes(probe, tmp_path_factory.mktemp("trained") / "model")
    return SimpleNamespace(probe=probe, updates=done, files=files)


def test_every_kind_has_a_row():
    assert set(ROWS) - set(GIVEN) == set(PROBES)
    with pytest.raises(
        LopsError,
        match="probe is 'svm'; wanted one of linear, embedding, hybrid, transformer, han, keras",
    ):
        probe_class("svm")


def test_snapshots(make, snapshots):
    assert make().max_epochs == EPOCHS
    total = PER_EPOCH * EPOCHS
    assert [snapshot.time for snapshot in snapshots] == [
        done / PER_EPOCH for done in range(1, total + 1)
    ]
    for snapshot in snapshots:
        assert snapshot.probabilities.shape == (len(TEXTS), K)
        assert snapshot.probabilities.dtype == np.float32
        assert snapshot.probabilities.min() >= 0
        np.testing.assert_allclose(snapshot.probabilities.sum(axis=1), 1.0, atol=1e-5)
        assert snapshot.positions is None
    assert not np.allclose(snapshots[0].probabilities, snapshots[-1].probabilities, atol=1e-4)


@pytest.mark.parametrize("every", [None, 3])
def test_snapshots_further_apart(make, snapshots, every):
    step = every or PER_EPOCH
    assert same(list(make().watch(TEXTS, CODES, K, every=every)), snapshots[step - 1 :: step])


@pytest.mark.parametrize("updates", [1, 7])
def test_a_number_of_updates(make, updates):
    """9 samples are 3 updates per epoch, of 3 samples each."""
    probe = make()
    done = updates_done(probe)
    probe.fit(TEXTS[:9], CODES[:9], K, updates=updates)
    assert [update.samples for update in done] == [3] * updates
    assert np.isfinite(probe.predict_proba(OTHERS)).all()


def test_the_usual_number_of_updates_is_the_usual_training(make, trained):
    if trained.probe.kind == "han":
        pytest.skip("it draws held-out samples first, so its batches are others")
    counted = make().fit(TEXTS, CODES, K, updates=PER_EPOCH * EPOCHS)
    np.testing.assert_array_equal(
        trained.probe.predict_proba(OTHERS), counted.predict_proba(OTHERS)
    )


@pytest.mark.parametrize("updates", [0, -1])
def test_too_few_updates(make, updates):
    with pytest.raises(LopsError, match=f"updates is {updates}; wanted at least 1"):
        make().fit(TEXTS, CODES, K, updates=updates)


def test_training_is_lazy(make):
    probe = make()
    done = updates_done(probe)
    watched = probe.watch(TEXTS, CODES, K)
    assert not done
    next(watched)
    next(watched)
    assert len(done) == 2 * PER_EPOCH
    watched.close()
    assert len(done) == 2 * PER_EPOCH
    assert probe.predict_proba(OTHERS).shape == (len(OTHERS), K)


def test_updates_count_themselves(trained):
    done = trained.updates
    assert [update.done for update in done] == list(range(1, EPOCHS * PER_EPOCH + 1))
    assert {update.per_epoch for update in done} == {PER_EPOCH}
    samples = np.array([update.samples for update in done]).reshape(EPOCHS, PER_EPOCH)
    assert samples.sum(axis=1).tolist() == [len(TEXTS)] * EPOCHS


def test_same_seed_same_snapshots(make, snapshots):
    def first(seed):
        return list(islice(make().watch(TEXTS, CODES, K, seed=seed, every=1), 3))

    seeded = first(5)
    assert same(seeded, first(5))
    assert not same(seeded, snapshots[:3])


def test_every_training_starts_afresh(make, snapshots):
    probe = make()
    probe.fit(OTHERS, np.arange(len(OTHERS)) % 2, 2, seed=3, updates=2)
    assert same(list(probe.watch(TEXTS, CODES, K, every=1)), snapshots)


def test_global_generators_are_left_alone(make, tmp_path):
    before = global_states()
    probe = make()
    watched = probe.watch(TEXTS, CODES, K, every=1)
    for _ in islice(watched, PER_EPOCH + 1):
        assert global_states() == before  # between snapshots the caller has its own generators
    watched.close()
    assert global_states() == before
    del watched
    probe.fit(TEXTS, CODES, K, updates=2).predict_proba(OTHERS)
    saved_bytes(probe, tmp_path / "model")
    type(probe).load(tmp_path / "model", device="cpu")
    with pytest.raises(LopsError):
        probe.fit([None, None], [0, 1], 2)
    assert global_states() == before


def test_global_generators_change_nothing(make, snapshots):
    import torch

    def meddle(number):
        random.seed(number)
        np.random.seed(number)
        torch.manual_seed(number)
        return random.random(), np.random.random(), torch.rand(number + 1)

    meddled = []
    for number, snapshot in enumerate(make().watch(TEXTS, CODES, K, every=1)):
        meddle(number)
        meddled.append(snapshot)
    assert same(meddled, snapshots)


def test_watching_does_not_change_the_training(make, trained, tmp_path):
    watched = make()
    for _ in watched.watch(TEXTS, CODES, K, every=2):
        watched.predict_proba(OTHERS)
    assert saved_bytes(watched, tmp_path / "watched") == trained.files


def test_undecided(make, snapshots):
    asked = []

    def undecided():
        asked.append(len(asked))
        return np.array([[8, 1, 4], [0], []][len(asked) % 3], dtype=np.int64)

    probe = make()
    for number, (snapshot, whole) in enumerate(
        zip(
            probe.watch(TEXTS, CODES, K, every=2, undecided=undecided), snapshots[1::2], strict=True
        )
    ):
        assert len(asked) == number + 1  # once a checkpoint, and not ahead
        assert snapshot.probabilities.shape == (len(snapshot.positions), K)
        assert snapshot.probabilities.dtype == np.float32
        np.testing.assert_allclose(
            snapshot.probabilities, whole.probabilities[snapshot.positions], atol=TOLERANCE
        )


def test_prediction_does_not_depend_on_the_others(trained):
    probe = trained.probe
    together = probe.predict_proba(OTHERS)
    np.testing.assert_allclose(
        np.vstack([probe.predict_proba([text]) for text in OTHERS]), together, atol=TOLERANCE
    )
    np.testing.assert_allclose(probe.predict_proba(OTHERS[::-1])[::-1], together, atol=TOLERANCE)
    assert probe.predict_proba([]).shape == (0, K)


def test_a_class_without_samples(make):
    codes = np.where(CODES == 2, 0, CODES)
    for snapshot in make().watch(TEXTS, codes, 4):
        assert snapshot.probabilities.shape == (len(TEXTS), 4)
    assert set(snapshot.probabilities.argmax(axis=1)) <= {0, 1}


def test_one_sample_a_class(make):
    snapshots = list(make().watch(TEXTS[:2], [0, 1], 2))
    assert [(snapshot.time, snapshot.probabilities.shape) for snapshot in snapshots] == [
        (t, (2, 2)) for t in (1.0, 2.0)
    ]


def test_empty_and_very_long_samples(make):
    texts = ["", "   ", "topic0word1 " * 5000, "topic1word1", "?!", "topic1word2. " * 3000]
    *_, last = make(batch_size=1, epochs=1).watch(texts, [0, 1, 0, 1, 0, 1], 2)
    assert np.isfinite(last.probabilities).all()
    np.testing.assert_allclose(last.probabilities[0], last.probabilities[1], atol=TOLERANCE)


def test_samples_of_tokens(trained):
    """Strings, tokens and sentences of tokens say the same where a text is one sentence."""
    probe = trained.probe
    expected = probe.predict_proba(OTHERS)
    np.testing.assert_array_equal(probe.predict_proba([text.split() for text in OTHERS]), expected)
    np.testing.assert_array_equal(
        probe.predict_proba([[text.split()] for text in OTHERS]), expected
    )
    np.testing.assert_array_equal(probe.predict_proba(np.array(OTHERS)), expected)


BAD = {
    "length": (TEXTS, CODES[:-1], K, {}, r"found 10 samples and codes of shape \(9,\)"),
    "matrix": (
        TEXTS,
        CODES[:, None],
        K,
        {},
        r"codes of shape \(10, 1\); wanted one class code per sample",
    ),
    "above": (TEXTS, CODES + 1, K, {}, "codes run from 1 to 3; wanted 0 to 2"),
    "below": (TEXTS, CODES - 1, K, {}, "codes run from -1 to 1; wanted 0 to 2"),
    "floats": (TEXTS, CODES.astype(float), K, {}, "type float64; wanted integers 0 to 2"),
    "names": (TEXTS, ["a"] * 10, K, {}, "wanted integers 0 to 2"),
    "one class": (TEXTS, CODES * 0, 1, {}, "found 1 class; a probe needs at least 2"),
    "nothing": ([], [], K, {}, "found no samples; wanted at least one"),
    "every 0": (TEXTS, CODES, K, {"every": 0}, "every is 0; wanted a number of updates"),
    "every -2": (TEXTS, CODES, K, {"every": -2}, "every is -2"),
    "seed": (TEXTS, CODES, K, {"seed": -1}, "seed is -1; wanted a whole number, at least 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_any_work(make, case):
    samples, codes, n_classes, more, message = BAD[case]
    probe = make()
    probe.prepare = probe.updates = lambda *args, **kwargs: pytest.fail("work began")
    with pytest.raises(LopsError, match=message):
        # At once, not when the first snapshot is asked for.
        probe.watch(samples, codes, n_classes, **more)
    if "every" not in more:
        with pytest.raises(LopsError, match=message):
            probe.fit(samples, codes, n_classes, **more)


def test_missing_texts_are_refused(make):
    probe = make()
    done = updates_done(probe)
    for missing in (None, float("nan"), 7):
        with pytest.raises(LopsError, match="wanted a string, tokens, or sentences of tokens"):
            probe.fit([*TEXTS[:-1], missing], CODES, K)
    assert not done


@pytest.mark.parametrize(
    "settings",
    [{"epochs": 0}, {"batch_size": 0}, {"learning_rate": 0.0}, {"learning_rate": float("nan")}],
)
def test_bad_settings_are_refused(make, settings):
    if make().kind == "estimator" and "learning_rate" in settings:
        pytest.skip("the learning rate is the estimator's")
    with pytest.raises(LopsError, match=next(iter(settings))):
        make(**settings)


def test_untrained(make, tmp_path):
    for use in (lambda probe: probe.predict_proba(TEXTS), lambda probe: probe.save(tmp_path)):
        with pytest.raises(LopsError, match=r"probe is untrained; call fit\(\) or watch\(\) first"):
            use(make())
    probe = make()
    probe.watch(TEXTS, CODES, K)  # nothing was asked for
    with pytest.raises(LopsError, match="untrained"):
        probe.predict_proba(TEXTS)
    assert not list(tmp_path.iterdir())


def test_save_and_load(make, trained, tmp_path):
    probe, saved = trained.probe, saved_bytes(trained.probe, tmp_path / "model")
    assert saved.keys() == trained.files.keys()
    loaded = type(probe).load(tmp_path / "model", device="cpu")
    # Some are longer than max_tokens.
    np.testing.assert_array_equal(loaded.predict_proba(OTHERS), probe.predict_proba(OTHERS))
    assert repr(loaded) == repr(probe)  # every setting came back
    again = saved_bytes(loaded, tmp_path / "again")
    assert again.keys() == saved.keys()
    # The tokenizer's file also notes how it was last called.
    assert all(again[name] == saved[name] for name in saved if name != "tokenizer_config.json")
    # Trained afresh it is the probe that was saved, not one that starts where training ended; the
    # number of classes may differ.
    others, new = (
        islice(probe.watch(OTHERS, np.arange(7) % 2, 2, every=1), 2) for probe in (loaded, make())
    )
    assert same(list(others), list(new))


def test_it_learns(make):
    texts, codes = topic_texts(60, seed=3)
    held_out, gold = topic_texts(60, seed=4)
    probe = make(epochs=10, batch_size=6).fit(texts, codes, K)
    seen, unseen = LEARNT.get(probe.kind, (0.9, 0.8))  # chance is 0.33
    assert (probe.predict_proba(texts).argmax(axis=1) == codes).mean() > seen
    assert (probe.predict_proba(held_out).argmax(axis=1) == gold).mean() > unseen


def test_quiet(make, capfd, bars):
    make().fit(TEXTS, CODES, K, updates=PER_EPOCH)
    assert capfd.readouterr() == ("", "")
    make(quiet=False).fit(TEXTS, CODES, K, updates=1)
    assert f"training {make().kind}" in capfd.readouterr().err
