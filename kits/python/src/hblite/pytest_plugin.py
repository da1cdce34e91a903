"""Fixtures for pytest, and the server's log in the report of a test that fails.

=================  ========  ==============================================================
fixture            scope     what it is
=================  ========  ==============================================================
``hbase``          function  an empty server for this test alone
``hbase_server``   session   a server that tests share
=================  ========  ==============================================================

Processes of pytest-xdist each have a server of their own.
"""

import pytest

from hblite.server import start

def pytest_addoption(parser):
    """Options in ``pytest.ini`` or ``pyproject.toml``."""
    parser.addini("hblite_arguments", "further options of `hblite serve`", type="args", default=[])
    parser.addini("hblite_region_servers", "number of region servers", default="1")


def _start(pytestconfig):
    servers = int(pytestconfig.getini("hblite_region_servers"))
    return start(region_servers=servers, arguments=pytestconfig.getini("hblite_arguments"))


@pytest.fixture(scope="session")
def hbase_server(pytestconfig):
    """A server for the whole session; it starts empty."""
    with _start(pytestconfig) as server:
        yield server


@pytest.fixture
def hbase(pytestconfig, request):
    """An empty server, which ends with the test."""
    with _start(pytestconfig) as server:
        request.node._hblite_log = server.log
        yield server


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the server's log to the report of a failed test."""
    report = (yield).get_result()
    log = getattr(item, "_hblite_log", None)
    if report.failed and log is not None:
        report.sections.append(("hblite log", log()))
