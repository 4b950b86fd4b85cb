"""A table whose rows outside the sample need every option, and options to score them by."""

import csv
import json

import numpy as np

HEADER = ["nr", "text", "weak", "true", "group", "rule", "llm", "source", "seen"]
TEXT = ["--text", "text", "--quiet", "--gold", "true"]
ONE, NONE = [*TEXT, "--label", "weak"], ["--encoder", "none"]
# All options, several at once.
SETTINGS = {
    "per class": [*ONE, *NONE, "--per-class", "--source", "source"],
    "sure": [
        *ONE, *NONE, "--sure", "0.9", "--group", "group", "--relabel", "0.6",
        "--checked-column", "seen",
    ],
    "near names": [
        *ONE, *NONE, "--source", "source", "--classes", "sport,money,arts",
    ],
    "groups": [*ONE, "--group", "group", "--words", "words.json", "--abstain", "arts"],
    "votes": [
        *TEXT, "--labels", "weak,rule,llm", "--group", "group", "--checked-column", "seen",
    ],
}  # fmt: skip
WORDS = {name: [f"{name}word{i}" for i in range(12)] for name in ("sport", "money", "arts")}


def rows(n=900, seed=0):
    """Texts with words of their class and of their group; a sixth of the groups is wrong as a
    whole, so that who knows a group's labels believes them.
    """
    rng, names, table = np.random.default_rng(seed), list(WORDS), []
    for nr in range(n):
        group = int(rng.integers(0, 60))
        gold = int(rng.integers(0, 3))
        wrong = group % 6 == 0
        weak = (gold + 1) % 3 if wrong else gold
        words = [
            *rng.choice(WORDS[names[gold]], 3),
            *(f"group{group}{names[gold]}{i}" for i in rng.integers(0, 4, 6)),
            *(f"common{i}" for i in rng.integers(0, 30, 4)),
        ]
        votes = [(gold + (rng.uniform() < bad)) % 3 for bad in (0.25, 0.1)]
        rule, llm = (names[vote] if rng.uniform() < 0.8 else "" for vote in votes)
        source = "hurried" if wrong else f"annotator {group % 2}"
        seen = names[gold] if nr % 15 == 0 else ""
        labels = names[weak], names[gold]
        table.append([nr, " ".join(words), *labels, f"g{group}", rule, llm, source, seen])
    return table


def write(path, table, near=False):
    """Write the table as CSV; ``near``: every other label only nearly names its class."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for row in table:
            label = f"{row[2].capitalize()}." if near and row[0] % 2 else row[2]
            writer.writerow([*row[:2], label, *row[3:]])
    return path


def write_inputs(folder):
    """Write the tables and the words, and return them by name of the setting."""
    table = rows()
    (folder / "words.json").write_text(json.dumps(WORDS))
    tables = dict.fromkeys(SETTINGS, write(folder / "t.csv", table))
    return {**tables, "near names": write(folder / "near.csv", table, near=True)}


def decisions(folder):
    """Return nr -> (kept, confidence, wrong label) of all kept and rejected rows in a folder."""
    found = {}
    for part in ("kept", "rejected"):
        for path in [*folder.glob(f"{part}.csv"), *folder.glob(f"{part}/*.csv")]:
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    label = row.get("lops_label", row["weak"])
                    wrong = row["true"] != label.removesuffix(".").lower()
                    found[row["nr"]] = part == "kept", float(row["lops_confidence"]), wrong
    return found
