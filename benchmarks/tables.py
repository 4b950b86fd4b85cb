"""Write the tables of README and docs from the committed result files; nothing in them is typed by hand.

    python -m benchmarks.tables            rewrites every generated part
    python -m benchmarks.tables --check    exits 1 where one is out of date

A generated part stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from benchmarks.record import RESULTS

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/conwea.md", "docs/lotclass.md", "docs/westclass.md", "docs/xclass.md", "benchmarks/README.md")
PAPER = Path(__file__).parent / "paper.json"
_PART = re.compile(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def results(pattern: str) -> list[dict[str, Any]]:
    """Return the result files that match, in the order of their names; an empty list is a hole."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob(pattern))]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows, the first of them the head, as a Markdown table.

    >>> print(markdown([["a", "b"], ["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def spread(values: Sequence[float | None]) -> str:
    """Return mean and, of several, population standard deviation in percent, or a dash where a value is missing.

    >>> spread([0.5, 0.7]), spread([0.5]), spread([0.5, None])
    ('60.0 ± 10.0', '50.0', '-')
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return "-"
    return f"{100 * mean(known):.1f}" + (f" ± {100 * pstdev(known):.1f}" if len(known) > 1 else "")


def provenance(files: Sequence[dict[str, Any]]) -> str:
    """Return the sentence that says where a table's numbers come from."""
    about, result = files[0]["about"], files[0]["result"]
    seeds = ", ".join(map(str, range(result["seeds"]) if "seeds" in result else [item["about"]["seed"] for item in files]))
    known = {**result, **about["settings"]}
    model = f"network {known['network']}" if "network" in known else f"encoder {known.get('encoder')}"
    commits = ", ".join(dict.fromkeys((item["about"]["git_commit"] or "?")[:10] for item in files))
    return (
        f"{about['dataset']['documents']} documents of {about['dataset']['name']}, {model}, device {about['device']} "
        f"({about['machine']['processor']}, {about['machine']['cores']} cores), seeds {seeds}, commit {commits}: "
        f"`{about['command']}`"
    )


def iterations(pattern: str) -> str:
    """Return a row an arm and iteration, averaged over seeds."""
    files = results(pattern)
    if not files:
        return "Not measured yet.\n"
    rows = [["arm", "iteration", "pseudo-labels", "noise %", "selected", "noise after %", "micro-F1 %", "macro-F1 %", "seconds"]]
    for arm in files[0]["result"]["arms"]:
        for items in zip(*(item["result"]["arms"][arm]["iterations"] for item in files), strict=True):
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
    paper = json.loads(PAPER.read_text(encoding="utf-8"))["frameworks"]["westclass"]
    head = ["data", "arm", "kept %", "noise after pre-training %", "micro-F1 %", "macro-F1 %", "the paper's", "updates", "seconds"]
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
                        [result["selected"] / item["result"]["pseudo_labels"]["count"] for result, item in zip(arms, files, strict=True)]
                    ),
                    spread([result["noise_after_pretraining"] for result in arms]),
                    spread([result["micro_f1"] for result in arms]),
                    spread([result["macro_f1"] for result in arms]),
                    "/".join(f"{value:.1f}" for value in paper[data][arm]),
                    f"{mean(item['updates'] for item in last):.0f}",
                    f"{mean(result['seconds'] for result in arms):.0f}",
                ]
            )
        sources.append(f"- {provenance(files)}")
    return f"{markdown(rows)}\n\n" + "\n".join(sources) + "\n" if sources else "Not measured yet.\n"


def westclass_ranked() -> str:
    """Return the rule that keeps exactly half beside both arms of the same seed."""
    files = results("westclass-ranked-*.json")
    if not files:
        return "Not measured yet.\n"
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
            shares = [arm["selected"] / usual["pseudo_labels"]["count"], arm["noise_after_pretraining"], arm["micro_f1"], arm["macro_f1"]]
            rows.append([data, name, *(spread([share]) for share in shares)])
    return f"{markdown(rows)}\n\n" + "\n".join(f"- {provenance([item])}" for item in files) + "\n"


def westclass_granularity() -> str:
    """Return what the released rule keeps of the pseudo documents, a row an interval and a column a data set."""
    files = results("westclass-granularity-*.json")
    if not files:
        return "Not measured yet.\n"
    rows = [["look after", *(item["about"]["dataset"]["name"] for item in files)]]
    for every in dict.fromkeys(row["every"] for row in files[0]["result"]["rows"]):
        cells = []
        for item in files:
            kept = [row for row in item["result"]["rows"] if row["every"] == every and row["rule"] == "released"]
            least = min(share for row in kept for share in row["kept_by_class"].values())
            cells.append(f"{spread([row['kept'] for row in kept])} (a class: {100 * least:.0f} at least)")
        rows.append(["every epoch" if every is None else f"{every} update{'s' * (every > 1)}", *cells])
    sources = "\n".join(f"- {item['result']['updates_per_epoch']} updates an epoch; {provenance([item])}" for item in files)
    return f"{markdown(rows)}\n\n{sources}\n"


def xclass() -> str:
    """Return a row a data set and arm, averaged over seeds, with the stages before it and the paper's F1 beside it."""
    paper = json.loads(PAPER.read_text(encoding="utf-8"))["frameworks"]["xclass"]
    rows = [
        [
            "data",
            "arm or stage",
            "pseudo-labels",
            "noise %",
            "kept %",
            "noise after %",
            "micro-F1 %",
            "macro-F1 %",
            "the paper's",
            "seconds",
        ]
    ]
    sources = []
    for data in ("20news-coarse", "20news-fine", "agnews"):
        files = results(f"xclass-{data}-*-seed*.json")
        if not files:
            continue
        for stage in ("representation", "alignment"):
            scores = [[item["result"]["stages"][stage][kind] for item in files] for kind in ("micro_f1", "macro_f1")]
            seconds = mean(item["result"]["seconds"][stage] for item in files)
            rows.append([data, stage, *["-"] * 4, *map(spread, scores), "-", f"{seconds:.0f}"])
        for arm in files[0]["result"]["arms"]:
            items = [item["result"]["arms"][arm]["iterations"][0] for item in files]
            published = paper[data].get(arm)
            rows.append(
                [
                    data,
                    arm,
                    f"{mean(item['pseudo_labels'] for item in items):.0f}",
                    spread([item["noise"] for item in items]),
                    spread([item["selected"] / item["pseudo_labels"] for item in items]),
                    spread([item["selected_noise"] for item in items]),
                    spread([item["micro_f1"] for item in items]),
                    spread([item["macro_f1"] for item in items]),
                    "/".join(f"{value:.1f}" for value in published) if published else "-",
                    f"{mean(item['seconds'] for item in items):.0f}",
                ]
            )
        sources.append(f"- {provenance(files)}")
    return f"{markdown(rows)}\n\n" + "\n".join(sources) + "\n" if sources else "Not measured yet.\n"


def lotclass() -> str:
    """Return a row a data set, arm and stage, averaged over seeds, with the paper's F1 beside it."""
    paper = json.loads(PAPER.read_text(encoding="utf-8"))["frameworks"]["lotclass"]
    head = [
        "data",
        "arm",
        "stage",
        "pseudo-labels",
        "noise %",
        "kept %",
        "noise after %",
        "micro-F1 %",
        "macro-F1 %",
        "the paper's",
        "seconds",
    ]
    rows, sources = [head], []
    for data in ("20news-coarse", "20news-fine", "agnews"):
        files = results(f"lotclass-{data}-*seed*.json")
        if not files:
            continue
        for arm in files[0]["result"]["arms"]:
            for items in zip(*(item["result"]["arms"][arm]["iterations"] for item in files), strict=True):
                published = paper[data].get(arm) if items[0]["iteration"] else None
                rows.append(
                    [
                        data,
                        arm,
                        items[0]["stage"],
                        f"{mean(item['pseudo_labels'] for item in items):.0f}",
                        spread([item["noise"] for item in items]),
                        spread([item["selected"] / item["pseudo_labels"] if item["pseudo_labels"] else None for item in items]),
                        spread([item["selected_noise"] for item in items]),
                        spread([item["micro_f1"] for item in items]),
                        spread([item["macro_f1"] for item in items]),
                        "/".join(f"{value:.1f}" for value in published) if published else "-",
                        f"{mean(item['seconds'] for item in items):.0f}",
                    ]
                )
        model = spread([item["result"]["masked_accuracy"] for item in files])
        before = {stage: mean(item["result"]["seconds"][stage] for item in files) for stage in ("language_model", "rows")}
        sources.append(
            f"- {data}: the head, trained first in {before['language_model']:.0f} s, gets {model} % of held-out masked tokens right; "
            f"{before['rows']:.0f} s for the rows. {provenance(files)}"
        )
    return f"{markdown(rows)}\n\n" + "\n".join(sources) + "\n" if sources else "Not measured yet.\n"


def lotclass_speed() -> str:
    """Return the speed of LOTClass's phases beside the original's way."""
    files = results("lotclass-speed-*.json")
    if not files:
        return "Not measured yet.\n"
    rows = [["data", "documents/s", "the original's way, re-enacted", "this package", "ratio"]]
    for item in files:
        for phase, ours in item["result"]["ours"].items():
            original = item["result"]["original_way"][phase]
            rows.append([item["about"]["dataset"]["name"], phase, f"{original:.1f}", f"{ours:.1f}", f"{ours / original:.1f}"])
    sources = "\n".join(f"- {provenance([item])}" for item in files)
    return f"{markdown(rows)}\n\n{sources}\n"


def xclass_encoding() -> str:
    """Return the speed of X-Class's word vectors beside the original's way."""
    files = results("xclass-encoding-*.json")
    if not files:
        return "Not measured yet.\n"
    rows = [["documents/s", "the original's way, re-enacted", "this package", "ratio"]]
    for item in files:
        ours, original = (item["result"][way]["documents_per_second"] for way in ("ours", "original_way"))
        rows.append([item["about"]["dataset"]["name"], f"{original:.1f}", f"{ours:.1f}", f"{ours / original:.1f}"])
    sources = "\n".join(f"- {provenance([item])}" for item in files)
    return f"{markdown(rows)}\n\n{sources}\n"


def contextualisation() -> str:
    """Return speed and disk of contextualisation beside the original's way."""
    files = results("contextualisation-*.json")
    if not files:
        return "Not measured yet.\n"
    ours, original = files[0]["result"]["ours"], files[0]["result"]["original_way"]
    rows = [["", "the original's way, re-enacted", "this package", "ratio"]]
    for key, label in (("documents_per_second_vectors", "documents/s, vectors"), ("documents_per_second", "documents/s, with clustering")):
        rows.append([label, f"{original[key]:.2f}", f"{ours[key]:.2f}", f"{ours[key] / original[key]:.1f}"])
    disk = [item["bytes_an_occurrence"] for item in (original, ours)]
    rows.append(["bytes on disk an occurrence", f"{disk[0]:,}", f"{disk[1]:,}", f"{disk[1] / disk[0]:.3f}"])
    return f"{markdown(rows)}\n\n{provenance(files)}\n"


TABLES: dict[str, Callable[[], str]] = {
    "conwea-20news-coarse": lambda: iterations("conwea-20news-coarse-4000-*.json"),
    "conwea-demo": lambda: iterations("conwea-demo-*.json"),
    "contextualisation": contextualisation,
    "westclass": westclass,
    "westclass-demo": lambda: iterations("westclass-demo-*.json"),
    "xclass": xclass,
    "xclass-encoding": xclass_encoding,
    "lotclass": lotclass,
    "lotclass-speed": lotclass_speed,
    "westclass-ranked": westclass_ranked,
    "westclass-granularity": westclass_granularity,
}


def rebuilt(text: str) -> str:
    """Return a page with its generated parts made anew."""
    return _PART.sub(lambda match: match[1] + "\n" + TABLES[match[2]]() + "\n" + match[4], text)


def main() -> int:
    """Rewrite or check all pages; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale = []
    for name in PAGES:
        page = ROOT / name
        old = page.read_text(encoding="utf-8")
        new = rebuilt(old)
        if new != old:
            stale.append(name)
            if not options.check:
                page.write_text(new, encoding="utf-8")
    print(("out of date: " if options.check else "rewritten: ") + ", ".join(stale) if stale else "all tables are up to date")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
