"""Result files of the benchmarks, as tests write them, and a table that they measure."""

import json

import numpy as np

from benchmarks.real_tables import Table

from ..noisy import noisy_texts


def noisy_table(name="toy", tests=60, **settings):
    """A table with noisy labels, and texts that are not in it."""
    texts, labels, gold = noisy_texts(**settings)
    others, _, of_others = noisy_texts(n=tests, k=settings["k"], seed=1)
    labels, gold, of_others = (np.array(part, dtype=object) for part in (labels, gold, of_others))
    return Table(texts, labels, gold, others, of_others, name)


def about(data="toy", seed=0, **settings):
    """What a result file says of the run that it is of."""
    return {
        "seed": seed,
        "settings": {"classifier": "linear", **settings},
        "dataset": {"name": data, "documents": 12},
        "device": "cpu",
        "machine": {"processor": "P", "cores": 2},
        "git_commit": "abcdef0123456",
        "command": "python -m m",
        "started": "t",
    }


def write_result(path, result, of):
    """Write a result file of a run, in a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"about": of, "result": result}), encoding="utf-8")
