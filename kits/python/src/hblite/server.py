"""A running server: its ports, its log, and requests to its admin endpoint.

How a server is started and stopped, and which requests there are, is described once for all kits
in kits/README.md of the repository.
"""

import atexit
import json
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections import deque
from datetime import timedelta
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from hblite.binary import HBliteError, find_binary

#: Lines of the server's log that are kept.
LOG_LINES_MAX = 10_000
#: Seconds within which a server must be ready, and must have stopped.
START_SECONDS_MAX = 30.0
STOP_SECONDS_MAX = 10.0


def start(
    *,
    binary: Union[str, Path, None] = None,
    region_servers: int = 1,
    settings: Optional[Mapping[str, Any]] = None,
    log: str = "errors",
    arguments: Sequence[str] = (),
) -> "Server":
    """Starts an empty server in memory on free ports, and returns when it is ready.

    ``settings`` are settings of the cluster by their names in ``hbase-site.xml``; ``log`` is
    ``errors`` or ``calls``; ``arguments`` are further options of ``hblite serve``.

    The server stops with :meth:`Server.stop`, at the end of a ``with``, or with this process,
    however that ends.
    """
    command = [find_binary(binary), "serve", "--memory", "--zookeeper-port", "0"]
    command += ["--rpc-port", "0", "--region-servers", str(region_servers)]
    command += ["--exit-with-parent", "--log", log]
    for name, value in (settings or {}).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        command += ["-D", f"{name}={text}"]
    command += arguments
    process = _Process(command)
    return Server(process, process.ready, process.stop)


class _Process:
    """The operating system's side: pipes, log, end."""

    def __init__(self, command: List[str]):
        self._lines: deque = deque(maxlen=LOG_LINES_MAX)
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise HBliteError(f"cannot execute {command[0]}: {error.strerror}") from error
        self._log_reader = threading.Thread(target=self._read_log, daemon=True)
        self._log_reader.start()
        late = threading.Timer(START_SECONDS_MAX, self._process.kill)
        late.start()
        line = self._process.stdout.readline()
        late.cancel()
        try:
            self.ready: Dict[str, Any] = json.loads(line)
        except ValueError as error:
            self.stop()
            self._log_reader.join()
            raise HBliteError(f"{' '.join(command)} did not start: {self.log()}") from error
        threading.Thread(target=self._process.stdout.read, daemon=True).start()
        atexit.register(self.stop)

    def _read_log(self) -> None:
        for line in self._process.stderr:
            self._lines.append(line.decode("utf-8", "replace"))

    def log(self) -> str:
        return "".join(list(self._lines))

    def stop(self) -> None:
        atexit.unregister(self.stop)
        # The end of its input is what ends the server, on every platform.
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Server:
    """A separate HBase for a suite or a test."""

    def __init__(self, process: _Process, ports: Dict[str, Any], stop: Callable[[], None]):
        self._process = process
        self._ports = ports
        self._stop = stop
        self.faults = Faults(self)
        self.clock = Clock(self)

    @property
    def zookeeper_port(self) -> int:
        """The port for clients that find the cluster by ZooKeeper."""
        return self._ports["zookeeper_port"]

    @property
    def rpc_port(self) -> int:
        """The master's port, for clients that connect without ZooKeeper."""
        return self._ports["rpc_port"]

    @property
    def http_port(self) -> int:
        """The port of the admin endpoint."""
        return self._ports["http_port"]

    @property
    def thrift_port(self) -> int:
        """The port for happybase."""
        return self._gateway_port("thrift")

    @property
    def thrift2_port(self) -> int:
        """The port of Thrift 2."""
        return self._gateway_port("thrift2")

    @property
    def rest_port(self) -> int:
        """The port of the REST gateway."""
        return self._gateway_port("rest")

    def _gateway_port(self, name: str) -> int:
        port = self._ports.get(f"{name}_port")
        if port is None:
            raise HBliteError(
                f"this server has no port for {name}: start it with --{name}-port 0"
            )
        return port

    @property
    def console_url(self) -> str:
        """The console's address for a browser, with the token that lets it make changes."""
        url = self._ports.get("console_url")
        if url is None:
            raise HBliteError("this server has no console: forks and --no-http have none")
        return url

    @property
    def zookeeper(self) -> str:
        """``host:port`` of ZooKeeper."""
        return f"127.0.0.1:{self.zookeeper_port}"

    @property
    def url(self) -> str:
        """The address of the admin endpoint."""
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def configuration(self) -> Dict[str, str]:
        """The settings that a client of HBase needs in its ``hbase-site.xml``."""
        return {
            "hbase.zookeeper.quorum": "127.0.0.1",
            "hbase.zookeeper.property.clientPort": str(self.zookeeper_port),
        }

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request to the admin endpoint; returns the JSON of the answer, if any.

        Raises :class:`HBliteError` with the server's reason if it refuses.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with _OPENER.open(request, timeout=60) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise HBliteError(f"{method} {path}: {_reason(error.read())}") from error
        except OSError as error:
            raise HBliteError(f"{method} {path}: {error}") from error
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text.decode()

    def status(self) -> Dict[str, Any]:
        """Servers, regions, connections, scanners and faults."""
        return self.request("GET", "/status")

    def crash(self, server: int, reassign_after_ms: Optional[int] = None) -> None:
        """Crashes a region server, by number from 0."""
        body = {} if reassign_after_ms is None else {"reassign_after_ms": reassign_after_ms}
        self.request("POST", f"/servers/{server}/crash", body)

    def restart(self, server: int) -> None:
        """Brings a crashed region server back on its port."""
        self.request("POST", f"/servers/{server}/restart", {})

    def checkpoint(self, name: str) -> None:
        """Stores the present state of all tables under a name, and replaces an earlier one."""
        self.request("POST", "/checkpoints", {"name": name})

    def rewind(self, checkpoint: str) -> None:
        """Returns all tables to a checkpoint.

        Clients stay connected; scanners that are open end with an error.
        """
        self.request("POST", f"/checkpoints/{_encoded(checkpoint)}/rewind", {})

    def restore(self, checkpoint: str) -> None:
        """Rewinds, clears all faults, and sets the clock to the real time if it was changed."""
        self.rewind(checkpoint)
        self.faults.clear()
        if self.clock.is_changed:
            self.clock.reset()

    def delete_checkpoint(self, name: str) -> None:
        """Forgets a checkpoint."""
        self.request("DELETE", f"/checkpoints/{_encoded(name)}")

    def fork(self, checkpoint: str) -> "Server":
        """Starts an independent server, on its own ports, in the state of a checkpoint.

        It stops with :meth:`stop`, at the end of a ``with``, or with this server.
        """
        ports = self.request("POST", "/forks", {"checkpoint": checkpoint})
        stop = _Once(lambda: self.request("DELETE", f"/forks/{ports['id']}"))
        return Server(self._process, ports, stop)

    def log(self) -> str:
        """The log of the process: the calls that it answered with an exception.

        A fork shares the log of its process.
        """
        return self._process.log()

    def stop(self) -> None:
        """Ends the server. A second call does nothing."""
        self._stop()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Faults:
    """Faults on demand (docs/faults.md)."""

    def __init__(self, server: Server):
        self._server = server

    def set(self, **fault: Any) -> int:
        """Sets a fault by the names of its JSON, such as ``drop="after", methods=["Mutate"]``.

        Returns the number to clear it with.
        """
        return self._server.request("POST", "/faults", fault)["id"]

    def list(self) -> List[Dict[str, Any]]:
        """The active faults, and how often each was injected."""
        return self._server.request("GET", "/faults")

    def clear(self, fault: Optional[int] = None) -> None:
        """Clears one fault, or all."""
        self._server.request("DELETE", "/faults" if fault is None else f"/faults/{fault}")


class Clock:
    """The clock of a server: timestamps, times to live and scanner leases follow it.

    It shows the real time until a test stops it, or lets it run independently. Then it can be set
    and advanced.
    """

    def __init__(self, server: Server):
        self._server = server
        #: Whether it may differ from the real time.
        self.is_changed = False

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return self._server.request("GET", "/clock")["now_ms"]

    def stop(self) -> None:
        """Stops it at its present time; from then on it moves only on request."""
        self._post(mode="manual")

    def run(self) -> None:
        """Restarts it at its present time, independent of the real time."""
        self._post(mode="offset")

    def reset(self) -> None:
        """Sets it to the real time."""
        self._post(mode="real")
        self.is_changed = False

    def set(self, now_ms: int) -> None:
        """Sets the time. The server refuses to set it back while scanners are open."""
        self._post(now_ms=now_ms)

    def advance(self, **duration: float) -> None:
        """Moves it forward by the arguments of :class:`datetime.timedelta`, such as ``days=1``."""
        self._post(advance_ms=timedelta(**duration) // timedelta(milliseconds=1))

    def _post(self, **body: Any) -> None:
        self.is_changed = True
        self._server.request("POST", "/clock", body)


class _Once:
    """Calls a function at most once."""

    def __init__(self, function: Callable[[], Any]):
        self._function: Optional[Callable[[], Any]] = function

    def __call__(self) -> None:
        function, self._function = self._function, None
        if function is not None:
            function()


def _encoded(name: str) -> str:
    return urllib.parse.quote(name, safe="")


#: Ignores the proxies of the environment: the server is on this machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _reason(body: bytes) -> str:
    try:
        return json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace")
