"""Result files of the benchmarks, as tests write them."""

import json


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
