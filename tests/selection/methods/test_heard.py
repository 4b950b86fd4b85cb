"""What a stage hears of the training pass."""

from dataclasses import replace

import numpy as np
import pytest

from ..stand_in import staged_probe, topics

TEXTS = topics(10)
CODES = np.arange(20) % 2


@pytest.mark.parametrize("kind", ["linear", "transformer", "han"])
def test_a_sample_is_heard_before_the_update_it_is_part_of(kind, tmp_path):
    # One update an epoch: what it hears is what the one before left.
    plain, heard = (staged_probe(kind, tmp_path, batch_size=20, epochs=3) for _ in range(2))
    watched = [shot.probabilities for shot in plain.watch(TEXTS, CODES, 2, seed=3)]
    parts, epochs = [], []

    def note(positions, probabilities):
        parts.append((positions, probabilities))
        if sum(len(one) for one, _ in parts) == len(TEXTS):
            whole = np.empty((len(TEXTS), 2))
            for where, said in parts:
                whole[where] = said
            epochs.append(whole)
            parts.clear()

    heard.fit(TEXTS, CODES, 2, seed=3, stages=[replace(heard.schedule, heard=note)])
    assert len(epochs) == 3
    if kind == "linear":
        assert (epochs[0] == 0.5).all()
    if kind != "han":  # whose ordinary training first draws samples to hold out, even if none
        for now, before in zip(epochs[1:], watched[:-1], strict=True):
            np.testing.assert_allclose(now, before, atol=1e-5)
    for now in epochs:
        np.testing.assert_allclose(now.sum(axis=1), 1, atol=1e-5)
