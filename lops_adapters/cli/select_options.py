"""The options of ``lops select``."""

import argparse
import re
from pathlib import Path

from lops_adapters import formats, storage
from lops_adapters.cli import options as shared
from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.encoders.word_counts import ANALYZERS, AUTO
from lops_adapters.selection.choice import LABELLED_BY
from lops_adapters.selection.method_table import offered
from lops_adapters.tables.survey import PROBE_ROWS, RELABEL

_SHARE = re.compile(r"(.+?)[\s:=,;]+(\d+(?:\.\d*)?|\.\d+)")
_SHARES = "wanted a class and a number, as in 'spam 5, ham 95', or a file of such lines or JSON"
EXAMPLES = """\
  lops select tickets.csv --text body --label category
  lops select 'parts/*.parquet' --text text --label label --method learning-order --keep 0.5
  lops select tickets.csv --text body --label category --gold checked_category
  lops select tickets.csv --text body --label category --embeddings vectors.npy
  lops select tickets.csv --text body --label category --checked corrections.csv --force
  lops select rules.csv --text body --labels 'rule*,llm'
  lops select votes.csv --text body --soft-labels billing --soft-labels refunds
  lops select 'parts/*.parquet' --text text --label label --engine ray --output clean"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops select``."""
    parser = shared.parser(
        "select",
        "Select the labels of a table to trust. "
        "Writes what to train on, the kept rows, the rejected rows and a report.",
        EXAMPLES,
    )
    data = shared.add_table(parser)
    shared.add_sources(data)
    data.add_argument(
        "--group",
        metavar="COLUMN",
        help="customers, threads or documents: rows of a group do not score each other",
    )
    data.add_argument(
        "--embeddings",
        metavar="FILE.npy|COLUMN",
        help="vectors to score in place of the texts: an .npy file with a row per row of the "
        "table, or a column of lists",
    )
    data.add_argument(
        "--id", metavar="COLUMN", help="ids to show in the report (default: row numbers)"
    )
    data.add_argument(
        "--gold",
        metavar="COLUMN",
        help="column of true labels, used only afterwards, to measure the result",
    )
    selection = parser.add_argument_group("selection")
    _add_method(selection)
    _add_committee(selection)
    _add_engine(parser.add_argument_group("scale"))
    out = parser.add_argument_group("output")
    _add_output(out)
    shared.add_run(out)
    return parser


def class_shares(text: str) -> dict[str, float]:
    """Return class -> share of ``spam 5, ham 95``, or of the file of this name.

    A file holds lines of a class and a number, or JSON. Raises a LopsError about what is neither.

    >>> class_shares("spam 5, not spam: 95")
    {'spam': 5.0, 'not spam': 95.0}
    """
    parts, path = text.split(","), Path(text)
    if path.suffix == ".json":
        return storage.read_json(path, _SHARES)
    if len(parts) == 1 and path.is_file():
        parts = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    shares: dict[str, float] = {}
    for part in filter(str.strip, parts or [text]):
        share = _SHARE.fullmatch(part.strip())
        if share is None or share[1] in shares:
            raise LopsError(f"--class-shares: found {part.strip()!r:.60}; {_SHARES}")
        shares[share[1]] = float(share[2])
    return shares


def _add_method(choice: argparse._ArgumentGroup) -> None:
    choice.add_argument(
        "--method",
        choices=offered(),
        default="committee",
        metavar="NAME",
        help=f"{', '.join(offered())} (default: committee, which decides how many to keep)",
    )
    choice.add_argument(
        "--keep",
        type=shared.fraction,
        default="auto",
        metavar="F|auto",
        help="share to keep, for methods that rank; auto: found by cross-validation "
        "(default: auto)",
    )
    choice.add_argument(
        "--per-class",
        action=argparse.BooleanOptionalAction,
        help="keep the same share of every class (default: as the method is described)",
    )
    choice.add_argument(
        "--probe",
        default="auto",
        metavar="NAME",
        help="auto, linear, minilm, or an encoder's folder or hub name "
        "(default: auto, which is linear without a GPU)",
    )
    choice.add_argument(
        "--analyzer",
        choices=ANALYZERS,
        default=AUTO,
        help="what TF-IDF counts: words, n-grams of characters, or n-grams in scripts without "
        "spaces and words elsewhere (default: auto)",
    )
    choice.add_argument(
        "--every",
        type=int,
        metavar="N",
        help="updates between checkpoints, for methods that have some (default: one epoch)",
    )


def _add_committee(choice: argparse._ArgumentGroup) -> None:
    choice.add_argument(
        "--sure",
        type=shared.number,
        metavar="P",
        help="for the committee: keep labels that are right with at least this probability "
        "(default: reject as many labels as are estimated to be wrong); 0.9 or more for labels "
        "made by rules",
    )
    choice.add_argument(
        "--encoder",
        default=STATIC,
        metavar="NAME|none",
        help="frozen encoder of the committee: static, which ships with the package; minilm, a "
        "folder or a hub name; none: LSA alone (default: static)",
    )
    choice.add_argument(
        "--words",
        type=Path,
        metavar="JSON",
        help="words of each class, {class: [word, ...]}: another member, if there is an encoder",
    )
    choice.add_argument(
        "--class-shares",
        metavar="FILE|SHARES",
        help="how frequent the classes truly are, where you know it: 'spam 5, ham 95', or a file "
        "of such lines or of JSON; classes that are not named share the rest",
    )
    choice.add_argument(
        "--labelled-by",
        choices=LABELLED_BY,
        help="who gave the labels: for the estimate of wrong labels and its range, not for "
        "decisions (--words: rules)",
    )
    choice.add_argument(
        "--checked",
        type=shared.path,
        action="append",
        metavar="FILE",
        help="rows that you have checked: to_check.csv with its column filled in, or the file that "
        "the report gives; - for none of the classes; may be repeated",
    )
    choice.add_argument(
        "--checked-column",
        metavar="COLUMN",
        help="column of the labels that you have checked: the right label, - for none of the "
        "classes, or nothing: not checked",
    )


def _add_engine(scale: argparse._ArgumentGroup) -> None:
    scale.add_argument(
        "--probe-rows",
        type=int,
        default=PROBE_ROWS,
        metavar="N",
        help="for the committee: a larger table is read block by block, and members are trained "
        f"on a sample of N rows (default: {PROBE_ROWS})",
    )
    scale.add_argument(
        "--engine",
        choices=("process", "ray"),
        default="process",
        help="process: this one; ray: all machines of a Ray cluster, or the processors of this one "
        "(default: process)",
    )
    scale.add_argument(
        "--address",
        metavar="ADDR",
        help="of a running Ray cluster (default: one is started on this machine)",
    )


def _add_output(out: argparse._ArgumentGroup) -> None:
    shared.add_output(out, "lops")
    out.add_argument(
        "--corrected",
        type=shared.path,
        metavar="FILE",
        help="write the whole table, with the labels of relabelled and of checked rows, into this "
        "file also; in the input's format, every other byte stays",
    )
    out.add_argument(
        "--format",
        choices=formats.WRITTEN,
        help="format of the files in the folder (default: the input's)",
    )
    out.add_argument(
        "--relabel",
        type=shared.number,
        metavar="P",
        help="relabelled rows: rejected, and another label has at least this probability "
        f"(default: {RELABEL})",
    )
    out.add_argument(
        "--escape-formulas",
        action="store_true",
        help="CSV and TSV: put an apostrophe before cells that begin like a formula",
    )
