"""``lops compare``: several selection methods on one table that also has gold labels."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lops_adapters import remote, storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import outputs, standard_input, threads
from lops_adapters.cli.measured import Result, comparison, keep_of, run, text_table
from lops_adapters.console import progress, set_up_logging
from lops_adapters.core import LopsError
from lops_adapters.formats import files, lines, readers
from lops_adapters.labels.columns import Columns
from lops_adapters.probes.base import check_counts
from lops_adapters.selection import METHODS, build
from lops_adapters.selection.methods import check
from lops_adapters.surroundings import describe
from lops_adapters.tables.survey import read_rows
from lops_adapters.texts.choices import (
    Choice,
    check_names,
    choose_members,
    choose_probe,
    described,
    device_of,
)
from lops_adapters.texts.copies import copies, problems, repeats
from lops_adapters.texts.explain import script_sentences

if TYPE_CHECKING:
    from lops_adapters.report.contents import ComparisonPage

MOST_SEEDS = 1000
USUAL = (
    "standard",
    "committee",
    "automatic",
    "learning-order",
    "released",
    "probability",
    "stability",
    "margin",
    "random",
)
EXAMPLES = """\
  lops compare checked.csv --text body --label weak --gold category
  lops compare checked.csv --text body --label weak --gold category --keep 0.8 --seeds 3
  lops compare checked.csv --text body --label weak --gold category --methods automatic,margin"""


def known() -> tuple[str, ...]:
    """Return the names of the methods that can be compared: without gold labels."""
    return tuple(name for name, method in METHODS.items() if not method.needs_gold)


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops compare``."""
    parser = shared.parser(
        "compare",
        "Compare selection methods by the wrong labels they keep. "
        "Gold labels are used only afterwards, to measure the result.",
        EXAMPLES,
    )
    data = shared.add_table(parser)
    data.add_argument("--gold", required=True, metavar="COLUMN", help="column of true labels")
    choice = parser.add_argument_group("selection")
    usual = ",".join(USUAL)
    choice.add_argument(
        "--methods",
        default=usual,
        metavar="NAMES",
        help=f"comma-separated list of {', '.join(known())} (default: {usual})",
    )
    shared.add_probe(choice)
    shared.add_encoder(choice)
    shared.add_keep(choice, 0.5)
    choice.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="number of seeds S, S+1, ... to average over (default: 1)",
    )
    out = parser.add_argument_group("output")
    shared.add_output(out, "comparison")
    shared.add_run(out)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the methods, print their table and write the page."""
    options = parser().parse_args(arguments)
    set_up_logging(quiet=True)
    names = read_methods(options.methods)
    check_counts(options.seed)
    if not 1 <= options.seeds <= MOST_SEEDS:
        raise LopsError(f"--seeds is {options.seeds}; wanted 1 to {MOST_SEEDS:,}")
    with_members = [name for name in names if METHODS[name].has_members]
    check_names(options.probe, options.encoder if with_members else None)
    with standard_input.given(options.files) as paths, threads.limited():
        table = shared.opened(options, paths)
        columns = Columns(options.text, options.label, options.gold, None, options.abstain)
        columns.check(table)
        folder = options.output or Path(f"{lines.unpacked_name(paths[0]).stem}-comparison")
        outputs.resolve(folder, "--output")
        with storage.claimed(folder), outputs.as_private_as(paths):
            outputs.check_folder(folder, "compare", options.force, paths)
            _compare(options, names, with_members, table, columns, folder)
    return 0


def _compare(
    options: argparse.Namespace,
    names: Sequence[str],
    with_members: Sequence[str],
    table: readers.Table,
    columns: Columns,
    folder: Path,
) -> None:
    paths = table.paths
    checksums = files.checksums(paths)
    rows = read_rows(table, columns)
    probe, which = choose_probe(options.probe, len(rows.texts), True, options.analyzer)
    extra: dict[str, dict[str, Any]] = {}
    settings: dict[str, Any] = {"probe": repr(probe), "methods": names, "keep": options.keep}
    for name in with_members:
        check(name, options=Choice(name, encoder=options.encoder).options)
    if with_members:
        encoder, members = choose_members(options.encoder, described(probe))
        which += f" {members}"
        extra = {name: {"encoder": encoder, "quiet": options.quiet} for name in with_members}
        settings["encoder"] = options.encoder
    for name in names:  # raises now instead of after the first methods have run
        build(name, probe, keep=keep_of(name, options.keep), seed=options.seed)
    seeds = range(options.seed, options.seed + options.seeds)
    settings["seeds"] = list(seeds)
    settings |= {key: getattr(options, key) for key in ("text", "label", "gold", "abstain")}
    results: dict[str, list[Result]] = {name: [] for name in names}
    with progress(total=len(names) * len(seeds), unit="run", quiet=options.quiet) as bar:
        for name, seed in product(names, seeds):
            bar.set_description(name)
            results[name].append(run(name, probe, rows, options.keep, seed, extra.get(name, {})))
            bar.update()
    title = f"Selection methods on {paths[0].name}"
    source = standard_input.named(options.files, paths)
    page = comparison(rows, results, title, source, settings)
    dataset = {
        "documents": len(rows.texts),
        "rows": len(rows.texts) + rows.classes.abstained,
        "classes": list(rows.classes.names),
        "sha256": standard_input.keyed(options.files, checksums),
    }
    command = " ".join(["lops compare", *sys.argv[2:]])
    config = describe(command, "compare", settings, options.seed, dataset, device_of(probe))
    with outputs.writing(folder), storage.replacing_folder(folder) as partial:
        write_pages(partial, page, config)
    print(text_table(page, [name for name, runs in results.items() if runs[0].is_late]))
    copied = copies(rows.texts, rows.labels)
    sentences = [*rows.classes.problems, *rows.classes.notes, *script_sentences(rows.texts, probe)]
    sentences += [*problems(copied, rows.place), *repeats(copied)]
    print("\n".join(["", which, *sentences, f"Report: {remote.complete(folder) / 'report.html'}"]))


def read_methods(text: str) -> list[str]:
    """Return the names of methods in a comma-separated list.

    >>> read_methods("released, margin")
    ['released', 'margin']
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    wrong = [name for name in names if name not in known()]
    if wrong or not names:
        what = f"{wrong[0]!r} is unknown" if wrong else "it names no method"
        raise LopsError(
            f"--methods is {text!r}; {what}; wanted a comma-separated list of {', '.join(known())}"
        )
    return names


def write_pages(folder: Path, page: ComparisonPage, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``comparison.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.comparison_page import write_comparison_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "comparison.json", page.to_json())
    write_comparison_page(folder / "report.html", page)
