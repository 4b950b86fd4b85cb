"""Tables of speed: selection, watching, and the frameworks beside their originals."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean, median
from typing import Any

from benchmarks.pages.common import HOLE, Block, markdown, results, spread, table
from lops_adapters.runs.arms import ADAPTIVE


def lotclass_speed() -> Block:
    """Return the speed of LOTClass's phases beside the original way."""
    return _beside_the_original("speed/lotclass-speed-*.json", lambda way: way)


def xclass_encoding() -> Block:
    """Return the speed of X-Class's word vectors beside the original way."""
    return _beside_the_original(
        "speed/xclass-encoding-*.json", lambda way: {"word vectors": way["documents_per_second"]}
    )


def _beside_the_original(
    pattern: str, speeds: Callable[[dict[str, Any]], dict[str, float]]
) -> Block:
    """Return one row per data set and phase.

    Args:
        pattern: of the result files.
        speeds: gives documents per second by phase, from a result's entry for one way.

    """
    files = results(pattern)
    heads = ("original way, re-enacted, documents/s", "this package, documents/s", "ratio")
    rows = [["data", "phase", *heads]]
    for item in files:
        theirs = speeds(item["result"]["original_way"])
        for phase, ours in speeds(item["result"]["ours"]).items():
            numbers = (theirs[phase], ours, ours / theirs[phase])
            cells = (f"{number:.1f}" for number in numbers)
            rows.append([item["about"]["dataset"]["name"], phase, *cells])
    return table(rows, [[item] for item in files])


def contextualisation() -> Block:
    """Return speed and disk use of contextualisation beside the original way."""
    files = results("speed/contextualisation-*.json")
    if not files:
        return HOLE
    ours, original = files[0]["result"]["ours"], files[0]["result"]["original_way"]
    rows = [["", "original way, re-enacted", "this package", "ratio"]]
    for key, label in (
        ("documents_per_second_vectors", "documents/s, vectors"),
        ("documents_per_second", "documents/s, with clustering"),
    ):
        ratio = ours[key] / original[key]
        rows.append([label, f"{original[key]:.2f}", f"{ours[key]:.2f}", f"{ratio:.1f}"])
    disk = [item["bytes_an_occurrence"] for item in (original, ours)]
    bytes_used = [f"{number:,}" for number in disk]
    rows.append(["bytes on disk per occurrence", *bytes_used, f"{disk[1] / disk[0]:.3f}"])
    return Block(markdown(rows), [files])


def scale() -> Block:
    """Return time and memory of selecting among generated documents, per probe and size."""
    files = sorted(
        results("speed/speed-scale-*.json"),
        key=lambda item: (item["result"]["probe"], item["about"]["dataset"]["documents"]),
    )
    heads = (
        "LOPS, rule released: seconds",
        "documents/s",
        "whole training monitored: seconds",
        "peak memory, GB",
    )
    rows = [["probe", "documents", *heads]]
    for item in files:
        found = item["result"]
        whole = found.get("margin")
        cells = [
            f"{item['about']['dataset']['documents']:,}",
            f"{found['lops']['seconds']:,.0f}",
            f"{found['lops']['documents_per_second']:,.0f}",
            "-" if whole is None else f"{whole['seconds']:,.0f}",
            f"{found['peak_bytes'] / 1e9:.1f}",
        ]
        rows.append([found["probe"], *cells])
    return table(rows, [[item] for item in files])


def pairs() -> Block:
    """Return what selecting costs now, before and by the recipe of cleanlab: medians of rounds."""
    heads = ("data", "rows", "way", "rounds", "processor seconds", "of the recipe")
    rows = [[*heads, "peak memory, MB", "of the recipe"]]
    files = results("speed/pairs-*.json")
    for item in files:
        result = item["result"]
        costs = {
            way: [median(one[key] for one in rounds) for key in ("processor_seconds", "peak_bytes")]
            for way, rounds in result["rounds"].items()
        }
        seconds, peak = costs["cleanlab"]
        for way, (own_seconds, own_peak) in costs.items():
            shares = f"{own_seconds / seconds:.2f}", f"{own_peak / peak:.2f}"
            cells = [f"{own_seconds:.1f}", shares[0], f"{own_peak / 1e6:,.0f}", shares[1]]
            data = item["about"]["dataset"]["name"], f"{result['n']:,}"
            rows.append([*data, way, str(len(result["rounds"][way])), *cells])
    return table(rows, [[item] for item in files])


def frameworks() -> Block:
    """Return time, memory and macro-F1 of each framework, per data set and options."""
    heads = ("documents", "options", "processor seconds", "per 1,000 documents", "peak memory, GB")
    arms = ("standard", ADAPTIVE, "committee")
    rows = [["framework", "data", *heads, *(f"macro-F1 % of `{arm}`" for arm in arms)]]
    files = results("speed/costs-*.json")
    for item in files:
        cost = item["result"]
        found = cost.get("macro_f1", {})
        seconds, peak = cost["processor_seconds"], cost["peak_bytes"]
        cells = [
            f"{cost['documents']:,}",
            ", ".join(f"`--{given.replace('=', ' ')}`" for given in cost.get("given", [])) or "-",
            f"{seconds:.0f}",
            f"{1000 * seconds / cost['documents']:.0f}",
            "-" if peak is None else f"{peak / 1e9:.1f}",
            *(spread([found.get(arm, found.get(f"{arm}-documents"))]) for arm in arms),
        ]
        rows.append([cost["title"], item["about"]["dataset"]["name"], *cells])
    return table(rows, [[item] for item in files])


_STARTS = {
    "xclass": "class names",
    "westclass": "seed words, else class names",
    "conwea": "seed words",
    "lotclass": "class names",
}


def per_thousand() -> Block:
    """Return what each framework starts from, and the seconds of a run with one arm."""
    rows, groups = [["framework", "starts from", "texts", "seconds per 1,000"]], []
    for name, words in _STARTS.items():
        files = results(f"grid/{name}-agnews-*.json")
        known = [item["result"] for item in files]
        if not known:
            continue
        size = max(found["n_documents"] for found in known)
        known = [found for found in known if found["n_documents"] == size]
        seconds = mean(
            sum(found["seconds"].values()) + arm_of(found, "committee")["seconds"]
            for found in known
        )
        cells = [words, f"{size:,}", f"{1000 * seconds / size:.0f}"]
        rows.append([f"[{known[0]['title']}]({name}.md)", *cells])
        groups.append([item for item in files if item["result"] in known])
    return table(rows, groups)


def arm_of(found: dict[str, Any], arm: str) -> dict[str, Any]:
    """Return an arm of a run, where it selects among documents if it can choose the place."""
    arms: dict[str, Any] = found["arms"]
    chosen: dict[str, Any] = arms.get(f"{arm}-documents") or arms[arm]
    return chosen


def watching() -> Block:
    """Return what monitoring costs, one row per data set and probe."""
    files = results("speed/speed-watching-*.json")
    heads = ("training, documents/s", "monitoring adds %")
    rows = [["data", "probe", "pseudo-labels", *heads, "times the original way"]]
    for item in files:
        found = item["result"]
        cells = [
            f"{found['documents']:,}",
            f"{found['documents_per_second']['train']:,.0f}",
            f"{100 * found['watching']:.1f}",
            f"{found['times_faster']:.0f}" if "times_faster" in found else "-",
        ]
        rows.append([item["about"]["dataset"]["name"], found["classifier"], *cells])
    return table(rows, [[item] for item in files])


def westclass_granularity() -> Block:
    """Return what the released rule keeps of WeSTClass's pseudo documents, by interval."""
    files = results("frameworks/westclass-granularity-*.json")
    if not files:
        return HOLE
    heads = (
        f"{item['about']['dataset']['name']} ({item['result']['updates_per_epoch']} updates per "
        "epoch), kept %"
        for item in files
    )
    rows = [["checked", *heads]]
    for every in dict.fromkeys(row["every"] for row in files[0]["result"]["rows"]):
        cells = []
        for item in files:
            wanted = (every, "released")
            kept = [row for row in item["result"]["rows"] if (row["every"], row["rule"]) == wanted]
            least = min(share for row in kept for share in row["kept_by_class"].values())
            mean = spread([row["kept"] for row in kept])
            cells.append(f"{mean} (lowest class: {100 * least:.0f})")
        updates = "update" if every == 1 else f"{every} updates"
        rows.append(["every epoch" if every is None else f"every {updates}", *cells])
    return table(rows, [[item] for item in files])
