"""What every selection method promises."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.selection import METHODS, Selector, build
from lops_adapters.testing.data import noisy_texts


def check_method(
    name: str,
    samples: Sequence[Any] | None = None,
    labels: Sequence[Hashable] | None = None,
    *,
    gold: Sequence[Hashable] | None = None,
    probe: Callable[[], Any] = lambda: "linear",
) -> None:
    """Check a method of :data:`lops_adapters.selection.METHODS`.

    Its selection covers every sample once, with finite scores and right counts per class; the same
    seed gives the same; a permutation of the rows changes nothing; n samples are kept where it
    takes n; and it says in words what it keeps.

    Args:
        name: of the method.
        samples, labels: to select among; default: 90 texts with 3 classes.
        gold: only for a method that is defined by them.
        probe: returns a fresh probe, or the name of one.

    Raises:
        AssertionError: a promise is broken.
    """
    if samples is None or labels is None:
        samples, labels, gold = noisy_texts(90, 3)
    row = METHODS[name]
    gold = gold if row.needs_gold else None

    def make(gold: Any = gold, **arguments: Any) -> Selector:
        return build(name, probe() if row.needs_probe else None, gold=gold, **arguments)

    assert row.name == name, f"METHODS has {row.name!r} under the name {name!r}"
    lines = row.summary.splitlines()
    assert len(lines) == 1, f"{name}: its summary has {len(lines)} lines; wanted one"
    for per_class in (True, False) if row.per_class is not None else (None,):
        sentence = row.says({"keep": 0.5, "per_class": per_class})
        assert sentence.strip(), f"{name} does not say what it keeps"
        assert "{" not in sentence, f"{name} says {sentence!r}; wanted {{share}} and {{name}} only"
    usual = make()(samples, labels)
    _check_selection(name, usual, labels)
    _check_same(f"{name}, once more with the same seed", make()(samples, labels), usual)
    _check_order(name, make, gold, samples, labels, usual)
    if row.takes_n:
        for n in (1, len(samples) // 2, len(samples) + 1):
            kept = len(make(n=n)(samples, labels).kept)
            assert kept == min(n, len(samples)), f"{name} keeps {kept} samples, and n is {n}"


def _check_selection(name: str, selection: Selection, labels: Sequence[Hashable]) -> None:
    n, kept, rejected = len(labels), selection.kept, selection.rejected
    assert kept.dtype == rejected.dtype == np.int64, f"{name}: positions are not int64"
    every = sorted([*kept.tolist(), *rejected.tolist()])
    assert every == list(range(n)), f"{name}: kept and rejected are not every sample once"
    for part in (kept, rejected):
        assert (np.diff(part) > 0).all(), f"{name}: positions are not ascending"
    for values in (selection.confidence, selection.learnt_at):
        assert values.shape == (n,), f"{name}: found shape {values.shape}; wanted ({n},)"
    assert selection.confidence.dtype == np.float64, f"{name}: confidence is not float64"
    assert np.isfinite(selection.confidence).all(), f"{name}: a confidence is not finite"
    assert not np.isnan(selection.learnt_at).any(), f"{name}: a learning time is NaN"
    counts, of_kept = Counter(labels), Counter(labels[i] for i in kept.tolist())
    reports = {label: (one.count, one.kept) for label, one in selection.per_class.items()}
    expected = {label: (counts[label], of_kept[label]) for label in counts}
    assert reports == expected, f"{name}: per_class says {reports}; wanted {expected}"
    assert selection.stopped, f"{name} does not say why it stopped"


def _check_same(what: str, one: Selection, other: Selection) -> None:
    for part in ("mask", "confidence", "learnt_at"):
        same = np.array_equal(getattr(one, part), getattr(other, part))
        assert same, f"{what}: {part} differs"


def _check_order(
    name: str,
    make: Callable[..., Selector],
    gold: Sequence[Hashable] | None,
    samples: Sequence[Any],
    labels: Sequence[Hashable],
    usual: Selection,
) -> None:
    order = np.random.default_rng(1).permutation(len(samples))
    moved = [None if values is None else [values[i] for i in order] for values in (labels, gold)]
    there = make(gold=moved[1])([samples[i] for i in order], moved[0])
    for part in ("mask", "confidence", "learnt_at"):
        same = np.array_equal(getattr(there, part), getattr(usual, part)[order])
        assert same, f"{name}: {part} depends on the order of the rows"
