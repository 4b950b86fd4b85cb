"""Tables that are open from outside: rows by name, also rows of other installed packages."""

from collections import UserDict
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, Protocol, TypeVar

from lops_adapters.core import LopsError


class Named(Protocol):
    """A row of a table."""

    @property
    def name(self) -> str:
        """Its name, unique in the table."""


Row = TypeVar("Row", bound=Named)


class Registry(UserDict[str, Row], Generic[Row]):
    """Rows by name, in order; rows of installed packages are loaded at the first look.

    A package brings a row as an entry point: in the group ``group``, a name and ``module:ROW``.
    In a table of ``EntryPoint``, rows stay unloaded until somebody asks :func:`load`.

    Args:
        kind: of the rows, in messages.
        group: of the entry points.
        row_type: of the rows.
        rows: the package's own.
    """

    def __init__(self, kind: str, group: str, row_type: type[Row], rows: Iterable[Row]) -> None:
        self._kind, self._group, self._type = kind, group, row_type
        self._rows = {row.name: row for row in rows}
        self._loaded = False

    def register(self, row: Row, origin: str = "") -> Row:
        """Add a row and return it; the same row may be added again.

        Raises:
            LopsError: no row of this table, or another one has its name.
        """
        here = f" of {origin}" if origin else ""
        if not isinstance(row, self._type):
            raise LopsError(
                f"the {self._kind}{here} is {row!r:.80}; wanted a {self._type.__name__}"
            )
        if self.data.setdefault(row.name, row) != row:
            raise LopsError(
                f"the {self._kind} {row.name!r}{here} has the name of another one; give it another "
                "name, or uninstall one of the two packages"
            )
        return row

    @property
    def data(self) -> dict[str, Row]:  # type: ignore[override]
        """The rows, with the rows of installed packages."""
        if not self._loaded:
            self._loaded = True
            points = entry_points(group=self._group)
            try:
                for point in sorted(points, key=lambda point: (point.name, point.value)):
                    row: Any = point if self._type is EntryPoint else load(point, self._kind)
                    self.register(row, _origin(point))
            except LopsError:
                self._loaded = False  # says so again
                raise
        return self._rows


def load(point: EntryPoint, kind: str) -> Any:
    """Return what an entry point names; LopsError: it cannot be imported."""
    try:
        return point.load()
    except Exception as error:
        raise LopsError(
            f"the {kind} of {_origin(point)} cannot be loaded "
            f"({type(error).__name__}: {error}); repair or uninstall the package"
        ) from error


def _origin(point: EntryPoint) -> str:
    """Return where a row is from: the package, and the entry point in it."""
    package = "an installed package" if point.dist is None else point.dist.name
    return f"{package} ({point.name} = {point.value})"
