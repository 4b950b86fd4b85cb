"""Gold labels of any type change no byte of what ``lops select`` keeps and rejects."""

import json

import pytest

from lops_adapters.cli import select as command
from lops_adapters.selection import METHODS
from lops_adapters.selection.methods import offered

from ..noisy import noisy_texts

pytestmark = pytest.mark.slow

TYPES = (bool, int, float)
OUTPUTS = ("kept", "rejected")
FIRST = ("class 1", "class 0")  # label, gold label
NEED_DROPOUT = ("mc-dropout", "entropy")
ARGUMENTS = (
    [],
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


@pytest.mark.parametrize("method", ARGUMENTS, ids=lambda given: " ".join(given) or "committee")
def test_the_files_are_equal_to_the_byte(here, method, request):
    dropout = method[-1:] and method[-1] in NEED_DROPOUT
    probe = request.getfixturevalue("encoder") if dropout else "linear"
    for label_type in TYPES:
        path = write(here / f"{label_type.__name__}.jsonl", label_type)
        given = [str(path), "--text", "text", "--label", "weak", "--probe", str(probe), "--quiet"]
        given += ["--encoder", "none"]
        found, noise, classes = [], [], []
        for gold in ([], *(["--gold", f"gold_{kind.__name__}"] for kind in TYPES)):
            assert command.main([*given, *method, *gold, "--output", "out", "--force"]) == 0
            found.append([(here / "out" / f"{name}.jsonl").read_bytes() for name in OUTPUTS])
            noise.append(json.loads((here / "out" / "summary.json").read_text())["noise_before"])
            config = json.loads((here / "out" / "config.json").read_text())
            classes.append(config["dataset"]["classes"])
        assert all(files == found[0] for files in found), label_type
        assert classes == [sorted(map(str, map(label_type, (0, 1))))] * 4
        # A gold label equal to a label counts as that label, whatever their types.
        assert noise[1:] == [noise[1]] * 3
        assert 0.1 < noise[1] < 0.5
