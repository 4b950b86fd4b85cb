"""The command in its own process, killed in the middle of its work, and resumed."""

import json
import signal

import pytest

from ..framework_checks import (
    OTHER_OPTIONS,
    assert_not_resumed,
    assert_refused,
    assert_same_run,
    metrics_of,
    names,
)
from .cases import Kill

pytestmark = pytest.mark.slow


def deaths(case, order):
    """The kills of a framework in the order of its stages; and it dies while it writes the first
    and the last stage, when the temporary file is there and the stage is not.
    """
    writes = [Kill(stage, "numpy:savez", 1) for stage in (order[0], order[-1])]
    return sorted([*case.kills, *writes], key=lambda kill: ["", *order].index(kill.stage))


def test_killed_again_and_again_it_comes_out_the_same(stand, whole, tmp_path):
    files = sorted(whole.path.glob("work/*.npz"), key=lambda path: path.stat().st_mtime_ns)
    order = [file.stem for file in files]
    output, kills = tmp_path / "run", deaths(stand.case, order)
    endings = stand.killed(output, kills)
    assert len(endings) == len(kills)
    for kill, (ending, stored) in zip(kills, endings, strict=True):
        assert ending == -signal.SIGKILL, kill
        before = order[: order.index(kill.stage)] if kill.stage else []
        assert set(stored) == set(before), kill
    times = {path: path.stat().st_mtime_ns for path in output.glob("work/*.npz")}
    assert_refused(stand.command(output), "already holds a run; give --resume")
    status, _, err = stand.command(output, "--resume")
    assert status == 0, err
    assert times == {path: path.stat().st_mtime_ns for path in times}  # read, not made again
    assert_same_run(output, whole.path)


@pytest.mark.usefixtures("no_work")
def test_a_finished_run_is_read_and_not_made_again(stand, whole):
    files = [whole.path / name for name in names(whole.path)]
    kept = [file for file in files if file.suffix == ".npz" or "model" in file.parts]
    times = {file: file.stat().st_mtime_ns for file in kept}
    for _ in range(2):
        status, out, _ = stand.command(whole.path, "--resume")
        assert status == 0
        assert out == whole.out
    assert times == {file: file.stat().st_mtime_ns for file in kept}


@pytest.mark.usefixtures("no_work")
def test_other_names_are_refused(stand, whole, tmp_path):
    path = tmp_path / "names.json"
    path.write_text(f'{{"{stand.case.toys.CLASSES[0]}": "judge"}}', encoding="utf-8")
    status, _, err = stand.command(whole.path, "--resume", "--names", path)
    assert_not_resumed(status, err, "names = ")
    assert stand.command(whole.path, "--resume", "--names", "labels")[0] == 0  # the same names


@pytest.mark.usefixtures("no_work")
def test_other_options_are_refused(stand, whole):
    settings = json.loads((whole.path / "config.json").read_text(encoding="utf-8"))["settings"]
    for more, words in OTHER_OPTIONS + list(stand.case.other.items()):
        status, _, err = stand.command(whole.path, "--resume", *more)
        assert_not_resumed(status, err, words.format(**settings))


@pytest.mark.usefixtures("no_work")
def test_other_data_are_refused(stand, whole, tmp_path):
    texts, labels = stand.texts, stand.labels
    other = stand.write(tmp_path / "toy", [f"{texts[0]} Again.", *texts[1:]], labels)
    status, _, err = stand.command(whole.path, "--resume", data=other)
    assert_not_resumed(status, err, f"{whole.path} was started with dataset.sha256 = ")
    fewer = stand.write(tmp_path / "fewer" / "toy", texts[:-1], labels[:-1])
    status, _, err = stand.command(whole.path, "--resume", data=fewer)
    assert_not_resumed(status, err, f"dataset.documents = {len(texts)}, not {len(texts) - 1}")


def test_arms_can_be_added_later(stand, whole, tmp_path):
    output, known = tmp_path / "run", set()
    for number, arms in enumerate(stand.case.added):
        status, _, err = stand.command(output, "--arms", arms, *["--resume"][:number])
        assert status == 0, err
        known |= set(arms.split(","))
        assert set(metrics_of(output)["arms"]) == known
    assert known == set(stand.case.arms)
    assert_same_run(output, whole.path)
