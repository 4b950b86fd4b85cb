"""Interpret a pickle opcode by opcode, without Python's unpickler: nothing is imported or called.

The result is made of numbers, strings, bytes, lists, tuples, dictionaries and ``Record``. A hostile
file costs time and memory in proportion to its size: nothing from the file is hashed except strings
(a nested tuple as a key can crash the process, or take forever), and the objects, marks and memo
entries it may make are limited.
"""

from __future__ import annotations

import codecs
import io
import pickletools
from collections.abc import Callable
from typing import Any

from lops_adapters.datasets.pickle_records import KNOWN, ObjectType, Reconstructor, Record

_SHOWN = 60  # characters of a name in a message
_DEEPEST = 1000  # open marks; frames of protocol 0 need about ten
_SPARE = 10_000  # objects and memo entries that any file may make
# In bytes of the file per object made: a number in a cell, the smallest, takes six and makes two.
_BYTES_PER_OBJECT = 3
_ARGUMENT = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_OLD_TEXT = {"STRING", "BINSTRING", "SHORT_BINSTRING"}
_OPCODES = {ord(opcode.code): opcode for opcode in pickletools.opcodes}


class RefusedPickleError(Exception):
    """The pickle asks for more than a frame needs; the message completes "the pickle ..."."""


def interpret(content: bytes) -> Any:
    """Return what a pickle describes, with a ``Record`` for each object of a class.

    Raises:
        RefusedPickleError: a global, an opcode or a memo index that no frame needs, or far more
            objects than a frame of this size.
        Exception: of any other kind, for a malformed pickle.

    """
    return _Machine(content).run()


class _Machine:
    """The stack, the marks and the memo of one pickle."""

    def __init__(self, content: bytes) -> None:
        self._file = io.BytesIO(content)
        self._left = len(content) // _BYTES_PER_OBJECT + _SPARE
        self._stack: list[Any] = []
        self._outer: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._position = self._number = 0

    def run(self) -> Any:
        """Interpret all opcodes up to STOP."""
        actions = {**self._opcodes_of_values(), **self._opcodes_of_the_stack()}
        while True:
            self._position = self._file.tell()
            self._number += 1
            opcode = _OPCODES[self._file.read(1)[0]]
            if opcode.name in _OLD_TEXT:
                self._stack.append(self._old_text(opcode))
                continue
            argument = opcode.arg.reader(self._file) if opcode.arg is not None else None
            if opcode.name in _ARGUMENT:
                self._stack.append(argument)
            elif opcode.name in _CONSTANTS:
                self._stack.append(_CONSTANTS[opcode.name])
            elif opcode.name == "STOP":
                return self._stack.pop()
            elif opcode.name in actions:
                actions[opcode.name](argument)
            elif opcode.name not in ("PROTO", "FRAME"):
                raise RefusedPickleError(
                    f"uses {opcode.name} at byte {self._position}, which a table does not need"
                )

    def _opcodes_of_values(self) -> dict[str, Callable[[Any], None]]:
        take = self._take
        return {
            "EMPTY_TUPLE": lambda _: self._push(()),
            "EMPTY_LIST": lambda _: self._push([]),
            "EMPTY_DICT": lambda _: self._push({}),
            "EMPTY_SET": lambda _: self._push([]),  # no piece of a frame is a set
            "TUPLE": lambda _: self._push(tuple(self._marked())),
            "TUPLE1": lambda _: self._push(tuple(take(1))),
            "TUPLE2": lambda _: self._push(tuple(take(2))),
            "TUPLE3": lambda _: self._push(tuple(take(3))),
            "LIST": lambda _: self._push(self._marked()),
            "FROZENSET": lambda _: self._push(self._marked()),
            "DICT": lambda _: self._push(_filled({}, self._marked())),
            "APPEND": lambda _: self._extend(take(1)),
            "APPENDS": lambda _: self._extend(self._marked()),
            "ADDITEMS": lambda _: self._extend(self._marked()),
            "SETITEM": lambda _: self._update(take(2)),
            "SETITEMS": lambda _: self._update(self._marked()),
            "GLOBAL": lambda name: self._stack.append(_known(*name.split(" ", 1))),
            "STACK_GLOBAL": lambda _: self._stack.append(_known(*take(2))),
            "REDUCE": lambda _: self._push(_recorded(*take(2))),
            "NEWOBJ": lambda _: self._push(_recorded(*take(2))),
            "BUILD": lambda _: self._build(),
        }

    def _opcodes_of_the_stack(self) -> dict[str, Callable[[Any], None]]:
        return {
            "MARK": lambda _: self._mark(),
            "POP": lambda _: self._pop(),
            "POP_MARK": lambda _: self._drop(),
            "DUP": lambda _: self._stack.append(self._stack[-1]),
            "MEMOIZE": lambda _: self._put(len(self._memo)),
            **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), self._put),
            **dict.fromkeys(
                ("GET", "BINGET", "LONG_BINGET"),
                lambda index: self._stack.append(self._memo[index]),
            ),
        }

    def _old_text(self, opcode: pickletools.OpcodeInfo) -> str:
        """Return a string of Python 2, which does not tell bytes from text.

        UTF-8 with surrogateescape, so that bytes can be recovered.
        """
        if opcode.name == "STRING":
            quoted = self._file.readline().strip()
            if len(quoted) < 2 or quoted[:1] != quoted[-1:] or quoted[:1] not in (b"'", b'"'):
                raise ValueError("a string without quotes")
            raw = codecs.escape_decode(quoted[1:-1])[0]
        else:
            raw = opcode.arg.reader(self._file).encode("latin-1")  # type: ignore[union-attr]
        text: str = raw.decode("utf-8", "surrogateescape")
        return text

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise RefusedPickleError("makes far more objects than a table of its size")

    def _push(self, made: Any) -> None:
        self._count()
        self._stack.append(made)

    def _take(self, n: int) -> list[Any]:
        if len(self._stack) < n:
            raise ValueError("a stack that is too short")
        taken = self._stack[-n:]
        del self._stack[-n:]
        return taken

    def _mark(self) -> None:
        if len(self._outer) == _DEEPEST:
            raise RefusedPickleError(f"nests more than {_DEEPEST} levels")
        self._outer.append(self._stack)
        self._stack = []

    def _marked(self) -> list[Any]:
        items, self._stack = self._stack, self._outer.pop()
        return items

    def _pop(self) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._drop()

    def _drop(self) -> None:
        self._marked()

    def _put(self, index: int) -> None:
        # A real memo is an array as long as its largest index: one opcode could exhaust the memory.
        if not 0 <= index < self._number:
            raise RefusedPickleError(f"is malformed (memo index {index} at byte {self._position})")
        self._count()
        self._memo[index] = self._stack[-1]

    def _extend(self, items: list[Any]) -> None:
        if type(self._stack[-1]) is not list:
            raise ValueError("items for something other than a list")
        self._stack[-1].extend(items)

    def _update(self, items: list[Any]) -> None:
        if type(self._stack[-1]) is not dict:
            raise ValueError("entries for something other than a dictionary")
        _filled(self._stack[-1], items)

    def _build(self) -> None:
        thing, state = self._take(2)
        if not isinstance(thing, Record):
            raise ValueError("a state for something other than an object")
        thing.state = state
        self._stack.append(thing)


def _known(module: Any, name: Any) -> type[Record]:
    """Return the stand-in for a global that a frame needs."""
    if not isinstance(module, str) or not isinstance(name, str):
        raise ValueError("a global whose name is no string")
    kind = KNOWN.get((module, name))
    if kind is None:
        raise _asks_for(module, name)
    return kind


def _recorded(kind: Any, args: Any) -> Record:
    """Return the object that a stand-in and its arguments make."""
    if not (isinstance(kind, type) and issubclass(kind, Record)) or type(args) is not tuple:
        raise ValueError("an object of something other than a class and its arguments")
    if kind is not Reconstructor:
        return kind(*args)
    # How protocols 0 and 1 make an object: of its class, object, and None.
    if len(args) == 3 and args[1] is ObjectType and args[2] is None and _is_class(args[0]):
        made: Record = args[0]()
        return made
    raise _asks_for("copyreg", "_reconstructor")


def _is_class(found: Any) -> bool:
    return isinstance(found, type) and found not in (Reconstructor, ObjectType)


def _asks_for(module: str, name: str) -> RefusedPickleError:
    shown = f"{module:.{_SHOWN}}.{name:.{_SHOWN}}"
    return RefusedPickleError(f"asks for {shown}, which a table of texts and labels does not need")


def _filled(mapping: dict[str, Any], items: list[Any]) -> dict[str, Any]:
    """Add key, value, key, value, ...; entries whose key is no string describe no frame."""
    for key, value in zip(items[::2], items[1::2], strict=True):
        if type(key) is str:
            mapping[key] = value
    return mapping
