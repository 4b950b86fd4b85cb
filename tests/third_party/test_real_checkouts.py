"""The real repositories in LOPS_UPSTREAM_DIR: patched, compiled, names bound, undone."""

import ast
import builtins

import pytest

from lops_adapters import shipped
from lops_adapters.vendoring import patching, upstreams
from lops_adapters.vendoring.patching import blob_id

from .checkouts import NAMES, contents, hunks_of, real_checkout

GLUE = shipped.HERE / "vendoring" / "glue"


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
def test_no_line_of_theirs_is_ours(name, tmp_path):
    root = real_checkout(name, tmp_path)
    theirs = {
        line.strip()
        for path, data in contents(root).items()
        for line in data.decode(errors="replace").splitlines()
    }
    ours = {line.decode().strip() for hunk in hunks_of(upstreams.load(name)) for line in hunk.lines}
    assert ours & theirs <= {")"}


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


ATTRIBUTES = {"xclass": ("args", {"device", "n_gpu", "model_type"}), "lotclass": ("trainer", set())}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_the_glue_reads_attributes_that_are_there(name, tmp_path):
    """Options of X-Class, and what LOTClass's trainer sets in its constructor."""
    root = real_checkout(name, tmp_path)
    thing, expected = ATTRIBUTES[name]
    glue = ast.parse((GLUE / f"lops_{name}.py").read_text(encoding="utf-8"))
    read = {
        node.attr
        for node in ast.walk(glue)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == thing
    }
    assert read
    tree = ast.parse((root / upstreams.load(name).file).read_bytes())
    stored = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    there = {node.attr for node in stored if ast.unparse(node.value) in ("args", "self")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node).endswith("add_argument"):
            there.add(node.args[0].value.lstrip("-"))
    assert read <= there
    assert expected <= read


def test_keywords_that_the_glue_passes_are_there(tmp_path):
    """ConWea's network and preparation, WeSTClass's classifier, LOTClass's network."""
    wanted = {
        ("conwea", "keras_han/model.py", "__init__"): ("lops_conwea", "network"),
        ("conwea", "util.py", "prep_data"): ("lops_conwea", "prepare"),
        ("westclass", "model.py", "__init__"): ("lops_westclass", "type(classifier)"),
        ("lotclass", "src/model.py", "forward"): ("lops_lotclass", "probe"),
    }
    for (name, path, function), (glue, callee) in wanted.items():
        root = real_checkout(name, tmp_path / glue / function)
        definitions = [
            {argument.arg for argument in node.args.args}
            for node in ast.walk(ast.parse((root / path).read_bytes()))
            if isinstance(node, ast.FunctionDef) and node.name == function
        ]
        calls = [
            node
            for node in ast.walk(ast.parse((GLUE / f"{glue}.py").read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and called(node) == callee
        ]
        assert calls
        for call in calls:
            assert any(
                {keyword.arg for keyword in call.keywords} <= names for names in definitions
            ), (path, function)
