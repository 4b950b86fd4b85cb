"""The command with small presets, as a program that can be told where to die:
``command.py WHERE [option ...]``.

WHERE is what ``framework_tools.die_at`` takes; a batch is one of sentences.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.conwea.__main__ import main
from lops_adapters.probes import context_encoder
from lops_adapters.probes.han import HanProbe
from tests.conwea.toys import small_presets
from tests.framework_tools import die_at, plain_arithmetic


def counts(training, what):
    """Whether the training of a network is that of a classifier or of a probe."""
    return (what == "classifier") == (training.validation > 0)


if __name__ == "__main__":
    # several blocks in a tiny corpus; the same ones in every run that is compared, as batches are
    # cut inside
    context_encoder._BLOCK = 40
    die_at(sys.argv[1], HanProbe, counts)
    with plain_arithmetic(), small_presets():
        sys.exit(console.guarded(main)(sys.argv[2:]))
