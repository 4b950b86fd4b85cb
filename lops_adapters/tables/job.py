"""What is asked of a selection in a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lops_adapters.labels.checked_rows import Checked
from lops_adapters.labels.columns import Columns
from lops_adapters.selection import Choice
from lops_adapters.tables.survey import EVERYTHING
from lops_adapters.texts.rest import MOST

LABEL = "lops_label"  # a column: of soft labels the largest, of votes the most probable
RELABEL = 0.9


@dataclass(frozen=True)
class TableJob:
    """What is asked for.

    Attributes:
        choice: how to select; few methods score rows outside their sample.
        probe_rows: rows of the sample.
        relabel: smallest probability of a suggestion that relabels a rejected row.
        escape: an apostrophe before cells that a spreadsheet takes for formulas.
        page: title, source and table of the page.
        checked: row of the table, from 0 -> label by a person.
    """

    columns: Columns
    choice: Choice
    probe_rows: int
    relabel: float = RELABEL
    escape: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    checked: Mapping[int, Checked] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""

    @property
    def most(self) -> int:
        """The rows of the sample; everything, if the method cannot score other rows."""
        plain = self.choice.row.assesses and self.columns.is_plain
        return self.probe_rows if plain else EVERYTHING

    @property
    def drawn(self) -> dict[str, Any]:
        """What a survey is told of its sample; no rows without a label if they get none."""
        labels_rest = self.choice.row.assesses and self.columns.is_plain
        rest = min(self.probe_rows, MOST) if labels_rest else 0
        return {"most": self.most, "seed": self.choice.seed, "rest": rest}
