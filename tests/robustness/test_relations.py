"""Changes of the input that must not change what is decided: metamorphic relations.

A relation takes a case and returns a changed one, with the position of each row in it. Decisions,
labels and suggestions have to be the same, and probabilities nearly so.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from lops_adapters import select
from lops_adapters.core import LopsWarning
from lops_adapters.testing.data import noisy_texts, topic_words

CLOSE = 1e-5  # of probabilities: sums in another order differ in their last digits
QUICK = ("groups", "votes", "vectors")


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

        more = dict(self.more)
        if "checked" in more:
            more["checked"] = {row: new(label) for row, label in more["checked"].items()}
        if "classes" in more:
            more["classes"] = list(map(new, more["classes"]))
        if "words" in more:
            more["words"] = {new(label): words for label, words in more["words"].items()}
        return replace(self, labels=[rename(one) for one in self.labels], more=more)

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
        "classes": Case(texts, weak, {"classes": [f"class {code}" for code in range(3)]}),
        "words": Case(texts, weak, {"words": topic_words(3), "encoder": "static"}),
        "ranked": Case(texts, weak, {"method": "learning-order", "keep": 0.5}),
    }


def with_column(case, vote):
    """Return votes with one more source."""
    return replace(case, labels=[(*row, vote) for row in case.labels])


def without_labels(case):
    """Add twenty rows that no source labels."""
    texts = [*case.texts, *(f"topic{i % 3}word1 common{i} never{i}" for i in range(20))]
    more = {name: [*case.more[name], *[case.more[name][0]] * 20]
            for name in ("groups", "source") if name in case.more}  # fmt: skip
    none = (None,) * 3 if isinstance(case.labels[0], tuple) else None
    return Case(texts, [*case.labels, *[none] * 20], case.more | more)


def as_frame(case):
    """Return texts and labels as columns of pandas, with an index that is no position."""
    pandas = pytest.importorskip("pandas")
    index, several = range(150, 0, -1), isinstance(case.labels[0], tuple)
    kind = partial(pandas.DataFrame, columns=["x", "y", "z"]) if several else pandas.Series
    texts = None if case.texts is None else pandas.Series(case.texts, index=index)
    return replace(case, texts=texts, labels=kind(case.labels, index=index))


def with_more(case, **more):
    """Return the case with other arguments."""
    return replace(case, more=case.more | more)


ORDER = np.random.default_rng(5).permutation(150)
# Name -> the kinds of cases that it is for ("": all), and the change.
RELATIONS = {
    "the order of the rows": ("", lambda case: case.at(ORDER)),
    "classes renamed in order": ("", lambda case: case.renamed(lambda c: c and f"z {c}")),
    "classes renamed in another order": (
        "", lambda case: case.renamed(lambda c: c and {"class 0": "z", "class 1": "m"}.get(c, "a")),
    ),
    "white space": (
        "labels encoder groups votes source checked",
        lambda case: replace(case, texts=[f"{one}  \n" if i % 3 else one.replace(" ", "  ")
                                          for i, one in enumerate(case.texts)]),
    ),
    "groups renamed": (
        "groups votes_of_groups",
        lambda case: with_more(case, groups=[f"{99 - int(g[1:])}" for g in case.more["groups"]]),
    ),
    "vectors doubled": (
        "vectors",
        lambda case: with_more(case, embeddings=case.more["embeddings"] * 2),
    ),
    "vectors of double precision": (
        "vectors",
        lambda case: with_more(case, embeddings=case.more["embeddings"].astype(float)),
    ),
    "sources in another order": (
        "votes votes_of_groups checked_votes",
        lambda case: replace(case, labels=[row[::-1] for row in case.labels]),
    ),
    "sources renamed": (
        "source",
        lambda case: with_more(case, source=[f"x{9 - int(s[1:])}" for s in case.more["source"]]),
    ),
    "a source without votes": (
        "votes votes_of_groups checked_votes", lambda case: with_column(case, None),
    ),
    "a source that always says the same": (
        "votes votes_of_groups checked_votes", lambda case: with_column(case, "class 1"),
    ),
    "arrays": (
        "",
        lambda case: replace(case, labels=np.array(case.labels, dtype=object)),
    ),
    "the same again": ("labels votes vectors ranked", lambda case: case),
    "a seed of numpy": (
        "labels votes vectors ranked", lambda case: with_more(case, seed=np.int64(0)),
    ),
    "columns of a frame": ("labels votes groups source checked vectors ranked", as_frame),
    "tuples": (
        "labels votes vectors ranked",
        lambda case: replace(case, texts=case.texts and tuple(case.texts),
                             labels=tuple(case.labels)),
    ),
    "an array of texts": (
        "labels votes groups source words ranked",
        lambda case: replace(case, texts=np.array(case.texts)),
    ),
    "rows without a label": (
        "labels encoder groups votes source per_class sure words", without_labels,
    ),
    "classes are numbers": (
        "labels groups votes source checked vectors ranked",
        lambda case: case.renamed(lambda c: c and int(c[-1])),
    ),
    "classes listed in another order": (
        "labels votes groups source checked classes",
        lambda case: with_more(case, classes=["class 2", "class 0", "class 1"]),
    ),
    "classes nearly named": (
        "labels votes groups source classes",
        lambda case: with_more(case.renamed(lambda c: c and f"{c.title()}."),
                               classes=["class 0", "class 1", "class 2"]),
    ),
    "one-hot soft labels": (
        "labels groups per_class sure ranked",
        lambda case: replace(case, labels=None, more=case.more | {
            "soft_labels": [[float(c == f"class {code}") for code in range(3)]
                            for c in case.labels]}),
    ),
    "groups are numbers": (
        "groups votes_of_groups",
        lambda case: with_more(case, groups=np.array([int(g[1:]) for g in case.more["groups"]])),
    ),
    "votes in columns": (
        "votes votes_of_groups checked_votes",
        lambda case: replace(case, labels=dict(zip("xyz", zip(*case.labels, strict=True),
                                                   strict=True))),
    ),
    "a source of blanks": (
        "votes votes_of_groups checked_votes", lambda case: with_column(case, " "),
    ),
    "rows checked by numbers of numpy": (
        "checked checked_votes",
        lambda case: with_more(case, checked={np.int64(row): label for row, label
                                              in case.more["checked"].items()}),
    ),
    "vectors in lists": (
        "vectors", lambda case: with_more(case, embeddings=case.more["embeddings"].tolist()),
    ),
    "words in another order": (
        "words",
        lambda case: with_more(case, words={c: words[::-1] for c, words
                                            in reversed(case.more["words"].items())}),
    ),
    "the default by name": (
        "labels votes groups checked",
        lambda case: with_more(case, method="committee", keep="auto", probe="linear"),
    ),
    "checks in another order": (
        "checked checked_votes",
        lambda case: with_more(case, checked=dict(reversed(case.more["checked"].items()))),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings(f"ignore::{LopsWarning.__module__}.{LopsWarning.__name__}")
@pytest.mark.parametrize(
    "kind", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
             for name in cases(0)],
)  # fmt: skip
def test_what_must_not_matter(kind):
    case = cases(0)[kind]
    before, broken = case.select(), []
    for name, (kinds, change) in RELATIONS.items():
        if kinds and kind.replace(" ", "_") not in kinds.split():
            continue
        rows = ORDER if name == "the order of the rows" else np.arange(150)
        after = change(case).select()
        decisions = (after.mask[:150] != before.mask[rows]).sum()
        moved = np.abs(after.confidence[:150] - before.confidence[rows]).max()
        if decisions or moved > CLOSE:
            broken.append((name, decisions, moved))
    assert not broken
