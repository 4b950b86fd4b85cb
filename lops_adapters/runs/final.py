"""Frameworks that end with a network: by default, the last stage trains a classifier of texts.

Arms select among what the network is trained on, or, named ``-documents``, in the last stage, see
:mod:`lops_adapters.runs.rounds`. Measurements: docs/westclass.md and docs/lotclass.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.core import LopsError
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import FAST
from lops_adapters.runs.arms import ADAPTIVE, CONTROLS, CORRECTED, LOPS, STANDARD, parent
from lops_adapters.runs.rounds import RoundsSettings
from lops_adapters.runs.settings import NOT_NEGATIVE, FrameworkSettings, setting

NETWORK = "network"
ARMS = tuple(  # those that select among the documents
    f"{method}-documents"
    for method in (
        *(LOPS, ADAPTIVE, "committee", "automatic", "random", "optimal", CORRECTED),
        *CONTROLS,
    )
)


@dataclass(frozen=True, kw_only=True)
class FinalSettings(RoundsSettings):
    """Settings of a framework that ends with a network."""

    PUBLISHED: ClassVar[Mapping[str, Any]] = FrameworkSettings.PUBLISHED
    PLACES: ClassVar[tuple[str, ...]] = ("documents",)

    classifier: str = setting(
        "hybrid",
        "final classifier, trained on the documents by the class that the network predicts: linear "
        "(TF-IDF), embedding (frozen --encoder) or hybrid (both); network: none, the run ends with "
        "the network",
        choices=(NETWORK, *FAST),
        usual="hybrid; paper and --faithful: network",
    )
    rounds: int = setting(
        1,
        "trainings of the final classifier; after each, rejected documents are added by rank; 0: "
        "the run ends with the network",
        within=NOT_NEGATIVE,
    )

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The arms of a run that names none.

        ``lops`` selects where the paper does, which costs a network of its own; with a final
        classifier, ``committee-documents`` shares the Standard arm's and costs seconds.
        """
        return self.ARMS if self.ends_with_network else (*self.ARMS, "committee-documents")

    @classmethod
    def known_arms(cls) -> tuple[str, ...]:
        """Return the arms that a run can have; labels are corrected among documents only."""
        known = super().known_arms()
        return tuple(arm for arm in known if CORRECTED not in (arm, parent(arm)))

    @classmethod
    def shown_arms(cls) -> str:
        usual = ",".join(cls.preset("quick", classifier="linear").usual_arms)
        return f"{usual}; paper, --faithful and --classifier network: {','.join(cls.ARMS)}"

    @property
    def ends_with_network(self) -> bool:
        """Whether the network itself is the classifier."""
        return self.classifier == NETWORK or not self.rounds

    @property
    def reads_seeds(self) -> bool:
        return getattr(self, "supervision", "") not in ("names", "auto")

    @property
    def final_rounds(self) -> int:
        return 0 if self.ends_with_network else self.rounds

    def final_method(self, arm: str) -> str:
        return arm if is_at_documents(arm) else STANDARD


def check_final(arms: Sequence[str], settings: FinalSettings) -> None:
    """Refuse arms that select for a classifier that is not trained, and an unknown encoder."""
    late = [arm for arm in arms if is_at_documents(arm)]
    if late and settings.ends_with_network:
        raise LopsError(
            f"{late[0]} selects for the final classifier, and the run ends with the network; "
            "wanted --classifier hybrid, linear or embedding, and --rounds of at least 1"
        )
    if settings.frozen_encoder not in (None, STATIC):
        pretrained.load_config(settings.frozen_encoder)


def is_at_documents(arm: str) -> bool:
    """Return whether an arm selects among the documents.

    >>> is_at_documents("lops"), is_at_documents("lops-documents")
    (False, True)
    """
    return arm.endswith("-documents")
