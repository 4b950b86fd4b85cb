"""Changes of the input that must not change what is decided: metamorphic relations.

A relation takes a case and returns a changed one, with the position of each row in it. Decisions,
labels and suggestions have to be the same, and probabilities nearly so.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lops_adapters import select

from ..noisy import noisy_texts

CLOSE = 1e-5  # of probabilities: sums in another order differ in their last digits


@dataclass(frozen=True)
class Case:
    """The arguments of a selection; ``names`` are the labels' names at first."""

    texts: Any
    labels: Any
    more: dict[str, Any]

    def at(self, order):
        """Return the rows in another order."""
        rows = [int(i) for i in order]
        more = {
            name: value[rows] if isinstance(value, np.ndarray) else [value[i] for i in rows]
            for name, value in self.more.items()
            if name in ("groups", "source", "embeddings")
        }
        place = {row: i for i, row in enumerate(rows)}
        checked = self.more.get("checked")
        more |= (
            {"checked": {place[row]: label for row, label in checked.items()}} if checked else {}
        )
        texts = None if self.texts is None else [self.texts[i] for i in rows]
        return replace(self, texts=texts, labels=[self.labels[i] for i in rows],
                       more={**self.more, **more})  # fmt: skip

    def renamed(self, new):
        """Return the same with other names of classes."""

        def rename(one):
            return tuple(map(new, one)) if isinstance(one, tuple) else new(one)

        checked = self.more.get("checked")
        more = {"checked": {row: new(label) for row, label in checked.items()}} if checked else {}
        return replace(self, labels=[rename(one) for one in self.labels], more=self.more | more)

    def select(self):
        """Select."""
        encoder = {} if "embeddings" in self.more else {"encoder": self.more.get("encoder")}
        return select(self.texts, self.labels, **self.more | encoder)


def cases(seed):
    """Return a case of every kind, by name."""
    texts, weak, gold = noisy_texts(n=150, k=3, seed=seed, noise=0.2)
    rng = np.random.default_rng(seed)
    groups = [f"g{i}" for i in rng.integers(0, 30, 150)]
    votes = [
        tuple(g if rng.uniform() < right else w for right in (0.9, 0.7, 0.5))
        for w, g in zip(weak, gold, strict=True)
    ]
    source = [f"s{i}" for i in rng.integers(0, 3, 150)]
    checked = {int(i): gold[i] for i in rng.choice(150, 12, replace=False)}
    of_class = rng.normal(size=(3, 8))
    vectors = of_class[[int(one[-1]) for one in gold]] + rng.normal(size=(150, 8))
    return {
        "labels": Case(texts, weak, {}),
        "encoder": Case(texts, weak, {"encoder": "static"}),
        "groups": Case(texts, weak, {"groups": groups}),
        "votes": Case(texts, votes, {}),
        "votes of groups": Case(texts, votes, {"groups": groups}),
        "source": Case(texts, weak, {"source": source}),
        "checked": Case(texts, weak, {"checked": checked}),
        "checked votes": Case(texts, votes, {"checked": checked}),
        "per class": Case(texts, weak, {"per_class": True}),
        "sure": Case(texts, weak, {"sure": 0.9}),
        "vectors": Case(None, weak, {"embeddings": vectors.astype(np.float32)}),
    }


def with_column(case, vote):
    """Return votes with one more source."""
    return replace(case, labels=[(*row, vote) for row in case.labels])


def _order(seed):
    return np.random.default_rng(seed).permutation(150)


# Name -> the kinds of cases that it is for ("": all) and the change.
RELATIONS = {
    "the order of the rows": ("", lambda case: case.at(_order(5)), _order(5)),
    "classes renamed in order": ("", lambda case: case.renamed(lambda c: c and f"z {c}"), None),
    "classes renamed in another order": (
        "", lambda case: case.renamed(lambda c: c and {"class 0": "z", "class 1": "m"}.get(c, "a")),
        None,
    ),
    "white space": (
        "labels encoder groups votes source checked",
        lambda case: replace(case, texts=[f"{one}  \n" if i % 3 else one.replace(" ", "  ")
                                          for i, one in enumerate(case.texts)]),
        None,
    ),
    "groups renamed": (
        "groups votes_of_groups",
        lambda case: replace(case, more=case.more | {
            "groups": [f"{99 - int(one[1:])}" for one in case.more["groups"]]}),
        None,
    ),
    "vectors doubled": (
        "vectors",
        lambda case: replace(case, more={"embeddings": case.more["embeddings"] * 2}),
        None,
    ),
    "vectors of double precision": (
        "vectors",
        lambda case: replace(case, more={"embeddings": case.more["embeddings"].astype(float)}),
        None,
    ),
    "sources in another order": (
        "votes votes_of_groups checked_votes",
        lambda case: replace(case, labels=[row[::-1] for row in case.labels]),
        None,
    ),
    "sources renamed": (
        "source",
        lambda case: replace(case, more={"source": [f"x{9 - int(one[1:])}"
                                                    for one in case.more["source"]]}),
        None,
    ),
    "a source without votes": (
        "votes votes_of_groups checked_votes", lambda case: with_column(case, None), None,
    ),
    "a source that always says the same": (
        "votes votes_of_groups checked_votes", lambda case: with_column(case, "class 1"), None,
    ),
    "arrays": (
        "",
        lambda case: replace(case, labels=np.array(case.labels, dtype=object)),
        None,
    ),
    "checks in another order": (
        "checked checked_votes",
        lambda case: replace(case, more=case.more | {
            "checked": dict(reversed(case.more["checked"].items()))}),
        None,
    ),
}  # fmt: skip


def applies(relation, kind):
    """Return whether a relation is for a kind of cases."""
    kinds = RELATIONS[relation][0].split()
    return not kinds or kind.replace(" ", "_") in kinds


def difference(case, relation, before):
    """Return how many decisions a relation changes, and the largest change of a probability."""
    _, change, order = RELATIONS[relation]
    after = change(case).select()
    rows = np.arange(len(before.mask)) if order is None else order
    confidence = np.abs(after.confidence - before.confidence[rows])
    return int((after.mask != before.mask[rows]).sum()), float(confidence.max())
