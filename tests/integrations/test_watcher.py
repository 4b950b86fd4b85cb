"""What the Trainer's and Keras' callbacks share."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.integrations.recorder import Record
from lops_adapters.integrations.watcher import Watcher, read_codes

CODES = np.array([0, 0, 1, 1])
USUAL = {
    "every": None, "keep": 0.5, "method": "ranked", "skip_decided": False, "stop_when_done": False,
}  # fmt: skip
HALF = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])  # one of class 0 is learnt


def watcher(**settings):
    return Watcher(CODES, **{**USUAL, **settings})


def test_a_record_is_saved_and_resumed(tmp_path):
    first = watcher()
    first.save(tmp_path / "empty.npz", horizon=2.0)
    assert Record.load(tmp_path / "empty.npz").times == []
    first.look(lambda positions: HALF, time=1.0, horizon=2.0)
    first.save(tmp_path / "record.npz", horizon=2.0)
    again = watcher()
    again.resume(tmp_path / "record.npz", horizon=5.0)
    assert (again.record.times, again.record.horizon) == ([1.0], 5.0)
    again.resume(tmp_path / "empty.npz", horizon=5.0)
    assert again.found is None
    other = Watcher(CODES[::-1].copy(), **USUAL)
    with pytest.raises(LopsError, match="recorded for other pseudo-labels; start a new training"):
        other.resume(tmp_path / "record.npz", horizon=2.0)


def test_settings_out_of_range_are_refused():
    for settings, message in (
        ({"method": "best"}, "method is 'best'"),
        ({"every": 0}, "every is 0; wanted a number of updates, at least 1, or None"),
    ):
        with pytest.raises(LopsError, match=message):
            watcher(**settings)
    with pytest.raises(LopsError, match="nothing was recorded"):
        _ = watcher().record


def test_labels_of_any_container():
    for labels in ([0, 1], (0, 1), np.array([[0], [1]]), np.array([False, True])):
        codes = read_codes(labels, 2)
        assert (codes.tolist(), codes.dtype) == ([0, 1], np.int64)
    assert read_codes(np.array([0.0, 1.0]), floats=True).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        (
            [0, 1],
            {"n": 3},
            r"found 3 training samples and pseudo-labels of shape \(2,\); wanted one",
        ),
        ([], {}, r"found pseudo-labels of shape \(0,\); wanted one per sample"),
        (np.eye(2), {}, r"of shape \(2, 2\)"),
        ([0.0, 1.0], {}, "type float64; wanted integers 0 to k-1"),
        ([0.0, 0.5], {"floats": True}, "type float64; wanted integers"),
        ([0.0, np.inf], {"floats": True}, "type float64; wanted integers"),
        (["a", "b"], {"floats": True}, "wanted integers"),
        ([0, -100], {}, "position 1 is -100; wanted 0 to k-1: leave unlabelled samples out"),
    ],
)
def test_unusable_labels_are_refused(labels, settings, message):
    with pytest.raises(LopsError, match=message):
        read_codes(labels, **settings)


@pytest.mark.parametrize("asked", [False, True])
def test_a_training_stops_only_if_that_is_asked_for(asked):
    """After one checkpoint at which everything is learnt, the record is complete."""
    one = watcher(stop_when_done=asked)
    learnt = np.eye(2, dtype=np.float32)[CODES]
    assert one.look(lambda positions: learnt, time=1.0, horizon=5.0) is asked
    assert one.record.order("ranked", 0.5).done


@pytest.mark.parametrize("skip", [False, True])
def test_what_is_decided_is_predicted_again_unless_that_is_skipped(skip):
    """Class 0 is decided at once, class 1 at the second checkpoint, then nothing is left."""
    one, asked = watcher(skip_decided=skip), []
    probabilities = (np.eye(2)[[0, 0, 0, 0]], np.eye(2)[CODES], HALF)

    def predict(positions):
        now = probabilities[len(asked)]
        asked.append(None if positions is None else positions.tolist())
        return now if positions is None else now[positions]

    for time in (1.0, 2.0, 3.0):
        one.look(predict, time=time, horizon=3.0)
    assert asked == ([None, [2, 3]] if skip else [None] * 3)
    assert one.record.times == [1.0, 2.0, 3.0]
    assert one.record.seen.all() != skip
    assert one.record.select("ranked", 0.5).mask.sum() == 2
