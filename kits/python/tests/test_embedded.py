"""Goal: a store in this process reads as Python, tells what went wrong, and shares its process with
threads, forks and other stores.
Method: every operation on a store in memory, and on one in a directory that is closed and opened
again; other processes where a process matters.
"""

import doctest
import gc
import inspect
import os
import pickle
import subprocess
import sys
import threading

import pytest

import hblite

pytest.importorskip("hblite._native", reason="there is no native module")


@pytest.fixture
def db():
    with hblite.memory() as db:
        db.create_table("t", {"f": dict(versions=3), "g": {}})
        yield db


def keys(scanner):
    return [key for key, _ in scanner]


def test_text_is_encoded_and_bytes_pass(db):
    t = db["t"]
    t.put("zoë", {"f:größe": "1 €", b"g:\xff\x00": b"\x00\xfe", "f:": bytearray(b"x")})
    assert t.get("zoë".encode()) == {
        b"f:": b"x",
        "f:größe".encode(): "1 €".encode(),
        b"g:\xff\x00": b"\x00\xfe",
    }
    assert t.get(memoryview(b"zo\xc3\xab"), columns=["f:"]) == {b"f:": b"x"}
    assert t.get("missing") == {} and not t.exists("missing") and t.exists("zoë", ["g"])
    for wrong in [7, None, 1.5, ["x"]]:
        with pytest.raises(TypeError, match="expected bytes or str"):
            t.put("r", {"f:q": wrong})
    with pytest.raises(ValueError, match="q has no colon"):
        t.put("r", {"q": "v"})
    with pytest.raises(TypeError, match="not one name"):
        t.get("r", columns="f:q")


def test_versions_and_timestamps(db):
    t = db["t"]
    for timestamp in 3, 4, 5:
        t.put("r", {"f:q": f"v{timestamp}", "g:q": "one"}, timestamp=timestamp)
    assert t.get("r", timestamps=True) == {b"f:q": (b"v5", 5), b"g:q": (b"one", 5)}
    assert t.get("r", versions=2)[b"f:q"] == [(b"v5", 5), (b"v4", 4)]
    assert t.get("r", ["f:q"], versions=9, time_range=(3, 5)) == {b"f:q": [(b"v4", 4), (b"v3", 3)]}
    t.delete("r", ["f:q"], timestamp=4, exact=True)
    assert t.get("r", ["f:q"], versions=9)[b"f:q"] == [(b"v5", 5), (b"v3", 3)]
    t.delete("r", ["f"], timestamp=3)
    assert t.get("r", ["f"], versions=9) == {b"f:q": [(b"v5", 5)]}
    t.delete("r")
    assert t.get("r") == {}
    with pytest.raises(ValueError, match="columns is empty"):
        t.delete("r", [])


def test_scans(db):
    t = db["t"]
    with t.batch() as b:
        for number in range(300):
            b.put(f"{'ab'[number % 2]}{number:03}", {"f:n": str(number), "g:n": "x"})
    assert len(keys(t.scan())) == 300
    assert keys(t.scan("a010", "a016")) == [b"a010", b"a012", b"a014"]
    assert keys(t.scan("a010", "a014", include_start=False, include_stop=True)) == [b"a012", b"a014"]
    assert keys(t.scan(prefix="b", limit=2)) == [b"b001", b"b003"]
    assert keys(t.scan(prefix="a", reverse=True, limit=2)) == [b"a298", b"a296"]
    assert keys(t.scan("a004", "a000", reverse=True)) == [b"a004", b"a002"]
    assert keys(t.scan(filter="PrefixFilter('a0') AND PageFilter(3)")) == [b"a000", b"a002", b"a004"]
    assert dict(t.scan(limit=1, columns=["g:n"])) == {b"a000": {b"g:n": b"x"}}
    assert next(t.scan(limit=1, columns=["g"], timestamps=True))[1][b"g:n"][0] == b"x"
    # Pages, in both directions: each begins after the last key of the one before.
    for reverse in [False, True]:
        pages, last = [], None
        while page := keys(
            t.scan(last, prefix="b", reverse=reverse, limit=40, include_start=last is None)
        ):
            pages.append(page)
            last = page[-1]
        assert [len(page) for page in pages] == [40, 40, 40, 30]
        assert sum(pages, []) == keys(t.scan(prefix="b", reverse=reverse))


def test_raw_scans_show_delete_markers_and_what_they_delete(db):
    t = db["t"]
    for timestamp in 1, 2, 3:
        t.put("r", {"f:q": f"v{timestamp}"}, timestamp=timestamp)
    t.put("r", {"g:": "gone"}, timestamp=4)
    t.put("s", {"f:q": "there"}, timestamp=5)
    t.delete("r", ["f:q"], timestamp=2)
    t.delete("r", ["f:q"], timestamp=3, exact=True)
    t.delete("r", ["g"], timestamp=6)
    t.delete("r", ["g"], timestamp=7, exact=True)
    everything = [
        (
            b"r",
            {
                b"f:q": [
                    (b"", 3, "Delete"),
                    (b"v3", 3, "Put"),
                    (b"", 2, "DeleteColumn"),
                    (b"v2", 2, "Put"),
                    (b"v1", 1, "Put"),
                ],
                b"g:": [
                    (b"", 7, "DeleteFamilyVersion"),
                    (b"", 6, "DeleteFamily"),
                    (b"gone", 4, "Put"),
                ],
            },
        ),
        (b"s", {b"f:q": [(b"there", 5, "Put")]}),
    ]
    assert keys(t.scan()) == [b"s"]
    assert list(t.scan(raw=True)) == everything
    assert list(t.scan(raw=True, timestamps=True, reverse=True)) == everything[::-1]
    g = (b"r", {b"g:": everything[0][1][b"g:"]})
    assert list(t.scan(raw=True, columns=["g"])) == [g]
    newest = dict(t.scan(raw=True, versions=1, columns=["f"]))[b"r"][b"f:q"]
    assert [one for one in newest if one[2] == "Put"] == [(b"v3", 3, "Put")]
    assert dict(t.scan(raw=True, time_range=(4, 7)))[b"r"] == {
        b"g:": [(b"", 6, "DeleteFamily"), (b"gone", 4, "Put")]
    }
    with pytest.raises(hblite.Error, match="any column for a raw scan"):
        list(t.scan(raw=True, columns=["f:q"]))
    with pytest.raises(ValueError, match="delete markers"):
        t.scan(raw=True, types={"f:q": str})
    db.flush("t")
    db.compact("t", major=True)
    assert list(t.scan(raw=True)) == everything[1:]


def test_a_scanner_can_end_early(db):
    t = db["t"]
    with t.batch(size=7) as b:
        for number in range(200):
            b.put(f"{number:03}", {"f:q": "v"})
            assert len(b) < 7
    with t.scan() as scanner:
        assert next(scanner)[0] == b"000"
    assert list(scanner) == []
    for wrong in [dict(limit=0), dict(filter="NoFilter('")]:
        with pytest.raises(ValueError):
            t.scan(**wrong)


def test_counters_appends_and_checks(db):
    t = db["t"]
    assert t.increment("r", "f:n") == 1
    assert t.increment("r", "f:n", 41) == 42
    assert t.increment(b"r", b"f:n", -43) == -1
    assert t.append("r", "f:a", "x") == b"x" and t.append("r", "f:a", "y") == b"xy"
    assert t.check_and_put("r", "f:c", None, {"f:c": "1"})
    assert not t.check_and_put("r", "f:c", None, {"f:c": "2"})
    assert t.check_and_put("r", "f:c", "1", {"f:c": "3"})
    assert not t.check_and_delete("r", "f:c", "1")
    assert t.check_and_delete("r", "f:c", "3", ["f"])
    assert t.get("r") == {}
    assert t.increment("r", {"f:a": 5, b"f:b": -1}) == {b"f:a": 5, b"f:b": -1}
    assert t.increment("r", {"f:b": 3}) == {b"f:b": 2}
    for wrong in [("r", {}), ("r", {"f:a": 1}, 2), ("r", {"a": 1}), ("r", {"f:a": "x"})]:
        with pytest.raises((ValueError, TypeError)):
            t.increment(*wrong)
    t.put("short", {"f:n": "x"})
    with pytest.raises(hblite.Error, match="Field is not a long"):
        t.increment("short", "f:n")


def test_checks_compare_the_stored_value_with_the_expected_one(db):
    t = db["t"]
    t.put("r", {"f:n": "5"})
    for operator, expected, is_met in [
        ("==", "5", True), ("==", "4", False), ("!=", "4", True), ("!=", "5", False),
        ("<", "6", True), ("<", "5", False), ("<=", "5", True), ("<=", "4", False),
        (">", "4", True), (">", "5", False), (">=", "5", True), (">=", "6", False),
        ("!=", None, True), ("==", None, False),
    ]:
        assert t.check_and_put("r", "f:n", expected, {"f:x": "1"}, operator=operator) == is_met
        assert t.check_and_delete("r", "f:n", expected, ["f:x"], operator=operator) == is_met
        assert not t.check_and_put("r", "f:none", "5", {"f:x": "1"}, operator=operator)
    assert t.check_and_put("r", "f:none", None, {"f:x": "1"})
    assert not t.check_and_put("r", "f:none", None, {"f:x": "1"}, operator="!=")
    for operator, expected in [("=", "5"), ("<", None)]:
        with pytest.raises(ValueError):
            t.check_and_put("r", "f:n", expected, {"f:x": "1"}, operator=operator)


def test_a_batch_is_sent_whole_or_dropped(db):
    t = db["t"]
    with pytest.raises(RuntimeError), t.batch() as b:
        b.put("r", {"f:q": "v"})
        raise RuntimeError
    assert t.get("r") == {}
    with t.batch() as b:
        b.put("r", {"f:q": "v"})
        b.put("s", {"f:q": "v"})
        b.delete("r")
        assert len(b) == 3
    assert keys(t.scan()) == [b"s"]
    assert t.get_many(["s", "r"]) == [{b"f:q": b"v"}, {}]
    # Columns that can be iterated only once are those of every row.
    t.put("u", {"f:q": "v", "f:other": "w"})
    assert t.get_many(["u", "u"], columns=iter(["f:q"])) == [{b"f:q": b"v"}] * 2
    t.delete("u")
    with pytest.raises(hblite.NotFoundError, match="nowhere"), t.batch() as b:
        b.put("r", {"nowhere:q": "v"})


def test_tables_are_created_changed_and_deleted(db):
    db.create_table("ns", ["a", b"b"], splits=["g", b"p"], attributes=dict(durability="ASYNC_WAL"))
    assert db.tables() == ["ns", "t"] == list(db)
    assert "ns" in db and "none" not in db
    assert [region["start"] for region in db.regions("ns")] == [b"", b"g", b"p"]
    db.alter_family("t", "f", dict(ttl=60))
    family = db.describe("t")["families"]["f"]
    assert (family["VERSIONS"], family["TTL"]) == ("3", "60")
    db.add_family("ns", "c", dict(in_memory=True))
    db.alter_table("ns", dict(max_filesize=2**30))
    assert db.describe("ns")["attributes"]["MAX_FILESIZE"] == str(2**30)
    assert db.describe("ns")["families"]["c"]["IN_MEMORY"] == "true"
    db.delete_family("ns", "c")
    with pytest.raises(hblite.WrongStateError) as error:
        db.delete_table("ns")
    assert error.value.hbase_class == "org.apache.hadoop.hbase.TableNotDisabledException"
    db.disable_table("ns")
    assert not db.is_enabled("ns")
    with pytest.raises(hblite.WrongStateError):
        db["ns"].get("r")
    db.truncate_table("ns")
    assert len(db.regions("ns")) == 1
    db.delete_table("ns", disable=True)
    assert "ns" not in db
    with pytest.raises(TypeError, match="version is not an option"):
        db.create_table("wrong", {"f": dict(version=3)})
    with pytest.raises(TypeError, match="not one name"):
        db.create_table("wrong", "f")


def test_errors_have_the_class_of_hbase(db):
    with pytest.raises(hblite.NotFoundError) as error:
        db["none"].get("r")
    assert error.value.hbase_class == "org.apache.hadoop.hbase.TableNotFoundException"
    assert isinstance(error.value, LookupError) and "TableNotFoundException" in str(error.value)
    copy = pickle.loads(pickle.dumps(error.value))
    assert (str(copy), copy.hbase_class) == (str(error.value), error.value.hbase_class)
    with pytest.raises(hblite.AlreadyExistsError) as error:
        db.create_table("t", ["f"])
    assert error.value.hbase_class == "org.apache.hadoop.hbase.TableExistsException"
    with pytest.raises(hblite.InvalidArgumentError) as error:
        db["t"].put("", {"f:q": "v"})
    assert error.value.hbase_class == "java.lang.IllegalArgumentException"
    assert isinstance(error.value, ValueError)
    for kind in vars(hblite).values():
        if inspect.isclass(kind) and issubclass(kind, BaseException):
            assert issubclass(kind, hblite.Error)


def test_snapshots_flushes_and_loads(db):
    t = db["t"]
    t.put("r", {"f:q": "before"})
    db.snapshot("monday", "t")
    t.put("r", {"f:q": "after"})
    assert [(one["name"], one["table"]) for one in db.snapshots()] == [("monday", "t")]
    db.clone_snapshot("monday", "copy")
    assert db["copy"].get("r") == {b"f:q": b"before"}
    db.disable_table("t")
    db.restore_snapshot("monday")
    db.enable_table("t")
    assert t.get("r") == {b"f:q": b"before"}
    db.delete_snapshot("monday")
    assert db.snapshots() == []
    t.put("r", {"f:q": "flushed"})
    db.flush("t")
    db.flush()
    db.compact("t", major=True)
    db.split("t", "m")
    assert [region["end"] for region in db.regions("t")] == [b"m", b""]
    t.put("x", {"f:q": "v", "g:q": "v"})
    assert [region["load"]["cells_written"] for region in db.regions("t")] == [0, 2]


def test_checkpoints_forks_and_the_clock(db):
    t = db["t"]
    t.put("r", {"f:q": "old"})
    db.checkpoint("base")
    t.put("r", {"f:q": "new"})
    with db.fork("base") as fork:
        assert fork["t"].get("r") == {b"f:q": b"old"}
        fork["t"].delete("r")
    assert db.checkpoints() == ["base"]
    db.rewind("base")
    assert t.get("r") == {b"f:q": b"old"}
    assert db.delete_checkpoint("base") and not db.delete_checkpoint("base")
    with pytest.raises(hblite.NotFoundError):
        db.rewind("base")

    clock = db.clock
    clock.set(1_000_000)
    clock.stop()
    clock.set(1_000)
    t.put("timed", {"f:q": "v"}, ttl=60)
    assert t.get("timed", timestamps=True)[b"f:q"] == (b"v", 1_000)
    clock.advance(seconds=59)
    assert t.exists("timed") and clock.now_ms() == 60_000
    clock.advance(minutes=1)
    assert not t.exists("timed")
    clock.run()
    clock.set(5_000)
    assert 5_000 <= clock.now_ms() < 3_600_000
    clock.reset()
    assert clock.now_ms() > 1_500_000_000_000


def test_a_directory_keeps_what_was_written(tmp_path):
    with pytest.raises(hblite.NotFoundError, match="no store is there"):
        hblite.open(tmp_path / "none", create=False)
    for number in range(3):
        with hblite.open(tmp_path / "data") as db:
            if number == 0:
                db.create_table("t", ["f"])
            t = db["t"]
            t.put(f"r{number}", {"f:q": "v"})
            assert len(keys(t.scan())) == number + 1
    for use in [lambda: t.get("r"), lambda: db.create_table("u", ["f"])]:
        with pytest.raises(hblite.ClosedError):
            use()
    db.close()
    with hblite.open(str(tmp_path / "data")) as db, pytest.raises(hblite.LockedError) as error:
        hblite.open(tmp_path / "data")
    assert isinstance(error.value, hblite.Error)
    with hblite.open(tmp_path / "data", read_only=True) as db, pytest.raises(hblite.Error):
        db["t"].put("r", {"f:q": "v"})


def test_a_store_that_is_not_closed_is_closed_with_its_last_handle(tmp_path):
    db = hblite.open(tmp_path / "data")
    db.create_table("t", ["f"])
    scanner = db["t"].scan()
    del db, scanner
    gc.collect()
    hblite.open(tmp_path / "data").close()


def test_another_process_cannot_open_the_store(tmp_path):
    with hblite.open(tmp_path / "data"):
        code = "import hblite, sys; hblite.open(sys.argv[1])"
        ended = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "data"], capture_output=True, text=True
        )
    assert "hblite.errors.LockedError" in ended.stderr and str(os.getpid()) in ended.stderr


def test_threads_share_a_table_while_one_waits(db):
    """A write that waits for memory holds no lock of the interpreter: others run on."""
    t = db["t"]
    counted = []

    def count(name):
        for _ in range(200):
            counted.append(t.increment("r", "f:n"))
            t.put(f"{name}", {"f:q": "v"})
            t.get("r")

    threads = [threading.Thread(target=count, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counted) == list(range(1, 801))


def test_another_thread_proceeds_while_a_call_waits(tmp_path):
    """`connect` waits for a server that never answers, until this thread ends its connection."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        failed = []

        def connect():
            with pytest.raises(hblite.IoError) as error:
                url = f"hbase+rpc://127.0.0.1:{listener.getsockname()[1]}"
                hblite.connect(url, {"hbase.rpc.timeout": 60_000, "hbase.client.retries.number": 0})
            failed.append(error.value)

        thread = threading.Thread(target=connect)
        thread.start()
        # Reached only if the call released the interpreter.
        connection, _ = listener.accept()
        assert thread.is_alive() and not failed
        listener.close()
        connection.close()
        thread.join()
    assert failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_gets_an_error_and_ends(tmp_path):
    code = """
import hblite, os, sys
db = hblite.open(sys.argv[1])
db.create_table("t", ["f"])
t = db["t"]
t.put("r", {"f:q": "v"})
rows, batch, clock = t.scan(), t.batch(), db.clock
child = os.fork()
if child == 0:
    uses = [
        lambda: t.get("r"), lambda: next(rows), db.tables, db.close, clock.now_ms, batch.send,
        lambda: t.batch(), lambda: db["u"], lambda: repr(db),
    ]
    for use in uses:
        try:
            use()
        except hblite.ForkedError as error:
            assert "open one after the fork" in str(error)
        else:
            os._exit(3)
    with hblite.memory() as own:
        own.create_table("t", ["f"])
    # Ends as Python does, with every handle.
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert t.get("r") == {b"f:q": b"v"}
db.close()
hblite.open(sys.argv[1]).close()
"""
    command = [sys.executable, "-c", code, str(tmp_path / "data")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_over_100_000_gets(db):
    t = db["t"]
    for number in range(100):
        t.put(f"r{number}", {"f:q": "v" * 100, "g:q": "w" * 1_000})

    def read(times):
        for number in range(times):
            assert len(t.get(f"r{number % 100}")) == 2
            if number % 1_000 == 0:
                assert len(list(t.scan())) == 100
                with pytest.raises(hblite.Error):
                    db["none"].get("r")

    read(20_000)
    before = resident_kib()
    read(100_000)
    # A leak of 42 bytes in each get would be seen.
    assert resident_kib() - before < 4_096


def test_a_cluster_is_used_like_a_store():
    with hblite.start() as server:
        with hblite.connect(f"hbase://{server.zookeeper}/hbase") as db:
            db.create_table("t", {"f": dict(versions=2)}, splits=["m"])
            t = db["t"]
            with t.batch() as b:
                for key in "az":
                    b.put(key, {"f:q": key})
            assert list(t.scan(reverse=True)) == [(b"z", {b"f:q": b"z"}), (b"a", {b"f:q": b"a"})]
            assert t.increment("a", "f:n", 2) == 2
            assert len(db.regions("t")) == 2
            with pytest.raises(hblite.UnsupportedError):
                db.checkpoint("base")
            with pytest.raises(hblite.NotFoundError):
                db["none"].get("r")


def test_the_examples_in_the_documentation():
    import hblite._native as native

    documented = [native.open, native.memory, native.connect]
    for kind in vars(native).values():
        if inspect.isclass(kind):
            documented.append(kind)
            documented += [value for name, value in vars(kind).items() if name[0] != "_"]
    examples = 0
    for value in documented:
        assert value.__doc__, value
        test = doctest.DocTestParser().get_doctest(value.__doc__, {}, str(value), None, None)
        result = doctest.DocTestRunner().run(test)
        assert result.failed == 0, value
        examples += result.attempted
    assert examples > 30


def test_the_types_name_what_there_is():
    """The stubs and the module have the same classes and methods, with the same arguments."""
    import ast
    from pathlib import Path

    import hblite._native as native

    stub = ast.parse((Path(hblite.__file__).parent / "_native.pyi").read_text())

    def arguments(function):
        given = function.args
        return [one.arg for one in given.posonlyargs + given.args + given.kwonlyargs]

    def check(where, value, function):
        signature = [name for name in inspect.signature(value).parameters]
        wanted = arguments(function) + [one.arg for one in [function.args.kwarg] if one]
        assert signature == wanted, where

    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            check(node.name, getattr(native, node.name), node)
        elif isinstance(node, ast.ClassDef) and hasattr(native, node.name):
            kind = getattr(native, node.name)
            written = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
            public = {name for name in vars(kind) if name[0] != "_"}
            assert public == {name for name in written if name[0] != "_"}, node.name
            for name, function in written.items():
                if name[0] != "_" and not function.decorator_list:
                    check(f"{node.name}.{name}", getattr(kind, name), function)


def test_without_the_native_module_the_error_says_what_to_do():
    code = """
import sys
sys.modules["hblite._native"] = None
import hblite
try:
    hblite.open("data")
except ImportError as error:
    print(error)
assert not hasattr(hblite, "nothing")
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "hblite.open needs the native module" in printed.stdout, printed.stderr
    assert "build one" in printed.stdout


def test_the_readme_runs(tmp_path, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    readme = Path(__file__).parents[1] / "README.md"
    result = doctest.testfile(
        str(readme), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert result.attempted > 10 and result.failed == 0
