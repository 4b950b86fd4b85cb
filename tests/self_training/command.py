"""The command with small presets, as a program that can be told where to die:
``command.py WHERE [option ...]``.

WHERE is what ``framework_tools.die_at`` takes; all trainings, of probes and classifiers, are
counted together.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.self_training.__main__ import main
from tests.framework_tools import die_at, plain_arithmetic
from tests.self_training.toys import small_presets

if __name__ == "__main__":
    die_at(sys.argv[1], LinearProbe, lambda *_: True)
    with plain_arithmetic(), small_presets():
        sys.exit(console.guarded(main)(sys.argv[2:]))
