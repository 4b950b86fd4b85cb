"""Learn what a committee's score means, from tables with gold labels; see committee/calibration.py.

    python -m benchmarks.calibration measure --data-dir DIR --work FOLDER
    python -m benchmarks.calibration fit

``measure``: members score every table of ``plan``: tables of :mod:`benchmarks.real_tables` with
wrong labels, their gold labels as further, clean tables, gold labels that are corrupted, smaller
samples, and other encoders. It stores what the fit needs in ``results/calibration/tables.json``:
the diagnostics, and per step of the score and size of a class how many labels have them and how
many of these are wrong.
A table that is there is skipped.

``fit``: a logistic regression on these, every family of tables with the same weight. It writes the
coefficients into the package, and what each left-out family gets from the others into
``results/calibration/left-out.json``. Gold labels of a family never reach its own left-out numbers.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.real_tables import FRESH, REAL, TABLES, Table, load_table
from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters import selection as package
from lops_adapters.datasets import Corpus
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee.calibration import Diagnostics, diagnose, expit, line, scores
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member_table import TEXTS, VECTORS, Inputs, members_of
from lops_adapters.selection.committee.posterior import label_distribution, posterior_given
from lops_adapters.selection.committee.scores import score as score_by
from lops_adapters.storage import write_json

EDGES = np.arange(-9.25, 9.26, 0.5)  # steps of the score
SIZES = (1000, 300, 100)
ENCODERS = ("none", "minilm", VECTORS)  # vectors: of MiniLM, in place of texts
# Weights of a family's tables: with wrong labels, with gold labels, with corrupted gold labels. The
# weight of corrupted ones is small, since people and rules do not err like that.
WEIGHTS = {"noisy": 1.0, "clean": 0.5, "corrupted": 0.25}
STRENGTH = 2.0  # of the regression on standardised numbers, as C / number of families
SLOPE_BY = ("skill", "agreement", "repeats", "confirms")
COVERED = 0.8  # of left-out tables with wrong labels
COEFFICIENTS = Path(package.__file__).parent / "calibration.json"


class Item(NamedTuple):
    """A table to measure: of ``TABLES``, corrupted or sampled, by an encoder and a seed."""

    table: str
    corruption: str = ""
    size: int = 0
    encoder: str = "static"
    seed: int = 0

    @property
    def name(self) -> str:
        """Such as ``yelp-rules, 300 rows``."""
        parts = [self.table, self.corruption, f"{self.size} rows" if self.size else ""]
        parts += [self.encoder if self.encoder != "static" else ""]
        parts += [f"seed {self.seed}" if self.seed else ""]
        return ", ".join(filter(None, parts))

    @property
    def kind(self) -> str:
        """One of ``WEIGHTS``."""
        if self.corruption:
            return "corrupted"
        return "clean" if self.table.endswith(("-gold", "-clean")) else "noisy"

    @property
    def family(self) -> str:
        """The texts: tables that share a corpus are left out together."""
        if self.table.startswith(("agnews", "crowd-news")):
            return "agnews"
        return "20news" if self.table.startswith("20news") else self.table.removesuffix("-gold")


def plan() -> Iterator[Item]:
    """Yield all tables to measure."""
    for name in TABLES:
        yield Item(name)
    for name in (*FRESH, *REAL[1:]):
        for corruption in ("random", "one direction"):
            yield Item(f"{name}-gold", corruption)
    for size in SIZES:
        for name in TABLES:
            yield Item(name, size=size)
    for name in TABLES:
        if Item(name).kind == "noisy":
            yield from (Item(name, seed=seed) for seed in (1, 2))
    for encoder in ENCODERS:
        for name in TABLES:
            # MiniLM reads about 100 texts per second: a sample, and no variants of 20 Newsgroups.
            slow = encoder != "none"
            if not slow or not name.startswith("20news") or name.endswith(("seeds", "clean")):
                yield Item(name, size=2500 if slow else 0, encoder=encoder)


def prepared(item: Item, data_dir: Path) -> Table | None:
    """Return the table of an item; None if it is hardly larger than the sample."""
    table, rng = load_table(item.table, data_dir), np.random.default_rng(1)
    if item.corruption:
        table = table._replace(labels=_corrupted(table.gold, item.corruption))
    if item.size:
        if item.encoder == "static" and len(table.texts) < 1.5 * item.size:
            return None
        rows = rng.permutation(len(table.texts))[: item.size]
        texts = [table.texts[i] for i in rows]
        table = table._replace(texts=texts, labels=table.labels[rows], gold=table.gold[rows])
    return table


def _corrupted(gold: np.ndarray, corruption: str) -> np.ndarray:
    """Replace 20 % of the labels by others, or 25 % of the others by the largest class."""
    rng, labels = np.random.default_rng(0), gold.copy()
    classes = sorted(set(gold))
    if corruption == "random":
        for i in np.flatnonzero(rng.random(len(labels)) < 0.2):
            labels[i] = str(rng.choice([label for label in classes if label != labels[i]]))
        return labels
    largest = Counter(gold.tolist()).most_common(1)[0][0]
    labels[(labels != largest) & (rng.random(len(labels)) < 0.25)] = largest
    return labels


def measured(item: Item, table: Table) -> dict[str, np.ndarray]:
    """Return the diagnostics of a table, NaN with one member, and of every row with a gold label:

    its score, how many rows have its label, whether the label is wrong, how probable the most
    probable other class is among the others, and whether that is the gold label.
    """
    names, codes = np.unique(table.labels.astype(str), return_inverse=True)
    order = content_order(table.texts, codes, item.seed)
    texts, codes = [table.texts[i] for i in order.tolist()], codes[order]
    samples: Any = texts
    if item.encoder == VECTORS:
        samples = EmbeddingProbe("minilm").vectors(texts)
        members = members_of(Inputs(samples))
    else:
        encoder = None if item.encoder == "none" else EmbeddingProbe(item.encoder)
        members = members_of(Inputs(texts, encoder=encoder, seed=item.seed))
    labelled = Folded(samples, codes, names.tolist(), FOLDS, item.seed)
    said = score_by(members, labelled)
    given = label_distribution(said.likely, codes, FOLDS)
    true = posterior_given(said.likely, codes, given)
    others = true.copy()
    others[np.arange(len(codes)), codes] = 0
    gold = table.gold[order].astype(str)
    checked = (gold != "") & ~said.mean.small[codes]
    probability = others.max(axis=1) / np.maximum(others.sum(axis=1), 1e-300)
    return {
        "diagnostics": np.array(diagnose(said.choices, said.likely, codes)),
        "score": scores(true, codes)[checked],
        "of_class": np.bincount(codes, minlength=len(names))[codes][checked],
        "wrong": (names[codes] != gold)[checked],
        "other": probability[checked],
        "other_right": (names[others.argmax(axis=1)] == gold)[checked],
    }


def measure(data_dir: Path, work: Path) -> None:
    """Measure the tables that are not measured yet."""
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for item in plan():
        path = work / f"{item.name}.npz"
        if not path.exists():
            table = prepared(item, data_dir)
            if table is None:
                continue
            rows = measured(item, table)
            np.savez_compressed(path, **rows)  # type: ignore[arg-type]
            print(
                f"{item.name}: {len(rows['score'])} rows, {rows['wrong'].mean():.1%} wrong",
                flush=True,
            )
        rows = np.load(path)
        if np.isfinite(rows["diagnostics"]).all():  # one member alone is not calibrated
            found[item.name] = _summed(item, rows)
    corpus = Corpus("calibration", tuple(found), tuple(found), ("right", "wrong"))
    write_result("calibration/tables", found, corpus, command=command_line("calibration"))


def _summed(item: Item, rows: Any) -> dict[str, Any]:
    """Return what is committed of a table: its diagnostics, and its labels in steps.

    A step is a range of the score and a size of a class: the mean score, the number of labels, how
    many of these are wrong, and the rows of the class. Classes above the mean count as alike.
    """
    per_class = np.exp(Diagnostics(*rows["diagnostics"]).rows)
    sizes = np.minimum(rows["of_class"], np.ceil(per_class)).astype(int)
    steps = np.searchsorted(EDGES, rows["score"])
    parts = [
        (rows["score"][chosen], rows["wrong"][chosen], int(size))
        for step, size in np.unique(np.stack([steps, sizes]), axis=1).T
        for chosen in [(steps == step) & (sizes == size)]
    ]
    return {
        "family": item.family,
        "kind": item.kind,
        "rows": len(steps),
        "wrong": int(rows["wrong"].sum()),
        "diagnostics": [round(number, 6) for number in rows["diagnostics"].tolist()],
        "steps": [[round(float(s.mean()), 4), len(s), int(w.sum()), r] for s, w, r in parts],
    }


def fitted(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the coefficients of these tables of one kind of samples, without the range."""
    from sklearn.linear_model import LogisticRegression

    alike = Counter((table["family"], table["kind"]) for table in tables)
    of_tables = [
        WEIGHTS[one["kind"]] / np.sqrt(alike[one["family"], one["kind"]]) for one in tables
    ]
    noise = [table["wrong"] / table["rows"] for table in tables]
    numbers, wrong, weights = [], [], []
    for table, weight in zip(tables, of_tables, strict=True):
        for score, count, errors, _ in table["steps"]:
            for is_wrong, rows in ((True, errors), (False, count - errors)):
                if rows:
                    numbers.append(_numbers(table["diagnostics"], score))
                    wrong.append(is_wrong)
                    weights.append(weight * rows / table["rows"])
    x, each = np.array(numbers), np.array(weights)
    mean = np.average(x, axis=0, weights=each)
    spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=each))
    model = LogisticRegression(C=STRENGTH, max_iter=5000, tol=1e-8)
    model.fit((x - mean) / spread, wrong, sample_weight=each)
    by = model.coef_[0] / spread
    diagnostics = np.array([table["diagnostics"] for table in tables])
    m = diagnostics.shape[1]
    slope_by = np.zeros(m)
    slope_by[[Diagnostics._fields.index(name) for name in SLOPE_BY]] = by[m + 1 :]
    return {
        "offset": float(model.intercept_[0] - by @ mean),
        "offset_by": by[:m].tolist(),
        "slope": float(by[m]),
        "slope_by": slope_by.tolist(),
        "least": diagnostics.min(axis=0).tolist(),
        "most": diagnostics.max(axis=0).tolist(),
        "usual": _logit(np.average(noise, weights=of_tables)),
    }


def _numbers(diagnostics: Sequence[float], score: float) -> list[float]:
    """Return the numbers of the regression: diagnostics, score, and products with the score."""
    one = Diagnostics(*diagnostics)
    return [*diagnostics, score, *(score * getattr(one, name) for name in SLOPE_BY)]


def predicted(
    learnt: dict[str, Any], diagnostics: Sequence[float], score: np.ndarray, of_class: np.ndarray
) -> np.ndarray:
    """Return the probability that labels are wrong, by coefficients of :func:`fitted`."""
    offset, slope = line(learnt, diagnostics, of_class)
    return np.asarray(expit(offset + slope * score))


def of_kind(tables: dict[str, dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Return the tables of texts, or those of vectors."""
    return {
        name: table
        for name, table in tables.items()
        if (kind == VECTORS) == name.endswith(f", {VECTORS}")
    }


def left_out(tables: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return, per family of tables of one kind, the coefficients that the other families give."""
    families = sorted({table["family"] for table in tables.values()})
    return {
        family: fitted([table for table in tables.values() if table["family"] != family])
        for family in families
    }


def residuals(
    tables: dict[str, dict[str, Any]], learnt: dict[str, dict[str, Any]]
) -> dict[str, tuple[float, float]]:
    """Return, per table with wrong labels, true log-odds of noise minus estimated, and a weight."""
    alike = Counter(table["family"] for table in tables.values() if table["kind"] == "noisy")
    found = {}
    for name, table in tables.items():
        if table["kind"] != "noisy":
            continue
        score, count, wrong, of_class = np.array(table["steps"]).T
        probability = predicted(learnt[table["family"]], table["diagnostics"], score, of_class)
        estimate, rate = (probability * count).sum() / count.sum(), wrong.sum() / count.sum()
        weight = float(1 / np.sqrt(alike[table["family"]]))
        found[name] = float(_logit(rate) - _logit(estimate)), weight
    return found


def limits(residual: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the weighted quantiles between which ``COVERED`` of the residuals are."""
    values, weights = np.array(sorted(residual)).T
    shares = (np.cumsum(weights) - weights / 2) / weights.sum()
    low, high = np.interp([(1 - COVERED) / 2, (1 + COVERED) / 2], shares, values)
    return float(low), float(high)


def _logit(share: float) -> float:
    share = min(max(float(share), 1e-4), 1 - 1e-4)
    return float(np.log(share / (1 - share)))


def evaluated(
    rows: Any, table: dict[str, Any], learnt: dict[str, Any], range_: tuple[float, float]
) -> dict[str, Any]:
    """Return what left-out coefficients are worth in a table, and the posterior alone."""
    from sklearn.metrics import log_loss, roc_auc_score

    score, wrong, other = rows["score"], rows["wrong"], rows["other"]
    calibrated = predicted(learnt, table["diagnostics"], score, rows["of_class"])
    ways = {"calibrated": calibrated, "posterior": expit(score)}
    found: dict[str, Any] = {"rows": len(score), "wrong": float(wrong.mean())}
    for name, probability in ways.items():
        rejected, replaced = probability > 0.5, probability * other > 1 - probability
        right = np.where(replaced, rows["other_right"], ~wrong)
        found[name] = {
            "estimate": float(probability.mean()),
            "log_loss": float(log_loss(wrong, np.clip(probability, 0.005, 0.995), labels=[0, 1])),
            "corrected": float(right.mean() - (~wrong).mean()),
            "right_lost": float((rejected & ~wrong).sum() / max(1, (~wrong).sum())),
            "wrong_found": float((rejected & wrong).sum() / max(1, wrong.sum())),
            "auroc": float(roc_auc_score(wrong, probability)) if 0 < wrong.mean() < 1 else None,
        }
    odds = _logit(found["calibrated"]["estimate"])
    found["low"], found["high"] = (float(expit(odds + part)) for part in range_)
    return found


def fit(work: Path) -> None:
    """Fit, write the coefficients into the package, and evaluate on left-out families."""
    measurements = json.loads((RESULTS / "calibration/tables.json").read_text(encoding="utf-8"))
    every, result = measurements["result"], {}
    for kind in (TEXTS, VECTORS):
        tables = of_kind(every, kind)
        learnt = left_out(tables)
        residual = residuals(tables, learnt)
        for name, table in tables.items():
            others = [
                pair for key, pair in residual.items() if tables[key]["family"] != table["family"]
            ]
            rows = np.load(work / f"{name}.npz")
            found = evaluated(rows, table, learnt[table["family"]], limits(others))
            result[name] = {"family": table["family"], "kind": table["kind"], **found}
    corpus = Corpus("calibration", tuple(result), tuple(result), ("right", "wrong"))
    write_result("calibration/left-out", result, corpus, command=command_line("calibration"))
    write_json(COEFFICIENTS, final(every))


def final(tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the contents of ``calibration.json``: coefficients of all tables, and the ranges."""
    return {
        "about": "Written by python -m benchmarks.calibration fit; do not edit.",
        "families": sorted({table["family"] for table in tables.values()}),
        "tables": len(tables),
        "numbers": list(Diagnostics._fields),
        **{kind: _final(of_kind(tables, kind)) for kind in (TEXTS, VECTORS)},
    }


def _final(tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    low, high = limits(list(residuals(tables, left_out(tables)).values()))
    learnt = {**fitted(list(tables.values())), "low": low, "high": high}
    return {key: _rounded(value) for key, value in learnt.items()}


def _rounded(value: Any) -> Any:
    return [round(one, 5) for one in value] if isinstance(value, list) else round(value, 5)


def main() -> None:
    """Measure, or fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("measure", "fit"))
    parser.add_argument("--data-dir", type=Path, help="wanted by measure")
    parser.add_argument("--work", type=Path, required=True, help="folder of measured rows")
    options = parser.parse_args()
    if options.step == "measure":
        measure(options.data_dir, options.work)
    else:
        fit(options.work)


if __name__ == "__main__":
    main()
