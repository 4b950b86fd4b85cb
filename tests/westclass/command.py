"""The command with small presets, as a program that is told where to die:
``command.py FOLDER WHERE[,WHERE ...] [option ...]``.

WHERE is the name of a stage in which something is trained. For each there is a process of its own,
which writes into FOLDER/WHERE and sends itself SIGKILL after three updates in that stage. Prints
how each ended, as JSON: minus the signal, or the exit status.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.probes import keras_networks  # noqa: F401  # before the forks
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.runs.folder import RunFolder
from lops_adapters.westclass.__main__ import main
from tests.framework_tools import die, plain_arithmetic
from tests.westclass.toys import small_presets


def die_in(where):
    """Die after three updates of a network in a stage."""
    stage, updates, tuner, seen = (
        RunFolder.stage,
        KerasProbe.updates,
        KerasProbe.tuner,
        {"stage": "", "updates": 0},
    )

    def staged(run, name, compute):
        seen["stage"] = name
        return stage(run, name, compute)

    def count():
        seen["updates"] += seen["stage"] == where
        if seen["updates"] == 3:
            die()

    def counted_updates(*args):
        for update in updates(*args):
            yield update
            count()

    def counted_tuner(*args, **options):
        update = tuner(*args, **options)

        def counted(*batch):
            update(*batch)
            count()

        return counted

    RunFolder.stage, KerasProbe.updates, KerasProbe.tuner = staged, counted_updates, counted_tuner


def killed_in(where, args):
    """Run the command in a fork, which spares it the import of all libraries; return how it ended."""
    child = os.fork()
    if not child:
        die_in(where)
        os._exit(console.guarded(main)(args))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    folder, places, *args = sys.argv[1:]
    with plain_arithmetic(), small_presets():
        endings = {
            where: killed_in(where, [*args, "--output", f"{folder}/{where}"])
            for where in places.split(",")
        }
    sys.stdout.write(json.dumps(endings))
