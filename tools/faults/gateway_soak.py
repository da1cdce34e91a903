"""The clients of gateway-soak: HBLITE, DIRECTORY with ports and store, PID of the server, SECONDS."""

import base64
import http.client
import json
import pathlib
import random
import subprocess
import sys
import threading
import time

import happybase

ROWS = 60_000
MEMSTORE_MIB = 128
IDLE_SECONDS = 60
hblite, work, pid, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
ports = json.loads((work / "ports").read_text())
cluster = f"hbase://127.0.0.1:{ports['zookeeper_port']}/hbase"
end = time.monotonic() + seconds
calls = {"thrift": 0, "rest": 0, "rpc": 0}
failures = []


def resident_mib():
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def data_mib():
    files = (path for path in (work / "store").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) >> 20


def value(choice):
    return bytes([choice.randrange(97, 123)]) * choice.randrange(1, 2_000)


def row(choice):
    return f"r{choice.randrange(ROWS):05}".encode()


def use_thrift(choice):
    connection = happybase.Connection("127.0.0.1", ports["thrift_port"])
    table = connection.table("t")
    while time.monotonic() < end:
        kind = choice.randrange(10)
        if kind < 3:
            table.put(row(choice), {b"f:q": value(choice)})
        elif kind < 5:
            with table.batch() as batch:
                for _ in range(200):
                    batch.put(row(choice), {b"f:q": value(choice), b"f:s": b"x"})
        elif kind < 8:
            table.row(row(choice))
        elif kind < 9:
            next(table.scan(row_start=row(choice), limit=1_000), None)
        else:
            table.delete(row(choice))
        calls["thrift"] += 1


def use_rest(choice):
    connection = http.client.HTTPConnection("127.0.0.1", ports["rest_port"])
    encode = lambda data: base64.b64encode(data).decode()

    def call(method, path, body=None):
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        connection.request(method, path, body and json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status < 500, f"{method} {path}: {answer.status}"
        calls["rest"] += 1
        return answer

    def row_to_put():
        cell = {"column": encode(b"f:q"), "$": encode(value(choice))}
        return {"key": encode(row(choice)), "Cell": [cell]}

    while time.monotonic() < end:
        kind = choice.randrange(10)
        if kind < 4:
            call("PUT", "/t/any", {"Row": [row_to_put() for _ in range(100)]})
        elif kind < 7:
            call("GET", f"/t/{row(choice).decode()}/f:q")
        elif kind < 9:
            begun = call("PUT", "/t/scanner", {"batch": 500, "startRow": encode(row(choice))})
            path = "/" + begun.getheader("Location").split("/", 3)[3]
            for _ in range(3):
                call("GET", path)
            if choice.randrange(2):
                call("DELETE", path)
        else:
            call("GET", f"/t/{row(choice).decode()[:4]}*")


def use_rpc(choice):
    file = work / "rows.csv"
    while time.monotonic() < end:
        with file.open("w") as lines:
            for _ in range(20_000):
                lines.write(f"{row(choice).decode()},{'v' * choice.randrange(1, 1_000)}\n")
        columns = ["--columns", "HBASE_ROW_KEY,f:q"]
        run("import", "--connect", cluster, *columns, "t", str(file))
        run("digest", cluster, "--table", "t")
        calls["rpc"] += 1


def run(*arguments, **more):
    subprocess.run([hblite, *arguments], check=True, capture_output=True, **more)


def client(use, seed):
    try:
        use(random.Random(seed))
    except Exception as error:
        failures.append(f"{use.__name__}: {error!r}")


run("shell", "--connect", cluster, input=b"create 't', {NAME => 'f', VERSIONS => 1}\n")
uses = [use_thrift] * 3 + [use_rest] * 3 + [use_rpc]
threads = [threading.Thread(target=client, args=each[::-1]) for each in enumerate(uses)]
for thread in threads:
    thread.start()
while time.monotonic() < end and not failures:
    time.sleep(min(15, max(0.1, end - time.monotonic())))
    print(f"{resident_mib()} MiB resident, {data_mib()} MiB of data, {calls}", flush=True)
for thread in threads:
    thread.join()
if failures:
    sys.exit("\n".join(failures))
time.sleep(IDLE_SECONDS)
resident, limit = resident_mib(), 1.3 * data_mib() + MEMSTORE_MIB
print(f"{resident} MiB resident after a minute, {limit:.0f} MiB allowed")
sys.exit(resident > limit)
