"""A server in place of an Apache HBase cluster, for tests.

    with hblite.start() as server:
        connection = happybase.Connection("127.0.0.1", server.thrift_port)

With pytest, the fixtures ``hbase``, ``hbase_fork`` and ``clock`` need no import.
"""

from hblite.binary import HBliteError, find_binary
from hblite.server import Clock, Faults, Server, start

__all__ = ["Clock", "Faults", "HBliteError", "Server", "find_binary", "start"]
__version__ = "0.1.0"
