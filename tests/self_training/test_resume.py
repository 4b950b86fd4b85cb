"""What a resumed run knows of a file of pseudo-labels."""

from functools import partial

from lops_adapters.self_training.__main__ import main

from ..framework_checks import assert_not_resumed
from ..framework_tools import outcome
from .toys import small_presets


def test_another_file_of_pseudo_labels_is_refused(data, tmp_path, capsys):
    mine = tmp_path / "mine.csv"
    rows = [f"d{i},{('arts', 'law', 'sport')[i % 3]}\n" for i in range(30)]
    mine.write_text("id,label\n" + "".join(rows), encoding="utf-8")
    usual = ["--preset", "quick", "--device", "cpu", "--method", "standard", "--quiet"]
    places = ["--dataset", data, "--output", tmp_path / "run", "--pseudo-labels", mine]
    command = partial(outcome, main, capsys, *usual, *places)
    with small_presets():
        assert command()[0] == 0
        assert command("--resume")[0] == 0
        mine.write_text("id,label\n" + "".join(rows[:-1]), encoding="utf-8")
        status, _, err = command("--resume")
    assert_not_resumed(status, err, "was started with settings.pseudo_labels_sha256")
