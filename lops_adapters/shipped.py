"""Data files that ship with the package, checked where results depend on them."""

import hashlib
from pathlib import Path
from typing import Any

from lops_adapters import storage
from lops_adapters.core import LopsError

HERE = Path(__file__).parent
# As importlib.resources does, which takes 20 ms to import: it also reads from a zip file.
_LOADER: Any = __spec__.loader
SHA256 = {  # first 32 digits, of text with LF line ends; a test names the new ones after a change
    "datasets/demo/documents.jsonl": "34d8a5bc8dfbaf00456647653dd9d1ee",
    "datasets/demo/seeds.json": "3aabd67f9212d17ce5b461f51b06d56d",
    "datasets/published.json": "965597f920fee46158463430ec84e4e7",
    "encoders/word_pieces/pieces.txt": "efa5da3d114f3ed85a23cb138a37efaf",
    "encoders/word_pieces/vectors.npy": "9d27e52cf54f2c1cb08bdad7104bb013",
    "selection/committee/calibration.json": "c0da53fa879ba34cf0e4690774e05d3b",
    "vendoring/patches/conwea.patch": "6d4e2b37c51478c4d7db7803409004d0",
    "vendoring/patches/lotclass.patch": "dafdfb62fff1212f93c778d277e7728d",
    "vendoring/patches/westclass.patch": "a4e056410ea046082cfd2730539586ca",
    "vendoring/patches/xclass.patch": "cef7882329c13001dc6b2c031aad58fe",
    "vendoring/upstreams.toml": "0987b820537278900e4b5b3f4c7cf983",
}


def data(name: str) -> bytes:
    """Return a file of the package, text with LF line ends."""
    path = HERE / name
    try:
        content: bytes = _LOADER.get_data(str(path))
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    if path.suffix != ".npy":
        content = content.replace(b"\r\n", b"\n")
    if name in SHA256:
        digest = hashlib.sha256(content).hexdigest()[:32]
        if digest != SHA256[name]:
            raise _damaged(
                path,
                f"checksum {digest}, wanted {SHA256[name]}",
                f"; if you changed it, put its checksum into {HERE / 'shipped.py'}",
            )
    return content


def file(name: str) -> Path:
    """Return a file of the package on disk: of a package in a zip file, a copy in the user's cache.

    Raises as :func:`data`.
    """
    path, content = HERE / name, data(name)
    if path.exists():
        return path
    path = storage.user_cache() / "package" / name
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        with storage.replacing(path) as temporary:
            temporary.write_bytes(content)
    return path


def text(name: str) -> str:
    """Return a UTF-8 file of the package; raises as :func:`data`, and if it is not UTF-8."""
    try:
        return data(name).decode()
    except UnicodeDecodeError as error:
        raise _damaged(HERE / name, str(error)) from None


def _damaged(path: Path, reason: str, otherwise: str = "") -> LopsError:
    return LopsError(
        f"{path} is damaged or missing ({reason:.200}); install lops_adapters again{otherwise}"
    )
