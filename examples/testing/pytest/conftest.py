"""A fixture that gives each test an HBase of its own."""

import json
import os
import subprocess

import pytest


@pytest.fixture
def hbase(tmp_path):
    """The ports of an empty server: zookeeper_port, rpc_port, region_server_ports."""
    port_file = tmp_path / "ports"
    command = [os.environ.get("HBLITE", "hblite"), "serve", "--memory"]
    command += ["--zookeeper-port", "0", "--rpc-port", "0", "--port-file", str(port_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        # The line comes when all ports are open, and ends the waiting if the server cannot start.
        ready = server.stdout.readline()
        try:
            yield json.loads(ready)
        finally:
            server.terminate()
            server.wait(timeout=10)
