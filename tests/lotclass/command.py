"""The command with small presets, as a program that can be told where to die:
``command.py WHERE [option ...]``.

WHERE is ``nowhere``, or what is begun when the process dies, a hyphen and how often it was begun
before: ``head`` (an update of the language model), ``rows`` (a batch of predictions), ``category``
and ``probe`` (a training of the network, at its third update), ``tuning`` (a self-training, at its
second update).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.lotclass import masked_lm, self_training, vocabulary
from lops_adapters.lotclass.__main__ import main
from lops_adapters.lotclass.probe import LotclassProbe
from tests.framework_tools import die, die_at, plain_arithmetic
from tests.lotclass.toys import SMALL, small_presets

OF_TRAININGS = {"category": "epochs", "probe": "probe_epochs"}


def dies(function, number):
    """The function, which ends the process when it is called after ``number`` times."""
    calls = []

    def call_or_die(*args, **kwargs):
        calls.append(1)
        return function(*args, **kwargs) if len(calls) <= number else die()

    return call_or_die


def tuning_dies(number):
    """Self-training's updates end the process at the second one of the self-training that
    ``number`` came before.
    """
    begun, train = [], self_training.self_train

    def train_or_die(network, *args, **kwargs):
        begun.append(1)
        tuner = network.tuner
        if len(begun) > number:
            network.tuner = lambda *given: dies(tuner(*given), 1)
        return train(network, *args, **kwargs)

    return train_or_die


def die_in(where):
    """Arrange for the death."""
    from lops_adapters.lotclass import pipeline

    what, _, number = where.partition("-")
    if what == "head":
        masked_lm.Masker.mask = dies(masked_lm.Masker.mask, int(number))
    elif what == "rows":
        vocabulary.Predictor._batch = dies(vocabulary.Predictor._batch, int(number))
    elif what == "tuning":
        pipeline.self_train = tuning_dies(int(number))
    else:
        die_at(
            where,
            LotclassProbe,
            lambda training, kind: training.epochs == SMALL[OF_TRAININGS[kind]],
        )


if __name__ == "__main__":
    die_in(sys.argv[1])
    with plain_arithmetic(), small_presets():
        sys.exit(console.guarded(main)(sys.argv[2:]))
