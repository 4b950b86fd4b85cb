"""The data sets known by name: classes, seed words, sizes, and where they are searched."""

import difflib
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lops_adapters import shipped
from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.class_words import Names, Seeds
from lops_adapters.datasets.corpus import Dataset
from lops_adapters.datasets.download import by_hand, obtain
from lops_adapters.datasets.newsgroups import ARCHIVE, SPLITS, strip_headers
from lops_adapters.datasets.readers import is_recognised, read_path, read_rows
from lops_adapters.datasets.rows import CorpusColumns, Rows, assemble
from lops_adapters.datasets.tables import is_agnews
from lops_adapters.storage import user_cache

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """One registered data set.

    Attributes:
        seeds: the published seed words; its keys are the classes.
        paper_folder: its folder in the authors' repository, also searched in data folders.
        places: other folders and files to search in data folders, in this order.
        groups: newsgroup to class; documents of other groups are left out.
    """

    name: str
    seeds: Mapping[str, tuple[str, ...]]
    paper_folder: str
    places: tuple[str, ...] = ()
    groups: Mapping[str, str] | None = None
    n_documents: int | None = None


def _newsgroups(kind: str, groups: Mapping[str, str], n_documents: int) -> Task:
    name = f"20news-{kind}"
    places = (name, f"20news/{kind}", "20news", ARCHIVE, "20news-bydate")
    return Task(name, published.SEEDS[name], f"{name}-nomisc", places, groups, n_documents)


TASKS = {
    task.name: task
    for task in (
        _newsgroups("coarse", published.COARSE_GROUPS, 17_871),
        _newsgroups("fine", published.FINE_GROUPS, 16_468),
        Task("agnews", published.SEEDS["agnews"], "agnews", n_documents=120_000),
        Task("books", published.SEEDS["books"], "books"),
        Task("nyt-coarse", published.SEEDS["nyt-coarse"], "nyt-coarse", ("nyt/coarse",)),
        Task("nyt-fine", published.SEEDS["nyt-fine"], "nyt-fine", ("nyt/fine",)),
    )
}
ALIASES = {"20news": "20news-coarse", "nyt": "nyt-coarse"}
_AGNEWS_FILE = re.compile(r"(ag_?news.*|train|test)\.csv", re.IGNORECASE)


def names() -> tuple[str, ...]:
    """Return the registered names (without the aliases ``nyt`` and ``20news``).

    >>> names()
    ('20news-coarse', '20news-fine', 'agnews', 'books', 'demo', 'nyt-coarse', 'nyt-fine')
    """
    return tuple(sorted([*TASKS, "demo"]))


def load_dataset(
    name_or_path: str | Path,
    *,
    data_dir: str | Path | None = None,
    offline: bool = False,
    quiet: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    seeds: Seeds | str | Path | None = None,
    names: Names | str | Path | None = None,
    headers: str = "keep",
) -> Dataset:
    """Load a registered data set, or read a folder or file in any known layout.

    Args:
        name_or_path: a registered name or alias; or a ConWea, X-Class, WeSTClass or LOTClass
            folder, a 20 Newsgroups tree or archive, a table (CSV, TSV, JSONL, Parquet, .xlsx), a
            pickled pandas frame, the AG News CSV, a folder with exactly one such file, or a folder
            of ``.txt`` files. A registered name goes before a path of the same name; write
            ``./name`` for the path.
        data_dir: a folder to search first; then ``$LOPS_DATA``, then the user cache, into which the
            data set is downloaded otherwise.
        offline: never download.
        quiet: show no progress bars.
        text_column, label_column, id_column: names of columns, for files with named columns.
            Default: ``text`` (or ``sentence``), and ``label`` and ``id`` if present.
        seeds: seed words of every class, or a JSON file of them. Default: ``seeds.json`` or
            ``seedwords.json`` in the folder or next to the file, otherwise from the layout, or the
            published ones of a name.
        names: words that name a class in a text, for X-Class, LOTClass and WeSTClass; a JSON file
            of them; or classes that are their own names, a list or ``"arts,sports"``. Default:
            ``names.json`` in the folder or next to the file, or the published ones. Classes without
            an entry are named by their label. ``labels``: all are.
        headers: ``keep``, or ``strip`` for subject and body of the messages of 20 Newsgroups;
            ``auto`` strips those and keeps all other texts.

    Returns:
        The data set; ``gold`` is None without labels. A name has its published classes and seed
        words in every layout. The classes of a path are from the layout, otherwise the keys of the
        seed words, otherwise the gold labels, otherwise the keys of the names.

    Raises:
        LopsError: an unknown name or layout, a data set that cannot be found or downloaded, gold
            labels outside its classes, a damaged file, or contents that ``Corpus`` or ``Dataset``
            refuse.

    >>> import json, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mine.csv").write_text("text,label\\nA goal!,sports\\nA film.,arts\\n")
    >>> dataset = load_dataset(folder / "mine.csv", seeds={"sports": ["goal"], "arts": ["film"]})
    >>> dataset.corpus.texts, dataset.gold.labels
    (('A goal!', 'A film.'), ('sports', 'arts'))
    >>> load_dataset("agnwes")
    Traceback (most recent call last):
    ...
    lops_adapters.core.LopsError: 'agnwes' is neither an existing path nor a registered data set;
    did you mean agnews? Registered are 20news-coarse, 20news-fine, agnews, books, demo, nyt-coarse,
    nyt-fine (20news and nyt mean the coarse ones)
    """
    columns = CorpusColumns(text_column, label_column, id_column, quiet)
    name = ALIASES.get(name_or_path, name_or_path) if isinstance(name_or_path, str) else None
    if name == "demo":
        shipped.file("datasets/demo/documents.jsonl")
        folder = shipped.file("datasets/demo/seeds.json").parent
        return read_path(folder, columns, seeds, names, headers)
    if name in TASKS:
        task = TASKS[name]
        path, rows = _find(task, columns, data_dir, offline)
        rows = strip_headers(_conform(rows, task, path), headers, task.name)
        return assemble(rows, task.name, seeds, names)
    if os.path.exists(name_or_path):  # False, not an error, for a name that is too long
        return read_path(Path(name_or_path), columns, seeds, names, headers)
    raise _unknown(str(name_or_path))


def _unknown(name: str) -> LopsError:
    close = difflib.get_close_matches(name, [*names(), *ALIASES], n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else "."
    return LopsError(
        f"{name!r} is neither an existing path nor a registered data set{hint} "
        f"Registered are {listed(names())} (20news and nyt mean the coarse ones)"
    )


def _find(
    task: Task, columns: CorpusColumns, data_dir: str | Path | None, offline: bool
) -> tuple[Path, Rows]:
    folders = _folders(data_dir)
    for folder in folders:
        for path in _candidates(task, folder):
            logger.info("%s is read from %s", task.name, path)
            return path, read_rows(path, columns)
    if offline:
        raise _missing(task, folders, "downloads are switched off")
    try:
        path = obtain(task.name, task.paper_folder, user_cache(), columns.quiet)
    except LopsError as error:
        raise _missing(task, folders, f"the download failed: {error}") from error
    # The columns of a download are known; the caller's column names are for own files.
    return path, read_rows(path, CorpusColumns(quiet=columns.quiet))


def _missing(task: Task, folders: list[Path], reason: str) -> LopsError:
    """Return the error of a data set that is not here: why, what to fetch, what works at once."""
    others = [other for other in names() if other == "demo" or _is_in(TASKS[other], folders)]
    return LopsError(
        f"{task.name} is in none of {listed(folders)}, and {reason}.\n"
        f"{by_hand(task.name, task.paper_folder, folders[0])}.\n"
        "It lies elsewhere: --data-dir FOLDER. "
        f"Without a download: --dataset {' or '.join(others)}"
    )


def _is_in(task: Task, folders: list[Path]) -> bool:
    return any(True for folder in folders for _ in _candidates(task, folder, warn=False))


def _folders(data_dir: str | Path | None) -> list[Path]:
    folders = []
    if data_dir is not None:
        if not os.path.isdir(data_dir):  # unlike a path's is_dir, it takes any name
            raise LopsError(
                f"{typed('data_dir')} {data_dir}: no such folder; give the folder of the data sets"
            )
        folders.append(Path(data_dir))
    if variable := os.environ.get("LOPS_DATA"):
        if os.path.isdir(variable):
            folders.append(Path(variable))
        else:
            logger.warning("LOPS_DATA is %.200r, which is not a folder", variable)
    return [*folders, user_cache()]


def _candidates(task: Task, folder: Path, warn: bool = True) -> Iterator[Path]:
    for name in dict.fromkeys((*task.places, task.paper_folder)):
        path = folder / name
        file = _agnews_file(path) if task.name == "agnews" else None
        if file is not None and not (path / "df.pkl").is_file():
            yield file
        elif is_recognised(path):
            yield path
        elif path.exists() and warn:
            logger.warning("%s is skipped: no known layout", path)
    if task.groups is not None and any((folder / split).is_dir() for split in SPLITS):
        yield folder
    if task.name == "agnews" and (file := _agnews_file(folder)) is not None:
        yield file


def _agnews_file(folder: Path) -> Path | None:
    """Choose among the AG News CSVs of a folder.

    The training split goes first, then one without a split in its name, then the test split.
    """
    entries = folder.iterdir() if folder.is_dir() else ()
    files = [path for path in entries if _AGNEWS_FILE.fullmatch(path.name) and is_agnews(path)]
    if not files:
        return None
    names = {path: path.name.lower() for path in files}
    best = min(files, key=lambda path: ("train" not in names[path], "test" in names[path], path))
    if len(files) > 1:
        logger.info("of %s, using %s", listed(sorted(path.name for path in files)), best.name)
    return best


def _conform(rows: Rows, task: Task, path: Path) -> Rows:
    labels = rows.labels
    if task.groups is not None and labels is not None and set(labels) <= set(published.GROUPS):
        rows = _regrouped(rows, labels, task.groups)
    unknown = sorted(set(rows.labels or ()) - set(task.seeds))
    if unknown:
        raise LopsError(
            f"{path} was taken for {task.name}, but its gold labels {listed(unknown)} are not "
            f"among the classes of that data set ({listed(task.seeds)}); rename them, or read the "
            f"path itself: load_dataset({str(path)!r})"
        )
    if task.n_documents not in (None, len(rows.texts)):
        message = "%s: %d documents in %s; the paper's task has %d"
        logger.info(message, task.name, len(rows.texts), path, task.n_documents)
    messages = task.groups is not None  # in every layout, also that of the download
    return replace(
        rows,
        classes=list(task.seeds),
        seeds=task.seeds,
        names=published.NAMES.get(task.name),
        messages=messages,
    )


def _regrouped(rows: Rows, newsgroups: list[str], groups: Mapping[str, str]) -> Rows:
    """Return the rows whose newsgroup has a class, with that class as their label."""
    kept = [number for number, label in enumerate(newsgroups) if label in groups]
    return replace(
        rows,
        texts=[rows.texts[number] for number in kept],
        ids=[rows.ids[number] for number in kept] if rows.ids is not None else None,
        labels=[groups[newsgroups[number]] for number in kept],
    )
