"""The types of the native module. Programs import ``hblite``."""

import os
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Literal, Optional, TypedDict, Union, overload

#: Text is encoded as UTF-8.
Bytes = Union[bytes, str, bytearray, memoryview]
#: `family:qualifier`, or for reads and deletes a family.
Columns = Iterable[Bytes]
Data = dict[Union[bytes, str], Union[bytes, str, bytearray, memoryview]]
TimeRange = tuple[int, int]
Values = dict[bytes, bytes]
Pairs = dict[bytes, tuple[bytes, int]]
Versions = dict[bytes, list[tuple[bytes, int]]]
#: The versions of a raw scan, with HBase's name of their type, such as Put or DeleteColumn.
RawVersions = dict[bytes, list[tuple[bytes, int, str]]]
Row = Union[Values, Pairs, Versions, RawVersions]

class RegionLoad(TypedDict):
    read_requests: int
    write_requests: int
    cells_read: int
    cells_examined: int
    bytes_read: int
    cells_written: int
    bytes_written: int
    flushes: int
    compactions: int

class Region(TypedDict):
    name: str
    start: bytes
    end: bytes
    store_files: int
    store_file_bytes: int
    memory_bytes: int
    load: RegionLoad

class Snapshot(TypedDict):
    name: str
    table: str
    created_ms: int

class Description(TypedDict):
    attributes: dict[str, str]
    families: dict[str, dict[str, str]]

def open(
    dir: Union[str, os.PathLike[str]],
    *,
    create: bool = True,
    read_only: bool = False,
    salvage: bool = False,
    adopt_hbase: bool = False,
    map_files: bool = False,
    compactions: bool = True,
) -> Database: ...
def memory(*, compactions: bool = True) -> Database: ...
def connect(url: str, settings: Optional[dict[str, Any]] = None) -> Database: ...

class Database:
    def close(self) -> None: ...
    def __enter__(self) -> Database: ...
    def __exit__(
        self,
        exception: Optional[type[BaseException]] = None,
        value: Optional[BaseException] = None,
        traceback: Optional[TracebackType] = None,
    ) -> None: ...
    def __getitem__(self, name: str) -> Table: ...
    def __contains__(self, name: str) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def table(self, name: str) -> Table: ...
    def tables(self) -> list[str]: ...
    def create_table(
        self,
        name: str,
        families: Union[Iterable[Bytes], Mapping[Union[bytes, str], Optional[dict[str, Any]]]],
        *,
        splits: Optional[Iterable[Bytes]] = None,
        attributes: Optional[dict[str, Any]] = None,
    ) -> None: ...
    def delete_table(self, name: str, *, disable: bool = False) -> None: ...
    def truncate_table(self, name: str, *, preserve_splits: bool = False) -> None: ...
    def disable_table(self, name: str) -> None: ...
    def enable_table(self, name: str) -> None: ...
    def is_enabled(self, name: str) -> bool: ...
    def alter_table(self, name: str, attributes: dict[str, Any]) -> None: ...
    def add_family(
        self, table: str, family: Bytes, options: Optional[dict[str, Any]] = None
    ) -> None: ...
    def alter_family(self, table: str, family: Bytes, options: dict[str, Any]) -> None: ...
    def delete_family(self, table: str, family: Bytes) -> None: ...
    def describe(self, name: str) -> Description: ...
    def flush(self, table: Optional[str] = None) -> None: ...
    def compact(self, table: str, *, major: bool = False) -> None: ...
    def split(self, table: str, key: Optional[Bytes] = None) -> None: ...
    def regions(self, table: str) -> list[Region]: ...
    def snapshot(
        self,
        name: str,
        table: str,
        *,
        ttl: Optional[float] = None,
        skip_flush: bool = False,
    ) -> None: ...
    def snapshots(self) -> list[Snapshot]: ...
    def clone_snapshot(self, name: str, table: str) -> None: ...
    def restore_snapshot(self, name: str) -> None: ...
    def delete_snapshot(self, name: str) -> None: ...
    def checkpoint(self, name: str) -> None: ...
    def checkpoints(self) -> list[str]: ...
    def delete_checkpoint(self, name: str) -> bool: ...
    def rewind(self, name: str) -> None: ...
    def fork(self, name: str) -> Database: ...
    def export(self, to: Union[str, os.PathLike[str]]) -> None: ...
    @property
    def clock(self) -> StoreClock: ...
    def _thrift(self) -> ThriftChannel: ...

class Table:
    @property
    def name(self) -> str: ...
    @overload
    def get(
        self,
        row: Bytes,
        columns: Optional[Columns] = None,
        *,
        versions: int,
        timestamps: bool = False,
        time_range: Optional[TimeRange] = None,
        filter: Optional[Bytes] = None,
    ) -> Versions: ...
    @overload
    def get(
        self,
        row: Bytes,
        columns: Optional[Columns] = None,
        *,
        versions: None = None,
        timestamps: Literal[True],
        time_range: Optional[TimeRange] = None,
        filter: Optional[Bytes] = None,
    ) -> Pairs: ...
    @overload
    def get(
        self,
        row: Bytes,
        columns: Optional[Columns] = None,
        *,
        versions: None = None,
        timestamps: Literal[False] = False,
        time_range: Optional[TimeRange] = None,
        filter: Optional[Bytes] = None,
    ) -> Values: ...
    def get_many(
        self,
        rows: Iterable[Bytes],
        columns: Optional[Columns] = None,
        *,
        versions: Optional[int] = None,
        timestamps: bool = False,
        time_range: Optional[TimeRange] = None,
        filter: Optional[Bytes] = None,
    ) -> list[Any]: ...
    def exists(self, row: Bytes, columns: Optional[Columns] = None) -> bool: ...
    def scan(
        self,
        start: Optional[Bytes] = None,
        stop: Optional[Bytes] = None,
        *,
        prefix: Optional[Bytes] = None,
        reverse: bool = False,
        limit: Optional[int] = None,
        columns: Optional[Columns] = None,
        versions: Optional[int] = None,
        timestamps: bool = False,
        time_range: Optional[TimeRange] = None,
        filter: Optional[Bytes] = None,
        include_start: bool = True,
        include_stop: bool = False,
        types: Optional[dict[Any, Union[str, type]]] = None,
        raw: bool = False,
    ) -> Scanner: ...
    def put(
        self,
        row: Bytes,
        data: Data,
        *,
        timestamp: Optional[int] = None,
        ttl: Optional[float] = None,
        durability: Optional[str] = None,
    ) -> None: ...
    def delete(
        self,
        row: Bytes,
        columns: Optional[Columns] = None,
        *,
        timestamp: Optional[int] = None,
        exact: bool = False,
        durability: Optional[str] = None,
    ) -> None: ...
    @overload
    def increment(self, row: Bytes, column: Bytes, amount: Optional[int] = None) -> int: ...
    @overload
    def increment(self, row: Bytes, column: dict[Any, int]) -> dict[bytes, int]: ...
    def append(self, row: Bytes, column: Bytes, value: Bytes) -> bytes: ...
    def check_and_put(
        self,
        row: Bytes,
        column: Bytes,
        expected: Optional[Bytes],
        data: Data,
        *,
        operator: str = "==",
        timestamp: Optional[int] = None,
        ttl: Optional[float] = None,
        durability: Optional[str] = None,
    ) -> bool: ...
    def check_and_delete(
        self,
        row: Bytes,
        column: Bytes,
        expected: Optional[Bytes],
        columns: Optional[Columns] = None,
        *,
        operator: str = "==",
        timestamp: Optional[int] = None,
        exact: bool = False,
        durability: Optional[str] = None,
    ) -> bool: ...
    def batch(self, size: Optional[int] = None) -> Batch: ...

class Scanner:
    def __iter__(self) -> Scanner: ...
    def __next__(self) -> tuple[bytes, Any]: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    def close(self) -> None: ...
    def __enter__(self) -> Scanner: ...
    def __exit__(
        self,
        exception: Optional[type[BaseException]] = None,
        value: Optional[BaseException] = None,
        traceback: Optional[TracebackType] = None,
    ) -> None: ...

class Batch:
    def put(
        self,
        row: Bytes,
        data: Data,
        *,
        timestamp: Optional[int] = None,
        ttl: Optional[float] = None,
        durability: Optional[str] = None,
    ) -> None: ...
    def delete(
        self,
        row: Bytes,
        columns: Optional[Columns] = None,
        *,
        timestamp: Optional[int] = None,
        exact: bool = False,
        durability: Optional[str] = None,
    ) -> None: ...
    def send(self) -> None: ...
    def __len__(self) -> int: ...
    def __enter__(self) -> Batch: ...
    def __exit__(
        self,
        exception: Optional[type[BaseException]] = None,
        value: Optional[BaseException] = None,
        traceback: Optional[TracebackType] = None,
    ) -> None: ...

class StoreClock:
    def now_ms(self) -> int: ...
    def stop(self) -> None: ...
    def run(self) -> None: ...
    def reset(self) -> None: ...
    def set(self, now_ms: int) -> None: ...
    def advance(self, **duration: float) -> None: ...

class ThriftChannel:
    def answer(self, message: bytes) -> bytes: ...
