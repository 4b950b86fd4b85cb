"""The selection rules once more, in plain sets and loops, as the paper and its released code
describe them.

Written from the descriptions and not from ``lops_adapters.core``; slow on purpose. Nothing is
shared with the code under test.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

WORD = 2**64


def splitmix64(seed: int, position: int) -> int:
    z = (seed * 0xD1342543DE82EF95 + (position + 1) * 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


@dataclass
class Checkpoint:
    """What the probe said: a label a sample and, where scores were given, the score of its
    pseudo-label.
    """

    time: float
    predicted: list[Hashable]
    score: list[float] | None = None


@dataclass
class Answer:
    kept: set[int] = field(default_factory=set)
    learnt_at: dict[int, float] = field(default_factory=dict)
    closed_at: dict[Hashable, float] = field(default_factory=dict)
    threshold: dict[Hashable, int] = field(default_factory=dict)


def from_scores(
    time: float,
    rows: Sequence[Sequence[float]],
    classes: Sequence[Hashable],
    labels: Sequence[Hashable],
) -> Checkpoint:
    predicted = [classes[list(row).index(max(row))] for row in rows]
    return Checkpoint(
        time,
        predicted,
        [row[list(classes).index(label)] for row, label in zip(rows, labels, strict=True)],
    )


def expected(
    rule: str,
    labels: Sequence[Hashable],
    tau: str,
    checkpoints: Sequence[Checkpoint],
    seed: int = 0,
) -> Answer:
    """Answer of ``rule`` for tau, a decimal written out, after all checkpoints."""
    members: dict[Hashable, list[int]] = {}
    for i, label in enumerate(labels):
        members.setdefault(label, []).append(i)
    answer = Answer()
    for c, own in members.items():
        exact = Fraction(tau) * len(own)
        answer.threshold[c] = max(1, math.floor(exact)) if rule == "released" else math.ceil(exact)
    run = {
        "released": released,
        "algorithm1": algorithm1,
        "stop-and-take-all": stop_and_take_all,
        "ranked": ranked,
    }[rule]
    run(answer, members, Fraction(tau), checkpoints, seed)
    return answer


def strength(checkpoint: Checkpoint, i: int, seed: int) -> tuple[float, int]:
    """Sort key between samples learnt at the same checkpoint: the larger score first, then the
    smaller hash.
    """
    return (-checkpoint.score[i] if checkpoint.score else 0.0, splitmix64(seed, i))


def released(
    answer: Answer, members: dict, tau: Fraction, checkpoints: Sequence[Checkpoint], seed: int
) -> None:
    for now in checkpoints:
        for c in members.keys() - answer.closed_at.keys():
            current = {i for i in members[c] if now.predicted[i] == c}
            for i in current:
                answer.learnt_at.setdefault(i, now.time)
            if len(current) >= answer.threshold[c]:
                answer.closed_at[c] = now.time
                answer.kept |= current
    for c in members.keys() - answer.closed_at.keys():
        answer.kept |= set(members[c])


def algorithm1(
    answer: Answer, members: dict, tau: Fraction, checkpoints: Sequence[Checkpoint], seed: int
) -> None:
    for now in checkpoints:
        for c in members.keys() - answer.closed_at.keys():
            size = len(members[c])
            for i in sorted(members[c], key=lambda i: strength(now, i, seed)):
                if now.predicted[i] != c:
                    continue
                answer.learnt_at.setdefault(i, now.time)
                if Fraction(len(answer.kept & set(members[c])), size) < tau:
                    answer.kept.add(i)
            if Fraction(len(answer.kept & set(members[c])), size) >= tau:
                answer.closed_at[c] = now.time


def stop_and_take_all(
    answer: Answer, members: dict, tau: Fraction, checkpoints: Sequence[Checkpoint], seed: int
) -> None:
    for now in checkpoints:
        for c, own in members.items():
            for i in own:
                if now.predicted[i] == c:
                    answer.learnt_at.setdefault(i, now.time)
        answer.kept = set(answer.learnt_at)
        if all(Fraction(len(answer.kept & set(own)), len(own)) >= tau for own in members.values()):
            answer.closed_at = dict.fromkeys(members, now.time)
            return


def ranked(
    answer: Answer, members: dict, tau: Fraction, checkpoints: Sequence[Checkpoint], seed: int
) -> None:
    """Rank over the whole training, without stopping early; only then forget what was learnt after
    a class was full.
    """
    for c, own in members.items():
        first = {i: next((now for now in checkpoints if now.predicted[i] == c), None) for i in own}
        never = Checkpoint(math.inf, [])
        ranking = sorted(
            own, key=lambda i: ((first[i] or never).time, *strength(first[i] or never, i, seed))
        )
        top = ranking[: answer.threshold[c]]
        answer.kept |= set(top)
        full = max((first[i] or never).time for i in top)
        if full < math.inf:
            answer.closed_at[c] = full
        answer.learnt_at.update(
            {i: now.time for i, now in first.items() if now and now.time <= full}
        )
