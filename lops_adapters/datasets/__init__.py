"""Documents, their gold labels and their seed words: registry, readers and downloads.

``load`` takes a registered name or a path and returns a ``Dataset``: its ``corpus`` (documents,
classes, their seed words and names) goes to the frameworks, its ``gold`` (gold labels or None) only
to the evaluation.
"""

from lops_adapters.datasets.corpus import Corpus, Dataset, GoldLabels
from lops_adapters.datasets.registry import load_dataset, names

__all__ = ["Corpus", "Dataset", "GoldLabels", "load_dataset", "names"]
