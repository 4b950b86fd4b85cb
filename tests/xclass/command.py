"""The command with small presets, as a program that can be told where to die: ``command.py WHERE [option ...]``.

WHERE is ``nowhere``; ``vectors``, ``probe`` or ``classifier`` and a number: the process sends itself SIGKILL in the middle of the
piece of work of that number, counted from 0 (a batch of windows; a probe or a classifier, after three updates).
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import toys

from lops_adapters import arguments, context_encoder
from lops_adapters.context_encoder import ContextEncoder
from lops_adapters.probes.transformer import TransformerProbe
from lops_adapters.xclass.__main__ import main


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_encoding(batch):
    encode, calls = ContextEncoder.encode, []

    def encode_or_die(self, *args):
        calls.append(1)
        return encode(self, *args) if len(calls) <= batch else die()

    ContextEncoder.encode = encode_or_die


def die_while_training(what, number):
    updates, begun = TransformerProbe.updates, []

    def updates_or_die(self, *args):
        counted = self.epochs == toys.SMALL["epochs" if what == "classifier" else "probe_epochs"]
        begun.extend([1] * counted)
        for update in updates(self, *args):
            if counted and len(begun) > number and update.done == 3:
                die()
            yield update

    TransformerProbe.updates = updates_or_die


if __name__ == "__main__":
    context_encoder._BLOCK = 30  # several blocks in a tiny corpus; the same ones in every run that is compared, as batches are cut inside
    where, _, number = sys.argv[1].partition("-")
    if where == "vectors":
        die_while_encoding(int(number))
    elif where != "nowhere":
        die_while_training(where, int(number))
    toys.plain_arithmetic()
    toys.shrink_presets()
    sys.exit(arguments.guarded(main)(sys.argv[2:]))
