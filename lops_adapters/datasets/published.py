"""Facts of the paper's data sets: seed words, names, label sets, sizes, blob ids.

The seed words are from the authors' released code; docs/datasets.md says where the names are from.

Plain data, used by ``registry`` and ``sources``; words and newsgroups are in ``published.json``.
"""

import json

from lops_adapters import shipped

COMMIT = "a3bcc18008b856bd91a7f75bc36cd672a9545b5c"
PAPER_FILES = f"https://raw.githubusercontent.com/dheeraj7596/LOPS/{COMMIT}/data"
# The archive of http://qwone.com/~jason/20Newsgroups, from where scikit-learn fetches it.
NEWSGROUPS_URL = "https://ndownloader.figshare.com/files/5975967"
NEWSGROUPS_SHA256 = "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"
AGNEWS_URL = (
    "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/"
    "555590db4219b1243abb1918effd6a7425a2d75f/data/ag_news_csv/train.csv"
)
AGNEWS_BLOB = "694aa19971315410e000404523796b76349d3c1d"

AGNEWS_CLASSES = {"1": "politics", "2": "sports", "3": "business", "4": "technology"}

# Git blob id (SHA-1) of data/<folder>/df.pkl at COMMIT.
BLOBS = {
    "nyt-coarse": "e2490bc3d3a68480c88a683d0f81617693a35727",
    "nyt-fine": "e0c831f51570e8977a84d88f79e1b17f2315f41c",
    "20news-coarse-nomisc": "5cea333bf7300cccf26193aaee5efcf71660d7b3",
    "20news-fine-nomisc": "6dc9a1fac941ae4fc80800ea102c3dfdde01f333",
    "agnews": "68a84982bf5705730d660dfa3de06538722c580b",
    "books": "cc71aa8fa6627dafb8c0292e6868164dcc334f93",
}

_FACTS = json.loads(shipped.data("datasets/published.json"))
# Newsgroup -> class of the coarse task, class of the fine task; None: not part of the task.
_GROUPS: dict[str, tuple[str | None, str | None]] = _FACTS["newsgroups"]
GROUPS = tuple(_GROUPS)
COARSE_GROUPS = {group: coarse for group, (coarse, _) in _GROUPS.items() if coarse is not None}
FINE_GROUPS = {group: fine for group, (_, fine) in _GROUPS.items() if fine is not None}

# The names that X-Class's released data gives to two classes of NYT.
RENAMED = {"real_estate": "estate", "united_states": "america"}

# Of each task, the seed words of its classes; and words that name a class in a text. A class that
# is left out of the names is named by its label.
SEEDS, NAMES = (
    {
        task: {label: tuple(words) for label, words in classes.items()}
        for task, classes in _FACTS[kind].items()
    }
    for kind in ("seeds", "names")
)
