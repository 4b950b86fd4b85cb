"""Gold labels of any type change no byte of what ``lops select`` keeps and rejects."""

import json

import pytest

from lops_adapters.cli import select as command
from lops_adapters.selection import METHODS
from lops_adapters.selection.method_table import offered

from ..noisy import noisy_texts

pytestmark = pytest.mark.slow

TYPES = (bool, int, float)
OUTPUTS = ("kept", "rejected")
FIRST = ("class 1", "class 0")  # label, gold label
NEED_DROPOUT = ("mc-dropout", "entropy")
ARGUMENTS = (
    ["--per-class"],
    ["--method", "automatic"],
    ["--method", "confident-learning"],
    *(["--keep", "0.5", "--method", name] for name in offered() if METHODS[name].takes_keep),
)


def write(path, label_type):
    """Begin with gold labels of 0 beside labels of 1: they would name class 0 by their type."""
    texts, weak, gold = noisy_texts(n=60, noise=0.3)
    rows = sorted(zip(texts, weak, gold, strict=True), key=lambda row: row[1:] != FIRST)
    with path.open("w", encoding="utf-8") as file:
        for text, label, true in rows:
            record = {"text": text, "weak": label_type(int(label[-1]))}
            record |= {f"gold_{kind.__name__}": kind(int(true[-1])) for kind in TYPES}
            file.write(json.dumps(record) + "\n")
    return path


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    pytest.importorskip("transformers")
    from ..probes import toys

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toys, "POSITIONS", 130)  # the default of the probe is 128 tokens
        return toys.save_tiny_encoder("bert", tmp_path_factory.mktemp("bert"))


def check(here, method, label_type, gold_types, probe="linear"):
    """Select without gold labels and with those of each type; compare the files."""
    path = write(here / f"{label_type.__name__}.jsonl", label_type)
    given = [str(path), "--text", "text", "--label", "weak", "--probe", str(probe), "--quiet"]
    given += ["--encoder", "none", *method, "--output", "out", "--force"]
    found, noise = [], []
    for gold in ([], *(["--gold", f"gold_{kind.__name__}"] for kind in gold_types)):
        assert command.main([*given, *gold]) == 0
        found.append([(here / "out" / f"{name}.jsonl").read_bytes() for name in OUTPUTS])
        noise.append(json.loads((here / "out" / "summary.json").read_text())["noise_before"])
        config = json.loads((here / "out" / "config.json").read_text())
        assert config["dataset"]["classes"] == sorted(map(str, map(label_type, (0, 1))))
    assert all(files == found[0] for files in found), label_type
    # A gold label equal to a label counts as that label, whatever their types.
    assert noise[1:] == [noise[1]] * len(gold_types)
    assert 0.1 < noise[1] < 0.5


@pytest.mark.parametrize("label_type", TYPES)
def test_gold_labels_of_every_type(here, label_type):
    check(here, [], label_type, TYPES)


@pytest.mark.parametrize("method", ARGUMENTS, ids=" ".join)
def test_every_method(here, method, request):
    dropout = method[-1] in NEED_DROPOUT
    check(here, method, bool, [float], request.getfixturevalue("encoder") if dropout else "linear")
