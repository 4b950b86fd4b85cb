"""Members that do not see the seed words, and class names as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

from benchmarks import hidden_seeds, name_sentences
from benchmarks.pages.common import Block, commits, markdown, results, spread_number

_HIDDEN = {
    "members": "`words`",
    "hidden-one": "one more",
    "random-one": "one more, random",
    "hidden-all": "all twice",
    "random-all": "all twice, random",
    "hidden-instead": "instead",
    "random-instead": "instead, random",
}
_NAMES = {
    "nearest name": "nearest",
    "nearest name, centred": "nearest, centred",
    "k-means": "k-means",
    "mixture": "mixture",
    "k-means, centred": "k-means, centred",
    "mixture, centred": "mixture, centred",
    "k-means, random start": "random start",
    "X-Class": "X-Class",
    "X-Class with sentences": "X-Class with sentences",
    "X-Class or sentences": "X-Class or sentences",
}
# What X-Class aligns texts by -> the cells of these runs.
_WAYS = {"words": "equal/xclass", "sentences": "class-names/sentences"}
_ARMS = ("standard", "committee", "random")
_CORPORA = ("agnews", "20news-coarse", "20news-fine", "german-news", "debian")


def _stored() -> dict[str, dict[str, Any]]:
    return {item["about"]["dataset"]["name"]: item for item in results("pseudo-labels/*.json")}


def _block(rows: list[list[str]], items: Sequence[dict[str, Any]], what: str, part: str) -> Block:
    if not items:
        return Block("Not measured yet.")
    machine = items[0]["about"]["machine"]["processor"]
    command = f"`python -m benchmarks.pseudo_labels --data-dir DIR --tables {part}-NAME`"
    where = f"{what}, CPU ({machine}), commits {commits(items)}: {command}."
    return Block(f"{markdown(rows)}\n\n{where}")


def _hidden() -> Iterator[tuple[str, dict[str, Any]]]:
    stored = _stored()
    for name in hidden_seeds.TABLES:
        if f"hidden-{name}" in stored:
            yield name, stored[f"hidden-{name}"]


def _chosen(name: str, on: Sequence[str]) -> str:
    return f"{name} (chosen on)" if name in on else name


def hidden(measure: str, times: int, digits: int) -> Block:
    """Return a measure per table and way; the last row counts wins against the control."""
    found = list(_hidden())
    rows = [["table", "rows", "wrong %", "no words", *_HIDDEN.values()]]
    means: dict[str, list[float]] = {way: [] for way in _HIDDEN}
    for name, item in found:
        result, cells = item["result"], list[str]()
        for way in ("members without words", *_HIDDEN):
            values = [run[way][measure] for run in result["runs"] if way in run]
            cells.append(spread_number(values, digits, times) if values else "-")
            if way in means and name not in hidden_seeds.CHOSEN_ON:
                means[way].append(times * mean(values))
        counts = [f"{result['n']:,}", f"{100 * result['noise']:.1f}"]
        rows.append([_chosen(name, hidden_seeds.CHOSEN_ON), *counts, *cells])
    others = [f"{mean(values):.{digits}f}" if values else "-" for values in means.values()]
    rows.append(["mean of the others", "", "", "", *others])
    items = [item for _, item in found]
    return _block(rows, items, f"{hidden_seeds.SEEDS} seeds, static encoder", "hidden")


def classified() -> Block:
    """Return macro-F1 of a classifier on the result."""
    stored = [(name, item) for name, item in _hidden() if item["result"]["macro_f1"] is not None]
    rows = [["table", "trained on", "all", *(_HIDDEN[way] for way in hidden_seeds.CLASSIFIED)]]
    for name, item in stored:
        runs = item["result"]["runs"]
        for part in ("kept", "corrected"):
            cells = [f"{item['result']['macro_f1']:.1f}"]
            for way in hidden_seeds.CLASSIFIED:
                scored = [run[way]["macro_f1"][part] for run in runs if "macro_f1" in run[way]]
                cells.append(spread_number(scored, 1))
            rows.append([_chosen(name, hidden_seeds.CHOSEN_ON), part, *cells])
    what = "3 seeds where a cell has a spread, else the first, static encoder"
    return _block(rows, [item for _, item in stored], what, "hidden")


def names() -> Block:
    """Return accuracy per table, encoder and way."""
    stored, items = _stored(), list[dict[str, Any]]()
    rows = [["table", "encoder", "documents", *_NAMES.values()]]
    for name in name_sentences.CORPORA:
        for encoder in name_sentences.ENCODERS:
            item = stored.get(f"names-{name}-{encoder}")
            if item is None:
                continue
            items.append(item)
            result = item["result"]
            cells = [
                spread_number([run[way]["accuracy"] for run in result["runs"]], 1, 100)
                if way in result["runs"][0]
                else "-"
                for way in _NAMES
            ]
            documents = f"{result['n']:,} x {result['samples']}"
            label = _chosen(name, name_sentences.CHOSEN_ON)
            rows.append([label, encoder, documents, *cells])
    return _block(rows, items, "samples", "names")


def arms() -> Block:
    """Return what X-Class labels right, and macro-F1 of its arms, with words and sentences.

    Of the seeds that have both: those with words are of the protocol ``equal``.
    """
    heads = [f"{what}, {way}" for what in ("labels", *_ARMS) for way in _WAYS]
    rows, items = [["corpus", "documents", "seeds", *heads]], list[dict[str, Any]]()
    others: list[list[float]] = []
    for name in _CORPORA:
        by_way = [
            {item["about"]["seed"]: item for item in results(f"{folder}-{name}-*seed?.json")}
            for folder in _WAYS.values()
        ]
        seeds = sorted(set.intersection(*map(set, by_way)))
        if not seeds:
            continue
        files = [[of_way[seed] for seed in seeds] for of_way in by_way]
        items += files[0] + files[1]
        values = [
            [_score(item["result"], what) for item in of_way]
            for what in ("labels", *_ARMS)
            for of_way in files
        ]
        if name not in name_sentences.CHOSEN_ON:
            others.append([mean(cell) for cell in values])
        documents = f"{files[0][0]['about']['dataset']['documents']:,}"
        cells = [spread_number(cell, 1, 100) for cell in values]
        label = _chosen(name, name_sentences.CHOSEN_ON)
        rows.append([label, documents, str(len(seeds)), *cells])
    if others:
        means = [f"{100 * mean(column):.1f}" for column in zip(*others, strict=True)]
        rows.append(["mean of the others", "", "", *means])
    if not items:
        return Block("Not measured yet.")
    machine = items[0]["about"]["machine"]["processor"]
    commands = "`python -m benchmarks run equal` (words) and `class-names` (sentences)"
    return Block(f"{markdown(rows)}\n\nCPU ({machine}), commits {commits(items)}: {commands}.")


def _score(result: dict[str, Any], what: str) -> float:
    if what == "labels":
        return float(result["stages"]["alignment"]["micro_f1"])
    return float(result["arms"][what]["macro_f1"])


TABLES_OF_PAGE = {
    "hidden-auroc": lambda: hidden("auroc", 1, 3),
    "hidden-gained": lambda: hidden("labels_gained", 100, 1),
    "hidden-classifier": classified,
    "names-accuracy": names,
    "names-arms": arms,
}
