"""happybase's classes with the store in this process: a program changes one line.

    connection = hblite.happybase.Connection("data")

What happybase sends is answered by hblite's Thrift gateway, without a socket. It needs the package
happybase.
"""

import os
import threading
from io import BytesIO
from typing import Any, Dict, List, Optional, Union

import happybase
from happybase import Batch, NoConnectionsAvailable, Table
from Hbase_thrift import Hbase
from thriftpy2.protocol import TBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TBufferedTransport, TTransportException

import hblite

__all__ = ["Batch", "Connection", "ConnectionPool", "NoConnectionsAvailable", "Table"]

Store = Union[str, "os.PathLike[str]", "hblite.Database"]


class Connection(happybase.Connection):
    """happybase's ``Connection`` to a directory, or to a database that is open already.

    Connections to one directory share its store, which the last of them closes. All other
    arguments are happybase's; those of the socket have no effect.
    """

    def __init__(self, host: Optional[Store] = None, *arguments: Any, **settings: Any):
        self._store = host
        super().__init__(host, *arguments, **settings)

    def _refresh_thrift_client(self) -> None:
        self.transport = TBufferedTransport(_Transport(self._store))
        protocol = TBinaryProtocol(self.transport, decode_response=False)
        self.client = TClient(Hbase, protocol)


class _Transport:
    """What happybase takes for a socket: a call is answered when its answer is read."""

    def __init__(self, store: Optional[Store]):
        self._store = store
        self._channel: Optional[Any] = None
        self._call: List[bytes] = []
        self._answer = BytesIO()

    def is_open(self) -> bool:
        return self._channel is not None

    def open(self) -> None:
        if self._store is None:
            raise ValueError("host must be a directory or an hblite.Database")
        self._channel = _STORES.open(self._store)._thrift()

    def close(self) -> None:
        if self._channel is not None:
            self._channel = None
            self._call.clear()
            assert self._store is not None
            _STORES.close(self._store)

    def write(self, data: bytes) -> None:
        self._call.append(bytes(data))

    def flush(self) -> None:
        pass

    def read(self, size: int) -> bytes:
        data = self._answer.read(size)
        if not data and size > 0:
            if self._channel is None or not self._call:
                raise TTransportException(TTransportException.NOT_OPEN, "not open")
            call = b"".join(self._call)
            self._call.clear()
            self._answer = BytesIO(self._channel.answer(call))
            data = self._answer.read(size)
        return data


class _Stores:
    """The stores that connections have open, each with the number of its connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Dict[str, List[Any]] = {}

    def open(self, store: Store) -> "hblite.Database":
        if isinstance(store, hblite.Database):
            return store
        path = os.path.realpath(store)
        with self._lock:
            entry = self._open.get(path)
            if entry is None:
                entry = self._open[path] = [hblite.open(path), 0]
            entry[1] += 1
            return entry[0]

    def close(self, store: Store) -> None:
        if isinstance(store, hblite.Database):
            return
        path = os.path.realpath(store)
        with self._lock:
            entry = self._open[path]
            entry[1] -= 1
            if entry[1] == 0:
                del self._open[path]
                entry[0].close()


_STORES = _Stores()
_PATCHING = threading.Lock()


class ConnectionPool(happybase.ConnectionPool):
    """happybase's ``ConnectionPool`` with such connections: ``ConnectionPool(3, host="data")``."""

    def __init__(self, size: int, **settings: Any):
        # happybase's pool makes connections by this name.
        with _PATCHING:
            before = happybase.pool.Connection
            happybase.pool.Connection = Connection
            try:
                super().__init__(size, **settings)
            finally:
                happybase.pool.Connection = before

