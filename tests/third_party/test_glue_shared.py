"""What the glue of all four shares: the environment, too few kept, several processes."""

import math
import sys

import numpy as np
import pytest

from lops_adapters.core import RULES, LearningOrder
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods

from .glue_tools import loaded, random_states_unchanged


def test_defaults(tmp_path, monkeypatch):
    found = {}
    for name in ("conwea", "xclass", "westclass", "lotclass"):
        with loaded(name, tmp_path, monkeypatch) as glue:
            found[name] = tuple(glue.SETTINGS)
    assert found == {
        "conwea": ("auto", "ranked", 100, None, "", ""),
        "xclass": ("auto", "ranked", 4, None, "", ""),
        "westclass": ("auto", "ranked", None, 1, "", ""),
        "lotclass": ("auto", "ranked", 4, None, "rows", ""),
    }


def test_settings_from_the_environment(tmp_path, monkeypatch):
    environment = {
        "LOPS_TAU": "0.9",
        "LOPS_RULE": "ranked",
        "LOPS_EPOCHS": "2",
        "LOPS_EVERY": "5",
        "LOPS_AT": "refresh",
        "LOPS_OUT": "kept.csv",
    }
    with loaded("lotclass", tmp_path, monkeypatch, **environment) as glue:
        assert tuple(glue.SETTINGS) == (0.9, "ranked", 2, 5, "refresh", "kept.csv")
    with loaded("westclass", tmp_path, monkeypatch, LOPS_EVERY="epoch", LOPS_TAU="") as glue:
        assert tuple(glue.SETTINGS) == ("auto", "ranked", None, None, "", "")
    with loaded("xclass", tmp_path, monkeypatch, LOPS_RULE="released") as glue:
        assert tuple(glue.SETTINGS) == (0.5, "released", 4, None, "", "")  # as published


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("LOPS", "yes", "LOPS is 'yes'; wanted 1 to select"),
        ("LOPS_TAU", "half", "LOPS_TAU is 'half'; wanted auto, or a fraction"),
        ("LOPS_TAU", "0", "LOPS_TAU is 0.0; wanted auto, or a fraction above 0"),
        ("LOPS_TAU", "nan", "LOPS_TAU is nan"),
        ("LOPS_RULE", "best", f"LOPS_RULE is 'best'; wanted one of {', '.join(RULES)}"),
        ("LOPS_EPOCHS", "1.5", "LOPS_EPOCHS is '1.5'; wanted a whole number"),
        ("LOPS_EPOCHS", "0", "LOPS_EPOCHS is 0; wanted at least 1"),
        ("LOPS_EVERY", "batch", "LOPS_EVERY is 'batch'; wanted epoch, or a whole number"),
        ("LOPS_AT", "rows", "LOPS_AT is 'rows'; wanted it unset: there is only one place here"),
        ("LOPS_OUT", "no/such/kept.csv", "LOPS_OUT is 'no/such/kept.csv'; wanted a file in a fold"),
        ("LOPS_AT", "top", "LOPS_AT is 'top'; wanted one of rows, refresh"),
    ],
)
def test_wrong_settings_stop_the_import(variable, value, message, tmp_path, monkeypatch):
    name = "lotclass" if value == "top" else "conwea"
    with (
        pytest.raises(ValueError, match=message.replace("(", r"\(")),
        loaded(name, tmp_path, monkeypatch, **{variable: value}),
    ):
        pass


def selection(shared, right, tau=0.5):
    order = shared.LearningOrder([0, 0, 1, 1], tau=tau, rule="algorithm1", max_checkpoints=1)
    order.observe([0, 0, 1, 1] if right else [0, 1, 0, 0])
    return order.select()


@pytest.mark.slow
@pytest.mark.parametrize("tau", ["", "0.9", "auto"])
@pytest.mark.parametrize("rule", ["", *RULES])
def test_the_rule_that_ran_is_said(rule, tau, tmp_path, monkeypatch, capsys):
    """A number for tau leaves the predictions as they are; ``auto`` divides them for ranked."""
    rng = np.random.default_rng(0)
    labels, seen = np.repeat([0, 1], [40, 20]), rng.random((6, 60, 2))
    words = 1 + labels[:, None] + rng.integers(0, 2, (60, 5))
    with loaded("lotclass", tmp_path, monkeypatch, LOPS_RULE=rule, LOPS_TAU=tau) as glue:
        shared, coming = sys.modules["lops_shared"], iter(seen)
        updates = iter(range(100))
        found = shared.select(labels, 2, glue.SETTINGS, 0, 1, updates, lambda: next(coming), words)
        kept = shared.positions(found, glue.SETTINGS)
        rule = rule or "ranked"
        tau = tau or ("auto" if rule == "ranked" else "0.5")
        share = shared.agreed_shares(words, labels, 2) if tau == "auto" else float(tau)
    said = f"LOPS: rule {rule}, tau {tau}, kept {len(kept)} of 60 pseudo-labelled samples; "
    if tau == "auto":
        mean = (math.ceil(40 * share[0]) + math.ceil(20 * share[1])) / 60
        assert share[0] < 1
        each = " on average" if rule == "ranked" else ""
        share = share if rule == "ranked" else mean
        assert found.stopped.startswith(
            f"tau {mean:.3f}{each} by 3-fold cross-validation; stopped after "
        )
    assert [line for line in capsys.readouterr().out.splitlines() if "rule" in line] == [
        said + found.stopped
    ]
    of_labels = class_shares(labels, 2)
    order = LearningOrder(labels, share, rule, max_checkpoints=4, classes=[0, 1], horizon=4)
    for time, scores in enumerate(seen, 1):
        divided = (tau, rule) == ("auto", "ranked")
        order.observe(likelihoods(scores, of_labels) if divided else scores, time=time)
        if order.done:
            break
    assert kept.tolist() == order.select().kept.tolist()
    if rule == "ranked":
        shares = share if tau == "auto" else {0: share, 1: share}
        wanted = [math.ceil(40 * shares[0]), math.ceil(20 * shares[1])]
        assert np.bincount(labels[kept]).tolist() == wanted


@pytest.mark.filterwarnings("ignore:nothing was learnt")
def test_too_few_samples_for_folds_are_all_kept(tmp_path, monkeypatch):
    with loaded("lotclass", tmp_path, monkeypatch) as glue:
        shared, scores = sys.modules["lops_shared"], np.array([[0.9, 0.1], [0.9, 0.1]])
        words, updates = np.ones((2, 3), dtype=int), iter(range(9))
        found = shared.select([0, 1], 2, glue.SETTINGS, 0, 1, updates, lambda: scores, words)
    assert found.kept.tolist() == [0, 1]
    assert found.stopped.startswith("nothing was selected: too few samples; ")


@pytest.mark.filterwarnings("ignore:nothing was learnt")
@pytest.mark.parametrize(
    ("rule", "said"), [("ranked", "nothing was selected"), ("released", "tau 1.000")]
)
def test_labels_that_probes_cannot_tell_apart(rule, said, tmp_path, monkeypatch):
    environment = {"LOPS_RULE": rule, "LOPS_TAU": "auto"}
    with loaded("lotclass", tmp_path, monkeypatch, **environment) as glue:
        scores, words = np.full((60, 2), 0.5), np.ones((60, 3), dtype=int)
        labels, shared = np.repeat([0, 1], 30), sys.modules["lops_shared"]
        updates = iter(range(9))
        found = shared.select(labels, 2, glue.SETTINGS, 0, 1, updates, lambda: scores, words)
    assert found.stopped.startswith(f"{said}: held-out probes cannot tell these labels apart; ")


@pytest.mark.filterwarnings("ignore:nothing was learnt")
def test_every_selection_is_a_file(tmp_path, monkeypatch):
    place = tmp_path / "kept.csv"
    environment = {"LOPS_TAU": "0.5", "LOPS_OUT": str(place)}
    labels, words = np.array([0, 0, 1, 1]), np.ones((4, 3), dtype=int)
    scores = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]])
    with loaded("lotclass", tmp_path, monkeypatch, **environment) as glue:
        select = sys.modules["lops_shared"].select
        for _ in range(2):
            updates = iter(range(9))
            select(labels, 2, glue.SETTINGS, 0, 1, updates, lambda: scores, words)
    wanted = "position,label,learnt_at,kept\n0,0,1.0,1\n1,0,1.0,0\n2,1,,0\n3,1,1.0,1\n"
    assert place.read_text() == wanted
    assert (tmp_path / "kept.csv.2").read_text() == wanted


def test_a_model_that_is_read_from_a_file_is_said(tmp_path, monkeypatch, capsys):
    path = tmp_path / "mcp_model.pt"
    for there, at in ((False, "rows"), (True, "rows"), (True, "refresh")):
        if there:
            path.touch()
        with loaded("lotclass", tmp_path, monkeypatch, LOPS_AT=at) as glue:
            assert glue.say_if_reused(str(path)) == str(path)
        said = capsys.readouterr().out
        assert (f"LOPS: nothing is selected: the model is read from {path}. Delete" in said) == (
            there and at == "rows"
        )


@pytest.mark.filterwarnings("ignore:nothing was learnt")
def test_too_few_kept_are_all(tmp_path, monkeypatch, capsys):
    with loaded("conwea", tmp_path, monkeypatch, LOPS_RULE="algorithm1") as glue:
        shared, settings = sys.modules["lops_shared"], glue.SETTINGS
        assert (
            shared.positions(selection(shared, True), settings, least=2).tolist()
            == selection(shared, True).kept.tolist()
        )
        capsys.readouterr()
        assert shared.positions(
            selection(shared, False), settings, {0: "cat", 1: "dog"}, least=2
        ).tolist() == [0, 1, 2, 3]
        assert capsys.readouterr().out.splitlines() == [
            "LOPS: rule algorithm1, tau 0.5, kept 1 of 4 pseudo-labelled samples; "
            "stopped after 1 checkpoint (max_checkpoints), 1 of 2 classes below threshold",
            "LOPS:   cat: 1 of 2",
            "LOPS:   dog: 0 of 2",
            "LOPS: too few to train on; using all samples",
        ]


@pytest.mark.parametrize("rank", [0, 1])
def test_the_first_of_several_processes_decides(rank, tmp_path, monkeypatch):
    import torch
    import torch.distributed as dist

    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    monkeypatch.setattr(dist, "get_rank", lambda: rank)
    sent, asked = [], []

    def broadcast(mask, source):
        assert source == 0
        sent.append(mask.clone())
        mask.copy_(torch.tensor([0, 1, 0, 1, 0], dtype=torch.uint8))

    def compute():
        asked.append(1)
        return np.array([1, 3])

    monkeypatch.setattr(dist, "broadcast", broadcast)
    with loaded("lotclass", tmp_path, monkeypatch):
        kept = sys.modules["lops_shared"].agreed(compute, 5, torch.device("cpu"))
    assert kept.tolist() == [1, 3]
    assert len(asked) == (rank == 0)
    assert sent[0].tolist() == ([0, 1, 0, 1, 0] if rank == 0 else [0] * 5)


def test_random_states_come_back_after_an_error_too(tmp_path, monkeypatch):
    import random

    import torch

    def draw_and_fail(shared):
        with shared.random_states_kept(torch.device("cpu")):
            shared.seed_torch(3, torch.device("cpu"))
            assert torch.initial_seed() == 3
            random.random(), np.random.rand(), torch.rand(1)
            raise KeyboardInterrupt

    with (
        loaded("lotclass", tmp_path, monkeypatch),
        random_states_unchanged(),
        pytest.raises(KeyboardInterrupt),
    ):
        draw_and_fail(sys.modules["lops_shared"])
