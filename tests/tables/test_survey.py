"""The first pass over a table."""

import pytest

from lops_adapters.tables import readers, survey

from ..noisy import noisy_rows, write_table

ROWS = noisy_rows(n=240, k=3)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_whether_a_table_may_have_more_rows(tmp_path, suffix):
    rows = [[row[0], "text", *row[2:]] for row in ROWS]
    table = readers.open_table([write_table(tmp_path / f"news{suffix}", rows)])
    assert survey.may_exceed(table, 239)
    assert not survey.may_exceed(table, 241)
