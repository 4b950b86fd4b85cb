"""Files of vectors that runs share: at most 8 GiB; the least recently used go first."""

import logging
import os
import shutil
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")
_LIMIT = 8 * 2**30  # bytes of all files of all encoders
_DAY = 86_400  # seconds
_DAMAGED = (ValueError, EOFError, KeyError, zipfile.BadZipFile)


class KeptFiles:
    """The files of all encoders: ``*.npz`` and ``*.npy`` in the folders of ``root``.

    Args:
        root: a folder, which need not exist.

    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._size: int | None = None  # bytes of all files when last counted, and of those since

    def read(self, path: Path, load: Callable[[Path], T | None]) -> T | None:
        """Return what ``load`` makes of a file, which counts as used now unless that is None.

        A file that cannot be opened is ignored; a damaged one, for which ``load`` raises a
        ValueError, is removed.
        """
        try:
            loaded = load(path)
        except FileNotFoundError:  # never written, or another process has made room
            return None
        except OSError as error:
            log.warning("%s cannot be read (%s); its texts are encoded again", path, error)
            return None
        except _DAMAGED as error:
            log.warning("%s is damaged (%s); its texts are encoded again", path, error)
            with suppress(OSError):
                path.unlink()
            return None
        if loaded is not None:
            with suppress(OSError):
                os.utime(path)
        return loaded

    def make_room(self, size: int) -> bool:
        """Remove old files for a new one of ``size`` bytes; return whether it may be kept.

        Files are counted at the first call and above the limit, and then a twentieth of it is freed
        at once.

        Raises:
            OSError: the folder cannot be made or read.

        """
        self.root.mkdir(parents=True, exist_ok=True)
        if size > min(_LIMIT, shutil.disk_usage(self.root).free):
            log.warning("vectors are not kept: %s has no room", self.root)
            return False
        if self._size is None or self._size + size > _LIMIT:
            files = sorted(_files(self.root))
            self._size = sum(file_bytes for _, file_bytes, _ in files)
            goal = _LIMIT - _LIMIT // 20 if self._size + size > _LIMIT else _LIMIT
            for _, file_bytes, path in files:
                if self._size == 0 or self._size + size <= goal:
                    break
                path.unlink(missing_ok=True)
                self._size -= file_bytes
        self._size += size
        return True


def _files(root: Path) -> list[tuple[float, int, Path]]:
    """Return when each file was last used, its bytes and its path; remove what kills left behind.

    A file that another process is writing is younger than a day.
    """
    files = []
    for path in [*root.glob("*/*.np[yz]"), *root.glob("*/.*.tmp")]:
        with suppress(FileNotFoundError):
            status = path.stat()
            if path.suffix != ".tmp":
                files.append((status.st_mtime, status.st_size, path))
            elif status.st_mtime < time.time() - _DAY:
                path.unlink()
    return files
