"""Records loads with hblite serve, predicts them, and measures them on an HBase.

Arguments: the hblite command, the URL of the HBase, its limit ("own" or "shared"), and a directory.
"""

import json
import os
import random
import subprocess
import sys
import time

SECONDS = 12
RATE = 100
CLIENTS = 32
# Where the processors are the limit, requests come faster, so that they are some load.
PACE = {"own": 1, "shared": 4}
VALUE = "x" * 100
EXPECTED_SHARE = 0.9

TIME_FIRST = 'n:str(8)|"-"|host:str'
HOST_FIRST = 'host:str(4)|"-"|n:str(8)'


def host(rng):
    return f"h{rng.randrange(1000):03}"


def growing(rng, number):
    return "put", f"{number:08}-{host(rng)}"


def uniform(rng, number):
    return "put", f"{host(rng)}-{number:08}"


def hot(rng, number):
    name = "h500" if rng.random() < 0.7 else host(rng)
    return "put", f"{name}-{number:08}"


def mixed(rng, number):
    # Gets read rows that were written before.
    if rng.random() < 0.5 and number > 0:
        return "get", f"{rng.randrange(number):08}-h000"
    return "put", f"{number:08}-h000"


def bucketed(rng, number):
    return "put", f"{number % 3}{number:08}-{host(rng)}"


# Name, request by number, design of the recorded keys, and the other keys.
LOADS = [
    ("growing", growing, TIME_FIRST, {
        "salted": 'salt(3, n)|n:str(8)|"-"|host:str',
        "hosts": HOST_FIRST,
    }),
    ("uniform", uniform, HOST_FIRST, {
        "times": TIME_FIRST,
        "hashed": 'md5hex(host, 2)|host:str(4)|"-"|n:str(8)',
    }),
    ("hot", hot, HOST_FIRST, {
        "salted": 'salt(3, *)|host:str(4)|"-"|n:str(8)',
        "hashed": 'md5hex(host, 2)|host:str(4)|"-"|n:str(8)',
    }),
    ("mixed", mixed, TIME_FIRST, {
        "reversed": 'n:reversed_str(8)|"-"|host:str',
        "hashed": 'md5hex(n, 2)|n:str(8)|"-"|host:str',
    }),
    ("bucketed", bucketed, 'bucket:str(1)|n:str(8)|"-"|host:str', {
        "times": TIME_FIRST,
    }),
]


def record(hblite, load, request, file):
    """Plays a load at random times, in HBase's shell, to a server that records."""
    server = subprocess.Popen(
        [hblite, "serve", "--memory", "--no-http", "--rpc-port", "0", "--zookeeper-port", "0",
         "--record", file],
        stdout=subprocess.PIPE, text=True)
    port = json.loads(server.stdout.readline())["rpc_port"]
    shell = subprocess.Popen([hblite, "shell", "--connect", f"hbase+rpc://127.0.0.1:{port}"],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)

    def run(line):
        shell.stdin.write(line + "\n")
        shell.stdin.flush()

    run("create 't', 'd'")
    rng = random.Random(load)
    due = time.monotonic() + 1
    for number in range(SECONDS * RATE):
        due += rng.expovariate(RATE)
        time.sleep(max(0, due - time.monotonic()))
        method, row = request(rng, number)
        run(f"put 't', '{row}', 'd:v', '{VALUE}'" if method == "put" else f"get 't', '{row}'")
    shell.stdin.close()
    if shell.wait() != 0:
        sys.exit(f"predictions: the shell could not play {load}")
    server.terminate()
    server.wait()


def hotspot(hblite, *words):
    done = subprocess.run([hblite, "hotspot", *words], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(2)
    return done.stdout


def shown(figure, unit):
    value = {key: figure[key] / unit for key in figure}
    mark = " " if figure["low"] <= figure["measured"] <= figure["high"] else "!"
    digits = 0 if value["predicted"] >= 100 else 1
    text = {key: f"{value[key]:.{digits}f}" for key in value}
    interval = f"{text['low']}–{text['high']}"
    return f"{text['predicted']:>9} {interval:>12} {text['measured']:>8}{mark}"


def main():
    hblite, url, limit, directory = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    calibration = os.path.join(directory, f"{limit}.calibration.json")
    # The first time the servers become warm.
    for _ in range(2):
        said = hotspot(hblite, "calibrate", url, "--out", calibration)
    print(said, end="", flush=True)
    figures = {"requests_per_second": 1, "p99_us": 1e3}
    inside = {figure: [] for figure in figures}
    print(f"{'load':9} {'key':9} {'requests/s':>9} {'interval':>11} {'measured':>8}"
          f"    {'p99 in ms':>9} {'interval':>12} {'measured':>8}")
    for load, request, key, others in LOADS:
        file = os.path.join(directory, f"{load}.jsonl")
        if not os.path.exists(file):
            record(hblite, load, request, file)
        designs = ",".join(f"{name}={design}" for name, design in others.items())
        text = hotspot(
            hblite, "predict", file, "--table", "t", "--key", key, "--design", designs,
            "--clients", str(CLIENTS), "--pace", str(PACE[limit]), "--calibration", calibration,
            "--measure", url, "--json")
        with open(os.path.join(directory, f"{limit}.{load}.json"), "w") as out:
            out.write(text)
        for prediction in json.loads(text)["predictions"]:
            for figure in figures:
                found = prediction[figure]
                inside[figure].append(found["low"] <= found["measured"] <= found["high"])
            cells = [shown(prediction[figure], unit) for figure, unit in figures.items()]
            print(f"{load:9} {prediction['design']:9} {'   '.join(cells)}", flush=True)
    is_good = True
    for figure, found in inside.items():
        print(f"{figure}: {sum(found)} of {len(found)} within the interval")
        is_good &= sum(found) >= EXPECTED_SHARE * len(found)
    sys.exit(0 if is_good else 1)


main()
