"""What is costly and does not change while a model of label sources is chosen, kept on disk."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from lops_adapters.selection.committee import committee
from lops_adapters.selection.committee.folds import Folded
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.scores import Scores, score
from lops_adapters.storage import replacing

T = TypeVar("T")


def kept(folder: Path, parts: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Return what ``make`` returns; next time what is stored for the same parts."""
    path = folder / f"{hashlib.sha256(pickle.dumps(parts)).hexdigest()[:32]}.pickle"
    if path.exists():
        found: T = pickle.loads(path.read_bytes())
        return found
    made = make()
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path) as place:
        place.write_bytes(pickle.dumps(made))
    return made


@contextmanager
def members_kept(folder: Path) -> Iterator[None]:
    """Let committees score the same samples with the same labels and seed only once."""

    def scored(
        members: Sequence[Member], labelled: Folded, *, unseen: bool = False, vectors: bool = False
    ) -> Scores:
        parts = (
            [member.name for member in members],
            list(labelled.samples),
            labelled.codes.tolist(),
            list(labelled.classes),
            (labelled.folds, labelled.seed, labelled.groups, unseen),
        )

        def make() -> Scores:
            made = score(members, labelled, unseen=unseen, vectors=True)
            # Members that score no unseen samples hold the texts.
            return made if unseen else replace(made, members=())

        found = kept(folder, parts, make)
        found = found if unseen else replace(found, members=members)
        return found if vectors else replace(found, vectors=found.vectors[:, :0])

    with patch.object(committee, "score", scored):
        yield
