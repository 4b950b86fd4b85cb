"""Settings of a ConWea run, and the two presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.probes import FAST
from lops_adapters.runs.rounds import RoundsSettings
from lops_adapters.runs.settings import AT_LEAST_ONE, NOT_NEGATIVE, setting


@dataclass(frozen=True, kw_only=True)
class ConweaSettings(RoundsSettings):
    """Settings of ConWea; the probe ``same`` is an untrained copy of the classifier."""

    # quick: minutes on a laptop's CPU. paper: the published sizes. How long the HAN is probed is
    # not published: the probe has as many epochs as the classifier, and the rule usually stops it
    # earlier.
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {},
        "paper": {
            "encoder": "bert-base-uncased",
            "max_pieces": 512,
            "restarts": 10,
            "classifier": "han",
            "epochs": 100,
            "min_epochs": None,
            "min_per_sense": None,
            "batch_size": 256,
            "max_sentences": 15,
            "max_words": 100,
            "probe_epochs": 100,
            "seed_update": "published",
        },
    }
    PROBES: ClassVar[tuple[str, ...]] = ("same", "linear", "transformer")
    WHEN_FAITHFUL: ClassVar[Mapping[str, Any]] = {
        "combine": "concat",
        "vector_words": 1,
        "classifier": "han",
        "min_epochs": None,
        "min_per_sense": None,
        "seed_update": "published",
    }

    encoder: str = setting(
        "minilm",
        "encoder of the contextual vectors and of the transformer probe: minilm, a Hugging Face "
        "hub name, or a local folder",
        metavar="NAME|PATH",
    )
    layers: int = setting(4, "number of last encoder layers to use")
    combine: str = setting(
        "mean", "how layers are combined; the original concatenates", choices=("mean", "concat")
    )
    max_pieces: int = setting(128, "word pieces per encoder window")
    min_occurrences: int = setting(10, "rarer words are not split into senses")
    # A sense in fewer than five documents cannot be scored (MIN_DOCUMENTS of the seed update), and
    # so is lost as a seed word. Ten would merge real second senses of seed words of the demo.
    min_per_sense: int | None = setting(
        5, "occurrences per sense at least; rarer senses join another"
    )
    max_occurrences: int = setting(1000, "random sample of a word's occurrences for k-means")
    restarts: int = setting(3, "restarts of k-means")
    iterations: int = setting(6, "trainings of the classifier, each followed by a seed update")
    seed_update: str = setting(
        "careful",
        "careful keeps the user's seed words and refuses junk; published replaces them all",
        choices=("careful", "published"),
    )
    # Chosen on 20 Newsgroups and AG News, see docs/conwea.md.
    min_lift: float = setting(
        35.0,
        "a new seed word is at least this many times as frequent in its class as in the average "
        "other one",
        within=NOT_NEGATIVE,
    )
    classifier: str = setting(
        "hybrid",
        "han, on Word2Vec of the senses; or linear, embedding, hybrid, which read the texts and "
        "train in seconds (the last two on --encoder, frozen)",
        choices=("han", *FAST),
    )
    vector_size: int = setting(100, "width of the Word2Vec vectors")
    # After five epochs on a few ten thousand words all vectors point the same way, and a classifier
    # learns nothing from them.
    vector_words: int = setting(
        2_000_000, "words Word2Vec trains on, at least; small corpora repeat"
    )
    # Patience ends the training; this only bounds its time. A limit on updates would be fewer
    # epochs the more pseudo-labels there are, and the HAN needs several before it learns anything.
    epochs: int | None = setting(
        None,
        "epochs of the classifier; of the HAN at most",
        within=AT_LEAST_ONE,
        usual="HAN: 50, paper 100; others: 20",
    )
    min_epochs: int | None = setting(10, "epochs of the HAN that patience does not count")
    batch_size: int = setting(32, "documents per update")
    max_sentences: int = setting(12, "sentences per document for the HAN")
    max_words: int = setting(30, "words per sentence for the HAN")
    patience: int = setting(3, "epochs without a better validation loss before the HAN stops")
    probe_epochs: int | None = setting(
        None,
        "epochs of the probe `same` at most",
        within=AT_LEAST_ONE,
        usual="HAN: 10, paper 100; others: 4",
    )

    def recipe(self, probing: bool) -> dict[str, Any]:
        usual, of_probe = (50, 10) if self.classifier == "han" else (20, 4)
        epochs = (self.probe_epochs or of_probe) if probing else (self.epochs or usual)
        return {"max_tokens": self.max_pieces, "epochs": epochs, "batch_size": self.batch_size}
