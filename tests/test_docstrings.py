"""Public methods have a docstring, or override one that has; ruff checks functions and classes."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def silent(trees):
    """Return the public methods without a docstring of their own or of a base class."""
    classes = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(node)

    def told(name, method):
        return any(
            any(getattr(one, "name", "") == method and ast.get_docstring(one) for one in node.body)
            or any(told(base, method) for base in map(named, node.bases))
            for node in classes.get(name, ())
        )

    return sorted(
        f"{name}.{one.name}"
        for name, nodes in classes.items()
        for node in nodes
        for one in node.body
        if isinstance(one, ast.FunctionDef) and not (name + one.name).startswith("_")
        if not one.name.startswith("_") and not told(name, one.name)
    )


def named(base):
    inner = base.value if isinstance(base, ast.Subscript) else base
    return getattr(inner, "id", getattr(inner, "attr", ""))


def test_every_public_method_is_described():
    files = [*ROOT.glob("lops_adapters/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    texts = (path.read_text(encoding="utf-8") for path in files)
    assert silent(ast.parse(text) for text in texts if "class " in text) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class A:\n    def run(self): pass", ["A.run"]),
        ("class A:\n    def run(self): 'Run.'\nclass B(A):\n    def run(self): pass", []),
        ("class A:\n    def _run(self): pass\nclass _B:\n    def run(self): pass", []),
    ],
)
def test_what_is_silent(source, expected):
    assert silent([ast.parse(source)]) == expected
