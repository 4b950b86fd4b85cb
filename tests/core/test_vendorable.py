"""core.py is made to be copied into old code bases: one file, numpy alone, Python 3.6."""

import ast
import builtins
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from lops_adapters import core, shipped

SOURCE = Path(core.__file__).read_text(encoding="utf-8")
TREE = ast.parse(SOURCE, feature_version=(3, 6))
GLUE = sorted((shipped.HERE / "vendoring" / "glue").glob("*.py"))
MODULES = {"math", "warnings", "fractions", "typing", "numpy"}  # each there in Python 3.6
TYPING = {
    *("Any", "Dict", "Hashable", "List", "Mapping", "NamedTuple", "Optional", "Sequence", "Tuple")
}
# Names that numpy 1.19 and numpy 2 both have; look the release notes up before adding one.
NUMPY = {
    "arange", "array", "asarray", "bincount", "concatenate", "cumsum", "empty", "errstate",
    "flatnonzero", "float64", "fromiter", "full",
}  # fmt: skip
NUMPY |= {
    "inf", "int32", "int64", "isfinite", "isinf", "integer", "isnan", "lexsort", "minimum", "nan",
    "ndarray", "searchsorted", "uint64", "unique",
}  # fmt: skip
NUMPY |= {"where", "zeros", "zeros_like"}
TOO_NEW = {
    "removeprefix", "removesuffix", "bit_count", "is_integer_ratio", "cache", "prod", "isqrt",
    "fromisoformat", "pairwise", "batched", "inference_mode",
}  # fmt: skip
HEAVY = [
    "torch", "transformers", "keras", "tensorflow", "gensim", "sklearn", "scipy", "pandas", "tqdm",
    "lops_adapters",
]  # fmt: skip


def nodes(*kinds: type) -> list[ast.AST]:
    return [node for node in ast.walk(TREE) if isinstance(node, kinds)]


def test_imports_only_numpy_and_the_standard_library():
    imported = {alias.name for node in nodes(ast.Import) for alias in node.names} | {
        node.module for node in nodes(ast.ImportFrom)
    }
    assert imported <= MODULES
    assert all(node.level == 0 for node in nodes(ast.ImportFrom))
    assert (
        {
            alias.name
            for node in nodes(ast.ImportFrom)
            if node.module == "typing"
            for alias in node.names
        }
        <= TYPING
        <= set(dir(typing))
    )


def test_numpy_names_are_old_enough():
    used = {
        node.attr
        for node in nodes(ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == "np"
    }
    assert used <= NUMPY


@pytest.mark.parametrize("path", [Path(core.__file__), *GLUE], ids=lambda path: path.stem)
def test_syntax_is_old_enough(path):
    """What the parser's feature_version lets through; the glue is copied with the core."""
    source = path.read_text(encoding="utf-8")
    every = list(ast.walk(ast.parse(source, feature_version=(3, 6))))

    def nodes(*kinds: type) -> list[ast.AST]:
        return [node for node in every if isinstance(node, kinds)]

    assert "__future__" not in {node.module for node in nodes(ast.ImportFrom)}, "needs Python 3.7"
    assert not nodes(ast.NamedExpr, ast.Match, ast.TryStar)
    assert not any(node.args.posonlyargs for node in nodes(ast.FunctionDef, ast.Lambda))
    generic = [
        node
        for node in nodes(ast.Subscript)
        if isinstance(node.value, ast.Name)
        and isinstance(getattr(builtins, node.value.id, 0), type)
    ]
    assert not generic, "list[int] needs Python 3.9"
    annotations = [node.annotation for node in nodes(ast.arg, ast.AnnAssign)] + [
        node.returns for node in nodes(ast.FunctionDef)
    ]
    unions = [a for a in annotations if a for part in ast.walk(a) if isinstance(part, ast.BinOp)]
    assert not unions, "int | None needs Python 3.10"
    assert not {node.attr for node in nodes(ast.Attribute)} & TOO_NEW
    assert not [k.arg for call in nodes(ast.Call) for k in call.keywords if k.arg == "strict"], (
        "zip(strict=) needs Python 3.10"
    )
    assert not re.search(r"\{[^{}\"']*[^=!<>{}\"']=\}", source), "f'{x=}' needs Python 3.8"
    assert not [
        node
        for node in nodes(ast.Return)
        if isinstance(node.value, ast.Tuple)
        and any(isinstance(e, ast.Starred) for e in node.value.elts)
    ]


PROGRAM = f"""
import importlib.abc, sys

class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY!r}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Block())
try:
    import pandas
except ImportError:
    import core
else:
    raise SystemExit("the block does not work")
for rule in core.RULES:
    order = core.LearningOrder(["a", "a", "b", "b"], rule=rule)
    order.observe([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4]])
    print(rule, *order.select().kept)
print(core.__file__, *sorted(set(sys.modules) & set({HEAVY!r})))
"""


def python(folder: Path, *command: str) -> list[str]:
    answer = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


def test_a_lone_copy_selects(tmp_path):
    copy = Path(shutil.copy(core.__file__, tmp_path))
    *rules, where = python(tmp_path, "-c", PROGRAM)
    assert rules == [f"{rule} 0 2" for rule in core.RULES]
    assert where == str(copy)
    assert python(tmp_path, "-m", "doctest", copy.name) == []


def test_first_lines_say_what_it_is():
    head = SOURCE.splitlines()[:4]
    assert all(line.startswith("#") for line in head)
    assert re.search(rf"lops_adapters\.core {re.escape(core.__version__)}$", head[0])
    assert head[1] == "# SPDX-License-Identifier: Apache-2.0"
    assert "Origin" in head[2]
    assert "lops_adapters/core.py" in head[2]
    assert "Made to be copied" in head[3]
    assert "Python >= 3.6" in head[3]
