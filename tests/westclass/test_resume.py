"""Runs of the hierarchical network, and with labelled documents, stopped and resumed."""

import json

import pytest

pytestmark = pytest.mark.slow


def test_labelled_documents_drawn_again_are_the_same(run, data, tmp_path):
    """A resumed run draws what it drew before: 2 documents per class, by the seed."""
    few = "--labelled-per-class 2 --pretrain-epochs 1 --max-iterations 1 --arms standard"
    assert run(data, few)[0] == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert len(config["settings"]["labelled"]) == 6
    assert run(data, few, "--resume")[0] == 0
