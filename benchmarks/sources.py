"""Votes of rules, people, language models and seed words, combined by ``select`` and by others.

    pip install --constraint constraints.txt ".[label-models]"  # Python 3.11
    python -m benchmarks.sources --data-dir DIR --kept DIR
    python -m benchmarks.sources --data-dir DIR --kept DIR --tables youtube-rules,annotators --look

Per table of :mod:`benchmarks.source_tables`, on the rows with a vote: how accurate the combined
labels are, without and with 10 and 50 checked rows, and how well wrong majority labels and the
accuracies of the sources are ranked. Gold labels only measure, and play the person. Three seeds of
``select``.

What members and other label models say is kept in the folder ``--kept``, so that after a change of
the model of label sources a table takes seconds. ``--look`` prints accuracies and writes nothing; a
table with a result file is skipped otherwise. ``--again`` measures ``select`` again, and takes the
numbers of other label models, which have not changed, from the result file.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kept import kept, members_kept
from benchmarks.label_models import (
    Combined,
    best_source,
    crowd_kit,
    hyper,
    largest,
    majority,
    snorkel,
)
from benchmarks.record import RESULTS, command_line, write_result
from benchmarks.source_measures import JoinedLabels, drawn, mean, measured
from benchmarks.source_tables import TABLES, VotedTable, load_voted
from lops_adapters import select
from lops_adapters.datasets import Corpus
from lops_adapters.texts.result import TextSelection

SEEDS = 3
CHECKED = (10, 50)
# module -> distribution
LIBRARIES = {"snorkel": "snorkel", "crowdkit": "crowd-kit", "hyperlm": "hyperlm"}


Way = Callable[[VotedTable], Sequence[JoinedLabels]]  # one per seed


def by_votes(
    name: str, combine: Callable[[np.ndarray, int], Combined], folder: Path, table: VotedTable
) -> list[JoinedLabels]:
    """Combine votes without the texts."""

    def made() -> JoinedLabels:
        start = time.process_time()
        combined = combine(table.votes[table.voted], len(table.classes))
        probabilities = np.zeros((len(table.texts), len(table.classes)))
        probabilities[table.voted] = combined.probabilities
        seconds = time.process_time() - start
        return JoinedLabels(combined._replace(probabilities=probabilities), seconds=seconds)

    return [kept(folder, (name, table.votes.tolist(), table.classes), made)]


def by_best(table: VotedTable) -> list[JoinedLabels]:
    """Take the labels of the best source, by the gold labels."""
    return [JoinedLabels(best_source(table.votes, table.gold, len(table.classes)))]


def by_select(seeds: int, table: VotedTable) -> list[JoinedLabels]:
    """Combine votes together with the texts; without and with checked rows."""
    return [_selected(seed, table) for seed in range(seeds)]


def _selected(seed: int, table: VotedTable) -> JoinedLabels:
    """Return the labels of one seed.

    The probability that the label does not have is spread evenly over the other classes.
    """
    votes = table.named(table.votes).tolist()
    joined = partial(select, table.texts, votes, seed=seed)
    start = time.process_time()
    selection = joined()
    seconds = time.process_time() - start
    k, codes = len(table.classes), table.coded(selection.labels)
    right = np.nan_to_num(np.asarray(selection.confidence))
    probabilities = np.repeat((1 - right)[:, None] / (k - 1), k, axis=1)
    labelled = np.flatnonzero(codes >= 0)
    probabilities[labelled, codes[labelled]] = right[labelled]
    return JoinedLabels(
        Combined(probabilities, np.array([source.accuracy for source in selection.sources])),
        selection.mask,
        np.array([(source.low, source.high) for source in selection.sources]).reshape(-1, 2),
        seconds,
        _checked(table, selection, codes, joined),
    )


def _checked(
    table: VotedTable,
    selection: TextSelection,
    codes: np.ndarray,
    joined: Callable[..., TextSelection],
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return the labels with checked rows, and those without where these rows are corrected."""
    found, known = {}, list(selection.per_class)
    for count in CHECKED:
        rows, corrected = selection.to_check(count), codes.copy()
        corrected[rows] = table.gold[rows]
        said = {int(row): table.classes[table.gold[row]] for row in rows}
        checked = {row: label if label in known else None for row, label in said.items()}
        again = joined(checked=checked)
        after = table.coded(np.where(again.mask, again.corrected, again.suggested))
        after[rows] = table.gold[rows]
        found[count] = after, corrected
    return found


def by_one_label(table: VotedTable) -> list[JoinedLabels]:
    """Correct majority labels with the texts; the votes are not passed on."""
    combined = majority(table.votes, len(table.classes))
    given = np.where(table.voted, drawn(combined.probabilities), -1)
    selection = select(table.texts, table.named(given).tolist())
    right = np.nan_to_num(np.asarray(selection.confidence))
    suggested = np.nan_to_num(np.asarray(selection.suggested_probability))
    probabilities = np.zeros((len(table.texts), len(table.classes)))
    rows, codes = np.flatnonzero(table.voted), table.coded(selection.suggested)
    probabilities[rows, given[rows]] = right[rows]
    probabilities[rows, codes[rows]] = suggested[rows]
    return [JoinedLabels(Combined(probabilities, combined.accuracies))]


_RIVALS: Mapping[str, Callable[[np.ndarray, int], Combined]] = {
    "majority": majority,
    "snorkel": partial(snorkel, seed=0),
    "hyperlm": hyper,
    "dawid-skene": partial(crowd_kit, "DawidSkene"),
    "one-coin": partial(crowd_kit, "OneCoinDawidSkene"),
    "glad": partial(crowd_kit, "GLAD"),
    "mace": partial(crowd_kit, "MACE"),
}


def ways(folder: Path) -> dict[str, Way]:
    """Return all ways; what other label models say is kept in a folder."""
    return {
        **{name: partial(by_votes, name, way, folder) for name, way in _RIVALS.items()},
        **own_ways(),
    }


def own_ways() -> dict[str, Way]:
    """Return the ways that are no other label model."""
    return {
        "best source": by_best,
        "one label, static": by_one_label,
        "select, static": partial(by_select, SEEDS),
    }


def run(table: VotedTable, ways: Mapping[str, Way]) -> dict[str, Any]:
    """Measure the ways on a table."""
    result: dict[str, Any] = {}
    for name, way in ways.items():
        runs = [
            {**measured(labelled, table), "processor_seconds": labelled.seconds}
            for labelled in way(table)
        ]
        result[name] = {**mean(runs), "seeds": [one["accuracy"] for one in runs]}
        print(" ", name, round(100 * result[name]["accuracy"], 1), flush=True)
    tops = largest(majority(table.votes, len(table.classes)).probabilities)
    votes = (table.votes >= 0).sum(axis=0).tolist()
    right = (table.votes == table.gold[:, None]).sum(axis=0).tolist()
    return {
        "n": len(table.texts),
        "n_sources": len(table.sources),
        "classes": list(table.classes),
        "ties": float((tops[table.voted].max(axis=1) < 1).mean()),
        "sources": [
            {"name": name, "votes": voted, "right": true}
            for name, voted, true in zip(table.sources, votes, right, strict=True)
        ],
        "ways": result,
    }


def look(table: VotedTable, ways: Mapping[str, Way]) -> None:
    """Print how accurate the labels of the ways are: a quick measure of a change."""
    for name, way in ways.items():
        runs = [measured(labelled, table) for labelled in way(table)]
        shown = {
            key: round(100 * float(np.mean([one[key] for one in runs])), 1)
            for key in runs[0]
            if key == "accuracy" or key.startswith(("after", "corrected"))
        }
        print(f"  {name:18}", *(f"{key} {value}" for key, value in shown.items()), flush=True)


def main() -> None:
    """Measure the tables that have no result yet; or look at all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--tables", default=",".join(TABLES), help="default: all")
    parser.add_argument("--look", action="store_true", help="print accuracies only")
    parser.add_argument("--again", action="store_true", help="measure select again")
    options = parser.parse_args()
    if not options.again and (missing := [name for name in LIBRARIES if find_spec(name) is None]):
        sys.exit(f"not installed: {', '.join(missing)}; run: pip install '.[label-models]'")
    for name in options.tables.split(","):
        path = RESULTS / f"sources/{name}.json"
        if path.exists() and not (options.look or options.again):
            continue
        stored = json.loads(path.read_text(encoding="utf-8"))["result"] if options.again else {}
        print(name, flush=True)
        whole = load_voted(name, options.data_dir)
        table, voted = whole.with_votes(), float(whole.voted.mean())
        with members_kept(options.kept):
            every = own_ways() if stored else ways(options.kept)
            if options.look:
                look(table, every)
                continue
            result = run(table, every)
        result["voted"] = voted
        if stored:
            result["ways"] = {**stored["ways"], **result["ways"]}
            result["versions"] = stored["versions"]
        else:
            result["versions"] = {name: version(name) for name in LIBRARIES.values()}
        ids = tuple(map(str, range(len(table.texts))))
        corpus = Corpus(name, ids, tuple(table.texts), table.classes)
        write_result(f"sources/{name}", result, corpus, command=command_line("sources"))


if __name__ == "__main__":
    main()
