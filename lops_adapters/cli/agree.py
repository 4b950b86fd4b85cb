"""``lops agree``: how far annotators, rules and language models agree, and with checked rows."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lops_adapters import remote, storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import outputs, standard_input
from lops_adapters.console import aligned, listed, percent, set_up_logging
from lops_adapters.core import LopsError
from lops_adapters.formats import files, lines
from lops_adapters.labels.checked_rows import read_checked
from lops_adapters.labels.naming import CHECKED, COLUMN, COUNTS, LABEL, ROW, TABLE, TEXT, naming
from lops_adapters.probes.base import check_counts
from lops_adapters.report.agreement import AgreementPage
from lops_adapters.surroundings import describe
from lops_adapters.tables.annotations import joined
from lops_adapters.tables.parts import SEND_BACK, TO_CHECK
from lops_adapters.tables.sample import Sample
from lops_adapters.tables.survey import survey_of
from lops_adapters.texts.agree import MARGIN, agree

_PRINTED = 20  # rows of a table
_TO_CHECK = 50  # rows that are written at least
EXAMPLES = """\
  lops agree labels.csv --text body --labels gpt,ann1,ann2
  lops agree labels.csv --text body --labels 'ann*,gpt' --people 'ann*' --checked to_check.csv
  lops agree labels.csv --text body --labels 'ann*,gpt' --people 'ann*' --alternative 10
  lops agree answers.csv --text body --label label --source annotator
  lops agree ratings.csv --text body --label stars --source annotator --ordered"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops agree``."""
    new = shared.parser(
        "agree",
        "How far label sources agree, beyond chance, with each other and with checked rows: is a "
        "language model as good as a person?",
        EXAMPLES,
    )
    data = shared.add_table(new)
    shared.add_sources(data)
    data.add_argument(
        "--id",
        metavar="COLUMN",
        help="with --source: column of ids; rows with the same id are labels of one text",
    )
    choice = new.add_argument_group("comparison")
    choice.add_argument(
        "--people",
        action="append",
        metavar="SOURCES",
        help="the sources that the others are compared with (default: each other); repeatable",
    )
    choice.add_argument(
        "--checked",
        action="append",
        type=shared.path,
        metavar="FILE",
        help="rows that a person has checked: to_check.csv with a filled column 'checked'; "
        "repeatable",
    )
    choice.add_argument(
        "--checked-column", metavar="COLUMN", help="column of labels by a person; empty: unchecked"
    )
    choice.add_argument(
        "--ordered",
        action="store_true",
        help="the labels are ratings: quadratic kappa and ordinal alpha, in the order of numbers, "
        "or of --classes",
    )
    choice.add_argument(
        "--margin",
        type=float,
        default=100 * MARGIN,
        metavar="POINTS",
        help="as good: right in at most this many percent of the rows less often (default: 5)",
    )
    choice.add_argument(
        "--alternative",
        type=float,
        metavar="POINTS",
        help="test whether the other sources may take a person's place (alternative annotator "
        "test): how many percent of the rows a person costs more, such as 10 for crowd workers, 15 "
        "for skilled people, 20 for experts; with --people",
    )
    out = new.add_argument_group("output")
    shared.add_output(out, "agreement")
    shared.add_run(out)
    return new


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the sources, print a summary and write the page."""
    options = parser().parse_args(arguments)
    set_up_logging(quiet=True)
    check_counts(options.seed)
    if not 0 < options.margin < 100:
        raise LopsError(f"--margin is {options.margin:g}; wanted points above 0 and below 100")
    inputs = options.checked or []
    with standard_input.given(options.files) as paths:
        folder = options.output or Path(f"{lines.unpacked_name(paths[0]).stem}-agreement")
        outputs.resolve(folder, "--output")
        with storage.claimed(folder), outputs.as_private_as([*paths, *inputs]):
            outputs.check_folder(folder, "agree", options.force, [*paths, *inputs])
            sample, sums, notes = _read(options, paths)
            page = _compared(options, sample, notes)
            _write(options, folder, sample, page, sums, standard_input.named(options.files, paths))
    _print(page, remote.complete(folder))
    return 0


def _read(
    options: argparse.Namespace, paths: tuple[Path, ...]
) -> tuple[Sample, dict[str, str], tuple[str, ...]]:
    """Return the rows with a label, checksums of the files, and how they are read."""
    sums = files.checksums(paths)
    table, columns = shared.with_columns(options, shared.opened(options, paths))
    if not columns.has_votes:
        by_file = "; --source file, if each file is of one source" if len(paths) > 1 else ""
        raise LopsError(
            f"wanted labels of several sources: --labels, or --label and --source{by_file}"
        )
    table, columns = joined(table, columns)
    checked = read_checked(
        options.checked or (), table, columns, options.label, lambda: sums, options.encoding
    )
    survey = survey_of(table, columns, checked=checked)
    return survey.sample(survey.classes()), sums, table.notes


def _compared(options: argparse.Namespace, sample: Sample, notes: Sequence[str]) -> AgreementPage:
    """Return what is known of the sources; patterns also name people."""
    votes = sample.labelled.votes
    assert votes is not None
    sources = list(votes.sources)
    asked = [one.strip() for part in options.people or () for one in part.split(",")]
    people = [name for one in asked for name in fnmatched(one, sources)]
    page = agree(
        sample.texts,
        votes,
        checked=sample.checked(),
        people=list(dict.fromkeys(people)),
        margin=options.margin / 100,
        classes=shared.names(options.classes),
        ordered=options.ordered,
        alternative=None if options.alternative is None else options.alternative / 100,
        seed=options.seed,
    ).numbered((sample.drawn.positions + 1).tolist())
    problems = [*page.problems, *sample.classes.problems]
    return replace(page, problems=problems, notes=[*notes, *sample.classes.read_as, *page.notes])


def fnmatched(pattern: str, sources: Sequence[str]) -> list[str]:
    """Return the sources that a name or a pattern means; LopsError: no source.

    >>> fnmatched("ann*", ["gpt", "ann1", "ann2"])
    ['ann1', 'ann2']
    """
    matching = [name for name in sources if name == pattern or fnmatchcase(name, pattern)]
    if not matching:
        raise LopsError(
            f"--people is {pattern!r:.80}, and the sources are {listed(sources, 10)}; give one of "
            "them"
        )
    return matching


def _write(
    options: argparse.Namespace,
    folder: Path,
    sample: Sample,
    page: AgreementPage,
    sums: dict[str, str],
    source: str,
) -> None:
    """Write the folder; rows are numbered as in the table."""
    from lops_adapters.report.agreement_page import write_agreement_page

    numbers = (sample.drawn.positions + 1).tolist()
    position = {number: place for place, number in enumerate(numbers)}
    table = {COUNTS: sample.columns.counted.words, TABLE: files.fingerprint(sums)}
    table |= {COLUMN: options.label} if options.label else {}
    names, cells = naming(table, sample.keys(table))
    keys = ["text", "labels", "label", "soft_labels", "source", "id", "people"]
    keys += ["checked_column", "margin", "abstain", "ordered", "alternative"]
    settings: dict[str, Any] = {key: getattr(options, key) for key in keys}
    data = {"documents": page.rows, "classes": list(page.classes), "sha256": sums}
    command = " ".join(["lops agree", *sys.argv[2:]])
    config = describe(command, "agree", settings, options.seed, data, "cpu")
    n_to_check = max((one.found.more for one in page.comparisons), default=0)
    asked = page.to_check[: max(_TO_CHECK, n_to_check)]
    back = [(name, one) for name, rows in page.sent_back.items() for one in rows]
    with outputs.writing(folder), storage.replacing_folder(folder) as partial:
        storage.write_json(partial / "config.json", config)
        storage.write_json(partial / "agreement.json", page.to_json())
        storage.write_csv(
            partial / TO_CHECK,
            (ROW, TEXT, CHECKED, *names),
            ((row, sample.texts[position[row]], "", *cells(position[row])) for row in asked),
        )
        storage.write_csv(
            partial / SEND_BACK,
            ("source", ROW, TEXT, LABEL, "joint_label", "probability", *names),
            (
                (
                    *(name, one.row, one.text, one.said[name], one.label),
                    *(f"{one.probability:.3f}", *cells(position[one.row])),
                )
                for name, one in back
            ),
        )
        write_agreement_page(partial / "report.html", page, source, settings)


def _print(page: AgreementPage, folder: Path) -> None:
    for problem in page.problems:
        print(f"Problem: {problem}")
    head, *rows = page.table()
    print(aligned([head, *rows[:_PRINTED]]))
    if len(rows) > _PRINTED:
        print(f"... {len(rows) - _PRINTED} more in agreement.json")
    print("", *page.notes, *page.explained, "", sep="\n")
    for sentence in page.verdicts:
        print(sentence)
    if not page.checked:
        print(
            f"No row is checked: fill in the column 'checked' of {folder / TO_CHECK} from the top, "
            "and run again with --checked."
        )
    for row in page.disagreements:
        labels = ", ".join(f"{source}: {label}" for source, label in row.said.items())
        print(f"- {row.label} ({percent(row.probability)})? {labels}: {row.text[:100]}")
    back = {name: len(rows) for name, rows in page.sent_back.items() if rows}
    if back:
        numbers = ", ".join(f"{name} {number}" for name, number in list(back.items())[:_PRINTED])
        print(f"Rows to send back ({SEND_BACK}): {numbers}.")
    print(f"Report: {folder / 'report.html'}")
