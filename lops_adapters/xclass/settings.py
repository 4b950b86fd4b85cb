"""Settings of an X-Class run, and the two presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.probes import FAST
from lops_adapters.runs.arms import ADAPTIVE, LOPS
from lops_adapters.runs.rounds import RoundsSettings
from lops_adapters.runs.settings import ABOVE_ZERO, AT_LEAST_ONE, FRACTION, Range, setting

WORDS, SENTENCES = "words", "sentences"
ALL = "all"  # of the arm that selects among all documents


@dataclass(frozen=True, kw_only=True)
class XclassSettings(RoundsSettings):
    """Settings of X-Class; the probe ``same`` is an untrained copy of the final classifier."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {
            "encoder": "bert-base-uncased",
            "max_pieces": 512,
            "classifier": None,
            "learning_rate": 5e-5,
            "max_tokens": 512,
            "share_power": 1.0,
        },
    }
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {
        "classifier": None,
        "share_power": 1.0,
        "alignment": WORDS,
    }
    MORE_ARMS: ClassVar[tuple[str, ...]] = (f"{LOPS}-{ALL}", f"{ADAPTIVE}-{ALL}")
    PLACES: ClassVar[tuple[str, ...]] = (ALL,)
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear")

    encoder: str = setting(
        "minilm",
        "encoder of the word vectors: minilm, a Hugging Face hub name, or a local folder",
        metavar="NAME|PATH",
    )
    max_pieces: int = setting(128, "word pieces per encoder window; windows overlap by half")
    alignment: str = setting(
        WORDS,
        "what tells the class of a text: words, vectors of its words and of words around each "
        "class name; sentences, vectors of the text and of sentences that name a class",
        choices=(WORDS, SENTENCES),
    )
    min_count: int = setting(5, "rarer words do not describe a class")
    class_words: int = setting(100, "words per class at most, the name included")
    components: int = setting(64, "PCA components before alignment")
    share_power: float = setting(
        0.5,
        "power of the class shares of the alignment: 1 as aligned, 0 equally large classes",
        within=Range("0 to 1", lambda value: 0 <= value <= 1),
    )
    confident: float = setting(
        0.5, "most confidently aligned fraction per class to train on", within=FRACTION
    )
    classifier: str | None = setting(
        "hybrid",
        "hybrid, linear or embedding, which train in seconds (the first and last on --encoder, "
        "frozen); or an encoder to fine-tune: minilm, a Hugging Face hub name, or a local folder",
        metavar="NAME|PATH",
        usual="hybrid; paper and --faithful: as --encoder, for bert-base-uncased bert-base-cased",
    )
    epochs: int | None = setting(
        None,
        "epochs of the classifier",
        within=AT_LEAST_ONE,
        usual="3; linear, embedding, hybrid: 20",
    )
    batch_size: int = setting(32, "documents per update")
    learning_rate: float | None = setting(
        None, "learning rate of the classifier", within=ABOVE_ZERO, usual="the encoder's own"
    )
    max_tokens: int = setting(128, "word pieces per document for the classifier")
    probe_epochs: int = setting(4, "epochs of the probe at most")

    @property
    def reads_seeds(self) -> bool:
        return False

    def recipe(self, probing: bool) -> dict[str, Any]:
        usual = 20 if self.classifier in FAST else 3
        return {
            "max_tokens": self.max_tokens,
            "epochs": self.probe_epochs if probing else self.epochs or usual,
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
        }
