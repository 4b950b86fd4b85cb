"""Build the corpora of the frameworks that no setting has seen: German news, Debian packages.

    python -m benchmarks.unseen --data-dir DIR --packages LISTS

Each becomes a folder below ``DIR/unseen`` with texts, gold labels, class names and seed words. The
latter are those of ``benchmarks/unseen.json``, which was committed before the gold labels were
opened. German news need ``DIR/fresh-noise/german-news-seeds.csv.gz``. LISTS is a folder with the
lists of packages and their descriptions in English:

    mkdir -p LISTS/partial
    apt-get update -o Dir::State::lists=LISTS -o Acquire::Languages=en
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.storage import write_json

WORDS = Path(__file__).with_name("unseen.json")
_HELPER = "/usr/lib/apt/apt-helper"  # reads compressed lists


def german_news(path: Path) -> list[tuple[str, str]]:
    """Return articles and their sections; other labels of the file are left aside."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [(row["text"], row["gold"]) for row in csv.DictReader(file)]


def debian(lists: Path, sections: set[str]) -> list[tuple[str, str]]:
    """Return descriptions and sections: of each source package the first package by name."""
    described = {
        item["Description-md5"]: item["Description-en"]
        for item in _records(lists, "*_debian_dists_*_main_i18n_Translation-en*")
    }
    first: dict[str, tuple[str, str, str]] = {}
    for item in _records(lists, "*_debian_dists_*_main_binary-*_Packages*"):
        name, section = item["Package"], item.get("Section", "")
        source = item.get("Source", name).partition(" ")[0]
        text = described.get(item.get("Description-md5", ""), "")
        if section in sections and text and (source not in first or name < first[source][0]):
            first[source] = name, text, section
    return [(text, section) for _, text, section in sorted(first.values())]


def _records(lists: Path, pattern: str) -> Iterator[dict[str, str]]:
    """Yield the records of all lists of a name, fields with their text in one line."""
    paths = sorted(lists.glob(pattern))
    if not paths:
        raise LopsError(f"{lists} has no {pattern}; run apt-get update as the help says")
    for path in paths:
        read = subprocess.run([_HELPER, "cat-file", str(path)], capture_output=True, check=True)
        for record in read.stdout.decode("utf-8").split("\n\n"):
            fields: dict[str, str] = {}
            name = ""
            for line in record.splitlines():
                if line.startswith(" "):
                    fields[name] += "\n" + line.strip().removeprefix(".")
                else:
                    name, _, value = line.partition(":")
                    fields[name] = value.strip()
            if fields:
                yield fields


def write(folder: Path, rows: list[tuple[str, str]], name: str) -> None:
    """Write a corpus with the committed names and seed words into a new folder.

    LopsError: a gold label is none of the classes.
    """
    words = json.loads(WORDS.read_text(encoding="utf-8"))[name]
    unknown = {label for _, label in rows} - set(words["seeds"])
    if unknown:
        raise LopsError(f"{name} has the gold labels {sorted(unknown)}, which are no classes")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    write_json(folder / "seeds.json", words["seeds"])
    write_json(folder / "names.json", words["names"])


def main() -> None:
    """Build both corpora; prints their sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True, metavar="LISTS")
    options = parser.parse_args()
    sections = set(json.loads(WORDS.read_text(encoding="utf-8"))["debian"]["seeds"])
    corpora = {
        "german-news": german_news(options.data_dir / "fresh-noise" / "german-news-seeds.csv.gz"),
        "debian": debian(options.packages, sections),
    }
    for name, rows in corpora.items():
        write(options.data_dir / "unseen" / name, rows, name)
        print(f"{name}: {len(rows):,} documents")


if __name__ == "__main__":
    main()
