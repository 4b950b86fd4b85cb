"""What ``lops select`` prints, keeps and costs."""

from __future__ import annotations

from benchmarks.pages.common import HOLE, Block, results, spread, table


def printed(name: str) -> Block:
    """Return a command and what it printed."""
    files = results(f"select/{name}")
    if not files:
        return HOLE
    result = files[0]["result"]
    return Block(f"```text\n$ {result['asked']}\n{result['printed'].strip()}\n```", [files[:1]])


def numbers() -> Block:
    """Return kept rows, noise, time and memory, one row per input file."""
    files = sorted(
        results("select/select-*.json"),
        key=lambda item: (item["result"]["n_rows"], item["result"]["tau"]),
    )
    shares = ("kept %", "noise before %", "noise after %")
    rows = [["data", "rows", "tau", *shares, "seconds", "file, MB", "peak memory, MB"]]
    for item in files:
        found = item["result"]
        kept = spread([found["n_kept"] / found["n_rows"]])
        noise = [spread([found[part]]) for part in ("noise_before", "noise_after")]
        cost = [
            f"{found['seconds']:,.0f}",
            f"{found['file_bytes'] / 1e6:,.1f}",
            f"{found['peak_bytes'] / 1e6:,.0f}",
        ]
        data = item["about"]["dataset"]["name"]
        rows.append([data, f"{found['n_rows']:,}", found["tau"], kept, *noise, *cost])
    return table(rows, [[item] for item in files])
