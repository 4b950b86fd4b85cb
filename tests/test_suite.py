"""The suite's own rules: which tests a run takes, and that Ray's tests are apart."""

import re
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from . import suite

ROOT = Path(__file__).parent


class Item:
    """A collected test: path, name and markers."""

    def __init__(self, path, name="test_it"):
        self.path, self.nodeid, self.marks = ROOT / path, f"{path}::{name}", set()

    def add_marker(self, marker):
        self.marks.add(marker.name)

    def get_closest_marker(self, name):
        return name if name in self.marks else None


def test_tests_of_ray_are_slow_and_do_not_run_with_others():
    items = [Item("scale/test_engine.py"), Item("cli/test_main.py")]
    suite.mark_ray(items)
    assert [item.marks for item in items] == [{"ray", "slow"}, set()]
    with pytest.raises(pytest.UsageError, match="tests of Ray run in a process of their own"):
        suite.refuse_mixture(items)
    suite.refuse_mixture(items[:1])
    suite.refuse_mixture(items[1:])


def test_ray_in_another_room_fails(monkeypatch):
    item = Item("cli/test_main.py")
    suite.check_ray_is_apart(item)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "ray", sys)
        with pytest.raises(pytest.fail.Exception, match="imported Ray; move it to tests/scale"):
            suite.check_ray_is_apart(item)
        item.marks.add("ray")
        suite.check_ray_is_apart(item)


@pytest.mark.parametrize(
    ("paths", "expression", "chosen"),
    [(False, "", "not slow"), (True, "", ""), (False, "slow", "slow")],
)
def test_slow_tests_run_where_they_are_named(paths, expression, chosen):
    source = pytest.Config.ArgsSource
    config = SimpleNamespace(
        ArgsSource=source,
        args_source=source.ARGS if paths else source.TESTPATHS,
        option=SimpleNamespace(markexpr=expression),
    )
    suite.choose_quick(config)
    assert config.option.markexpr == chosen


def test_random_order_keeps_files_together(monkeypatch):
    names = [Item(f"{path}.py", f"test_{i}") for path in "abcdef" for i in range(5)]
    orders = []
    for seed in ("", "1", "1", "2"):
        items = list(names) if seed != "1" or not orders[1:] else names[::-1]
        monkeypatch.setenv(suite.SHUFFLE, seed)
        suite.shuffle(items)
        orders.append([item.nodeid for item in items])
    assert orders[0] == [item.nodeid for item in names]
    assert orders[1] == orders[2]
    assert len({tuple(order) for order in orders}) == 3
    for order in orders:
        files = [nodeid.partition("::")[0] for nodeid in order]
        assert sum(one != other for one, other in pairwise(files)) == 5


def test_files_that_the_makefile_names_exist():
    named = re.findall(r"tests/[\w/.]+", (ROOT.parent / "Makefile").read_text(encoding="utf-8"))
    assert len(named) > 5
    assert [path for path in named if not (ROOT.parent / path).exists()] == []
