"""The published seed update after given predictions, and its table."""

from benchmarks import seed_update
from benchmarks.pages import conwea
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.datasets import load_dataset

from .stored import about, write_result


def test_right_predictions_add_words_and_noise_is_that_of_the_labels():
    dataset = load_dataset("demo", quiet=True).sample(300, 0)
    rows = seed_update.measure(dataset, "gold", ConweaSettings(), 3, 0)["iterations"]
    assert [len(row["seed_words"]) for row in rows] == [len(dataset.corpus.classes)] * 3
    first = {label: set(words) for label, words in rows[0]["seed_words"].items()}
    assert all(set(words) <= set(dataset.corpus.seeds[label]) for label, words in first.items())
    assert max(map(len, rows[2]["seed_words"].values())) == 5
    assert all(0 < row["noise"] < 0.5 for row in rows)


def test_the_table_takes_the_standard_arm_of_runs(results):
    noise = [{"noise": number / 100} for number in range(6)]
    write_result(results / "faithful/seed-update-gold-4000.json", {"iterations": noise}, about())
    arms = {"arms": {"standard": {"iterations": noise[::-1]}}}
    write_result(results / "faithful/conwea-20news-coarse-4000-seed0.json", arms, about())
    lines = conwea.causes().text.splitlines()
    assert lines[2] == "| gold labels | published | 0.0 | 1.0 | 2.0 | 3.0 | 4.0 | 5.0 |"
    assert lines[3] == "| HAN of `--faithful` | published | 5.0 | 4.0 | 3.0 | 2.0 | 1.0 | 0.0 |"
