"""The verdicts of docs/findings.md, computed from the committed result files."""

from statistics import mean

import pytest

from benchmarks.pages import base, common, curves, defaults, frameworks, heuristics, self_training
from benchmarks.pages.self_training import files_of, values

CORPORA = ("20news-coarse", "20news-fine", "agnews")
NEWSGROUPS = CORPORA[:2]
# Methods without gold labels that may keep more of one class than of another.
UNEVEN = (
    "lops", "probability", "entropy", "mc-dropout", "o2u-net", "stability", "margin", "automatic",
)  # fmt: skip


def macro(files, arm):
    return 100 * mean(values(files, arm, "macro_f1"))


def arms_of(files):
    return set(files[0]["result"]["arms"])


def over_iterations(files, arm, key):
    runs = [item["result"]["arms"][arm]["iterations"] for item in files]
    return [mean(row[key] for row in rows) for rows in zip(*runs, strict=True)]


def area(files, name):
    return mean(found["aunc"] for found in curves.of_confidence(files, name))


@pytest.fixture(scope="module")
def linear():
    return files_of("cpu", "linear")


@pytest.fixture(scope="module")
def even():
    return files_of("cpu", "linear", "stratified")


def test_correct_labels_are_learnt_first_and_confidences_of_the_linear_classifier_rank():
    learnt_first = 0
    for (classifier, _), files in curves.groups_of("cpu").items():
        learnt = [item["result"]["distributions"]["learnt_at"] for item in files]
        shares = [(found["correct"][0], found["wrong"][0]) for found in learnt]
        learnt_first += sum(correct > wrong for correct, wrong in shares)
        assert mean(correct for correct, _ in shares) > mean(wrong for _, wrong in shares)
        if classifier == "linear":
            assert min(wrong for _, wrong in shares) >= 0.5
            for name in files[0]["result"]["confidences"]:
                assert name == "random" or area(files, name) < 0.7 * area(files, "random")
    assert learnt_first == 17


def test_learning_order_ranks_worse_than_probability_and_automatic_best():
    groups = curves.groups_of("cpu")
    worse = {"linear": 0, "minilm": 0}
    for (classifier, data), files in groups.items():
        assert area(files, "learning-order") > area(files, "probability")
        for order, probability in zip(
            curves.of_confidence(files, "learning-order"),
            curves.of_confidence(files, "probability"),
            strict=True,
        ):
            worse[classifier] += order["aunc"] > probability["aunc"]
        (often,) = (
            name
            for name in files[0]["result"]["confidences"]
            if name.startswith("learning-order, every")
        )
        assert area(files, often) > area(files, "learning-order")
        whole = [
            name
            for name, found in files[0]["result"]["confidences"].items()
            if found["from_coverage"] < 0.01
        ]
        assert min(whole, key=lambda name: area(files, name)) == "automatic", (classifier, data)
        sure = [item["result"]["distributions"]["probability"]["wrong"][-1] for item in files]
        assert 100 * mean(sure) < 1.25
    assert worse == {"linear": 9, "minilm": 8}
    files = groups["minilm", "agnews"]
    assert area(files, "o2u-net") > area(files, "random")
    (watched,) = common.results("speed/speed-watching-agnews-minilm.json")
    areas = watched["result"]["areas"]
    pairs = zip(areas["learning-order"]["watched"], areas["probability"]["watched"], strict=True)
    assert [order < probability for order, probability in pairs] == [True] * 3


def test_with_a_fine_tuned_base_transformer_learning_order_ranks_better_but_trains_no_better():
    groups, better, halves = curves.groups_of("fine-tuned"), 0, {}
    for (_, data), files in groups.items():
        for item in files:
            found = item["result"]["confidences"]
            order, probability, often = (
                found[name]
                for name in ("learning-order", "probability", "learning-order, every 6 updates")
            )
            better += order["auroc"] > probability["auroc"] > often["auroc"]
            assert order["aunc"] < probability["aunc"] < often["aunc"] < found["random"]["aunc"]
        halves[data] = {
            name: 100 * mean(row["macro_f1"] for row in curves.f1_rows(files, name, share))
            for name, share in (
                ("all", 1.0),
                ("learning-order", 0.5),
                ("probability, per class", 0.5),
                ("random", 0.5),
            )
        }
    assert better == 6
    for found in halves.values():
        assert abs(found["learning-order"] - found["all"]) < 0.5
        assert abs(found["learning-order"] - found["probability, per class"]) < 1.6
    gains = {name: found["learning-order"] - found["random"] for name, found in halves.items()}
    assert round(gains["20news-coarse"]) == 5
    assert gains["agnews"] < 0
    epochs = {data: mean(map(base.auroc_of_epochs, files)) for (_, data), files in groups.items()}
    last = {
        data: mean(found["auroc"] for found in curves.of_confidence(files, "probability"))
        for (_, data), files in groups.items()
    }
    assert epochs["agnews"] > last["agnews"]
    assert epochs["20news-coarse"] < last["20news-coarse"]


def test_frozen_the_base_encoder_ends_higher_and_committee_is_best_without_gold_labels():
    for data, gain in (("agnews", 1.4), ("20news-coarse", 3.8)):
        files, smaller = (
            common.results(f"{protocol}/self-training-hybrid-{data}-seed*.json")
            for protocol in ("base", "gpu")
        )
        scores = {arm: macro(files, arm) for arm in arms_of(files) - {"optimal"}}
        assert max(scores, key=scores.get) == "committee"
        assert scores["committee"] - scores["standard"] == pytest.approx(gain, abs=0.1)
        assert scores["committee"] > macro(smaller, "committee")
        assert (scores["lops"] - scores["standard"] > 3) == (data == "20news-coarse")


def test_shares_per_class_make_learning_orders_classifiers_better(even):
    for (classifier, _), files in curves.groups_of("cpu").items():
        for share in (0.3, 0.5, 0.7, 0.9) if classifier == "linear" else ():
            first, second = (
                mean(row["macro_f1"] for row in curves.f1_rows(files, name, share))
                for name in ("learning-order", "probability")
            )
            assert first > second
    for files in even.values():
        first, second = (
            over_iterations(files, arm, "macro_f1") for arm in ("learning-order", "probability")
        )
        assert second[0] > first[0]
        assert second[-1] > first[-1]


def test_lops_is_below_standard_and_its_ranking_is_not_the_cause(linear):
    for data, files in linear.items():
        standard, lops, order = (
            over_iterations(files, arm, "macro_f1")
            for arm in ("standard", "lops", "learning-order")
        )
        assert all(below < above for below, above in zip(lops, standard, strict=True))
        noise = over_iterations(files, "lops", "selected_noise")
        started = over_iterations(files, "standard", "noise")[0]
        assert noise[0] < started < noise[-1]
        difference = [100 * (one - other) for one, other in zip(order, standard, strict=True)]
        assert min(difference) > (0 if data in NEWSGROUPS else -1)
        above = {arm for arm in UNEVEN if arm in arms_of(files)}
        above = {arm for arm in above if macro(files, arm) > macro(files, "standard")}
        assert above == ({"automatic"} if data == "20news-fine" else set())


def test_automatic_stratified_is_best_without_gold_labels_and_random_is_not(linear, even):
    expected = {"20news-coarse": (5.5, 0.002), "20news-fine": (5.7, 0.002), "agnews": (0.5, 0.054)}
    for data, files in even.items():
        best = macro(files, "automatic")
        others = [macro(files, arm) for arm in arms_of(files) - {"automatic"}]
        others += [macro(linear[data], arm) for arm in arms_of(linear[data]) - {"optimal"}]
        assert 0 < best - max(others) < 1
        pattern = f"cpu/over-seeds-stratified-linear-{data}.json"
        (item,) = common.results(pattern)
        found = item["result"]["significance"]["automatic"]["standard"]["macro"]
        assert round(100 * found["difference"], 1) == expected[data][0]
        assert round(found["p_value"], 3) == expected[data][1]
        assert macro(linear[data], "random") - macro(linear[data], "standard") < 0.55
        assert values(files, "standard", "macro_f1") == values(linear[data], "standard", "macro_f1")
        first = [
            mean(
                self_training.kept_share(item["result"]["arms"][arm]["iterations"], 0)
                for item in group
            )
            for group, arm in ((files, "automatic"), (linear[data], "random"))
        ]
        assert first[0] == pytest.approx(first[1], abs=0.03)


def test_f1_rises_with_tau_and_stays_below_standard(linear):
    for rule in ("ranked", "released"):
        pattern = f"cpu/tau-{rule}-linear-20news-coarse-tau{{}}-seed*.json"
        groups = [common.results(pattern.format(tau)) for tau in (0.3, 0.5, 0.7, 0.9)]
        scores = [macro(files, self_training.only_arm(files)) for files in groups]
        assert scores == sorted(scores)
        assert scores[-1] < macro(linear["20news-coarse"], "standard")


def test_selection_does_not_help_minilm():
    better = 0
    for files in files_of("cpu", "minilm").values():
        for arm in arms_of(files) & set(UNEVEN):
            assert macro(files, arm) < macro(files, "standard")
    gains = {}
    for data, files in files_of("cpu", "minilm", "stratified").items():
        if not files:
            assert data == "20news-fine"
            continue
        order, lops = (values(files, arm, "macro_f1") for arm in ("learning-order", "lops"))
        better += sum(one > other for one, other in zip(order, lops, strict=True))
        gains[data] = macro(files, "learning-order") - macro(files, "standard")
        assert macro(files, "automatic") - macro(files, "standard") == pytest.approx(-0.9, abs=0.1)
    assert better == 5
    assert round(gains["20news-coarse"], 1) == 1.4
    assert gains["agnews"] < 0


def test_room_is_left(linear, even):
    left = {}
    for data, files in linear.items():
        others = [macro(files, arm) for arm in arms_of(files) - {"optimal"}]
        others += [macro(even[data], arm) for arm in arms_of(even[data])]
        left[data] = macro(files, "optimal") - max(others)
    assert min(left, key=left.get) == "agnews"
    assert round(left["agnews"]) == 4
    assert max(left, key=left.get) == "20news-coarse"
    assert round(left["20news-coarse"]) == 13


def test_frameworks_are_mixed():
    runs = {key: files for key, files in frameworks.runs_of().items() if files}
    gains = {key: macro(files, "lops") - macro(files, "standard") for key, files in runs.items()}
    assert gains["conwea", "20news-coarse"] > 3
    assert all(
        gain < 0.05 for (name, _), gain in gains.items() if name in ("westclass", "lotclass")
    )
    assert all(abs(gain) < 1 for (name, _), gain in gains.items() if name == "xclass")
    standard, lops = (
        over_iterations(runs["conwea", "20news-coarse"], arm, "macro_f1")
        for arm in ("standard", "lops")
    )
    assert sum(one < other for one, other in zip(lops, standard, strict=True)) == 4
    assert len(lops) == 6
    assert max(lops) < max(standard)


def test_the_noise_of_heuristics_is_the_papers():
    published = {data: row["noise"] for data, row in common.paper()["datasets"].items()}
    files = common.results(heuristics._PATTERN)
    assert {item["about"]["dataset"]["name"] for item in files} == set(CORPORA)
    for item in files:
        found = item["result"]["heuristics"]
        noise = 100 * found["string-match"]["noise"]
        assert abs(noise - published[item["about"]["dataset"]["name"]]) < 1.4
        assert 100 * found["exclusive-string-match"]["noise"] > noise + 15


def test_selection_pays_in_the_frameworks_with_the_defaults_of_today():
    cells = {
        (framework, data): files
        for framework in ("conwea", "xclass", "westclass", "lotclass")
        for data in CORPORA
        if (files := defaults.files_of(framework, data))
    }
    assert len(cells) >= 9
    for (framework, data), files in cells.items():
        at_documents = framework in ("westclass", "lotclass")
        end = "-documents" if at_documents else ""
        standard, random, lops, committee = (
            macro(files, arm)
            for arm in ("standard", f"random{end}", f"lops-adaptive{end}", f"committee{end}")
        )
        assert committee > random
        assert max(lops, committee) > standard
        optimal = macro(files, f"optimal{end}")
        closed = (committee - standard) / (optimal - standard)
        little = (("xclass", "20news-coarse"), ("conwea", "20news-fine"))
        assert closed > (0.2 if (framework, data) in little else 0.5)
