"""Goal: the kit starts servers that share nothing, says what is wrong, and leaves none behind."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import hblite


def answer(port, word=b"ruok"):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(word)
        return connection.makefile("rb").read()


def test_a_server_answers_until_it_is_stopped():
    with hblite.start() as server:
        assert answer(server.zookeeper_port) == b"imok"
        assert server.request("GET", "/health") == "ok\n"
        port = server.configuration["hbase.zookeeper.property.clientPort"]
        assert server.zookeeper == f"127.0.0.1:{port}"
    with pytest.raises(ConnectionRefusedError):
        answer(server.zookeeper_port)
    server.stop()


def test_two_servers_share_no_port():
    with hblite.start() as one, hblite.start() as other:
        assert one.zookeeper_port != other.zookeeper_port
        assert one.http_port != other.http_port


def test_the_ports_of_gateways_and_the_console_are_known():
    names = ["thrift", "thrift2", "rest"]
    arguments = [word for name in names for word in (f"--{name}-port", "0")]
    with hblite.start(arguments=arguments) as server, hblite.start() as plain:
        for name in names:
            with socket.create_connection(("127.0.0.1", getattr(server, f"{name}_port"))):
                pass
            with pytest.raises(hblite.HBliteError, match=f"start it with --{name}-port 0"):
                getattr(plain, f"{name}_port")
        assert server.console_url.startswith(f"{server.url}/console/")


def test_faults_are_set_listed_and_cleared():
    with hblite.start(region_servers=2) as server:
        fault = server.faults.set(drop="after", methods=["Mutate"], count=3)
        assert [each["id"] for each in server.faults.list()] == [fault]
        server.faults.clear(fault)
        assert server.faults.list() == []
        with pytest.raises(hblite.HBliteError, match="no fault has the number"):
            server.faults.clear(fault)
        server.crash(1)
        server.restart(1)


def test_errors_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(hblite.HBliteError, match="is not a file"):
        hblite.find_binary(tmp_path)
    binary = tmp_path / "hblite"
    binary.write_text("#!/bin/sh\n")
    monkeypatch.setenv("HBLITE_BIN", str(binary))
    with pytest.raises(hblite.HBliteError, match=r"HBLITE_BIN.*chmod \+x"):
        hblite.find_binary()
    monkeypatch.undo()
    with pytest.raises(hblite.HBliteError, match="hbase.nothing is not a setting of hblite"):
        hblite.start(settings={"hbase.nothing": 1})
    with hblite.start() as server:
        taken = str(server.http_port)
        with pytest.raises(hblite.HBliteError, match=f"cannot listen on 127.0.0.1:{taken}"):
            hblite.start(arguments=["--http-port", taken])


def test_a_fork_begins_as_its_checkpoint_and_ends_alone():
    with hblite.start() as server:
        server.checkpoint("a-base.1")
        server.rewind("a-base.1")
        with server.fork("a-base.1") as fork:
            assert answer(fork.zookeeper_port) == b"imok"
            assert fork.zookeeper_port != server.zookeeper_port
        with pytest.raises(ConnectionRefusedError):
            answer(fork.zookeeper_port)
        fork.stop()
        with pytest.raises(hblite.HBliteError, match="unknown"):
            server.fork("unknown")


def test_a_clock_moves_on_request(clock):
    start = clock.now_ms()
    clock.advance(days=1)
    assert clock.now_ms() == start + 86_400_000
    clock.set(start + 5)
    assert clock.now_ms() == start + 5


def test_every_test_begins_as_the_setup_left_it(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def hbase_setup(hbase_server):
            hbase_server.checkpoint("made-by-the-setup")

        @pytest.mark.parametrize("number", [1, 2, 3])
        def test_in_turn(hbase, hbase_server, number):
            assert hbase is hbase_server
            assert hbase.faults.list() == []
            hbase.faults.set(drop="after", count=1)

        def test_aside(hbase_fork, hbase_server):
            assert hbase_fork.zookeeper_port != hbase_server.zookeeper_port
            assert hbase_fork.status()["servers"][0]["is_alive"]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=4)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_no_server_is_left_when_its_process_is_killed():
    program = "import hblite; print(hblite.start().zookeeper_port, flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe) as parent:
        port = int(parent.stdout.readline())
        assert answer(port) == b"imok"
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    # The server closes its connections when it ends, and its ports shortly afterwards.
    late = time.monotonic() + 10
    with pytest.raises(ConnectionRefusedError):
        while time.monotonic() < late:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as watch:
                try:
                    watch.recv(1)
                except ConnectionResetError:
                    pass


def test_the_log_is_in_the_report_of_a_failed_test(pytester):
    pytester.makepyfile(
        """
        import urllib.request

        def test_it_fails(hbase):
            hbase._process._lines.append("a line of the log")
            assert False
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*hblite log*", "a line of the log"])


def test_a_second_setup_is_refused(pytester):
    setup = """
        import pytest

        @pytest.fixture(scope="session")
        def hbase_setup(hbase_server):
            pass

        def test_it(hbase):
            pass
    """
    pytester.makepyfile(test_one=setup, test_other=setup)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*put one hbase_setup into conftest.py*"])
