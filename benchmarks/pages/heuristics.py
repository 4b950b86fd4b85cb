"""Tables of data sets and of the heuristics that label them (the paper's tables 1 and 2)."""

from __future__ import annotations

from benchmarks.pages.common import Block, paper, results, spread, table

_PATTERN = "*/heuristics-*.json"


def noise_of_heuristics() -> Block:
    """Return coverage and noise, one row per data set and heuristic, beside the paper's noise."""
    files, published = results(_PATTERN), paper()["heuristics"]
    heads = ("pseudo-labels", "coverage %", "noise %", "the paper's noise %", "seconds")
    rows = [["data", "heuristic", *heads]]
    for item in files:
        data = item["about"]["dataset"]["name"]
        for name, found in item["result"]["heuristics"].items():
            theirs = published.get(data, {}).get(name)
            shares = [spread([found[part]]) for part in ("coverage", "noise")]
            beside = "-" if theirs is None else f"{theirs:.2f}"
            rows.append(
                [data, name, f"{found['count']:,}", *shares, beside, f"{found['seconds']:.1f}"]
            )
    known = {(row[0], row[1]) for row in rows}
    for data, names in published.items():
        for name, noise in names.items():
            if (data, name) not in known:
                rows.append([data, name, *["-"] * 3, f"{noise:.2f}", "-"])
    return table(rows, [[item] for item in files])


def statistics() -> Block:
    """Return documents, classes and String-Match noise per data set, here and in the paper."""
    files = {item["about"]["dataset"]["name"]: item for item in results(_PATTERN)}
    heads = ("documents", "classes", "noise %", "the paper's documents", "classes", "noise %")
    rows = [["data", *heads]]
    for data, theirs in paper()["datasets"].items():
        ours = ["-"] * 3
        if data in files:
            result = files[data]["result"]
            noise = spread([result["heuristics"]["string-match"]["noise"]])
            ours = [f"{result['n_documents']:,}", str(len(result["classes"])), noise]
        published = [f"{theirs['documents']:,}", str(theirs["classes"]), f"{theirs['noise']:.2f}"]
        rows.append([data, *ours, *published])
    return table(rows, [[item] for item in files.values()])
