"""Which tests a run takes, and in which order: hooks of ``tests/conftest.py``."""

import os
import random
import sys

import pytest

SHUFFLE = "LOPS_SHUFFLE"  # environment variable: a seed; files and their tests in random order


def choose_quick(config):
    """Without a path or ``-m``, what ``make test`` runs: all but slow tests."""
    if config.args_source is not config.ArgsSource.ARGS and not config.option.markexpr:
        config.option.markexpr = "not slow"


def mark_ray(items):
    """Ray's tests are those of ``tests/scale``; all of them are slow."""
    for item in items:
        if item.path.parent.name == "scale":
            item.add_marker(pytest.mark.ray)
            item.add_marker(pytest.mark.slow)


def refuse_mixture(items):
    """Ray's threads and handlers break processes that other tests fork, so it is kept apart."""
    kinds = {item.get_closest_marker("ray") is not None for item in items}
    if len(kinds) == 2:
        raise pytest.UsageError(
            "tests of Ray run in a process of their own: pytest tests/scale, or -m ray, or "
            "-m 'not ray'"
        )


def shuffle(items):
    """Files in random order, and the tests of each, if the environment gives a seed.

    Tests of one class or parametrised fixture may part; pytest sets their fixtures up again.
    """
    seed = os.environ.get(SHUFFLE)
    if seed:
        draw = random.Random(seed)
        files = {path: draw.random() for path in sorted({str(item.path) for item in items})}
        items.sort(key=lambda item: item.nodeid)  # every worker draws the same
        items.sort(key=lambda item: (files[str(item.path)], draw.random()))


def check_ray_is_apart(node):
    """Fail when a test of another room has imported Ray."""
    if sys.modules.get("ray") is not None and node.get_closest_marker("ray") is None:
        pytest.fail("this test, or one before it, imported Ray; move it to tests/scale")
