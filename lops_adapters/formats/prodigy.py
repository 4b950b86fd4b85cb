"""Exports of Prodigy (JSONL): a label counts if the answer is ``accept``."""

from collections.abc import Mapping, Sequence
from typing import Any

from lops_adapters.formats.base import Block
from lops_adapters.formats.jsonl import JsonBlock, Jsonl

ANSWER, ACCEPT = "answer", "accept"
_LABELS = (ACCEPT, "label")


class ProdigyBlock(JsonBlock):
    """Examples; a rejected or ignored one has no label."""

    def values(self, names: Sequence[str]) -> list[list[Any]]:
        *columns, answers = super().values((*names, ANSWER))
        for index, name in enumerate(names):
            if name in _LABELS:
                pairs = zip(columns[index], answers, strict=True)
                columns[index] = [cell if answer == ACCEPT else None for cell, answer in pairs]
        return columns

    def replaced(self, column: str, values: Mapping[int, Any]) -> Block:
        accepted = dict.fromkeys(values, ACCEPT) if column in _LABELS else {}
        block = super().replaced(column, values)
        return JsonBlock.replaced(block, ANSWER, accepted) if accepted else block  # type: ignore[arg-type]


class Prodigy(Jsonl):
    """Examples, told by their keys."""

    name = "prodigy"
    native = copied = "jsonl"
    suffixes = ()
    block = ProdigyBlock
