"""Remote paths, in a store of fsspec that is in the memory of this process."""

import json
import pickle

import pytest

from lops_adapters import remote, storage
from lops_adapters.cli.main import main
from lops_adapters.core import LopsError
from lops_adapters.formats.files import find
from lops_adapters.remote import located
from lops_adapters.remote import path as path_module

from .light import LIGHT, start
from .noisy import noisy_rows, write_table

pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store():
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    return memory


def stopped(place):
    place.write_text("half", encoding="utf-8")
    raise RuntimeError("stop")


def test_an_address_stays_one():
    path = located("s3://bucket/a b/rows.csv.gz")
    assert str(pickle.loads(pickle.dumps(path))) == str(path) == "s3://bucket/a b/rows.csv.gz"
    assert path.suffix == ".gz"
    assert str(path.with_suffix("").with_name("x.csv").parent / "y") == "s3://bucket/a b/y"
    assert path == located("s3://bucket/a b") / "rows.csv.gz"
    assert path != located("gs://bucket/a b/rows.csv.gz")
    assert storage.plain({"path": path}) == {"path": str(path)}
    assert not remote.is_remote(located("C:/s3://a.csv"))


@pytest.mark.parametrize(
    "name", ["s3://key:word@bucket/a.csv", "https://host/a.csv?sig=word", "https://me@host/a.csv"]
)
def test_a_secret_is_refused_and_not_shown(name):
    with pytest.raises(LopsError, match="holds a password or a query") as caught:
        located(name)
    assert "word" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("lists_folders", [True, False])
def test_patterns(store, lists_folders, monkeypatch):
    """Also of a store that lists objects only, as Google's."""
    if not lists_folders:
        find_all = type(store).find
        monkeypatch.setattr(path_module, "_GOOGLE", ("memory",))
        monkeypatch.setattr(
            type(store), "find", lambda *args, **how: find_all(*args, **{**how, "withdirs": False})
        )
    for name in ("/b/a1.csv", "/b/a2.csv", "/b/.a3.csv", "/b/x/a4.csv", "/b/note.md"):
        store.pipe(name, b"text,label\n")
    names = {
        "memory://b": ["a1.csv", "a2.csv"],
        "memory://b/a[1].csv": ["a1.csv"],
        "memory://b/*/*.csv": ["x/a4.csv"],
        "memory://b/**/*.csv": ["a1.csv", "a2.csv", "x/a4.csv"],
        "memory://b/.*.csv": [".a3.csv"],
    }
    for pattern, expected in names.items():
        assert [str(path) for path in find([pattern])] == [f"memory://b/{n}" for n in expected]
    with pytest.raises(LopsError, match=r"did you mean memory://b/a1\.csv"):
        find(["memory://b/a11.csv"])
    with pytest.raises(LopsError, match=r"memory://b/\*\.txt: no such file, or out of reach"):
        find(["memory://b/*.txt"])
    with pytest.raises(LopsError, match=r"memory://b/a1\.csv is given twice"):
        find(["memory://b/a1.csv", "memory://b/a*.csv"])


def test_a_file_is_replaced_at_once(store):
    path = located("memory://b/a.txt")
    storage.write_text(path, "old")
    with pytest.raises(RuntimeError, match="stop"), storage.replacing(path) as place:
        stopped(place)
    assert store.find("/b") == ["/b/a.txt"]
    assert path.read_text(encoding="utf-8") == "old"
    storage.write_text(path, "new")
    assert path.read_text(encoding="utf-8") == "new"


def test_a_folder_is_named_when_it_is_complete(store):
    folder = located("memory://b/out")
    assert remote.complete(folder) == folder
    for content in ("one", "three"):
        with storage.replacing_folder(folder) as run:
            (run / "kept").mkdir()
            (run / "kept" / "part.csv").write_text(content, encoding="utf-8")
            assert remote.complete(folder) != run
        assert remote.complete(folder) == run
        assert remote.manifest(folder)["files"] == {"kept/part.csv": len(content)}
    assert store.find("/b") == ["/b/out/manifest.json", f"/b/out/{run.name}/kept/part.csv"]
    with pytest.raises(RuntimeError, match="stop"), storage.replacing_folder(folder) as failed:
        stopped(failed / "part.csv")
    assert remote.complete(folder) == run
    assert not failed.exists()


@pytest.mark.parametrize("named", ["..", "run-1/..", "../other", "", 3, None])
def test_a_manifest_of_somebody_else_deletes_nothing(store, named):
    store.pipe("/b/out/manifest.json", json.dumps({"folder": named}).encode())
    store.pipe("/b/other/a", b"x")
    folder = located("memory://b/out")
    assert remote.manifest(folder) == {}
    with storage.replacing_folder(folder) as run:
        (run / "a").write_text("x", encoding="utf-8")
    assert store.exists("/b/other/a")


@pytest.mark.parametrize(
    "text",
    [
        "the server\nsaid no",
        "Status(X: Y, with a last message of the server error_info={the server",
    ],
)
def test_a_library_that_raises_other_errors(store, text, monkeypatch):
    def fails(*_, **__):
        raise ValueError(text)

    monkeypatch.setattr(type(store), "info", fails)
    with pytest.raises(LopsError, match=r"cannot read memory://b/a\.csv: the server$"):
        find(["memory://b/a.csv"])


def test_a_command_on_addresses(store, tmp_path, monkeypatch, capsys):
    """The rows of the same local file, and nothing left beside the output."""
    monkeypatch.chdir(tmp_path)
    rows = noisy_rows(n=120, k=3)
    for suffix in (".csv", ".parquet"):
        local = write_table(tmp_path / f"t{suffix}", rows)
        store.pipe(f"/b/t{suffix}", local.read_bytes())
        options = ["--text", "text", "--label", "weak", "--encoder", "none", "--quiet"]
        options += ["--output", f"out{suffix}", "--corrected"]
        assert main(["select", local.name, *options, f"k{suffix}"]) == 0
        address = f"memory://b/t{suffix}"
        assert main(["select", address, *options, f"memory://b/k{suffix}", "--force"]) == 0
        assert store.cat(f"/b/k{suffix}") == (tmp_path / f"k{suffix}").read_bytes()
    capsys.readouterr()
    again = ["select", address, *options, "memory://b/k.parquet"]
    assert main(again) == 2
    assert "memory://b/k.parquet already exists" in capsys.readouterr().err
    assert store.find("/b") == ["/b/k.csv", "/b/k.parquet", "/b/t.csv", "/b/t.parquet"]


def test_a_listing_is_not_remembered(store, monkeypatch):
    """hf:// would not notice that a file has changed."""
    forgotten = []
    monkeypatch.setattr(type(store), "invalidate_cache", lambda _, path: forgotten.append(path))
    store.pipe("/b/a.csv", b"x")
    assert located("memory://b/a.csv").stat().st_size == 1
    assert forgotten == ["memory://b/a.csv"]


def test_libraries_are_imported_for_addresses_only():
    started = start("from lops_adapters.remote import located; located('s3://a/b'), located('a')")
    assert started.packages <= LIGHT


def test_a_file_of_this_machine_by_its_address(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\n")
    assert find([f"file://{path}"]) == (path,)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("file://data/a.csv", "file:///PATH"),
        ("hdfs:///user/a.csv", "hdfs://HOST/PATH"),
        ("s3:///a.csv", "s3://HOST/PATH"),
        ("dir://a.csv", "the file itself"),
        ("zip://a.csv", "the file itself"),
    ],
)
def test_an_address_without_a_host_is_no_relative_file(name, wanted):
    with pytest.raises(LopsError, match=f"{name}' cannot be read; wanted {wanted}"):
        located(name)
