"""Samples with what is known about their labels."""

import numpy as np

from lops_adapters.labels.labelled import Labelled


def test_checked_rows_keep_their_class_where_others_are_gone():
    """No sample has the label y; a person gives it to one of them: it is none of the classes."""
    some = Labelled(
        ["a", "b", "c"], np.array([2, -1, 0]), ["x", "y", "z"], checked={0: 2, 1: 0, 2: 1}
    )
    known = some.with_label()
    assert known.checked == {0: 1, 1: -1}
    assert known.checked_labels == {0: "z", 1: None}
