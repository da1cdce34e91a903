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
    from hblite._native import (
        Batch,
        Database,
        Scanner,
        StoreClock,
        Table,
        connect,
        memory,
        open,
    )

#: What the native module has. It is loaded when it is first used: a server needs none.
_NATIVE = ("Batch", "Database", "Scanner", "StoreClock", "Table", "connect", "memory", "open")

__all__ = [
    "AlreadyExistsError",
    "Batch",
    "BusyError",
    "Clock",
    "ClosedError",
    "CorruptError",
    "Database",
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
    "Scanner",
    "Server",
    "StoreClock",
    "Table",
    "UnsupportedError",
    "WrongStateError",
    "connect",
    "find_binary",
    "memory",
    "open",
    "start",
]
__version__ = "0.1.0"


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
