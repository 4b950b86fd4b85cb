"""A block of a table that is scored."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lops_adapters.core import LopsError
from lops_adapters.formats import readers
from lops_adapters.labels.columns import Columns
from lops_adapters.report.totals import Totals
from lops_adapters.selection import Choice
from lops_adapters.selection.committee.assessment import Assessment
from lops_adapters.tables import fit
from lops_adapters.tables.job import TableJob
from lops_adapters.tables.scoring import Scoring
from lops_adapters.tables.survey import survey_of

from ..noisy import noisy_rows, write_table

COLUMNS = Columns("text", "weak")


def surveyed(folder, n=60, **settings):
    table = readers.open_table([write_table(folder / "t.csv", noisy_rows(n=n))])
    survey = survey_of(table, COLUMNS, **settings)
    classes = survey.classes()
    return table, classes, survey.sample(classes)


def test_relabelled_rows_of_several_blocks_add_up(tmp_path):
    table, classes, sample = surveyed(tmp_path)
    codes = sample.labelled.codes
    rejected = np.arange(60) % 3 == 0
    right, probability = np.full(60, 0.2), np.where(np.arange(60) % 2, 0.95, 0.5)
    said = Assessment(~rejected, right, (codes + 1) % len(classes.names), probability, codes)
    job = TableJob(COLUMNS, Choice(), 60, relabel=0.9)
    scoring = Scoring(
        job=job, classes=classes, columns=(), positions=np.arange(60), assessment=said,
        learnt_at=None, has_checks=False,
    )  # fmt: skip
    totals, (block,) = Totals.of(len(classes.names)), table.blocks()
    for _ in range(2):
        scoring.score(block, 0, totals)
    assert totals.relabelled == 2 * (rejected & (probability >= 0.9)).sum() == 20
    assert totals.rows.sum() == 120


@pytest.mark.parametrize("most", [30, 60])
def test_a_sample_is_fitted_by_one_thread(tmp_path, monkeypatch, most):
    """As workers that score blocks have one; a table that is its own sample may use all."""
    _, _, sample = surveyed(tmp_path, most=most)
    assert sample.is_whole == (most == 60)

    def select(*_, **__):
        used = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        raise LopsError(f"{max(used)} threads")

    monkeypatch.setattr(fit, "select_labelled", select)
    used = 1 if most == 30 else 2
    with threadpool_limits(2), pytest.raises(LopsError, match=f"{used} threads"):
        fit.fit(sample, TableJob(COLUMNS, Choice(), most))
