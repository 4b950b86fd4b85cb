"""What a resumed run knows of a file of pseudo-labels."""

from functools import partial

import pytest

from ..framework_checks import assert_not_resumed

pytestmark = pytest.mark.slow


def test_another_file_of_pseudo_labels_is_refused(run, data, tmp_path):
    mine = tmp_path / "mine.csv"
    rows = [f"d{i},{('arts', 'law', 'sport')[i % 3]}\n" for i in range(30)]
    mine.write_text("id,label\n" + "".join(rows), encoding="utf-8")
    command = partial(run, data, "--arms standard --pseudo-labels", mine)
    assert command()[0] == 0
    assert command("--resume")[0] == 0
    mine.write_text("id,label\n" + "".join(rows[:-1]), encoding="utf-8")
    status, _, err = command("--resume")
    assert_not_resumed(status, err, "was started with settings.pseudo_labels_sha256")
