"""Selections as cleanlab shows them, in a table of label issues::

    from lops_adapters.integrations.cleanlab import label_issues

    issues = label_issues(selection)                 # as Datalab.get_issues("label")

Tested with cleanlab 2.9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.texts.result import TextSelection


def label_issues(selection: TextSelection) -> Any:
    """Return a selection as a table of label issues.

    Args:
        selection: of n rows, from :func:`lops_adapters.select`.

    Returns:
        A pandas DataFrame of n rows with the columns of ``Datalab.get_issues("label")``:
        ``is_label_issue`` (bool, rejected), ``label_score`` (float64 in [0, 1], lower is more
        suspicious; NaN without a label), ``given_label`` and ``predicted_label``. It has the index
        of the texts.

    Raises:
        LopsError: pandas is not installed.

    >>> from lops_adapters import select
    >>> texts = ["the striker scored a late goal"] * 9 + ["the bank cut its rates"] * 9
    >>> found = select(texts, ["sports"] * 9 + ["money"] * 8 + ["sports"], encoder=None)
    >>> label_issues(found).query("is_label_issue").predicted_label.to_dict()
    {17: 'money'}
    """
    pandas = extras.load("pandas", "A table of label issues")
    flagged = np.zeros(len(selection.mask), dtype=bool)
    flagged[selection.rejected] = True
    columns = {
        "is_label_issue": flagged,
        "label_score": scores(selection.confidence),
        "given_label": selection.labels,
        "predicted_label": selection.suggested.tolist(),
    }
    return pandas.DataFrame(columns, index=selection.index)


def scores(confidence: np.ndarray) -> np.ndarray:
    """Return confidences as scores in [0, 1], (n,) float64, in the same order.

    Probabilities stay; other confidences become the share of rows that are trusted less. NaN stays.

    >>> scores(np.array([0.25, 1.0])).tolist(), scores(np.array([-3.0, 2.0, -3.0])).tolist()
    ([0.25, 1.0], [0.0, 1.0, 0.0])
    """
    values = np.asarray(confidence, dtype=np.float64)
    known = values[~np.isnan(values)]
    if ((known >= 0) & (known <= 1)).all():
        return values
    below = np.searchsorted(np.sort(known), known)
    ranks = np.full(len(values), np.nan)
    ranks[~np.isnan(values)] = below / max(1, below.max())
    return ranks
