"""Files at addresses, with servers of this machine: output is complete or not named at all."""

import csv
import io
import json
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Thread

import numpy as np
import pytest

from lops_adapters.cli.main import main

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .hub import served as hub_served
from .stores import S3, Google, served

ROWS = noisy_rows(n=240, k=3)
OPTIONS = ["--text", "text", "--label", "weak", "--encoder", "none", "--quiet"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module", params=[S3, Google], ids=["s3", "gs"])
def server(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("credentials")
        with served(request.param, patch, folder) as store:
            yield store


@pytest.fixture
def store(here, server):
    """A store whose bucket is empty."""
    for key in server.sizes():
        server.delete(key)
    return server


def keys(store, prefix=""):
    """Objects that hold something; a marker of a folder holds nothing."""
    return {key for key, size in store.sizes(prefix).items() if size}


def complete(store, folder):
    """The manifest of a folder, once it is checked against the objects; and their contents."""
    manifest = json.loads(store.get(f"{folder}/manifest.json"))
    run = f"{folder}/{manifest['folder']}"
    contents = {name: store.get(f"{run}/{name}") for name in manifest["files"]}
    assert {name: len(content) for name, content in contents.items()} == manifest["files"]
    assert {f"{run}/{name}" for name in contents} == keys(store, run)
    return manifest["folder"], contents


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_the_rows_of_a_local_file(here, store, suffix):
    path = write_table(here / f"table{suffix}", ROWS)
    store.put(path, f"in/table{suffix}")
    assert main(["select", path.name, *OPTIONS, "--output", "local"]) == 0
    assert (
        main(
            ["select", f"{store.here}/in/table{suffix}", *OPTIONS, "--output", f"{store.here}/out"]
        )
        == 0
    )
    _, contents = complete(store, "out")
    assert set(contents) == {one.name for one in (here / "local").iterdir()}
    kind = suffix.removesuffix(".gz")
    for name in (f"kept{kind}", f"rejected{kind}", f"relabelled{kind}", "train.csv"):
        assert contents[name] == (here / "local" / name).read_bytes(), name


def test_patterns_folders_and_what_is_printed(here, store, capsys):
    for number, at in enumerate(np.array_split(np.arange(len(ROWS)), 3)):
        store.put(write_table(here / "part.csv", [ROWS[i] for i in at]), f"in/a {number}.csv")
    store.put(write_table(here / "part.csv", ROWS), "in/deep/other.csv")
    printed = []
    for pattern in (f"{store.here}/in", f"{store.here}/in/a*.csv", f"{store.here}/i*/a [0-2].csv"):
        assert main(["select", pattern, *OPTIONS, "--output", f"{store.here}/out", "--force"]) == 0
        printed.append(capsys.readouterr().out)
    run, contents = complete(store, "out")
    rows = [row for name in ("kept.csv", "rejected.csv")
            for row in csv.DictReader(io.StringIO(contents[name].decode()))]  # fmt: skip
    assert sorted(row["nr"] for row in rows) == [row[0] for row in ROWS]
    assert f"Written to {store.here}/out/{run}/: kept" in printed[-1]
    assert f"open {store.here}/out/{run}/report.html" in printed[-1]
    assert main(["select", f"{store.here}/in/**/*.csv", *OPTIONS, "--output", "out"]) == 0
    assert "of 480 rows" in capsys.readouterr().out  # also the folder's


def test_output_is_replaced_as_a_whole(here, store, capsys):
    store.put(write_table(here / "t.csv", ROWS), "t.csv")
    command = ["select", f"{store.here}/t.csv", *OPTIONS, "--output", f"{store.here}/out"]
    assert main(command) == 0
    first, _ = complete(store, "out")
    assert main(command) == 2
    assert "already holds output; give --force to replace it" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    second, _ = complete(store, "out")
    assert first != second
    assert not keys(store, f"out/{first}")
    store.put(here / "t.csv", "mine/manifest.json")
    assert main([*command, "--output", f"{store.here}/mine", "--force"]) == 2
    assert "was not written by lops select" in capsys.readouterr().err


DIES = """
import os, signal, sys
from lops_adapters.cli.main import main
from lops_adapters.tables import engine
engine.write_to_check = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


def test_a_killed_run_leaves_nothing_that_looks_finished(here, store):
    store.put(write_table(here / "t.csv", ROWS), "t.csv")
    command = ["select", f"{store.here}/t.csv", *OPTIONS, "--output", f"{store.here}/out"]
    script = here / "dies.py"
    script.write_text(DIES)
    killed = subprocess.run([sys.executable, script, *command], check=False)
    assert killed.returncode == -9
    left = keys(store, "out/")
    assert any(key.endswith("/kept.csv") for key in left)  # it had written
    assert "out/manifest.json" not in left
    assert main(command) == 0  # no --force: nothing stands there
    run, contents = complete(store, "out")
    killed = subprocess.run([sys.executable, script, *command, "--force"], check=False)
    assert killed.returncode == -9
    assert complete(store, "out") == (run, contents)


def test_a_run_that_fails_removes_what_it_wrote(here, store, monkeypatch, capsys):
    store.put(write_table(here / "t.csv", ROWS), "t.csv")
    from lops_adapters.tables import engine

    def fails(*_):
        assert any(key.endswith("/kept.csv") for key in keys(store, "out/"))
        raise OSError(28, "No space left")

    monkeypatch.setattr(engine, "write_to_check", fails)
    assert main(["select", f"{store.here}/t.csv", *OPTIONS, "--output", f"{store.here}/out"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert not keys(store, "out/")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_apply_and_checked_rows(here, store, suffix, capsys):
    store.put(write_table(here / f"t{suffix}", ROWS), f"t{suffix}")
    (here / "c.csv").write_text("row,label\n1,class 2\n3,\n")
    store.put(here / "c.csv", "c.csv")
    table, out = f"{store.here}/t{suffix}", f"{store.here}/new/t{suffix}"
    command = ["apply", f"{store.here}/c.csv", table, "--label", "weak", "--output"]
    assert main([*command, out]) == 0
    assert main([*command, f"local{suffix}"]) == 0
    (here / f"remote{suffix}").write_bytes(store.get(f"new/t{suffix}"))
    assert read_table(here / f"remote{suffix}") == read_table(here / f"local{suffix}")
    assert keys(store, "new/") == {f"new/t{suffix}"}  # no temporary file
    assert main([*command, out]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main([*command, table, "--force"]) == 2
    assert "which is an input" in capsys.readouterr().err
    files = ["--output", "out", "--corrected", f"{store.here}/w{suffix}"]
    assert main(["select", table, *OPTIONS, *files, "--checked", f"{store.here}/c.csv"]) == 0
    assert keys(store) >= {f"w{suffix}"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s3://tables/no.csv"], "s3://tables/no.csv: no such file"),
        (["s3://no-such-bucket/no.csv"], "s3://no-such-bucket/no.csv: no such file"),
        (["s3://tables/no*.csv"], "s3://tables/no*.csv: no such file"),
        (["s3://tables/tt.csv"], "did you mean s3://tables/ttt.csv?"),
        (["s3://me:secret@tables/no.csv"], "s3://… holds a password or a query"),
        (["ttt.csv", "--output", "s3://me@tables/out"], "s3://… holds a password or a query"),
        (["ttt.csv", "--output", "s3://no-such-bucket/out"], "cannot write into s3://no-such-buc"),
        (["xyz://a/b.csv"], "xyz:// is not known; wanted s3, gs, hf, https"),
        (["ttt.csv", "--embeddings", "s3://tables/v.npy"], "no such file; wanted an .npy file"),
    ],
)
def test_what_is_refused(here, store, arguments, message, capsys):
    store.put(write_table(here / "ttt.csv", ROWS), "ttt.csv")
    arguments, message = (
        json.loads(json.dumps(one).replace("s3://", f"{store.here[:2]}://"))
        for one in (arguments, message)
    )
    try:
        status = main(["select", *arguments, *OPTIONS])
    except SystemExit as error:
        status = error.code
    assert status == 2
    said = capsys.readouterr().err
    assert message in said
    assert "secret@" not in said


def test_a_table_that_changes_meanwhile(here, store, monkeypatch, capsys):
    store.put(write_table(here / "t.csv", ROWS), "t.csv")
    from lops_adapters.tables import engine

    fit = engine.fit

    def change(*arguments, **more):
        store.put(write_table(here / "t.csv", ROWS[:-1]), "t.csv")
        return fit(*arguments, **more)

    monkeypatch.setattr(engine, "fit", change)
    assert main(["select", f"{store.here}/t.csv", *OPTIONS, "--output", f"{store.here}/out"]) == 2
    assert "the input changed during the run" in capsys.readouterr().err
    assert not keys(store, "out/")


def test_row_groups_on_ray_and_a_worker_that_is_killed(here, store):
    """Parts of one file are read apart; the first worker dies when it has begun to write."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    from pyarrow import Table, parquet

    names = zip(HEADER, zip(*ROWS, strict=True), strict=True)
    table = Table.from_pydict({name: list(cells) for name, cells in names})
    parquet.write_table(table, here / "t.parquet", row_group_size=80)
    store.put(here / "t.parquet", "t.parquet")
    local = ["-m", "lops_adapters.cli.main", "select", "t.parquet", *OPTIONS, "--output", "local"]
    subprocess.run([sys.executable, *local], check=True)
    script = here / "on_ray.py"
    script.write_text(RAY_DIES)
    command = ["select", f"{store.here}/t.parquet", *OPTIONS, "--engine", "ray"]
    command += ["--output", f"{store.here}/out"]
    subprocess.run([sys.executable, script, here / "died", *command], check=True)
    assert (here / "died").exists()
    _, contents = complete(store, "out")
    assert sorted(name for name in contents if name.startswith("kept/")) == [
        f"kept/part-0000{i}.parquet" for i in range(3)
    ]
    for part in ("kept", "rejected", "relabelled"):
        rows = []
        for name in sorted(name for name in contents if name.startswith(f"{part}/")):
            rows += parquet.read_table(io.BytesIO(contents[name])).to_pylist()
        expected = read_table(here / "local" / f"{part}.parquet")
        for row in [*rows, *expected]:  # Ray reads no checksum
            row.pop("lops_sha256", None)
        assert rows == expected


@pytest.fixture
def web(here):
    """The address of a web server of the test's folder."""
    pytest.importorskip("aiohttp")
    handler = partial(SimpleHTTPRequestHandler, directory=str(here))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_web_server(here, web, suffix, capsys):
    write_table(here / f"t{suffix}", ROWS)
    for table, out in ((f"t{suffix}", "a"), (f"{web}/t{suffix}", "b")):
        assert main(["select", table, *OPTIONS, "--output", out]) == 0
    one, other = (here / out / f"kept{suffix}" for out in ("a", "b"))
    assert one.read_bytes() == other.read_bytes()
    assert main(["select", f"t{suffix}", *OPTIONS, "--corrected", f"{web}/c.csv"]) == 2
    assert f"cannot write into {web}" in capsys.readouterr().err
    assert main(["select", f"{web}/no{suffix}", *OPTIONS]) == 2
    assert f"{web}/no{suffix}: no such file, or out of reach" in capsys.readouterr().err


@pytest.fixture
def hub(here, monkeypatch):
    for module in ("huggingface_hub", "gcp_storage_emulator"):  # where the other stores run
        pytest.importorskip(module, reason="make test-integrations")
    with hub_served(monkeypatch) as hub:
        yield hub


def test_a_hub(here, hub, monkeypatch, capsys):
    """Rows of the local file; output that is replaced whole; a file that changes meanwhile."""
    content = write_table(here / "t.csv", ROWS).read_bytes()
    hub.files |= {"in/deep/t.csv": content, "in/note.md": b"-"}
    assert main(["select", "t.csv", *OPTIONS, "--output", "local"]) == 0
    command = ["select", f"{hub.here}/in/*/t*.csv", *OPTIONS, "--output", f"{hub.here}/out"]
    for more in ([], ["--force"]):
        assert main([*command, *more]) == 0
        manifest = json.loads(hub.files["out/manifest.json"])
        run = f"out/{manifest['folder']}/"
        written = {name.removeprefix(run): x for name, x in hub.files.items() if "out/run" in name}
        assert {name: len(x) for name, x in written.items()} == manifest["files"]
        for name in ("kept.csv", "rejected.csv", "train.csv"):
            assert written[name] == (here / "local" / name).read_bytes()
    assert main(command) == 2
    (here / "c.csv").write_text("row,label\n1,class 2\n")
    apply = ["apply", "c.csv", f"{hub.here}/in/deep/t.csv", "--label", "weak", "--output"]
    assert main([*apply, f"{hub.here}/new.csv"]) == main([*apply, "new.csv"]) == 0
    assert hub.files["new.csv"] == (here / "new.csv").read_bytes() != content
    assert main(["select", f"{hub.here}/no.csv", *OPTIONS]) == 2
    assert f"{hub.here}/no.csv: no such file" in capsys.readouterr().err

    from lops_adapters.tables import engine

    def change(*arguments, **more):
        hub.files["in/deep/t.csv"] = content[:-30]
        return fit(*arguments, **more)

    fit = engine.fit
    monkeypatch.setattr(engine, "fit", change)
    assert main([*command, "--force"]) == 2
    assert "the input changed during the run" in capsys.readouterr().err
    assert json.loads(hub.files["out/manifest.json"]) == manifest


RAY_DIES = """
import os, signal, sys
from pathlib import Path
import ray
from lops_adapters.cli.main import main
from lops_adapters.scale import engine

ray.cloudpickle.register_pickle_by_value(sys.modules["__main__"])
engine.PART_ROWS = 80
write, sign = engine._write, Path(sys.argv[1])

def dies_once(part, boxed, folder, kind):
    if part.number == 1 and not sign.exists():
        sign.touch()
        with (folder / "kept" / "part-00001.parquet").open("wb") as file:
            file.write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    return write(part, boxed, folder, kind)

engine._write = dies_once
sys.exit(main(sys.argv[2:]))
"""
