"""Tables of the engines: what was measured, and what it means for larger tables."""

from __future__ import annotations

from typing import Any

from benchmarks.pages.common import HOLE, Block, markdown, results, table

_NAMES = {"process": "one process", "ray-1": "Ray, 1 worker", "ray-2": "Ray, 2 workers"}
_LARGE = (10**8, 10**10)
_PROCESSORS = (16, 256, 1024)


def _files() -> list[dict[str, Any]]:
    return sorted(
        results("speed/speed-engines-*.json"), key=lambda item: item["result"]["documents"]
    )


def _encoder(item: dict[str, Any]) -> str:
    return str(item["result"].get("encoder", "none"))


def engines() -> Block:
    """Return time and memory of each engine, one row per size."""
    files = _files()
    heads = ("seconds", "processor seconds", "peak memory of the largest process, GB")
    rows = [["rows", "encoder", "engine", *heads]]
    for item in files:
        for engine, name in _NAMES.items():
            if engine not in item["result"]:
                continue
            found = item["result"][engine]
            numbers = (found["seconds"], found["processor_seconds"])
            cells = [*(f"{number:,.0f}" for number in numbers), f"{found['peak_bytes'] / 1e9:.1f}"]
            rows.append([f"{item['result']['documents']:,}", _encoder(item), name, *cells])
    return table(rows, [[item] for item in files])


def encoding() -> Block:
    """Return time of each engine with an encoder, and of a second run, which has the vectors."""
    files = results("speed/speed-encoding-*.json")
    heads = ("seconds", "processor seconds", "seconds of a second run")
    rows = [["rows", "encoder", "engine", *heads]]
    for item in files:
        result = item["result"]
        for engine, name in _NAMES.items():
            if "again" not in result.get(engine, {}):
                continue
            found = result[engine]
            numbers = (found["seconds"], found["processor_seconds"], found["again"]["seconds"])
            cells = [f"{number:,.0f}" for number in numbers]
            rows.append([f"{result['documents']:,}", result["encoder"], name, *cells])
    return table(rows, [[item] for item in files])


def costs() -> Block:
    """Return the cost of the fit and per million rows, and that of large tables, on paper."""
    files = [item for item in _files() if "process" in item["result"] and _encoder(item) == "none"]
    if len(files) < 2:
        return HOLE
    small, large = (
        (item["result"]["documents"] / 1e6, item["result"]["process"]["processor_seconds"])
        for item in (files[0], files[-1])
    )
    each = (large[1] - small[1]) / (large[0] - small[0])
    fit = small[1] - small[0] * each
    heads = [f"hours with {number:,} processors" for number in _PROCESSORS]
    rows = [["rows", "processor hours", *heads]]
    for count in _LARGE:
        work = each * count / 1e6
        hours = [(fit + work / number) / 3600 for number in (1, *_PROCESSORS)]
        rows.append([f"{count:,}", *(f"{number:.1f}" for number in hours)])
    parts = [["part", "processor seconds"], ["fit", f"{fit:,.0f}"]]
    parts.append(["per million rows", f"{each:,.0f}"])
    text = f"{markdown(parts)}\n\nOn paper:\n\n{markdown(rows)}"
    return Block(text, [[files[0]], [files[-1]]])
