"""What encoders are worth: each selects with what other families teach; means by task."""

from itertools import chain

from benchmarks import static_encoder
from benchmarks.pages import static as page
from benchmarks.real_tables import FRESH, LATER, REAL, TASKS
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.committee import calibration

from .stored import about, noisy_table, write_result


def test_every_table_with_real_noise_has_one_task():
    assert sorted(chain(*TASKS.values())) == sorted([*REAL, *FRESH, *LATER])


def test_encoders_select_with_coefficients_of_other_tables(monkeypatch):
    table = noisy_table("yelp-rules", n=120, k=2, noise=0.2)
    table.gold[:20] = ""
    asked, learnt = [], calibration.coefficients()
    monkeypatch.setattr(static_encoder, "coefficients", lambda name: asked.append(name) or learnt)
    found = static_encoder.compared(table, {"none": None, "static": EmbeddingProbe("static")})
    assert asked == ["yelp-rules"]
    assert (found["n"], found["gold"]) == (120, 100)
    assert found["noise"] == (table.labels != table.gold)[20:].mean()
    for way in ("none", "static"):
        assert found[way]["auroc"] > 0.7
        assert page.gain_of_rejecting(found, way) > 0.05


def test_the_page_has_means_by_task(results):
    way = {"average_precision": 0.5, "right_lost": 0.0, "wrong_found": 0.5}
    for name, base in (("sms-rules", 0.8), ("youtube-rules", 0.6), ("yelp-rules", 0.9)):
        ways = {one: {**way, "auroc": 0.7} for one in page._WAYS}
        ways["base"]["auroc"] = base
        result = {"n": 1450, "gold": 1000, "noise": 0.2, **ways}
        write_result(results / "encoders" / f"{name}.json", result, about(name))
    same = " | ".join(["0.700 / 0.500"] * 3)
    text = page.tasks().text
    gain = " / ".join(["+8.9"] * 4)
    assert f"| spam | 2 | {same} | 0.700 / 0.500 | +0.000 (1) | +0.000 (1) | {gain} |" in text
    assert f"| all | 3 | {same} | 0.767 / 0.500 | +0.067 (2) | +0.067 (2) | {gain} |" in text
    assert "relations" not in text
    assert f"| sms-rules | spam | 1,450 | 200 | {same} | 0.800 / 0.500 |" in page.every().text
