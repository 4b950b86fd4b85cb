"""What a selection leaves to train on."""

import numpy as np

from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.stages import trusted
from lops_adapters.selection import Corrected

from ..framework_tools import kept_by


def test_kept_samples_and_their_labels_after_the_correction():
    codes = np.array([0, 1, 1])
    labels = PseudoLabels(np.array([1, 4, 7]), codes, np.ones(3), 9, ("x", "y"))
    kept = kept_by(np.array([True, False, True]), labels.positions, labels.labels)
    corrected = Corrected(kept, np.array(["y", "x", "x"], dtype=object), labels.labels)
    for selection, wanted in ((kept, [0, 1]), (corrected, [1, 0])):
        rows, found = trusted(selection, labels)
        assert (rows.tolist(), found.tolist()) == ([0, 2], wanted)
