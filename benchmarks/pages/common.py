"""What every generated table is made with: result files, Markdown, means and sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, pstdev
from typing import Any, NamedTuple

from benchmarks.record import RESULTS, read_result

PAPER = Path(__file__).parent.parent / "paper.json"
Files = Sequence[dict[str, Any]]


class Block(NamedTuple):
    """A generated part of a page.

    Attributes:
        text: Markdown, without the sources.
        groups: the result files it was made from, one list per source; empty if nothing was
            measured.

    """

    text: str
    groups: Sequence[Files] = ()


HOLE = Block("Not measured yet.")
CORPORA = {"20news-coarse": "20news-coarse", "20news-fine": "20news-fine", "agnews": "AG News"}


def results(pattern: str) -> list[dict[str, Any]]:
    """Return the result files that match, sorted by name; an empty list if nothing was measured."""
    return [read_result(path) for path in sorted(RESULTS.glob(pattern))]


def paper() -> dict[str, Any]:
    """Return the paper's own numbers."""
    found: dict[str, Any] = json.loads(PAPER.read_text(encoding="utf-8"))
    return found


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table; the first row is the head.

    >>> print(markdown([["a", "b"], ["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def table(rows: Sequence[Sequence[str]], groups: Iterable[Files]) -> Block:
    """Return a table with the files it was made from, or :data:`HOLE` if there are none."""
    known = [files for files in groups if files]
    return Block(markdown(rows), known) if known else HOLE


def heads(arms: Iterable[str]) -> list[str]:
    """Return the heads of arms: names of methods as code, ``standard`` is none.

    >>> heads(["standard", "lops"])
    ['standard', '`lops`']
    """
    return [arm if arm == "standard" else f"`{arm}`" for arm in arms]


def spread(values: Sequence[float | None]) -> str:
    """Return the mean in percent, with the population standard deviation of several values.

    A dash if a value is missing.

    >>> spread([0.5, 0.7]), spread([0.5]), spread([0.5, None])
    ('60.0 ± 10.0', '50.0', '-')
    """
    return spread_number(values, 1, times=100)


def spread_number(values: Sequence[float | None], digits: int, times: int = 1) -> str:
    """Return the mean, with the population standard deviation of several values.

    A dash if a value is missing.

    >>> spread_number([0.5, 0.25], 3), spread_number([], 3)
    ('0.375 ± 0.125', '-')
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return "-"
    deviation = f" ± {times * pstdev(known):.{digits}f}" if len(known) > 1 else ""
    return f"{times * mean(known):.{digits}f}{deviation}"


def provenance(files: Files) -> str:
    """Return where numbers come from: documents, model, device, seeds, commits and command."""
    about, result = files[0]["about"], files[0]["result"]
    own = [item["about"]["seed"] for item in files]
    seeds = ", ".join(map(str, range(result["seeds"]) if "seeds" in result else own))
    known = {**result, **about["settings"]}
    kinds = ("network", "encoder", "classifier")
    kind = next((name for name in kinds if known.get(name, "none") != "none"), None)
    model = "no model" if kind is None else f"{kind} {known[kind]}"
    machine = about["machine"]
    where = machine.get("gpu") or f"{machine['processor']}, {machine['cores']} cores"
    return (
        f"{about['dataset']['documents']} documents of {about['dataset']['name']}, {model}, "
        f"device {about['device']} ({where}), seeds {seeds}, commit {commits(files)}: "
        f"`{about['command']}`"
    )


def commits(files: Iterable[dict[str, Any]]) -> str:
    """Return the commits that files were measured at, shortened, and which code was edited."""
    abouts = [item["about"] for item in files]
    ends = [" edited" if about.get("edited") else "" for about in abouts]
    names = [(about["git_commit"] or "?")[:10] for about in abouts]
    return ", ".join(dict.fromkeys(map("".join, zip(names, ends, strict=True))))


def sources(groups: Iterable[Files]) -> list[str]:
    """Return a line for each distinct group of files."""
    return list(dict.fromkeys(provenance(files) for files in groups if files))
