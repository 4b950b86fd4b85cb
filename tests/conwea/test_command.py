"""Bad input through the command: one clear line on standard error, exit status 2, before any long work."""

import json
import warnings

import pytest

from lops_adapters import arguments
from lops_adapters.context_encoder import ContextEncoder
from lops_adapters.conwea.__main__ import main

from .toys import SEEDS, documents, shrink_presets, write_folder

TEXTS, LABELS = documents(30)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small presets; and warnings are lines on standard error, as for a user, where pytest would make errors of them."""
    shrink_presets(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


@pytest.fixture
def no_work(monkeypatch):
    """Fail the test where a sentence is encoded."""
    monkeypatch.setattr(ContextEncoder, "encode", lambda *_: pytest.fail("long work before the error"))


@pytest.fixture
def run(bert, tmp_path, capsys):
    """run(folder, option, ...) -> exit status, standard output, standard error; into tmp_path/run."""

    def command(folder, *more):
        usual = ["--dataset", str(folder), "--encoder", bert, "--preset", "quick", "--iterations", "1", "--device", "cpu", "--quiet"]
        status = arguments.guarded(main)([*usual, "--output", str(tmp_path / "run"), *map(str, more)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("good") / "good", TEXTS, LABELS, SEEDS)


def assert_refused(outcome, *words):
    status, out, err = outcome
    assert status == 2
    assert out == ""
    assert err.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in err
    for word in words:
        assert word in err


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--dataset", "agnwes"], ["did you mean agnews?"]),
        (["--dataset", "no/such/folder"], ["is no path that exists"]),
        (["--arms", "both"], ["--arms is 'both'; wanted some of standard, lops"]),
        (["--arms", ","], ["--arms is ','"]),
        (["--max-docs", "1"], ["--max-docs is 1; wanted at least 2"]),
        (["--tau", "0"], ["tau is 0.0; wanted a fraction above 0"]),
        (["--tau", "1.5"], ["tau is 1.5"]),
        (["--every", "0"], ["every is 0; wanted a number of updates"]),
        (["--every", "1000"], ["every is 1000, and the probe makes 24 updates on 30 pseudo-labelled documents; wanted a smaller number"]),
        (["--every", "21", "--probe", "linear"], ["every is 21, and the probe makes 4 updates"]),
        (["--iterations", "0"], ["iterations is 0; wanted at least 1"]),
        (["--seeds", "0"], ["--seeds is 0; wanted at least 1"]),
        (["--seed", "-1"], ["--seed is -1; wanted a whole number from 0"]),
        (["--seed", str(2**32)], ["--seed is 4294967296"]),
        (["--device", "abacus"], ["device 'abacus' cannot be used"]),
        (["--encoder", "no/such/model"], ["cannot load the encoder 'no/such/model'", "wanted 'minilm'"]),
        (["--text-column", "body"], ["no column 'body'"]),
    ],
)
def test_options_that_cannot_work(run, good, tmp_path, monkeypatch, more, words):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert_refused(run(good, *more), *words)
    assert not (tmp_path / "run").exists()  # the corrected command can have it


def test_options_argparse_refuses(run, good, capsys):
    for more in (["--rule", "best"], ["--probe", "svm"], ["--tau", "half"], ["--nonsense"]):
        with pytest.raises(SystemExit) as stopped:
            run(good, *more)
        assert stopped.value.code == 2
        assert "usage: python -m lops_adapters.conwea" in capsys.readouterr().err


DATA = {
    "no seed words": (TEXTS, None, ["comes without seed words", "put a seedwords.json beside the data"]),
    "empty lists": (TEXTS, {"arts": [], "law": []}, ["comes without seed words"]),
    "seeds that occur nowhere": (
        TEXTS,
        {"arts": ["sonata"], "sport": ["rugby"]},
        ["none of the seed words occurs", "arts: sonata, sport: rugby"],
    ),
    "one class labelled": (
        TEXTS,
        {"arts": ["gallery"], "sport": ["rugby"]},
        ["all for ['arts']; wanted at least two classes", "seed words that occur for sport", "warning: seed words that the corpus lacks"],
    ),
    "no seed twice": (["One judge here.", "One match there."], {"law": ["judge"], "sport": ["match"]}, ["no seed word occurs twice"]),
    "all empty": (["", "   ", "\n"], SEEDS, ["found no word in 3 documents"]),
    "only stop words": (["the and", "of!"], SEEDS, ["found no word in 2 documents"]),
}


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("what", DATA)
def test_data_that_cannot_work(run, tmp_path, what):
    texts, seeds, words = DATA[what]
    folder = write_folder(tmp_path / "data", texts, None, seeds)
    assert_refused(run(folder), *words)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_work")
def test_output_that_is_taken(run, good, tmp_path):
    output = tmp_path / "run"
    output.mkdir()
    (output / "thesis.tex").write_text("years of work")
    for more in ([], ["--resume"]):
        assert_refused(run(good, *more), "is there already and holds no run; give another --output")
    assert [path.name for path in output.iterdir()] == ["thesis.tex"]
    assert_refused(run(good, "--output", output / "thesis.tex"), "thesis.tex is there already and holds no run")
    assert_refused(run(good, "--output", output / "thesis.tex" / "run"), "cannot be written")
    assert (output / "thesis.tex").read_text() == "years of work"


def test_a_run_is_not_overwritten(run, good, tmp_path):
    status, out, err = run(good, "--arms", "standard")
    assert (status, err) == (0, "")
    assert "ConWea on good, 30 documents, preset quick, seed 0" in out
    assert out.rstrip().endswith(f"run folder: {tmp_path / 'run'}")
    assert (tmp_path / "run" / "report.html").is_file()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}
    assert_refused(run(good, "--arms", "standard"), "already holds a run; give --resume to go on with it, or another --output")
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}


def test_odd_data_that_work(run, tmp_path):
    """An empty document, a document of stop words, a seed of two words, a class whose seeds nobody uses, names that need quotes."""
    seeds = {'arts, "fine"': ["gallery", "oil painting"], "<law>": ["judge", "court"], "sport": ["match"], "ödland": ["heath"]}
    names = dict(zip(SEEDS, seeds, strict=False))
    texts, labels = [*TEXTS, "", "the of"], [*(names[label] for label in LABELS), "ödland", "sport"]
    status, out, err = run(write_folder(tmp_path / "data", texts, labels, seeds))
    assert status == 0, err
    lines = err.splitlines()
    assert lines[0] == "warning: seed words that the corpus lacks: ödland: heath; no pseudo-label can be made for ödland"
    assert all(line.startswith("warning: nothing was learnt") for line in lines[1:])  # on so few documents
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["classes"] == sorted(seeds)
    for arm in ("standard", "lops"):
        assert metrics["arms"][arm]["iterations"][0]["classes_without_pseudo_labels"] == ["ödland"]
        assert f"{arm:8s}" in out
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "&lt;law&gt;" in page
    assert "<law>" not in page
    lines = (tmp_path / "run" / "lops" / "predictions.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 33
    initial = json.loads((tmp_path / "run" / "lops" / "seeds.json").read_text(encoding="utf-8"))[0]
    assert any(word.startswith("oil_painting") for word in initial['arts, "fine"'])


def test_the_log_names_the_arms(bert, good, tmp_path, capsys):
    usual = ["--dataset", str(good), "--encoder", bert, "--preset", "quick", "--iterations", "1", "--device", "cpu", "--arms", "standard"]
    assert arguments.guarded(main)([*usual, "--output", str(tmp_path / "run"), "--seed", "5", "--seeds", "2", "--max-docs", "20"]) == 0
    captured = capsys.readouterr()
    assert "standard, iteration 0" in captured.err
    assert captured.out.count("20 documents, preset quick, seed") == 2
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["seed5", "seed6"]
    stored = [json.loads((tmp_path / "run" / name / "config.json").read_text()) for name in ("seed5", "seed6")]
    assert stored[0]["dataset"]["sha256"] != stored[1]["dataset"]["sha256"]  # each seed draws its own sample
