"""HBase's data model in this process, and a server in place of a cluster for tests.

    with hblite.open("data") as db:
        db.create_table("users", {"info": dict(versions=3)})
        db["users"].put("u1", {"info:name": "Ada"})

    with hblite.start() as server:
        connection = happybase.Connection("127.0.0.1", server.thrift_port)

With pytest, the fixtures ``hbase``, ``hbase_fork`` and ``clock`` need no import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hblite.binary import HBliteError, find_binary
from hblite.errors import (
    AlreadyExistsError,
    BusyError,
    ClosedError,
    CorruptError,
    Error,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    IoError,
    LockedError,
    NotFoundError,
    NotServingError,
    UnsupportedError,
    WrongStateError,
)
from hblite.server import Clock, Faults, Server, start

if TYPE_CHECKING:
    from hblite._native import Batch as Batch
    from hblite._native import Database as Database
    from hblite._native import Scanner as Scanner
    from hblite._native import StoreClock as StoreClock
    from hblite._native import Table as Table
    from hblite._native import connect as connect
    from hblite._native import memory as memory
    from hblite._native import open as open

#: What the native module has. It is loaded when it is first used: a server needs none.
_NATIVE = ("Batch", "Database", "Scanner", "StoreClock", "Table", "connect", "memory", "open")

# Without the names of the native module, so that an import of all works where it is missing.
__all__ = [
    "AlreadyExistsError",
    "BusyError",
    "Clock",
    "ClosedError",
    "CorruptError",
    "Error",
    "Faults",
    "ForkedError",
    "HBliteError",
    "InternalError",
    "InvalidArgumentError",
    "IoError",
    "LockedError",
    "NotFoundError",
    "NotServingError",
    "Server",
    "UnsupportedError",
    "WrongStateError",
    "find_binary",
    "start",
]
__version__ = "0.1.0"


# For type checkers, only what is named above exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _NATIVE:
            raise AttributeError(f"module 'hblite' has no attribute '{name}'")
        try:
            native = import_module("hblite._native")
        except ImportError as error:
            raise ImportError(
                f"hblite.{name} needs the native module, which this installation does not have or"
                f" cannot load ({error}): install a wheel for this platform, or build one with"
                " kits/python/build-wheel. hblite.start() works without it"
            ) from error
        value = globals()[name] = getattr(native, name)
        return value
