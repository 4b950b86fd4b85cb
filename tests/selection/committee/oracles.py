"""What the committee computes, again with loops and Python floats."""

import math
from itertools import permutations

import numpy as np


def plain_skill(views, labels):
    """How much more often than by chance the label has the largest likelihood, of 1."""
    agreed, competing = 0.0, sum(views[:, j].max() > 0 for j in range(views.shape[1]))
    if competing < 2:
        return 1.0
    for row, label in zip(views.tolist(), labels.tolist(), strict=True):
        largest = [j for j, p in enumerate(row) if p >= max(row) * (1 - 1e-9)]
        agreed += (label in largest) / len(largest) / len(labels)
    return (agreed - 1 / competing) / (1 - 1 / competing)


def plain_posterior(views, labels):
    """Dawid and Skene's estimate with loops and Python floats; the same start and stopping.

    The prior is worth ((1 - s) / s)^2 samples per sample, s the skill.
    """
    k, skill = views.shape[1], max(0.01, plain_skill(views, labels))
    strength = ((1 - skill) / skill) ** 2
    usual = [[0.9 if i == j else 0.1 / max(1, k - 1) for j in range(k)] for i in range(k)]
    given = [[0.9 if i == j else 0.1 / max(1, k - 1) for j in range(k)] for i in range(k)]

    def weighted():
        found = []
        for row, label in zip(views.tolist(), labels.tolist(), strict=True):
            logs = [
                5 * math.log(max(p, 1e-6)) + math.log(given[label][j]) for j, p in enumerate(row)
            ]
            top = max(logs)
            parts = [math.exp(value - top) for value in logs]
            found.append([part / sum(parts) for part in parts])
        return found

    for _ in range(50):
        found, before = weighted(), given
        given = []
        for i in range(k):
            own = [row for row, label in zip(found, labels.tolist(), strict=True) if label == i]
            given.append(
                [
                    (sum(row[j] for row in own) + strength * len(own) * usual[i][j] + 0.5)
                    / ((1 + strength) * len(own) + 0.5 * k)
                    for j in range(k)
                ]
            )
        if max(abs(given[i][j] - before[i][j]) for i in range(k) for j in range(k)) < 1e-4:
            break
    return np.array(weighted()), np.array(given)


def plain_diagnostics(choices, views, labels):
    """The diagnostics of a table: of pairs of members, how often they agree, and on what."""
    n, k = len(labels), max(2, sum(views[:, j].max() > 0 for j in range(views.shape[1])))
    agreed, repeated, confirmed = [], [], []
    for one, other in permutations([choice.tolist() for choice in choices], 2):
        rows = list(zip(one, other, labels.tolist(), strict=True))
        disputes = max(1, sum(a != label for a, _, label in rows))
        agreed.append(sum(a == b for a, b, _ in rows) / n)
        repeated.append(sum(a == b != label for a, b, label in rows) / disputes)
        confirmed.append(sum(b == label != a for a, b, label in rows) / disputes)
    agreed, repeated, confirmed = (sum(part) / len(part) for part in (agreed, repeated, confirmed))
    return [
        plain_skill(views, labels),
        (agreed - 1 / k) / (1 - 1 / k),
        repeated,
        math.log((repeated + 0.02) / (confirmed + 0.02)),
        math.log(n / k),
        math.log(k),
    ]
