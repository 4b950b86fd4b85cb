"""What is asked of a selection in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lops_adapters.selection import METHODS, Method
from lops_adapters.tables.columns import Wanted
from lops_adapters.tables.results import RELABEL
from lops_adapters.tables.survey import EVERYTHING


@dataclass(frozen=True)
class Job:
    """What is asked for.

    Attributes:
        wanted: the columns.
        chosen: arguments of :func:`lops_adapters.select`, words among them.
        method: that these arguments name.
        probe_rows: rows of the sample.
        relabel: smallest probability of a suggestion that relabels a rejected row.
        escape: an apostrophe before cells that a spreadsheet takes for formulas.
        weights: add a column of sample weights.
        page: title, source and table of the page.
        checked: row of the table, from 0 -> label by a person, as text.
        data: about the files, for ``config.json``.
        settings: of the command, for ``config.json``.
        said: sentences about the run.
        command: for ``config.json``.

    """

    wanted: Wanted
    chosen: Mapping[str, Any]
    method: str
    probe_rows: int
    relabel: float = RELABEL
    escape: bool = False
    weights: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    checked: Mapping[int, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    said: Sequence[str] = ()
    command: str = ""

    @property
    def row(self) -> Method:
        """The method."""
        return METHODS[self.method]

    @property
    def seed(self) -> int:
        """The seed of draws, folds and trainings."""
        return int(self.chosen["seed"])

    @property
    def most(self) -> int:
        """The rows of the sample; everything, if the method cannot score other rows."""
        plain = self.row.scores_further and self.wanted.is_plain
        return self.probe_rows if plain else EVERYTHING
