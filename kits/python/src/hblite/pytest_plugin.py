"""Fixtures for pytest, and the server's log in the report of a test that fails.

=================  ========  ==============================================================
fixture            scope     what it is
=================  ========  ==============================================================
``hbase_server``   session   the server that the fixtures below use
``hbase_setup``    session   does nothing; override it to create what all tests start from
``hbase``          function  the server, as ``hbase_setup`` left it, for this test alone
``hbase_fork``     function  an independent server that begins as ``hbase_setup`` left it
``clock``          function  the clock of ``hbase``, stopped at the present time
=================  ========  ==============================================================

Processes of pytest-xdist each have a server of their own.
"""

import pytest

from hblite.binary import HBliteError
from hblite.server import start

#: The checkpoint that each test begins with.
CHECKPOINT = "hblite-pytest"
#: Whether it has been taken.
_IS_TAKEN = pytest.StashKey[bool]()


def pytest_addoption(parser):
    """Options in ``pytest.ini`` or ``pyproject.toml``."""
    parser.addini("hblite_arguments", "further options of `hblite serve`", type="args", default=[])
    parser.addini("hblite_region_servers", "number of region servers", default="1")


@pytest.fixture(scope="session")
def hbase_server(pytestconfig):
    """The server of this session; it starts empty."""
    servers = int(pytestconfig.getini("hblite_region_servers"))
    arguments = pytestconfig.getini("hblite_arguments")
    with start(region_servers=servers, arguments=arguments) as server:
        yield server


@pytest.fixture(scope="session")
def hbase_setup(hbase_server):
    """Override it, with a session scope, to create the tables that every test begins with."""


@pytest.fixture(scope="session")
def _hbase_checkpoint(hbase_server, hbase_setup, pytestconfig):
    hbase_server.checkpoint(CHECKPOINT)
    pytestconfig.stash[_IS_TAKEN] = True
    return hbase_server


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    """Refuses a second ``hbase_setup``: the first rewind would undo what it creates."""
    if fixturedef.argname == "hbase_setup" and request.config.stash.get(_IS_TAKEN, False):
        raise HBliteError(
            "two files have a fixture hbase_setup, but all tests of a session begin in the same"
            " state: put one hbase_setup into conftest.py"
        )


@pytest.fixture
def hbase(_hbase_checkpoint, request):
    """A server in the state that ``hbase_setup`` left."""
    server = _hbase_checkpoint
    server.restore(CHECKPOINT)
    request.node._hblite_log = lambda start=len(server.log()): server.log()[start:]
    return server


@pytest.fixture
def hbase_fork(_hbase_checkpoint, request):
    """An independent server, on its own ports, for tests that run in parallel."""
    with _hbase_checkpoint.fork(CHECKPOINT) as server:
        request.node._hblite_log = server.log
        yield server


@pytest.fixture
def clock(hbase):
    """The clock of ``hbase``: stands still until the test moves it."""
    hbase.clock.stop()
    return hbase.clock


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the server's log to the report of a failed test."""
    report = (yield).get_result()
    log = getattr(item, "_hblite_log", None)
    if report.failed and log is not None:
        report.sections.append(("hblite log", log()))
