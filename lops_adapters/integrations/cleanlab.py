"""Selections as cleanlab reads them: a table of label issues, or an issue type of a ``Datalab``::

    from lops_adapters.integrations.cleanlab import add_issues, label_issues

    issues = label_issues(selection)                 # as Datalab.get_issues("label")
    add_issues(lab, selection)                       # then lab.report(), lab.get_issues("lops")

Tested with cleanlab 2.9.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.texts.result import TextSelection

NAME = "lops"  # of the issue type


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
    found = np.asarray(confidence, dtype=np.float64)
    known = found[~np.isnan(found)]
    if ((known >= 0) & (known <= 1)).all():
        return found
    below = np.searchsorted(np.sort(known), known)
    ranks = np.full(len(found), np.nan)
    ranks[~np.isnan(found)] = below / max(1, below.max())
    return ranks


def add_issues(lab: Any, selection: TextSelection) -> None:
    """Add a selection to a ``Datalab`` as the issue type ``lops``.

    Afterwards ``lab.report()`` and ``lab.get_issues("lops")`` show it, and
    ``lab.get_info("lops")`` holds the arrays ``given_label`` and ``predicted_label``. A later call
    replaces it.

    Args:
        lab: a ``cleanlab.Datalab`` of the same n rows, in the same order.
        selection: from :func:`lops_adapters.select`.

    Raises:
        LopsError: cleanlab is not installed, no ``Datalab``, another number of rows, or rows
            without a label.

    """
    datalab = extras.load("cleanlab.datalab.datalab", "An issue type of Datalab")
    if not isinstance(lab, datalab.Datalab):
        raise LopsError(f"lab is a {type(lab).__name__}; wanted a cleanlab.Datalab")
    if len(lab.labels) != len(selection.mask):
        raise LopsError(
            f"the Datalab has {len(lab.labels)} labels and the selection {len(selection.mask)}; "
            "wanted the same rows in the same order"
        )
    if len(selection.abstained):
        raise LopsError(
            f"{len(selection.abstained)} rows of the selection have no label; wanted a label in "
            "every row, as a Datalab has"
        )
    _register()
    lab.find_issues(issue_types={NAME: {"selection": selection}})


@cache
def _register() -> None:
    """Tell cleanlab of the issue type, once per process."""
    base = extras.load("cleanlab.datalab.internal.issue_manager", "An issue type of Datalab")
    factory = extras.load("cleanlab.datalab.internal.issue_manager_factory", "An issue type")

    class LopsIssueManager(base.IssueManager):  # type: ignore[name-defined]
        """Rows whose labels a selection does not trust."""

        description = "Rows whose label lops_adapters.select does not trust."
        issue_name = NAME

        def find_issues(self, selection: TextSelection, **_: Any) -> None:
            """Fill the manager's table, summary and info."""
            found = label_issues(selection).reset_index(drop=True)
            self.issues = found[["is_label_issue", "label_score"]].set_axis(
                [f"is_{NAME}_issue", self.issue_score_key], axis=1
            )
            self.summary = self.make_summary(score=float(found.label_score.mean()))
            self.info = {
                name: found[name].to_numpy() for name in ("given_label", "predicted_label")
            }

    factory.register(LopsIssueManager)
