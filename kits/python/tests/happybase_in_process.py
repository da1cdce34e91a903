"""A plugin of pytest, with which happybase's own tests run on a store in their process."""

import builtins
import unittest

import happybase

import hblite
import hblite.happybase

STORE = hblite.memory()


class Connection(hblite.happybase.Connection):
    def __init__(self, host=None, port=None, **settings):
        super().__init__(host or STORE, port, **settings)


class ConnectionPool(hblite.happybase.ConnectionPool):
    def __init__(self, size, host=None, **settings):
        super().__init__(size, host=host or STORE, **settings)


happybase.Connection = Connection
happybase.ConnectionPool = ConnectionPool
# Of nose, with which these tests were written.
builtins.assert_raises = unittest.TestCase().assertRaises
