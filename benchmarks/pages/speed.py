"""Tables of speed beside the originals' ways, and of how often a probe is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.pages.common import (
    HOLE,
    markdown,
    provenance,
    results,
    sources,
    spread,
    spread_number,
)


def westclass_granularity() -> str:
    """Return what the released rule keeps of the pseudo documents, a row an interval and a column a
    data set.
    """
    files = results("westclass-granularity-*.json")
    if not files:
        return HOLE
    rows = [["look after", *(item["about"]["dataset"]["name"] for item in files)]]
    for every in dict.fromkeys(row["every"] for row in files[0]["result"]["rows"]):
        cells = []
        for item in files:
            kept = [
                row
                for row in item["result"]["rows"]
                if row["every"] == every and row["rule"] == "released"
            ]
            least = min(share for row in kept for share in row["kept_by_class"].values())
            cells.append(
                f"{spread([row['kept'] for row in kept])} (a class: {100 * least:.0f} at least)"
            )
        rows.append(
            ["every epoch" if every is None else f"{every} update{'s' * (every > 1)}", *cells]
        )
    sources = "\n".join(
        f"- {item['result']['updates_per_epoch']} updates an epoch; {provenance([item])}"
        for item in files
    )
    return f"{markdown(rows)}\n\n{sources}\n"


def lotclass_speed() -> str:
    """Return the speed of LOTClass's phases beside the original's way."""
    return _beside_the_original("lotclass-speed-*.json", lambda way: way)


def xclass_encoding() -> str:
    """Return the speed of X-Class's word vectors beside the original's way."""
    return _beside_the_original(
        "xclass-encoding-*.json", lambda way: {"word vectors": way["documents_per_second"]}
    )


def _beside_the_original(pattern: str, speeds: Callable[[dict[str, Any]], dict[str, float]]) -> str:
    """Return a row a data set and phase; ``speeds`` gives documents per second by phase, from what
    a result says of one way.
    """
    files = results(pattern)
    if not files:
        return HOLE
    rows = [
        ["data", "phase", "the original's way, re-enacted, documents/s", "this package", "ratio"]
    ]
    for item in files:
        theirs = speeds(item["result"]["original_way"])
        for phase, ours in speeds(item["result"]["ours"]).items():
            original = theirs[phase]
            rows.append(
                [
                    item["about"]["dataset"]["name"],
                    phase,
                    f"{original:.1f}",
                    f"{ours:.1f}",
                    f"{ours / original:.1f}",
                ]
            )
    sources = "\n".join(f"- {provenance([item])}" for item in files)
    return f"{markdown(rows)}\n\n{sources}\n"


def contextualisation() -> str:
    """Return speed and disk of contextualisation beside the original's way."""
    files = results("contextualisation-*.json")
    if not files:
        return HOLE
    ours, original = files[0]["result"]["ours"], files[0]["result"]["original_way"]
    rows = [["", "the original's way, re-enacted", "this package", "ratio"]]
    for key, label in (
        ("documents_per_second_vectors", "documents/s, vectors"),
        ("documents_per_second", "documents/s, with clustering"),
    ):
        rows.append(
            [label, f"{original[key]:.2f}", f"{ours[key]:.2f}", f"{ours[key] / original[key]:.1f}"]
        )
    disk = [item["bytes_an_occurrence"] for item in (original, ours)]
    rows.append(
        ["bytes on disk an occurrence", f"{disk[0]:,}", f"{disk[1]:,}", f"{disk[1] / disk[0]:.3f}"]
    )
    return f"{markdown(rows)}\n\n{provenance(files)}\n"


def scale() -> str:
    """Return time and memory of selecting among made-up documents, a row a probe and size."""
    files = sorted(
        results("speed-scale-*.json"),
        key=lambda item: (item["result"]["probe"], item["about"]["dataset"]["documents"]),
    )
    if not files:
        return HOLE
    rows = [
        [
            "probe",
            "documents",
            "LOPS, released rule: seconds",
            "documents/s",
            "whole training watched: seconds",
            "peak memory, GB",
        ]
    ]
    for item in files:
        found = item["result"]
        whole = found.get("margin")
        rows.append(
            [
                found["probe"],
                f"{item['about']['dataset']['documents']:,}",
                f"{found['lops']['seconds']:,.0f}",
                f"{found['lops']['documents_per_second']:,.0f}",
                "-" if whole is None else f"{whole['seconds']:,.0f}",
                f"{found['peak_bytes'] / 1e9:.1f}",
            ]
        )
    return f"{markdown(rows)}\n\n{sources([item] for item in files)}\n"


def watching() -> str:
    """Return what watching and listening cost, a row a data set and probe."""
    files = results("speed-watching-*.json")
    if not files:
        return HOLE
    head = [
        "data",
        "probe",
        "training, documents/s",
        "watching adds %",
        "listening adds %, quartiles",
        "times the original's way",
    ]
    rows = [head]
    for item in files:
        found = item["result"]
        times = f"{found['times_faster']:.0f}" if "times_faster" in found else "-"
        speed = f"{found['documents_per_second']['train']:,.0f}"
        low, high = found["online_quartiles"]
        listened = f"{100 * found['online']:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        watched = f"{100 * found['watching']:.1f}"
        rows.append(
            [item["about"]["dataset"]["name"], found["classifier"], speed, watched, listened, times]
        )
    return f"{markdown(rows)}\n\n{_watched(files)}\n"


def listening() -> str:
    """Return how well scores rank when the training pass is listened to, a row a data set and
    probe.
    """
    files = results("speed-watching-*.json")
    if not files:
        return HOLE
    names = list(files[0]["result"]["areas"])
    rows = [
        [
            "data",
            "probe",
            *(f"{name}, {way}" for name in names for way in ("watched", "online")),
            "best possible",
        ]
    ]
    for item in files:
        found = item["result"]
        areas = [
            spread_number(found["areas"][name][way], 3)
            for name in names
            for way in ("watched", "online")
        ]
        rows.append(
            [
                item["about"]["dataset"]["name"],
                found["classifier"],
                *areas,
                f"{found['best_possible']:.3f}",
            ]
        )
    return f"{markdown(rows)}\n\n{_watched(files)}\n"


def _watched(files: list[dict[str, Any]]) -> str:
    lines = [
        f"- {item['result']['documents']:,} pseudo-labelled of {provenance([item])}"
        for item in files
    ]
    return "\n".join(lines)
