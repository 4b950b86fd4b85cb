"""What holds for every framework: what its command refuses, what a resumed run and a loaded
classifier are like, what gold may change.
"""

import ast
import json

import numpy as np
import pytest

from lops_adapters.testing.frameworks import contents, differing

from .framework_tools import read_rows

GOLD = {"noise", "selected_noise", "micro_f1", "macro_f1"}
TIME = {"seconds", "seconds_selection"}
# Options that no command takes, and what it says of them.
BAD_OPTIONS = [
    (["--dataset", "agnwes"], ["did you mean agnews?"]),
    (["--arms", "both"], ["arms are 'both'; 'both' is unknown; wanted some of standard, lops"]),
    (["--max-docs", "1"], ["--max-docs is 1; wanted at least 2"]),
    (["--keep", "0"], ["keep is 0.0; wanted a fraction above 0"]),
    (["--keep", "half"], ["keep is 'half'; wanted a fraction above 0 and at most 1, or auto"]),
    (["--every", "often"], ["every is 'often'; wanted a number of updates, at least 1, or epoch"]),
    (["--seeds", "0"], ["--seeds is 0; wanted at least 1"]),
    (["--seed", "-1"], ["--seed is -1; wanted a whole number from 0"]),
    (["--seed", str(2**32)], ["--seed is 4294967296"]),
    (["--device", "abacus"], ["device 'abacus' cannot be used"]),
]
# Options other than those a run was started with, and what the resumed command says of them; in
# braces a setting of the run.
OTHER_OPTIONS = [
    (["--keep", "0.7"], "was started with settings.keep = {keep!r}, not 0.7"),
    (["--seed", "3"], "was started with seed = 0, not 3"),
    (["--max-docs", "40"], "settings.max_docs = None, not 40"),
]


def assert_has(thing, **wanted):
    """Its attributes have these values."""
    assert {name: getattr(thing, name) for name in wanted} == wanted


def uses(tree, name):
    """The functions that hold a use of a name (not its import or definition), one entry a use."""
    found = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            inner = {
                id(node)
                for part in ast.walk(function)
                if isinstance(part, ast.FunctionDef) and part is not function
                for node in ast.walk(part)
            }
            nodes = [node for node in ast.walk(function) if id(node) not in inner]
            found += [
                function.name
                for node in nodes
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            ]
    return found


def assert_learnt_at(table, epochs):
    """A table of a selection says when each sample was learnt, and the confidence is what the
    method makes of that.
    """
    assert set(table[0]) == {"id", "pseudo_label", "learnt_at", "confidence", "selected"}
    for row in table:
        expected = 1 - float(row["learnt_at"]) / epochs if row["learnt_at"] else -1 / epochs
        assert float(row["confidence"]) == pytest.approx(expected, abs=1e-5)


def assert_refused(outcome, *words, may_warn=False):
    """Exit status 2, nothing on standard output, and one line on standard error that says these
    words; warnings only where allowed.
    """
    status, out, err = outcome
    lines = err.splitlines()
    assert status == 2, err
    assert out == ""
    assert lines[-1].startswith("error: "), err
    assert len([line for line in lines if not (may_warn and line.startswith("warning: "))]) == 1, (
        err
    )
    assert "Traceback" not in err
    for word in words:
        assert word in err


def names(path):
    """All files below a folder, by their paths in it."""
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())


def stages(path):
    """The stages that a run has stored."""
    return {file.stem for file in (path / "work").glob("*.npz")}


def metrics_of(path):
    """What metrics.json of a run says."""
    return json.loads((path / "metrics.json").read_text(encoding="utf-8"))


def stripped(metrics, keys=frozenset(GOLD | TIME)):
    """The same metrics without what stands under these keys, at any depth."""
    if isinstance(metrics, dict):
        return {key: stripped(item, keys) for key, item in metrics.items() if key not in keys}
    return [stripped(item, keys) for item in metrics] if isinstance(metrics, list) else metrics


def measured(metrics, wanted=GOLD):
    """All values under the wanted keys, in order."""
    if isinstance(metrics, dict):
        return [
            value
            for key, item in metrics.items()
            for value in ([item] if key in wanted else measured(item, wanted))
        ]
    return (
        [value for item in metrics for value in measured(item, wanted)]
        if isinstance(metrics, list)
        else []
    )


def names_of_arms(path, arms):
    """All files of a run but those of other arms than these."""
    lacking = tuple(
        f"{place}{arm}{end}"
        for arm in set(metrics_of(path)["arms"]) - set(arms)
        for place, end in (("", "/"), ("work/", "-"))
    )
    return [name for name in names(path) if not name.startswith(lacking)]


def assert_same_run(path, whole):
    """A run has come out as one nobody interrupted; only the seconds may differ."""
    assert names(path) == names(whole)
    assert differing(contents(path), contents(whole)) == []
    assert stripped(metrics_of(path), TIME) == stripped(metrics_of(whole), TIME)


def assert_same_but_measurements(path, whole, arms):
    """Two runs of these arms on the same corpus with other gold labels: all files are alike but
    metrics and report, and the configuration says the same of the corpus.
    """
    expected = names_of_arms(whole, arms)
    assert names(path) == expected
    assert not {*expected} & {*differing(contents(path), contents(whole))}
    one, other = (
        json.loads((folder / "config.json").read_text(encoding="utf-8"))["dataset"]
        for folder in (path, whole)
    )
    assert one == other


def assert_not_resumed(status, error, words):
    """A run is not resumed with options other than its own."""
    assert status == 2
    assert words in error
    assert "resume with the same options, or give another --output" in error


def assert_predicts(model, table, texts, atol, probabilities=None):
    """A loaded classifier says of the corpus what the run's table of predictions says; returns the
    probabilities, unless they are given.
    """
    rows = read_rows(table)
    if probabilities is None:
        probabilities = model.predict_proba(texts)
    assert probabilities.shape == (len(texts), len(model.classes))
    assert probabilities.dtype == np.float32
    predicted = [row["predicted"] for row in rows]
    assert [model.classes[code] for code in probabilities.argmax(axis=1)] == predicted
    assert model.predict(texts[:9]) == predicted[:9]
    np.testing.assert_allclose(
        probabilities.max(axis=1), [float(row["probability"]) for row in rows], atol=atol
    )
    return probabilities


def assert_says_of_nothing(model, texts):
    """Texts without a known word get what the classifier says of nothing, alone or among others."""
    nothing = model.predict_proba([""])
    assert np.isfinite(nothing).all()
    among = model.predict_proba(["The judge said the verdict.", *texts, "match"])[1:-1]
    np.testing.assert_allclose(among, np.repeat(nothing, len(texts), axis=0), atol=1e-6)
    for text in texts:
        np.testing.assert_allclose(model.predict_proba([text]), nothing, atol=1e-6)
