"""The hierarchical attention network (Yang et al., NAACL 2016) as ConWea configures it.

Unlike ConWea's, it uses packed sequences and masked attention.
"""

from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Attention(nn.Module):
    """Weighted mean over time with the weights softmax(tanh(x W) u).

    Padding is masked; the original includes it.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, units, bias=False)
        self.context = nn.Linear(units, 1, bias=False)
        for layer in (self.project, self.context):
            nn.init.uniform_(layer.weight, -0.05, 0.05)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Pool states (rows, time, width) under a boolean mask (rows, time) into (rows, width)."""
        scores = self.context(torch.tanh(self.project(states))).squeeze(-1).float()
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=1)
        return (states * weights.unsqueeze(-1).to(states.dtype)).sum(dim=1)


class Level(nn.Module):
    """One level of the hierarchy: a bidirectional GRU over packed sequences, then attention."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, units, batch_first=True, bidirectional=True)
        self.attention = Attention(2 * units, units)
        for name, parameter in self.gru.named_parameters():
            if "weight_ih" in name:
                nn.init.xavier_uniform_(parameter)
            elif "weight_hh" in name:
                for gate in parameter.data.chunk(3):
                    nn.init.orthogonal_(gate)
            else:
                nn.init.zeros_(parameter)

    def forward(self, inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Pool inputs (rows, time, width) into (rows, 2 units).

        ``lengths`` is (rows,), on the CPU, at least 1 each.
        """
        packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        mask = torch.arange(states.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        pooled: torch.Tensor = self.attention(states, mask.to(states.device))
        return pooled


class HanNetwork(nn.Module):
    """Words to sentences to a document to class scores.

    The embedding table is (vocabulary, width) float32, row 0 is padding, fixed if ``freeze``;
    ``units`` is the size of each GRU, per direction, and of each attention.
    """

    def __init__(self, words: torch.Tensor, n_classes: int, units: int, freeze: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(words, freeze=freeze, padding_idx=0)
        self.word_level = Level(words.shape[1], units)
        self.sentence_level = Level(2 * units, units)
        self.output = nn.Linear(2 * units, n_classes)

    def forward(self, sentences: torch.Tensor, words: torch.Tensor, counts: list[int]) -> Any:
        """Return class scores (documents, k).

        Sentences are (all sentences, longest) int64 word indices, ``words`` the length of each, on
        the CPU, ``counts`` the number of sentences of each document, in order.
        """
        vectors = self.word_level(self.embedding(sentences), words)
        documents = nn.utils.rnn.pad_sequence(list(vectors.split(counts)), batch_first=True)
        return self.output(self.sentence_level(documents, torch.tensor(counts)))
