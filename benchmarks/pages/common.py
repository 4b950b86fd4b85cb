"""What every generated table is made with: result files, Markdown, means with their spread, and
where numbers come from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from benchmarks.record import RESULTS

PAPER = Path(__file__).parent.parent / "paper.json"
HOLE = "Not measured yet.\n"


def results(pattern: str) -> list[dict[str, Any]]:
    """Return the result files that match, in the order of their names; an empty list is a hole."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob(pattern))]


def paper() -> dict[str, Any]:
    """Return the paper's own numbers."""
    found: dict[str, Any] = json.loads(PAPER.read_text(encoding="utf-8"))
    return found


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
    """Return mean and, of several, population standard deviation in percent, or a dash where a
    value is missing.

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
    seeds = ", ".join(
        map(
            str,
            range(result["seeds"])
            if "seeds" in result
            else [item["about"]["seed"] for item in files],
        )
    )
    known = {**result, **about["settings"]}
    name = next((name for name in ("network", "encoder", "classifier") if name in known), None)
    model = "no model" if name is None else f"{name} {known[name]}"
    hardware = about["machine"]
    where = hardware.get("gpu") or f"{hardware['processor']}, {hardware['cores']} cores"
    commits = ", ".join(dict.fromkeys((item["about"]["git_commit"] or "?")[:10] for item in files))
    return (
        f"{about['dataset']['documents']} documents of {about['dataset']['name']}, {model}, device {about['device']} "
        f"({where}), seeds {seeds}, commit {commits}: "
        f"`{about['command']}`"
    )


def sources(groups: Iterable[Sequence[dict[str, Any]]]) -> str:
    """Return a line for each group of files that says where its numbers come from; empty groups are
    left out.
    """
    return "\n".join(f"- {provenance(files)}" for files in groups if files)


def table(rows: Sequence[Sequence[str]], groups: Iterable[Sequence[dict[str, Any]]]) -> str:
    """Return a table with its sources below it, or the word for a hole where there is no file."""
    below = sources(groups)
    return f"{markdown(rows)}\n\n{below}\n" if below else HOLE


def spread_number(values: Sequence[float | None], digits: int) -> str:
    """Return mean and, of several, population standard deviation, or a dash where a value is
    missing.

    >>> spread_number([0.5, 0.25], 3), spread_number([], 3)
    ('0.375 ± 0.125', '-')
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return "-"
    return f"{mean(known):.{digits}f}" + (
        f" ± {pstdev(known):.{digits}f}" if len(known) > 1 else ""
    )
