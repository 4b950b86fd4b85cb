"""Small selections that the tests of the pages share, and a reader of pages."""

from dataclasses import fields, replace
from html.parser import HTMLParser

import numpy as np

from lops_adapters.core import ClassReport, Selection
from lops_adapters.report.contents import Charts, Counts, Listed, SelectionPage
from lops_adapters.report.data import selection_page

CLASSES = ("arts", "law")
PARTS = {"counts": Counts, "charts": Charts, "rows": Listed}
PART_OF = {one.name: part for part, kind in PARTS.items() for one in fields(kind)}
LATER = {*PART_OF, "ladder"} - {"to_check", "near", "is_probability"}  # not of selection_page
VOID = {"meta", "input", "img", "br"}
HOSTILE = (
    "<script>window.ran = 1</script>",
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "\"'><svg onload=window.ran=1>",
    "<!--<script>",
    "javascript:window.ran=1",
    "\u202eright to left override\u2066",
    "שלום עולם",
    "مرحبا بالعالم",
    "control \x00\x07\x1b[31m\x7f\u2028\u2029",
    "lone \ud800 surrogate \udfff",
    "👩‍👩‍👧‍👦 🏳️‍🌈 日本語 ไทย",
    "z̸̡̢̛̗̘̙̜̝̞̟̠̀́̂̃̄̅̆̇̈̉̊̋̌̍̎̏" * 20,
    "x" * 50_000,
    "",
)


class Reader(HTMLParser):
    """Tags with their attributes, table rows, and the text outside of style and script."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.rows, self.text, self.raw = [], [], [], "", {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.raw.setdefault(self.open[-1], []).append(data)
            return
        self.text += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def names(self):
        """The kinds of tags."""
        return {name for name, _ in self.tags}

    def attributes(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def selection(n=40, rule="released"):
    """Two classes in turn; the second half is learnt later, the last fifth never and rejected."""
    learnt_at = np.where(np.arange(n) < n // 2, 1.0, 2.0)
    learnt_at[-(n // 5) :] = np.inf
    mask = np.isfinite(learnt_at)
    confidence, reports = np.where(mask, 1 - learnt_at / 4, -0.25), {}
    for i, name in enumerate(CLASSES):
        kept = int(mask[i::2].sum())
        reports[name] = ClassReport(len(mask[i::2]), 1, kept, kept, 2.0, "threshold reached")
    stopped = "every class reached its threshold within 2 checkpoints"
    return Selection(mask, learnt_at, confidence, reports, rule, stopped)


def labels(n=40):
    return [CLASSES[i % 2] for i in range(n)]


def texts(n=40):
    return [f"text number {i} about {CLASSES[i % 2]}" for i in range(n)]


def gold(n=40):
    """Wrong where never learnt, and in the first row."""
    given = labels(n)
    return [CLASSES[(i + 1) % 2] if i == 0 or i >= n - n // 5 else given[i] for i in range(n)]


def changed(made, **values) -> SelectionPage:
    """The page with other values, also of its parts."""
    for name, value in values.items():
        new, part = {name: value}, PART_OF.get(name)
        made = replace(
            made, **(new if part is None else {part: replace(getattr(made, part), **new)})
        )
    return made


def page(n=40, *, with_gold=True, **more) -> SelectionPage:
    chosen = {
        "title": "Toy",
        "source": f"{n} rows of nothing",
        "suggested": ["law"] * n,
        "suggested_probability": np.linspace(0.5, 0.9, n),
        "gold": gold(n) if with_gold else None,
        "settings": {"tau": 0.5, "probe": {"kind": "linear"}},
        "versions": {"numpy": "2.0"},
        **more,
    }
    given = chosen.pop("texts", texts(n))
    later = {name: chosen.pop(name) for name in chosen.keys() & LATER}
    made = selection_page(
        chosen.pop("selection", selection(n)), given, chosen.pop("labels", labels(n)), **chosen
    )
    return changed(made, **later)


def hostile_page() -> SelectionPage:
    """Hostile text wherever a page shows text."""
    n = len(HOSTILE) * 2
    made = page(
        n,
        texts=[HOSTILE[i // 2] for i in range(n)],
        ids=[HOSTILE[i // 2][:200] for i in range(n)],
        near=[np.array([2 * i, 2 * i + 1]) for i in range(len(HOSTILE))],
        title=HOSTILE[1],
        source=HOSTILE[4],
    )
    worst = [HOSTILE[i % 12] for i in range(n)]
    suspects = [
        replace(row, label=text, suggested=text, gold=text)
        for row, text in zip(made.rows.suspects, worst, strict=True)
    ]
    classes = [replace(made.counts.classes[0], label=text, why=text) for text in HOSTILE[:12]]
    settings = {text: text for text in HOSTILE[:12]}
    return changed(
        made,
        confused=[(text, HOSTILE[0], 3) for text in HOSTILE[:12]],
        why=list(HOSTILE),
        classes=classes,
        suspects=suspects,
        settings=settings,
    )
