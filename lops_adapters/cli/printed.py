"""What ``lops select`` prints: about twelve lines, the counts first."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from lops_adapters import remote
from lops_adapters.console import aligned, percent
from lops_adapters.report.classes import HEAD, by_accuracy, source_cells
from lops_adapters.selection.committee.committee import TOO_FEW
from lops_adapters.tables.engine import Output
from lops_adapters.tables.fit import Done
from lops_adapters.tables.parts import DUPLICATES, SOURCES, TO_CHECK
from lops_adapters.texts.explain import cannot_tell, what_more_brings

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

_SOURCES = 20  # label sources that are printed


def lines(name: str, done: Done, output: Output, *, parts: bool) -> list[str]:
    """Return the lines that a selection prints.

    ``name`` is the table's; ``parts``: a part of the rows is a folder.
    """
    why, page = done.said, done.page
    selection, assesses = done.fit.selection, done.fit.job.choice.row.assesses
    to_check = len(selection.to_check()) if assesses else 0
    rate = selection.checked_rate
    about = ""
    if rate is not None:
        about = f" by {rate.checked:,} checked rows{what_more_brings(rate, page.counts.n_rows)}"
    return [
        *(f"Problem: {sentence}" for sentence in why.problems),
        f"{name}: {_first(page, to_check > 0)}",
        done.summary(about),
        *_ladder(page),
        *source_table(page),
        *_gold(page, checked=rate is not None),
        *why.pairs,
        *why.notes,
        *why.first[3:],
        _method(done, why.first[1]),
        *_written(done, output, to_check, parts),
        _next(done, output, to_check),
    ]


def _first(page: SelectionPage, to_check: bool) -> str:
    totals = page.counts
    rows, rejected = totals.n_rows, totals.n_rows - totals.n_kept
    rest = f", {totals.n_abstained:,} without a label" if totals.n_abstained else ""
    if not page.estimate:
        share = percent(totals.n_kept / rows)
        return f"kept {totals.n_kept:,} of {rows:,} rows ({share}), rejected {rejected:,}{rest}."
    about, low, high = (round(rate * rows) for rate in page.estimate)
    line = f"{rejected:,} of {rows:,} labels are probably wrong and rejected{rest}; about {about:,}"
    line += f" ({low:,} to {high:,}) are expected to be wrong"
    if page.n_checked:
        return f"{line}, by {page.n_checked:,} checked rows."
    return f"{line}: check ten rows." if to_check else f"{line}."


def _ladder(page: SelectionPage) -> list[str]:
    if not page.ladder:
        return []
    rows = [
        [f"--sure {sure:g}", f"{rejected:,}", f"{right:,.0f}"]
        for sure, rejected, right in page.ladder
    ]
    return ["", aligned([["keep if right by", "rejected", "right among these"], *rows]), ""]


def source_table(page: SelectionPage) -> list[str]:
    """Return the table of label sources, the least accurate first; nothing without votes."""
    if not page.sources:
        return []
    rows = [source_cells(row) for row in by_accuracy(page.sources)]
    rest = f"... {len(rows) - _SOURCES} more in {SOURCES}" if len(rows) > _SOURCES else ""
    return ["", aligned([HEAD, *rows[:_SOURCES]]), rest]


def _gold(page: SelectionPage, checked: bool) -> list[str]:
    """Return the line about gold labels; none without gold labels.

    ``checked``: rows that a person has corrected are kept, so that fewer are wrong afterwards.
    """
    totals = page.counts
    if totals.noise_before is None:
        return []
    noise_before, noise_after = percent(totals.noise_before), percent(totals.noise_after)
    rows = f" of {totals.n_gold:,} rows" if totals.n_gold < totals.n_rows else ""
    sentence = f"Gold labels{rows}: {noise_before} wrong before, {noise_after} after"
    rejected = totals.n_gold - totals.n_gold_kept
    if checked or not rejected:
        return [f"{sentence}."]
    wrong = round(totals.noise_before * totals.n_gold)
    wrong -= round((totals.noise_after or 0) * totals.n_gold_kept)
    return [f"{sentence}; {wrong:,} of {rejected:,} rejected rows are wrong."]


def _method(done: Done, kept: str) -> str:
    selection, job = done.fit.selection, done.fit.job
    reasons = {report.why for report in selection.per_class.values()} - {TOO_FEW}
    by_probability = job.choice.row.assesses and not job.choice.per_class
    if by_probability and len(reasons) == 1 and not cannot_tell(selection):
        return f"Method: {job.choice.method}; kept if {reasons.pop()}."
    return f"Method: {job.choice.method}. {kept}"


def _written(done: Done, output: Output, to_check: int, parts: bool) -> list[str]:
    written = [] if output.corrected is None else [f"Corrected table: {output.corrected}"]
    names = ["kept", "rejected", f"relabelled ({done.totals.relabelled:,})"]
    names += [f"abstained ({done.totals.abstained:,})"] if done.totals.abstained else []
    names += ["train"] if done.fit.job.choice.row.assesses else []
    names += [f"{Path(TO_CHECK).stem} ({to_check})"] if to_check else []
    names += [Path(DUPLICATES).stem] if done.fit.near else []
    names += [Path(SOURCES).stem] if done.page.sources else []
    where = f"{remote.complete(output.folder)}/"
    where += f" (folders of .{output.kind} files)" if parts else ""
    return [*written, f"Written to {where}: {', '.join(names)}, report.html"]


def _next(done: Done, output: Output, to_check: int) -> str:
    method, folder = done.fit.job.choice.row, remote.complete(output.folder)
    if not to_check:
        what = f"on {folder}/train.csv" if method.assesses else method.train_on
        return f"Next: open {folder}/report.html; then train {what}, with balanced classes."
    ten = "ten more rows" if done.page.n_checked else "ten rows"
    check = f"Check {ten}, about a minute: lops check {shlex.quote(str(folder))}"
    return f"Next: train on {folder}/train.csv. {check}"
