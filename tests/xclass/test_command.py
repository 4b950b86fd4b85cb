"""Bad input through the command: one clear line on standard error, exit status 2, before any long work; odd input that works."""

import csv
import json
import logging
import os
import subprocess
import sys
import warnings

import pytest

from lops_adapters import arguments
from lops_adapters.context_encoder import ContextEncoder
from lops_adapters.xclass.__main__ import main

from .toys import CLASSES, documents, shrink_presets, write_folder

TEXTS, LABELS = documents(30)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small presets; and warnings are lines on standard error, as for a user, where pytest would make errors of them."""
    shrink_presets(monkeypatch)
    logger = logging.getLogger("lops_adapters")
    handlers, level = logger.handlers, logger.level
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield
    logger.handlers, logger.level = handlers, level


@pytest.fixture
def no_work(monkeypatch):
    """Fail the test where a window is encoded."""
    monkeypatch.setattr(ContextEncoder, "encode", lambda *_: pytest.fail("long work before the error"))


@pytest.fixture
def run(bert, tmp_path, capsys):
    """run(folder, option, ...) -> exit status, standard output, standard error; into tmp_path/run."""

    def command(folder, *more):
        usual = ["--dataset", str(folder), "--encoder", bert, "--preset", "quick", "--device", "cpu", "--quiet"]
        status = arguments.guarded(main)([*usual, "--output", str(tmp_path / "run"), *map(str, more)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("good") / "good", TEXTS, LABELS)


def assert_refused(outcome, *words):
    status, out, err = outcome
    assert status == 2
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    for word in words:
        assert word in err


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--dataset", "no/such/folder"], ["is no path that exists"]),
        (["--arms", "nonsense"], ["--arms is 'nonsense'; wanted some of standard, lops, lops-all, separated by commas"]),
        (["--arms", ","], ["--arms is ','"]),
        (["--max-docs", "1"], ["--max-docs is 1; wanted at least 2"]),
        (["--max-docs", "2"], ["found 2 documents with a word among 2, for 3 classes; wanted at least as many"]),
        (["--tau", "0"], ["tau is 0.0; wanted a fraction above 0"]),
        (["--confident", "0"], ["confident is 0.0; wanted a fraction above 0 and at most 1"]),
        (["--confident", "1.5"], ["confident is 1.5"]),
        (["--confident", "nan"], ["confident is nan"]),
        (["--every", "0"], ["every is 0; wanted a number of updates"]),
        (["--every", "1000"], ["every is 1000, and the probe makes 12 updates on about 15 pseudo-labelled documents; wanted a smaller"]),
        (["--every", "21", "--probe", "linear"], ["every is 21, and the probe makes 4 updates"]),
        (["--seed", "-1"], ["--seed is -1; wanted a whole number from 0"]),
        (["--device", "abacus"], ["device 'abacus' cannot be used"]),
        (["--encoder", "no/such/model"], ["cannot load the encoder 'no/such/model'", "wanted 'minilm'"]),
        (["--classifier", "no/such/model"], ["cannot load the encoder 'no/such/model'"]),
        (["--classifier", "no/such/model", "--probe", "linear"], ["cannot load the encoder 'no/such/model'"]),
    ],
)
def test_options_that_cannot_work(run, good, tmp_path, monkeypatch, more, words):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert_refused(run(good, *more), *words)
    assert not (tmp_path / "run").exists()  # the corrected command can have it


@pytest.mark.usefixtures("no_work")
def test_an_encoder_of_the_vectors_alone_that_cannot_be_loaded(run, good, bert, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert_refused(run(good, "--encoder", "no/such/model", "--classifier", bert), "cannot load the encoder 'no/such/model'")
    assert not (tmp_path / "run").exists()


def test_options_argparse_refuses(run, good, capsys):
    for more in (["--rule", "best"], ["--probe", "svm"], ["--confident", "half"], ["--alignment", "x"], ["--attention", "x"]):
        with pytest.raises(SystemExit) as stopped:
            run(good, *more)
        assert stopped.value.code == 2
        assert "usage: python -m lops_adapters.xclass" in capsys.readouterr().err


DATA = {
    "one class": (TEXTS, ["law"], ["found 1 class; wanted at least two"]),
    "the same words twice": (TEXTS, ["arts", "Law", "law"], ["the class names 'Law', 'law' are the same words; wanted names that differ"]),
    "the same words in other spelling": (TEXTS, ["real-estate", "real estate"], ["'real estate', 'real-estate' are the same words"]),
    "a name without a word": (TEXTS, ["arts", "--", "!?"], ["class names without a word: '!?', '--'"]),
    "all empty": (["", "   ", ""], CLASSES, ["found 0 documents with a word among 3, for 3 classes"]),
    "only marks": (["...", "?!", "-", "..."], CLASSES, ["found 0 documents with a word among 4"]),
    "fewer documents than classes": (
        ["A judge.", "A match.", "", "..."],
        CLASSES,
        ["found 2 documents with a word among 4, for 3 classes"],
    ),
}


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("what", DATA)
def test_data_that_cannot_work(run, tmp_path, what):
    texts, classes, words = DATA[what]
    assert_refused(run(write_folder(tmp_path / "data", texts, None, classes)), *words)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_work")
def test_output_that_is_taken(run, good, tmp_path):
    output = tmp_path / "run"
    output.mkdir()
    (output / "thesis.tex").write_text("years of work")
    for more in ([], ["--resume"]):
        assert_refused(run(good, *more), "is there already and holds no run; give another --output")
    assert [path.name for path in output.iterdir()] == ["thesis.tex"]
    assert_refused(run(good, "--max-docs", "2"), "is there already and holds no run")
    assert (output / "thesis.tex").read_text() == "years of work"


def only_of_learning(err):
    return all(line.startswith(("warning: nothing was learnt", "warning: no document is aligned")) for line in err.splitlines())


def test_a_run_and_its_page(run, good, tmp_path):
    status, out, err = run(good, "--arms", "lops-all,standard")
    assert status == 0
    assert only_of_learning(err)
    assert "X-Class on good, 30 documents, preset quick, seed 0" in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("standard", "lops"))] == ["standard", "lops-all"]
    assert out.rstrip().endswith(f"run folder: {tmp_path / 'run'}")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "What the lops-all arm kept, by class" in page
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["framework"], config["settings"]["preset"], config["settings"]["min_count"]) == ("xclass", "quick", 3)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}
    assert_refused(run(good, "--arms", "standard"), "already holds a run; give --resume to go on with it, or another --output")
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}


def test_odd_data_that_work(run, tmp_path):
    """Documents that are empty, of marks, without a frequent word; names of several words, that the corpus lacks, that need quotes."""
    odd = ["", "...", "zyzzyva quux", "日本語 ☃", "word " * 300]
    classes = ['arts, "fine"', "<law>", "sport_match", "quidditch"]
    names = dict(zip(CLASSES, classes, strict=False))
    labels = [*(names[label] for label in LABELS), *["quidditch"] * 5]
    status, out, err = run(write_folder(tmp_path / "data", [*TEXTS, *odd], labels, classes))
    assert status == 0, err
    assert only_of_learning(err), err
    assert "35 documents" in out
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["classes"] == sorted(classes)
    assert metrics["name_vectors"] == {'arts, "fine"': "parts", "<law>": "corpus", "quidditch": "template", "sport_match": "parts"}
    assert metrics["documents_without_words"] == 2
    with (tmp_path / "run" / "lops" / "predictions.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 35
    assert {row["predicted"] for row in rows} <= set(classes)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "&lt;law&gt;" in page
    assert "<law>" not in page


def test_fewer_documents_than_components(run, tmp_path):
    status, out, err = run(write_folder(tmp_path / "data", TEXTS[:6], LABELS[:6]), "--arms", "standard")
    assert status == 0, err
    assert "6 documents" in out


def test_no_gold_labels(run, tmp_path):
    status, out, err = run(write_folder(tmp_path / "data", TEXTS), "--arms", "standard")
    assert status == 0, err
    arm, _, count, noise, selected, noise_after, micro, macro, _ = out.splitlines()[4].split()
    assert (arm, noise, noise_after, micro, macro) == ("standard", "-", "-", "-", "-")
    assert count == selected
    assert "no gold labels to compare with" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_samples_and_seeds_and_the_log(bert, good, tmp_path, capsys):
    usual = ["--dataset", str(good), "--encoder", bert, "--preset", "quick", "--device", "cpu", "--arms", "standard"]
    assert arguments.guarded(main)([*usual, "--output", str(tmp_path / "run"), "--seed", "5", "--seeds", "2", "--max-docs", "20"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("20 documents, preset quick, seed") == 2
    assert captured.err.count("of 20 documents have a pseudo-label") == 2
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["seed5", "seed6"]


def test_help_is_quick_and_light():
    code = (
        "import atexit, runpy, sys\n"
        "heavy = {'torch', 'transformers', 'tokenizers', 'sklearn', 'scipy', 'pandas', 'keras', 'gensim'}\n"
        "atexit.register(lambda: print('loaded', sorted(heavy & set(sys.modules))))\n"
        "sys.argv = ['lops_adapters.xclass', '--help']\n"
        "runpy.run_module('lops_adapters.xclass', run_name='__main__')\n"
    )
    seconds = []
    for _ in range(2):
        before = os.times()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        after = os.times()  # processor time: a busy machine makes an answer late, not heavy
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert done.stdout.splitlines()[-1] == "loaded []"
    for word in ("--confident", "--attention", "standard, lops, lops-all", "(default: standard,lops)", "{same,linear}"):
        assert word in done.stdout
    assert min(seconds) < 1
