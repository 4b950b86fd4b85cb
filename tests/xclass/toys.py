"""A corpus small enough to run X-Class on in a second, and a tiny BERT of random weights whose word
vectors know the topics.
"""

from lops_adapters.xclass.settings import XclassSettings

from ..framework_tools import ARTS, LAW, SPORT, sentence, toy_documents

TOPICS = {"arts": ARTS, "law": LAW, "sport": SPORT}
CLASSES = tuple(TOPICS)
ARMS = ("standard", "lops", "lops-all")
SMALL = {
    "classifier": None,
    "max_pieces": 32,
    "min_count": 3,
    "class_words": 6,
    "components": 8,
    "epochs": 2,
    "batch_size": 6,
    "learning_rate": 0.003,
    "max_tokens": 40,
    "probe_epochs": 4,
    "every": 1,
    # The other half of the labels is nearly clean: keep auto keeps all of them.
    "method": "released",
    "keep": 0.5,
}


def settings(**overrides):
    """Settings under which a run on the toy corpus takes about a second."""
    return XclassSettings(**{**SMALL, **overrides})


def _document(rng, number, label, other):
    found = []
    for _ in range(int(rng.integers(2, 6))):
        of = other if rng.random() < 0.2 or number % 10 == 0 else label
        words = sentence(rng, [of, *TOPICS[of]], [0.2, *[0.08] * 10])
        found.append(f"The {' '.join(words)}.")
    return found


def documents(n=90, seed=0):
    """n short documents and their gold labels; one in ten is about another class, which makes wrong
    pseudo-labels.
    """
    return toy_documents(n, seed, CLASSES, _document)


def write_folder(folder, texts, labels=None, classes=CLASSES):
    """Write a data set into a folder in the original's layout: a document a line, the names of the
    classes, gold labels as numbers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dataset.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    (folder / "classes.txt").write_text("".join(f"{name}\n" for name in classes), encoding="utf-8")
    if labels is not None:
        (folder / "labels.txt").write_text(
            "".join(f"{list(classes).index(label)}\n" for label in labels), encoding="utf-8"
        )
    return folder
