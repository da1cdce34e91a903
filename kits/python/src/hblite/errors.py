"""What goes wrong, as a tree of exceptions. Each carries the class that HBase throws."""

from typing import Any, Optional


class Error(Exception):
    """The base of all exceptions of this package."""

    def __init__(self, message: str, hbase_class: Optional[str] = None):
        super().__init__(message)
        #: The Java class that HBase throws in the same case, or None if it has none.
        self.hbase_class = hbase_class

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.hbase_class})" if self.hbase_class else message

    def __reduce__(self) -> Any:
        return type(self), (self.args[0], self.hbase_class)


class InvalidArgumentError(Error, ValueError):
    """The request is wrong: it can never succeed unchanged."""


class NotFoundError(Error, LookupError):
    """The table, region, namespace, family, snapshot or checkpoint does not exist."""


class AlreadyExistsError(Error):
    """The table, namespace or snapshot already exists."""


class WrongStateError(Error):
    """The table is in a state that forbids this."""


class NotServingError(Error):
    """The region moved, split or closed: try again."""


class BusyError(Error):
    """Too much at once: try again later."""


class CorruptError(Error):
    """Stored bytes are damaged; the message names file and offset."""


class IoError(Error):
    """The operating system, or the connection to a cluster, failed."""


class LockedError(Error):
    """The store is open elsewhere: close it there, or open it with ``read_only=True``."""


class ClosedError(Error):
    """The store is closed, or refuses writes after a failed sync: open it again."""


class ForkedError(ClosedError):
    """The process forked after the store was opened: open it in the new process."""


class UnsupportedError(Error, NotImplementedError):
    """hblite, or this kind of store, does not support this."""


class InternalError(Error):
    """A defect of hblite."""
