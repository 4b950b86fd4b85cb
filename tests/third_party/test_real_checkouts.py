"""The real repositories in LOPS_UPSTREAM_DIR: patched, compiled, names bound, undone."""

import ast
import builtins

import pytest

from lops_adapters.vendoring import patching, upstreams
from lops_adapters.vendoring.patching import blob_id

from .checkouts import NAMES, contents, hunks_of, real_checkout

GLUE = upstreams.HERE / "glue"


@pytest.mark.parametrize("name", NAMES)
def test_patched_compiled_and_undone(name, tmp_path):
    upstream, root = upstreams.load(name), real_checkout(name, tmp_path)
    before = contents(root)
    assert blob_id(before[upstream.file]) == upstream.blob
    assert patching.apply(root, upstream)
    compile((root / upstream.file).read_bytes(), upstream.file, "exec", dont_inherit=True)
    assert contents(root)[upstream.file] != before[upstream.file]
    assert patching.apply(root, upstream) == []
    patching.reverse(root, upstream)
    assert contents(root) == before


@pytest.mark.parametrize("name", NAMES)
def test_names_are_bound_where_they_are_used(name, tmp_path):
    upstream, root = upstreams.load(name), real_checkout(name, tmp_path)
    patching.apply(root, upstream)
    path, inserted = upstream.file, hunks_of(upstream)
    tree = ast.parse((root / path).read_bytes())
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node).startswith(f"lops_{name}.")
    ]
    assert len(calls) == len(inserted) - 1
    for call in calls:
        used = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
        unbound = used - bound_before(tree, call, (root / path).parent) - set(dir(builtins))
        assert not unbound, f"{path}:{call.lineno} uses {unbound}"
        assert arity(name, called(call)) == len(call.args)
        targets = {
            node.id
            for statement in ast.walk(tree)
            if assigns(statement, call)
            for node in ast.walk(statement.targets[0])
            if isinstance(node, ast.Name)
        }
        assert targets, "what the call returns is not kept"
        assert targets - {"self"} <= used | {"self"}, (
            "a name that the program does not have is assigned"
        )


def called(call):
    return ast.unparse(call.func)


def assigns(statement, call):
    return isinstance(statement, ast.Assign) and statement.value is call


def arity(name, function):
    tree = ast.parse((GLUE / f"lops_{name}.py").read_text(encoding="utf-8"))
    definition = next(
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == function.split(".")[1]
    )
    return len(definition.args.args)


def bound_before(tree, call, folder):
    """Names bound above a call: in its function, the functions around it, and the module."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= call.lineno <= node.end_lineno
    ]
    innermost = max(around, key=lambda node: node.lineno, default=tree)
    names = set()
    for scope in (tree, *around):
        if scope is not tree:
            names |= {argument.arg for argument in scope.args.args}
        for node in own_nodes(scope):
            if scope is not innermost or getattr(node, "lineno", 0) < call.lineno:
                names |= binds(node, folder)
    return names


def own_nodes(scope):
    """All nodes of a scope but not those of functions and classes within."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            yield from own_nodes(node)


def binds(node, folder):
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        if node.names[0].name == "*":  # a module beside it
            module = ast.parse((folder / f"{node.module}.py").read_bytes())
            return {name for inner in own_nodes(module) for name in binds(inner, folder)}
        return {alias.asname or alias.name for alias in node.names}
    return set()
