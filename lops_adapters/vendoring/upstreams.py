"""The original repositories: the commit of each patch, and what it adds to which file."""

import configparser
import json
from dataclasses import dataclass

from lops_adapters import core, shipped


@dataclass(frozen=True)
class Upstream:
    """An original repository.

    Attributes:
        title, repository, commit, licence, layout: see ``upstreams.toml``.
        scripts: folder within a checkout for the copied files.
        file, blob: path of the file that the patch touches, and its git blob id at that commit.
        patch: as ``git apply --unidiff-zero`` takes it.
    """

    name: str
    title: str
    repository: str
    commit: str
    licence: str
    layout: str
    scripts: str
    file: str
    blob: str
    patch: bytes

    def companions(self) -> dict[str, tuple[str, str]]:
        """Return path -> (origin, text) of the files copied next to the scripts.

        These are the core, the two shared parts and the repository's adapter file.
        """
        folder = "" if self.scripts == "." else self.scripts + "/"
        glue = {
            f"{folder}{stem}.py": f"vendoring/glue/{stem}.py"
            for stem in ("lops_shared", "lops_held_out", f"lops_{self.name}")
        }
        origins = {f"{folder}lops_core.py": "core.py", **glue}
        return {
            path: (f"lops_adapters/{origin}", shipped.text(origin))
            for path, origin in origins.items()
        }

    def way_back(self) -> str:
        """Return the commands that fetch the checkout this patch is made for."""
        folder = self.repository.rsplit("/", 1)[1]
        return f"git clone {self.repository} && git -C {folder} checkout {self.commit}"


def names() -> list[str]:
    """Return the names of all repositories.

    >>> names()
    ['conwea', 'xclass', 'westclass', 'lotclass']
    """
    return list(_tables())


def load(name: str) -> Upstream:
    """Return a repository by name; raise a LopsError if it is unknown."""
    tables = _tables()
    if name not in tables:
        raise core.LopsError(f"there is no patch for {name!r}; wanted one of {', '.join(tables)}")
    patch = shipped.data(f"vendoring/patches/{name}.patch")
    return Upstream(name=name, **tables[name], patch=patch)


def _tables() -> dict[str, dict[str, str]]:
    """Read the file of upstreams: TOML of nothing but tables of strings.

    Python 3.10 has no reader for full TOML.
    """
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",))
    parser.read_string(shipped.text("vendoring/upstreams.toml"))
    return {
        section: {key: json.loads(value) for key, value in parser[section].items()}
        for section in parser.sections()
    }
