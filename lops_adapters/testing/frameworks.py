"""What every framework promises: the run folder, resume, gold labels kept apart."""

import contextlib
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.runs.arms import LOPS, STANDARD
from lops_adapters.runs.command import command
from lops_adapters.runs.framework import Framework, named
from lops_adapters.testing.data import noisy_texts, topic_words

_MEASURED = {"config.json", "metrics.json", "report.html"}
_SECONDS = {"seconds", "digest"}  # of stored arrays; the digest covers the seconds


def check_framework(
    framework: Framework[Any] | str,
    folder: Path,
    options: Sequence[str] = (),
    data: Path | None = None,
) -> Path:
    """Check a framework by its command, and return the folder of a run.

    A run writes what :func:`check_run` wants; resumed when it is finished, it changes nothing; and
    permuted gold labels change nothing but measurements. Both arms ``standard`` and ``lops`` run.

    Args:
        framework: itself, or its registered name.
        folder: an empty one, for the runs.
        options: of the command besides data, output and arms.
        data: a folder of JSON lines with a column ``label``; default: 60 texts with two classes,
            their names and seed words.

    Raises:
        AssertionError: a promise is broken.
    """
    framework = named(framework) if isinstance(framework, str) else framework
    source = data or _written(folder / "toy")
    run = folder / "run"
    _run(framework, source, run, options)
    check_run(run, framework.name)
    found = contents(run)
    _run(framework, source, run, [*options, "--resume"])
    changed = differing(contents(run), found)
    assert not changed, f"{framework.name}: a finished run, resumed, changes {', '.join(changed)}"
    _run(framework, _permuted(source, folder / "permuted" / source.name), folder / "gold", options)
    changed = differing(contents(folder / "gold"), found)
    assert not changed, f"{framework.name}: gold labels change {', '.join(changed)}"
    return run


def check_run(path: Path, framework: str) -> None:
    """Check that a finished run folder holds what is promised, see docs/commands.md.

    Raises:
        AssertionError: a file, a column or a key is missing, or what they say differs.
    """
    metrics = storage.read_json(path / "metrics.json", "run again")
    config = storage.read_json(path / "config.json", "run again")
    names = (metrics["framework"], config["framework"])
    assert names == (framework, framework), f"found runs of {names}; wanted {framework}"
    for name in ("report.html", "pseudo_labels.csv"):
        assert (path / name).is_file(), f"{path} lacks {name}"
    left = [file.name for file in path.rglob("*.tmp*")]
    assert not left, f"{path} holds temporary files: {', '.join(left)}"
    classes = set(metrics["classes"])
    rows = _rows(path / "pseudo_labels.csv", "id", "pseudo_label", "score")
    assert len(rows) == metrics["pseudo_labels"]["count"], "pseudo_labels.csv has other rows"
    _check_names(path / "pseudo_labels.csv", "pseudo_label", rows, classes)
    assert next(iter(metrics["arms"])) == STANDARD, f"the arm {STANDARD} does not come first"
    for arm, result in metrics["arms"].items():
        _check_arm(path / arm, result, classes, metrics["n_documents"])


def _check_arm(folder: Path, result: Any, classes: set[str], n_documents: int) -> None:
    rows = _rows(folder / "predictions.csv", "id", "predicted", "probability")
    assert len(rows) == n_documents, f"{folder}: {len(rows)} predictions of {n_documents} documents"
    _check_names(folder / "predictions.csv", "predicted", rows, classes)
    least = 1 / len(classes) - 1e-6
    fine = all(least <= float(row["probability"]) <= 1 for row in rows)
    assert fine, f"{folder}: a probability of the predicted class is below {least:.3f} or above 1"
    columns = ("id", "pseudo_label", "learnt_at", "confidence", "selected")
    first = result["iterations"][0]
    rows = _rows(folder / "selection-0.csv", *columns)
    kept = sum(row["selected"] == "1" for row in rows)
    pair = (first["pseudo_labels"], first["selected"])
    assert pair == (len(rows), kept), f"{folder}: metrics say {pair}; selection-0.csv {kept} kept"
    of_classes = sum(one["kept"] for one in first["per_class"].values())
    assert of_classes == kept, f"{folder}: classes keep {of_classes} in all; wanted {kept}"
    for number, row in enumerate(result["iterations"]):
        lacking = {"pseudo_labels", "noise", "selected", "selected_noise", "seconds"} - set(row)
        assert not lacking, f"{folder}: iteration {number} lacks {', '.join(sorted(lacking))}"
        assert row["iteration"] == number, f"{folder}: iteration {number} has another number"
    seconds = sum(row["seconds"] for row in result["iterations"])
    assert np.isclose(result["seconds"], seconds), f"{folder}: seconds are no sum"
    last = result["iterations"][-1]
    for score in ("micro_f1", "macro_f1"):
        assert result[score] == last[score], f"{folder}: {score} is not of the last iteration"
    stored = json.loads((folder / "model" / "lops.json").read_text(encoding="utf-8"))
    assert stored["kind"], f"{folder}: the model says no kind"


def _check_names(path: Path, column: str, rows: Sequence[Any], classes: set[str]) -> None:
    others = {row[column] for row in rows} - classes
    assert not others, f"{path}: {column} holds {sorted(others)[:5]}, which are no classes"


def _rows(path: Path, *columns: str) -> list[dict[str, str]]:
    """Return the rows of a CSV table that has at least these columns, first and in this order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows, f"{path} has no rows"
    columns_read = tuple(rows[0])[: len(columns)]
    assert columns_read == columns, f"{path} has the columns {columns_read}; wanted {columns}"
    return rows


def _run(framework: Framework[Any], data: Path, output: Path, options: Sequence[str]) -> None:
    places = ["--dataset", str(data), "--output", str(output), "--arms", f"{STANDARD},{LOPS}"]
    with contextlib.redirect_stdout(io.StringIO()):
        status = command(framework)([*places, "--quiet", *options])
    assert status == 0, f"{framework.name} ends with the status {status}"


def _written(folder: Path) -> Path:
    folder.mkdir(parents=True)
    texts, _, gold = noisy_texts(60)
    _write(
        folder, [{"text": text, "label": label} for text, label in zip(texts, gold, strict=True)]
    )
    storage.write_json(folder / "seeds.json", topic_words(2))
    return folder


def _permuted(source: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for file in source.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (documents,) = folder.glob("*.jsonl")
    rows = [json.loads(line) for line in documents.read_text(encoding="utf-8").splitlines()]
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    _write(folder, [{**row, "label": rows[i]["label"]} for row, i in zip(rows, order, strict=True)])
    return folder


def _write(folder: Path, rows: Sequence[Any]) -> None:
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    storage.write_text(folder / "documents.jsonl", lines)


def contents(run: Path) -> dict[str, Any]:
    """Return what the files of a run hold, by name; not what measures, nor seconds."""
    found: dict[str, Any] = {}
    for file in (file for file in sorted(run.rglob("*")) if file.is_file()):
        name = file.relative_to(run).as_posix()
        if name in _MEASURED:
            continue
        if file.suffix == ".npz":
            with np.load(file) as arrays:
                kept = sorted(set(arrays.files) - _SECONDS)
                found[name] = [(key, arrays[key].tobytes()) for key in kept]
        else:
            found[name] = file.read_bytes()
    return found


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of files that differ."""
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
