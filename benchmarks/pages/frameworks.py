"""Tables of the pages of ConWea, WeSTClass, X-Class and LOTClass."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, markdown, paper, provenance, results, spread, table


def iterations(pattern: str) -> str:
    """Return a row an arm and iteration, averaged over seeds."""
    files = results(pattern)
    if not files:
        return HOLE
    rows = [
        [
            "arm",
            "iteration",
            "pseudo-labels",
            "noise %",
            "selected",
            "noise after %",
            "micro-F1 %",
            "macro-F1 %",
            "seconds",
        ]
    ]
    for arm in files[0]["result"]["arms"]:
        for items in zip(
            *(item["result"]["arms"][arm]["iterations"] for item in files), strict=True
        ):
            rows.append(
                [
                    arm,
                    str(items[0].get("stage", items[0]["iteration"])),
                    f"{mean(item['pseudo_labels'] for item in items):.0f}",
                    spread([item["noise"] for item in items]),
                    f"{mean(item['selected'] for item in items):.0f}",
                    spread([item["selected_noise"] for item in items]),
                    spread([item["micro_f1"] for item in items]),
                    spread([item["macro_f1"] for item in items]),
                    f"{mean(item['seconds'] for item in items):.0f}",
                ]
            )
    return f"{markdown(rows)}\n\n{provenance(files)}\n"


def westclass() -> str:
    """Return a row a data set and arm, averaged over seeds, with the paper's F1 beside it."""
    published_by = paper()["frameworks"]["westclass"]
    head = [
        "data",
        "arm",
        "kept %",
        "noise after pre-training %",
        "micro-F1 %",
        "macro-F1 %",
        "the paper's",
        "updates",
        "seconds",
    ]
    rows, sources = [head], []
    for data in ("20news-coarse", "20news-fine", "agnews"):
        files = results(f"westclass-{data}-seed*.json")
        if not files:
            continue
        for arm in files[0]["result"]["arms"]:
            arms = [item["result"]["arms"][arm] for item in files]
            last = [result["iterations"][-1] for result in arms]
            rows.append(
                [
                    data,
                    arm,
                    spread(
                        [
                            result["selected"] / item["result"]["pseudo_labels"]["count"]
                            for result, item in zip(arms, files, strict=True)
                        ]
                    ),
                    spread([result["noise_after_pretraining"] for result in arms]),
                    spread([result["micro_f1"] for result in arms]),
                    spread([result["macro_f1"] for result in arms]),
                    "/".join(f"{value:.1f}" for value in published_by[data][arm]),
                    f"{mean(item['updates'] for item in last):.0f}",
                    f"{mean(result['seconds'] for result in arms):.0f}",
                ]
            )
        sources.append(f"- {provenance(files)}")
    return f"{markdown(rows)}\n\n" + "\n".join(sources) + "\n" if sources else HOLE


def westclass_ranked() -> str:
    """Return the rule that keeps exactly half beside both arms of the same seed."""
    files = results("westclass-ranked-*.json")
    if not files:
        return HOLE
    rows = [["data", "arm", "kept %", "noise after pre-training %", "micro-F1 %", "macro-F1 %"]]
    for item in files:
        about = item["about"]
        data, seed = about["dataset"]["name"], about["seed"]
        usual = results(f"westclass-{data}-seed{seed}.json")[0]["result"]
        arms = {
            "standard": usual["arms"]["standard"],
            "lops, released": usual["arms"]["lops"],
            "lops, ranked": item["result"]["arms"]["lops"],
        }
        for name, arm in arms.items():
            shares = [
                arm["selected"] / usual["pseudo_labels"]["count"],
                arm["noise_after_pretraining"],
                arm["micro_f1"],
                arm["macro_f1"],
            ]
            rows.append([data, name, *(spread([share]) for share in shares)])
    return f"{markdown(rows)}\n\n" + "\n".join(f"- {provenance([item])}" for item in files) + "\n"


_SELECTION_HEAD = (
    "pseudo-labels",
    "noise %",
    "kept %",
    "noise after %",
    "micro-F1 %",
    "macro-F1 %",
    "the paper's",
    "seconds",
)


def _selection_cells(
    items: Sequence[dict[str, Any]], published: Sequence[float] | None
) -> list[str]:
    """Return what stands under the head above, for the same iteration of runs that differ in the
    seed.
    """
    return [
        f"{mean(item['pseudo_labels'] for item in items):.0f}",
        spread([item["noise"] for item in items]),
        spread(
            [
                item["selected"] / item["pseudo_labels"] if item["pseudo_labels"] else None
                for item in items
            ]
        ),
        spread([item["selected_noise"] for item in items]),
        spread([item["micro_f1"] for item in items]),
        spread([item["macro_f1"] for item in items]),
        "/".join(f"{value:.1f}" for value in published) if published else "-",
        f"{mean(item['seconds'] for item in items):.0f}",
    ]


def xclass() -> str:
    """Return a row a data set and arm, averaged over seeds, with the stages before it and the
    paper's F1 beside it.
    """
    published_by = paper()["frameworks"]["xclass"]
    rows = [["data", "arm or stage", *_SELECTION_HEAD]]
    sources = []
    for data in ("20news-coarse", "20news-fine", "agnews"):
        files = results(f"xclass-{data}-*-seed*.json")
        if not files:
            continue
        for stage in ("representation", "alignment"):
            scores = [
                [item["result"]["stages"][stage][kind] for item in files]
                for kind in ("micro_f1", "macro_f1")
            ]
            seconds = mean(item["result"]["seconds"][stage] for item in files)
            rows.append([data, stage, *["-"] * 4, *map(spread, scores), "-", f"{seconds:.0f}"])
        for arm in files[0]["result"]["arms"]:
            items = [item["result"]["arms"][arm]["iterations"][0] for item in files]
            rows.append([data, arm, *_selection_cells(items, published_by[data].get(arm))])
        sources.append(f"- {provenance(files)}")
    return f"{markdown(rows)}\n\n" + "\n".join(sources) + "\n" if sources else HOLE


def lotclass() -> str:
    """Return a row a data set, arm and stage, over seeds, the paper's F1 beside it; another
    threshold is a row of its own.
    """
    published_by = paper()["frameworks"]["lotclass"]
    rows: list[list[str]] = [["data", "arm", "stage", *_SELECTION_HEAD]]
    sources = []
    for data, kind, shown in (
        ("20news-coarse", "lotclass", "20news-coarse, --match-threshold 10"),
        ("20news-coarse", "lotclass-threshold20", "20news-coarse, --match-threshold 20"),
        ("agnews", "lotclass", "agnews"),
    ):
        files = results(f"{kind}-{data}-*seed*.json")
        if not files:
            continue
        for arm in files[0]["result"]["arms"]:
            for items in zip(
                *(item["result"]["arms"][arm]["iterations"] for item in files), strict=True
            ):
                published = published_by[data].get(arm) if items[0]["iteration"] else None
                rows.append([shown, arm, items[0]["stage"], *_selection_cells(items, published)])
        model = spread([item["result"]["masked_accuracy"] for item in files])
        before = {
            stage: mean(item["result"]["seconds"][stage] for item in files)
            for stage in ("language_model", "rows")
        }
        sources.append(
            f"- {shown}: the head, trained first in {before['language_model']:.0f} s, gets {model} % of held-out masked tokens right; "
            f"{before['rows']:.0f} s for the rows. {provenance(files)}"
        )
    return f"{markdown(rows)}\n\n" + "\n".join(sources) + "\n" if sources else HOLE


def all_frameworks(folder: str = "") -> str:
    """Return frameworks and arms against data sets, micro and macro-F1 over seeds, with the paper's
    beside them.

    Args:
        folder: below the results, such as ``paper/``; default: what was measured one by one.

    """
    published = paper()["frameworks"]
    datasets = list(dict.fromkeys(data for tables in published.values() for data in tables))
    found = {
        (framework, data): _largest(results(f"{folder}{framework}-{data}-*seed*.json"))
        for framework in published
        for data in datasets
    }
    shown = [data for data in datasets if any(found[framework, data] for framework in published)]
    rows = [
        [
            "framework",
            "arm",
            *(head for data in shown for head in (f"{data}, micro / macro-F1 %", "the paper")),
        ]
    ]
    for framework in published:
        groups = [found[framework, data] for data in shown]
        if not any(groups):
            rows.append([framework, "-", *["-"] * 2 * len(shown)])
            continue
        for arm in dict.fromkeys(
            arm for files in groups for item in files for arm in item["result"]["arms"]
        ):
            row = [framework, arm]
            for data, files in zip(shown, groups, strict=True):
                scores = [
                    [item["result"]["arms"].get(arm, {}).get(kind) for item in files]
                    for kind in ("micro_f1", "macro_f1")
                ]
                theirs = published[framework][data].get(arm)
                row += [
                    " / ".join(map(spread, scores)) if files else "-",
                    "{:.1f} / {:.1f}".format(*theirs) if theirs else "-",
                ]
            rows.append(row)
    return table(rows, found.values())


def _largest(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the files about most documents, so that samples of different sizes are not averaged."""
    most = max((item["about"]["dataset"]["documents"] for item in files), default=0)
    return [item for item in files if item["about"]["dataset"]["documents"] == most]
