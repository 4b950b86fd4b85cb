"""The command: bad input is one clear line on standard error, exit status 2, before any long work;
odd input works.
"""

import json

import pytest

from ..framework_checks import metrics_of
from ..framework_tools import write_folder
from .toys import SEEDS, documents

TEXTS, LABELS = documents(60)
FEW = "--pretrain-epochs 1 --max-iterations 1"


def settings_of(folder):
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))["settings"]


REFUSED = {
    "--every 9 --probe linear": "every is 9, and the probe makes 8 updates on 36 pseudo documents",
    "--min-count 5000": [
        "no seed of 3 of 3 classes is a word with a vector",
        "a lower --min-count",
    ],
    "--labelled-per-class 11": "--labelled-per-class is 11; wanted 1 to 10, half of the documents",
}


@pytest.mark.parametrize("more", REFUSED)
def test_options_that_cannot_work(refuse, good, more):
    refuse(good, more, REFUSED[more])


def test_seed_words_without_a_vector(refuse, tmp_path):
    data = write_folder(tmp_path / "data", TEXTS, LABELS, {**SEEDS, "law": ["sonata", "rugby"]})
    said = "no seed of 1 of 3 classes is a word with a vector (law: sonata, rugby)"
    refuse(data, "", [said, "give other seed words (seeds.json"])


def test_only_punctuation_and_faithful(refuse, tmp_path):
    data = write_folder(tmp_path / "data", ["...", "?! (_)"], None, SEEDS)
    refuse(data, "--faithful", "found no word in 2 documents", may_warn=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\nd0,laws\n", "line 2: 'laws' is no class of good; wanted one of fine_arts, law"),
        ("id,label\nd0,law\n", "no labelled document for fine_arts, sport; wanted at least one"),
    ],
)
def test_labelled_documents_that_cannot_work(refuse, good, tmp_path, text, words):
    (tmp_path / "some.csv").write_text(text, encoding="utf-8")
    refuse(good, ["--labelled", tmp_path / "some.csv"], words)


def test_word_vectors_are_cached_and_the_page_says_what_was_made(run, good, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    status, _, err = run(good, "--arms standard", FEW)
    assert (status, err) == (0, "")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "36 pseudo documents" in page
    assert settings_of(tmp_path / "run")["supervision"] == "keywords"
    assert list((tmp_path / "cache" / "lops_adapters" / "word_vectors").glob("*.npz"))


def test_labelled_documents_from_a_file(run, good, tmp_path):
    """Columns in any order among others, a byte order mark, cells in quotes."""
    lines = ["label,note,id", *(f'{LABELS[number]},"a, b",d{number}' for number in (3, 4, 5))]
    (tmp_path / "some.csv").write_text("\n".join(lines), encoding="utf-8-sig")
    status, _, err = run(good, "--labelled", tmp_path / "some.csv", "--arms standard", FEW)
    assert (status, err) == (0, "")
    settings = settings_of(tmp_path / "run")
    assert settings["supervision"] == "documents"
    assert settings["labelled"] == [[f"d{number}", LABELS[number]] for number in (3, 4, 5)]
    assert metrics_of(tmp_path / "run")["labelled_documents"] == 3
    assert metrics_of(tmp_path / "run")["arms"]["standard"]["iterations"][1]["pseudo_labels"] == 57


def test_odd_data_that_work(run, tmp_path):
    """Keyword lists of different length, a document shorter than a filter, an empty one, one of
    marks, names that need quotes.
    """
    seeds = {
        'arts, "fine"': ["gallery", "oil painting", "Fine-Arts"],
        "<law>": ["judge"],
        "ödsport": ["match", "score", "coach", "rugby"],
    }
    names = dict(zip(SEEDS, seeds, strict=True))
    texts = [*TEXTS, "Judge!", "", "...", "日本語 हिन्दी", "judge " * 400]
    status, _, err = run(
        write_folder(
            tmp_path / "data", texts, [*(names[label] for label in LABELS), *["<law>"] * 5], seeds
        ),
        "--arms lops",
    )
    assert status == 0, err
    (line,) = err.splitlines()
    assert line.startswith("warning: seeds with words too rare for a vector, which are left out")
    assert "oil painting" in line
    assert "ödsport: rugby" in line
    metrics = metrics_of(tmp_path / "run")
    assert metrics["classes"] == sorted(seeds)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "&lt;law&gt;" in page
    assert "<law>" not in page
    assert 'arts, "fine"' in json.loads(
        (tmp_path / "run" / "topics.json").read_text(encoding="utf-8")
    )
    lines = (tmp_path / "run" / "lops" / "predictions.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 66


@pytest.mark.slow
def test_labelled_documents_drawn_again_are_the_same(run, data, tmp_path):
    """A resumed run draws what it drew before: 2 documents per class, by the seed."""
    few = "--labelled-per-class 2 --pretrain-epochs 1 --max-iterations 1 --arms standard"
    assert run(data, few)[0] == 0
    assert len(settings_of(tmp_path / "run")["labelled"]) == 6
    assert run(data, few, "--resume")[0] == 0
