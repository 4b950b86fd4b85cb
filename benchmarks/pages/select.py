"""What ``lops select`` prints, and what it takes and leaves."""

from __future__ import annotations

from benchmarks.pages.common import HOLE, markdown, provenance, results, sources, spread


def printed(pattern: str) -> str:
    """Return a command and what it printed."""
    files = results(pattern)
    if not files:
        return HOLE
    result = files[0]["result"]
    return f"```text\n$ {result['asked']}\n{result['printed'].strip()}\n```\n\n{provenance(files[:1])}\n"


def numbers() -> str:
    """Return a row a table: rows, what was kept, noise, time and memory."""
    files = sorted(
        results("select-*.json"), key=lambda item: (item["result"]["n_rows"], item["result"]["tau"])
    )
    if not files:
        return HOLE
    rows = [
        [
            "data",
            "rows",
            "tau",
            "kept %",
            "noise before %",
            "noise after %",
            "seconds",
            "file, MB",
            "peak memory, MB",
        ]
    ]
    for item in files:
        found = item["result"]
        rows.append(
            [
                item["about"]["dataset"]["name"],
                f"{found['n_rows']:,}",
                found["tau"],
                spread([found["n_kept"] / found["n_rows"]]),
                spread([found["noise_before"]]),
                spread([found["noise_after"]]),
                f"{found['seconds']:,.0f}",
                f"{found['file_bytes'] / 1e6:,.1f}",
                f"{found['peak_bytes'] / 1e6:,.0f}",
            ]
        )
    return f"{markdown(rows)}\n\n{sources([item] for item in files)}\n"
