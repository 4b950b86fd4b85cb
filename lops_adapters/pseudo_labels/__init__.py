"""Pseudo-labels from seed words: String-Match and Exclusive String-Match."""

from lops_adapters.pseudo_labels.exclusive import exclusive_string_match
from lops_adapters.pseudo_labels.result import PseudoLabels
from lops_adapters.pseudo_labels.stopwords import ENGLISH_STOP_WORDS, STRING_MATCH_STOP_WORDS, WOULD
from lops_adapters.pseudo_labels.string_match import seed_votes, string_match

__all__ = [
    "ENGLISH_STOP_WORDS",
    "STRING_MATCH_STOP_WORDS",
    "WOULD",
    "PseudoLabels",
    "exclusive_string_match",
    "seed_votes",
    "string_match",
]
