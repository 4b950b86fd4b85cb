"""Settings of a LOTClass run, and the two presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.runs.arms import ADAPTIVE, LOPS
from lops_adapters.runs.rounds import AT_DOCUMENTS, NETWORK, FinalSettings
from lops_adapters.runs.settings import ABOVE_ZERO, NOT_NEGATIVE, Range, setting

SUPERVISION = ("auto", "names", "keywords")
REFRESH = "refresh"  # of the arm that selects at each refresh of self-training


@dataclass(frozen=True, kw_only=True)
class LotclassSettings(FinalSettings):
    """Settings of LOTClass.

    The probe ``same`` is an untrained copy of what is trained next: the network among rows, the
    final classifier among documents.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {
            "encoder": "bert-base-uncased",
            "max_tokens": 200,
            "batch_size": 128,
            "micro_batch": 32,
            "learning_rate": 2e-5,
            "self_learning_rate": 1e-6,
            "classifier": NETWORK,
            "read_at": "first",
            "supervision": "names",
        },
    }
    MORE_ARMS: ClassVar[tuple[str, ...]] = (
        f"{LOPS}-{REFRESH}",
        f"{ADAPTIVE}-{REFRESH}",
        *AT_DOCUMENTS,
    )
    PLACES: ClassVar[tuple[str, ...]] = (*FinalSettings.PLACES, REFRESH)
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {
        "min_named": 1,
        "supervision": "names",
        "classifier": NETWORK,
        "read_at": "first",
    }

    encoder: str = setting(
        "minilm",
        "masked language model: a Hugging Face hub name, a local folder, or minilm, whose head is "
        "trained on the corpus first; the final classifier reads it frozen",
        metavar="NAME|PATH",
    )
    supervision: str = setting(
        "auto",
        "what identifies a class: names, or keywords (seed words); auto: names, and where too few "
        "documents hold them seed words, then a lower --match-threshold "
        "for classes with too few rows",
        choices=SUPERVISION,
    )
    max_tokens: int = setting(
        64, "word pieces per document", within=Range("at least 8", lambda value: value >= 8)
    )
    # Masked category prediction trains at words; see docs/results/lotclass.md.
    read_at: str = setting(
        "tokens",
        "where the network reads the class of a document: the mean over its tokens, or the first "
        "token, as the original",
        choices=("tokens", "first"),
    )
    top: int = setting(
        50,
        "predictions of the language model per position",
        within=Range("1 to 255", lambda value: 1 <= value <= 255),
    )
    vocabulary_size: int = setting(100, "words per class, before ambiguous ones are removed")
    match_threshold: int = setting(
        20,
        "more of the --top predictions than this must be words of the class",
        within=NOT_NEGATIVE,
    )
    min_named: int = setting(5, "documents with a name of the class at least")
    min_rows: int = setting(11, "rows per class at least")
    epochs: int = setting(3, "epochs of masked category prediction")
    batch_size: int = setting(32, "samples per update")
    learning_rate: float = setting(
        1e-4, "learning rate of masked category prediction and the probe", within=ABOVE_ZERO
    )
    probe_epochs: int = setting(4, "epochs of the probe at most")
    self_train_epochs: float = setting(
        1.0, "passes over the documents in self-training", within=NOT_NEGATIVE
    )
    self_learning_rate: float = setting(5e-6, "learning rate of self-training", within=ABOVE_ZERO)
    update_interval: int = setting(50, "updates of self-training between two targets")
    micro_batch: int = setting(16, "samples per pass through the network; decides results")
    head_epochs: int = setting(3, "epochs for a missing masked-language-model head, at least")
    head_updates: int = setting(400, "updates for that head, at least")
    head_learning_rate: float = setting(5e-4, "learning rate of that head", within=ABOVE_ZERO)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.match_threshold < self.top:
            raise LopsError(
                f"{typed('match_threshold')} is {self.match_threshold}; wanted 0 to "
                f"{self.top - 1}, below the {self.top} predictions per position"
            )
