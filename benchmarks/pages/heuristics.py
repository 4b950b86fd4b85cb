"""Tables of data sets and of the heuristics that pseudo-label them: the paper's tables 1 and 2."""

from __future__ import annotations

from benchmarks.pages.common import HOLE, markdown, paper, results, sources, spread

_PATTERN = "*/heuristics-*.json"


def noise_of_heuristics() -> str:
    """Return a row a data set and heuristic, with the paper's noise beside it."""
    files, published = results(_PATTERN), paper()["heuristics"]
    rows = [
        [
            "data",
            "heuristic",
            "pseudo-labels",
            "coverage %",
            "noise %",
            "the paper's noise %",
            "seconds",
        ]
    ]
    for item in files:
        data = item["about"]["dataset"]["name"]
        for name, found in item["result"]["heuristics"].items():
            theirs = published.get(data, {}).get(name)
            rows.append(
                [
                    data,
                    name,
                    f"{found['count']:,}",
                    spread([found["coverage"]]),
                    spread([found["noise"]]),
                    "-" if theirs is None else f"{theirs:.2f}",
                    f"{found['seconds']:.1f}",
                ]
            )
    missing = [
        (data, name, noise) for data, names in published.items() for name, noise in names.items()
    ]
    known = {(row[0], row[1]) for row in rows}
    rows += [
        [data, name, *["-"] * 3, f"{noise:.2f}", "-"]
        for data, name, noise in missing
        if (data, name) not in known
    ]
    return f"{markdown(rows)}\n\n{sources([item] for item in files)}\n" if files else HOLE


def statistics() -> str:
    """Return a row a data set: documents, classes and the noise of String-Match, here and in the
    paper.
    """
    files = {item["about"]["dataset"]["name"]: item for item in results(_PATTERN)}
    rows = [
        ["data", "documents", "classes", "noise %", "the paper's documents", "classes", "noise %"]
    ]
    for data, theirs in paper()["datasets"].items():
        ours = ["-"] * 3
        if data in files:
            result = files[data]["result"]
            noise = spread([result["heuristics"]["string-match"]["noise"]])
            ours = [f"{result['n_documents']:,}", str(len(result["classes"])), noise]
        rows.append(
            [
                data,
                *ours,
                f"{theirs['documents']:,}",
                str(theirs["classes"]),
                f"{theirs['noise']:.2f}",
            ]
        )
    return f"{markdown(rows)}\n\n{sources([item] for item in files.values())}\n" if files else HOLE
