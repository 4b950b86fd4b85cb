"""The walls of the house: which room may import which, where heavy libraries may be imported, how
fast the package opens.
"""

import ast
import re
import sys
from pathlib import Path

import pytest

import lops_adapters
from lops_adapters.selection import METHODS

from .light import LIGHT, start

ROOT = Path(lops_adapters.__file__).parent
HEAVY = {
    "accelerate", "cleanlab", "datasets", "fsspec", "gensim", "keras", "matplotlib", "nltk",
    "pandas", "pyarrow", "ray", "sentence_transformers",
    "tensorflow", "torch", "transformers",
}  # fmt: skip
# Files made of one heavy library and imported only inside the functions of their neighbours.
HEAVY_FILES = {
    "integrations/huggingface.py", "integrations/keras.py",
    "probes/han_network.py", "probes/keras_networks.py",
}  # fmt: skip
FRAMEWORKS = {"conwea", "xclass", "westclass", "lotclass", "self_training"}
LEAVES = {"integrations", "scale", "cli", "testing"}
COMMON = {
    "core", "console", "extras", "remote", "shipped", "storage", "surroundings", "registry",
    "scripts",
}  # fmt: skip
BASE = {*COMMON, "encoders", "probes", "pseudo_labels", "datasets", "evaluation"}
# What a room may import of the project besides itself; frameworks and leaves are not named here.
MAY_KNOW = {
    "core": set(),
    **{room: {"core"} for room in ("console", "extras", "registry", "scripts")},
    "remote": {"core", "extras"},
    "storage": {"core", "remote"},
    "shipped": {"core", "storage"},
    "surroundings": {"extras"},
    **dict.fromkeys(("encoders", "pseudo_labels", "evaluation", "formats"), COMMON),
    "datasets": {*COMMON, "formats"},
    "labels": {*COMMON, "formats"},
    "probes": {*COMMON, "encoders"},
    "selection": {*COMMON, "labels", "encoders", "probes"},
    "report": {*COMMON, "formats", "labels", "evaluation"},
    "texts": {*BASE, "formats", "labels", "selection", "report"} - {"datasets"},
    "runs": {*BASE, "labels", "selection", "report"},
    "tables": {*COMMON, "formats", "labels", "selection", "texts", "report"},
    "vendoring": COMMON,
    "__main__": {"cli"},
}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def room_of(name):
    """Room of a file ("probes/han.py" -> "probes", "core.py" -> "core") or of a module's dotted
    name below the package.
    """
    return name.replace("/", ".").removesuffix(".py").split(".")[0]


def imports(tree, package):
    """Dotted names of all that a syntax tree imports, anywhere in it; ``package`` is the file's
    own, for relative imports.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(
            node.func, "attr", getattr(node.func, "id", "")
        ) in ("import_module", "__import__"):
            yield from (
                argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)
            )


def at_import(tree):
    """The nodes that run when a module is imported: not what is inside functions or under
    TYPE_CHECKING.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from at_import(node)


@pytest.fixture(scope="module")
def trees():
    """Name of a file -> its syntax tree."""
    return {name: ast.parse((ROOT / name).read_text(encoding="utf-8"), name) for name in FILES}


def package_of(name):
    return ["lops_adapters", *Path(name).parent.parts]


def rooms_known(tree, name):
    """Rooms of the project that a file imports, its own aside."""
    found = set()
    for module in imports(tree, package_of(name)):
        parts = module.split(".")
        if parts[0] == "lops_adapters" and len(parts) > 1 and parts[1] != "__version__":
            found.add(room_of(".".join(parts[1:])))
    return found - {room_of(name)}


def complaint(tree, name):
    """What a file imports that its room may not know, in words; empty where all is well."""
    room, known = room_of(name), rooms_known(tree, name)
    if room == "__init__":
        wrong = known - {"core", "runs", "selection", "texts"}  # all but core when first used
    elif room in MAY_KNOW:
        wrong = known - MAY_KNOW[room]
    elif room in LEAVES:
        wrong = known & LEAVES
    else:
        wrong = known & (LEAVES | FRAMEWORKS)
    return f"{name} imports {', '.join(sorted(wrong))}" if wrong else ""


def test_who_knows_whom(trees):
    complaints = (complaint(tree, name) for name, tree in trees.items())
    assert list(filter(None, complaints)) == []


def names_compared(tree):
    """Strings that are compared with ==, !=, in or not in, also as members of a tuple or set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                parts = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
                yield from (part.value for part in parts if isinstance(part, ast.Constant))


def test_only_the_table_knows_a_method_by_name(trees):
    """A method says by its row what it can do; other modules compare no names."""
    wrong = {
        (name, value)
        for name in FILES
        if name not in ("core.py", "selection/method_table.py")
        and not name.startswith("vendoring/glue/")
        for value in names_compared(trees[name])
        if value in {*METHODS, "lops", "lops-adaptive", "lops-all"}
    }
    assert not wrong
    source = 'if a == "committee" or "optimal" in b or c not in ("random", "x"): pass'
    assert set(names_compared(ast.parse(source))) == {"committee", "optimal", "random", "x"}


def coded(tree):
    """Lookups that make codes of labels: of a label or name its place among classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.DictComp):
            over = node.generators[0].iter
            counts = isinstance(over, ast.Call) and ast.unparse(over.func) == "enumerate"
            if counts and ("class" in ast.unparse(over) or ast.unparse(node.key) == "label"):
                yield ast.unparse(node)
        elif getattr(node, "attr", "") == "index" and "classes" in ast.unparse(node.value)[-7:]:
            yield ast.unparse(node)


def test_labels_become_codes_in_one_room(trees):
    wrong = {
        (name, lookup)
        for name in FILES
        if room_of(name) not in ("core", "labels", "vendoring")
        and name != "report/contents.py"  # a page holds names, and its script their places
        for lookup in coded(trees[name])
    }
    assert not wrong
    source = "a = {one: i for i, one in enumerate(its.classes)}; classes.index(b)"
    source += "; {label: i for i, label in enumerate(names)}; {word: i for i, word in enumerate(c)}"
    assert len(set(coded(ast.parse(source)))) == 3


def filled(tree):
    """Attributes of other objects that a file assigns."""
    for node in ast.walk(tree):
        is_stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_stored and ast.unparse(node.value) not in ("self", "cls"):
            yield ast.unparse(node)


@pytest.mark.parametrize("room", ["labels", "formats", "tables", "texts"])
def test_only_commands_name_options(room, trees):
    """Below them, messages name arguments by ``console.typed``."""
    for name in FILES:
        if room_of(name) != room:
            continue
        texts = (
            node.value
            for node in ast.walk(trees[name])
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        assert [text for text in texts if re.search(r"(^|[\s`])--[a-z]", text)] == [], name


def test_nobody_fills_a_result_that_is_built(trees):
    """Counters grow block by block, and a widget is no class of ours."""
    grow = ("totals.", "survey.tally.", "whole.")
    wrong = {
        (name, attribute)
        for name in FILES
        if room_of(name) in ("report", "tables", "texts")
        for attribute in filled(trees[name])
        if not attribute.startswith(grow)
    }
    assert not wrong
    source = "self.a = 1; made.why = []; (x, made.b.c), y = 1; made.n += 1; made.d[0] = 1"
    assert set(filled(ast.parse(source))) == {"made.why", "made.b.c", "made.n"}


def test_core_knows_numpy_and_the_standard_library(trees):
    for module in imports(trees["core.py"], ["lops_adapters"]):
        assert module.split(".")[0] in {"numpy", *sys.stdlib_module_names}, module


def heavy_at_import(tree, package):
    nodes = [
        node for node in at_import(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
    ]
    modules = imports(ast.Module(nodes, []), package)
    return {module.split(".")[0] for module in modules} & HEAVY


def test_heavy_libraries_are_imported_where_they_are_used(trees):
    """At module level no file imports them: only inside the function."""
    found = {name: heavy_at_import(trees[name], package_of(name)) for name in FILES}
    assert {name for name, libraries in found.items() if libraries} <= HEAVY_FILES


def test_heavy_files_are_few_and_wait_inside_functions(trees):
    assert set(FILES) >= HEAVY_FILES
    assert not any(name.endswith("__init__.py") for name in HEAVY_FILES)
    heavy_modules = {
        "lops_adapters." + name.removesuffix(".py").replace("/", ".") for name in HEAVY_FILES
    }
    for name in FILES:
        nodes = [
            node for node in at_import(trees[name]) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        for module in imports(ast.Module(nodes, []), package_of(name)):
            assert not any(
                module == heavy or module.startswith(heavy + ".") for heavy in heavy_modules
            ), f"{name} imports {module}"


SAMPLES = {
    ("probes/x.py", "from lops_adapters.selection import select"): "selection",
    ("probes/x.py", "from ..selection import select"): "selection",
    ("probes/x.py", "from .base import Probe"): "",
    ("probes/x.py", "from lops_adapters.encoders import pretrained"): "",
    ("encoders/x.py", "from lops_adapters.probes.base import Probe"): "probes",
    ("probes/x.py", "def f():\n    import lops_adapters.conwea.pipeline"): "conwea",
    ("selection/x.py", "from lops_adapters.probes.base import Probe"): "",
    ("selection/x.py", "from lops_adapters.evaluation import noise"): "evaluation",
    ("conwea/x.py", "from lops_adapters import xclass"): "xclass",
    ("conwea/x.py", "from lops_adapters.report import page"): "",
    ("conwea/x.py", "from lops_adapters.cli import page"): "cli",
    ("texts/x.py", "from lops_adapters.runs import folder"): "runs",
    ("runs/x.py", "from lops_adapters.conwea import pipeline"): "conwea",
    ("conwea/__main__.py", "from lops_adapters.xclass import page"): "xclass",
    ("conwea/x.py", "from lops_adapters.datasets import load_dataset"): "",
    ("runs/x.py", "from lops_adapters.cli import main"): "cli",
    ("self_training/x.py", "from lops_adapters.xclass import page"): "xclass",
    ("westclass/x.py", "from lops_adapters.self_training import run"): "self_training",
    ("westclass/x.py", "from lops_adapters.westclass.self_training import train"): "",
    ("__init__.py", "from lops_adapters.datasets import load_dataset"): "datasets",
    ("cli/x.py", "from lops_adapters.conwea import pipeline"): "",
    ("cli/x.py", "from lops_adapters.formats import readers"): "",
    ("formats/x.py", "from lops_adapters.tables import survey"): "tables",
    ("labels/x.py", "from lops_adapters.formats import cells"): "",
    ("labels/x.py", "from lops_adapters.selection import sources"): "selection",
    ("selection/x.py", "from lops_adapters.labels import votes"): "",
    ("tables/x.py", "from lops_adapters.cli import options"): "cli",
    ("cli/x.py", "from lops_adapters.scale import command"): "scale",
    ("scale/x.py", "from lops_adapters.cli.select import main"): "cli",
    ("integrations/x.py", "import lops_adapters.scale.engine"): "scale",
    (
        "core.py",
        "from importlib import import_module\nimport_module('lops_adapters.probes')",
    ): "probes",
}


@pytest.mark.parametrize(("name", "source"), SAMPLES)
def test_the_walls_hold(name, source):
    found = complaint(ast.parse(source), name)
    expected = SAMPLES[name, source]
    assert found == (f"{name} imports {expected}" if expected else "")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch", {"torch"}),
        ("from torch import nn", {"torch"}),
        ("class A:\n    import keras.layers", {"keras"}),
        ("try:\n    import pandas as pd\nexcept ImportError:\n    pd = None", {"pandas"}),
        ("import importlib\nx = importlib.import_module('gensim.models')", {"gensim"}),
        ("def f():\n    import torch", set()),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", set()),
        ("from lops_adapters import datasets\nfrom .datasets import load_dataset", set()),
        ("import numpy, tqdm", set()),
    ],
)
def test_heavy_imports_are_seen(source, expected):
    assert heavy_at_import(ast.parse(source), ["lops_adapters", "probes"]) == expected


def test_opens_fast_and_light():
    started = start("import lops_adapters")
    assert started.packages <= LIGHT
    assert started.modules < 400


def test_rooms_open_light():
    """Each room's own module loads no heavy library either."""
    rooms = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
    named = ", ".join(f"lops_adapters.{room}" for room in rooms)
    assert start(f"import {named}").packages <= LIGHT


def test_code_in_a_models_repository_is_never_run(trees):
    """Every call of from_pretrained says so; unsaid, transformers may ask the user."""
    # Classes of a layer and of a checkout that is patched: they load no code.
    own = {("probes/han_network.py", "Embedding"), ("vendoring/glue/lops_lotclass.py", "network")}
    found = 0
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = ast.unparse(node.func.value).rpartition(".")[2]
            if node.func.attr != "from_pretrained" or (file, owner) in own:
                continue
            said = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert said.get("trust_remote_code") == "False", f"{file}:{node.lineno}"
            found += 1
    assert found >= 2
