from contextlib import ExitStack
from functools import cache as cache_of

import pytest

from ..connections import recorded
from .cases import CASES
from .rooms import same_everywhere
from .stand import Deaths, Stand, Whole

__all__ = ["same_everywhere"]


@pytest.fixture(scope="session", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(autouse=True)
def small(request):
    """The framework's quick preset is small."""
    if "case" not in request.fixturenames:
        yield
        return
    with request.getfixturevalue("case").small():
        yield


@pytest.fixture(scope="session")
def made():
    """What the fixtures below have made: pytest drops them where the case changes."""
    return {}


@pytest.fixture(scope="session")
def deaths(tmp_path_factory):
    """Returns the process of the commands that are killed, which the first call starts."""
    with ExitStack() as stack:

        @cache_of
        def start():
            found = Deaths(tmp_path_factory.mktemp("deaths") / "log.txt")
            stack.callback(found.close)
            return found

        yield start


@pytest.fixture(scope="session")
def stand(case, user_cache, made, deaths, tmp_path_factory):
    """The framework's command on the toy corpus."""
    if ("stand", case.name) not in made:
        folder = tmp_path_factory.mktemp(case.name)
        data = case.write(folder / "toy", *case.toys.documents(case.documents[0]))
        encoder = ()
        if case.encoder is not None:
            (folder / "encoder").mkdir()
            encoder = ("--encoder", case.encoder(folder / "encoder"))
        made["stand", case.name] = Stand(case, data, encoder, user_cache, deaths)
    return made["stand", case.name]


@pytest.fixture(scope="session")
def few(stand, tmp_path_factory):
    """Folder of a sample that is just enough, with gold labels."""
    folder = tmp_path_factory.mktemp("few") / "few"
    return stand.write(folder, *stand.case.toys.documents(stand.case.documents[1]))


@pytest.fixture(scope="session")
def whole(stand, made, tmp_path_factory):
    """The run that nobody interrupted."""
    name = stand.case.name
    if ("whole", name) not in made:
        path = tmp_path_factory.mktemp("whole") / "run"
        with stand.case.small(), recorded() as connections:
            status, out, err = stand.command(path)
        assert status == 0, err
        made["whole", name] = Whole(path, out, err, connections)
    return made["whole", name]


@pytest.fixture
def no_work(case, monkeypatch):
    """Fail the test where a function of long work is called."""
    case.forbid_work(monkeypatch)
