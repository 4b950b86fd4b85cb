import logging
import os
from pathlib import Path

import hypothesis
import pytest

from lops_adapters import console, extras
from lops_adapters.selection.committee import folds

from . import framework_tools, suite

# The same examples in every run, however long one takes on a busy machine.
hypothesis.settings.register_profile(
    "house", deadline=None, derandomize=True, database=None, max_examples=40
)
hypothesis.settings.load_profile("house")


def pytest_configure(config):
    suite.choose_quick(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    suite.mark_ray(items)
    result = yield  # options such as -m leave items out
    suite.refuse_mixture(items)
    suite.shuffle(items)
    return result


@pytest.fixture(autouse=True)
def ray_is_apart(request):
    """Ray is imported by its own tests only."""
    yield
    suite.check_ray_is_apart(request.node)


@pytest.fixture(autouse=True)
def hints_of_the_release(request, monkeypatch):
    """What to install is named as of the release, not of the clone that the tests run from."""
    if request.node.path.name != "test_extras.py":
        monkeypatch.setattr(extras, "_clone", lambda: None)


@pytest.fixture(autouse=True)
def log():
    """The package's logger as it is before a command sets it up, whatever ran earlier; and
    afterwards as it was.
    """
    logger = logging.getLogger("lops_adapters")
    before = logger.level, logger.handlers
    logger.setLevel(logging.NOTSET)
    logger.handlers = []
    yield
    logger.handlers = before[1]
    logger.setLevel(before[0])


@pytest.fixture(scope="session", autouse=True)
def user_cache(tmp_path_factory):
    """The user's cache is a folder of the tests; nobody's own is read or written."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_disks():
    """Files reach the disk when the system likes; no test cuts the power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def short_training():
    """Held-out linear probes train for a tenth of their updates in this process."""
    with framework_tools.short_training():
        yield


@pytest.fixture
def full_training(monkeypatch):
    """Held-out linear probes train as for a user."""
    monkeypatch.setattr(folds, "LEAST_UPDATES", framework_tools.FULL_TRAINING)


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data, or a skip that says why."""
    folder = os.environ.get("LOPS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("LOPS_DATA names no folder with the real data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def one_thread():
    """Tiny models on one thread: more threads only wait for each other."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def bars(monkeypatch):
    """Progress bars show at once, as on a terminal."""
    monkeypatch.setitem(console._BARS, "delay", 0)
    monkeypatch.setattr(console, "_on_terminal", lambda: True)
