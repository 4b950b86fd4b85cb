"""The command with small presets, as a program that can be told where to die:
``command.py WHERE [option ...]``.

WHERE is what ``framework_tools.die_at`` takes; a batch is one of windows.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.probes import context_encoder
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass.__main__ import main
from tests.framework_tools import die_at, plain_arithmetic
from tests.xclass.toys import SMALL, small_presets


def counts(training, what):
    """Whether the training of a network is that of a classifier or of a probe."""
    return training.epochs == SMALL["epochs" if what == "classifier" else "probe_epochs"]


if __name__ == "__main__":
    # several blocks in a tiny corpus; the same ones in every run that is compared, as batches are
    # cut inside
    context_encoder._BLOCK = 30
    die_at(sys.argv[1], TransformerProbe, counts)
    with plain_arithmetic(), small_presets():
        sys.exit(console.guarded(main)(sys.argv[2:]))
