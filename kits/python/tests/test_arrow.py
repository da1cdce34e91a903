"""Goal: what reads Arrow sees the cells of a scan, or chosen columns with types.
Method: the same rows through pyarrow, and through the iterator of the scan.
"""

import os
import struct
import subprocess
import sys

import pytest

import hblite

pytest.importorskip("hblite._native", reason="there is no native module")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def db():
    with hblite.memory() as db:
        db.create_table("t", {"f": dict(versions=3)})
        yield db


def test_every_cell_is_a_line(db):
    t = db["t"]
    for number in range(200):
        data = {f"f:{n}": str(n) * n for n in range(number % 7 + 1)}
        t.put(f"r{number:03}", data, timestamp=number)
    t.put("r003", {"f:0": "later"}, timestamp=900)
    scan = t.scan(versions=3, start="r001", stop="r150", filter="PrefixFilter('r')")
    read = pyarrow.table(scan)
    assert [str(field.type) for field in read.schema] == [
        "binary",
        "binary",
        "timestamp[ms, tz=UTC]",
        "binary",
    ]
    expected = [
        (key, column, time, value)
        for key, row in scan
        for column, versions in row.items()
        for value, time in versions
    ]
    times = read["timestamp"].cast(pyarrow.int64()).to_pylist()
    row, column, value = (read[name].to_pylist() for name in ("row", "column", "value"))
    assert list(zip(row, column, times, value)) == expected
    assert len(expected) > 500


def test_a_raw_scan_has_the_type_of_each_cell(db):
    t = db["t"]
    t.put("r", {"f:q": "v"}, timestamp=1)
    t.delete("r", ["f:q"], timestamp=2)
    read = pyarrow.table(t.scan(raw=True))
    assert str(read.schema.field("type").type) == "string"
    assert read["type"].to_pylist() == ["DeleteColumn", "Put"]
    assert read["value"].to_pylist() == [b"", b"v"]
    assert "type" not in pyarrow.table(t.scan()).column_names


def test_a_scan_is_read_anew_each_time(db):
    t = db["t"]
    t.put("a", {"f:q": "1"})
    scan = t.scan()
    assert pyarrow.table(scan).num_rows == 1
    t.put("b", {"f:q": "2"})
    assert pyarrow.table(scan).num_rows == 2
    scan.close()
    assert pyarrow.table(scan).num_rows == 2


def test_columns_have_types(db):
    t = db["t"]
    formats = {"int16": ">h", "int32": ">i", "int64": ">q", "float32": ">f", "float64": ">d"}
    for number in (-2, 0, 7):
        data = {f"f:{name}": struct.pack(form, number) for name, form in formats.items()}
        data |= {"f:bool": bytes([number % 2]), "f:utf8": f"n{number}ö", "f:binary": b"\xff\x00"}
        t.put(f"r{number + 2}", data)
    t.put("r2", {"f:other": "not read"})
    t.put("r3", {"f:int64": struct.pack(">q", 1 << 40)})
    t.put("s", {"f:other": "a row without any of the columns"})
    types = {f"f:{name}": name for name in (*formats, "bool", "utf8", "binary")}
    read = pyarrow.table(t.scan(types={"row": str} | types)).to_pydict()
    assert read["row"] == ["r0", "r2", "r3", "r9"]
    for name in formats:
        third = 1 << 40 if name == "int64" else None
        assert read[f"f:{name}"] == [-2, 0, third, 7], name
    assert read["f:bool"] == [False, False, None, True]
    assert read["f:utf8"] == ["n-2ö", "n0ö", None, "n7ö"]
    assert read["f:binary"] == [b"\xff\x00", b"\xff\x00", None, b"\xff\x00"]
    # Python's own types, and columns that are read without being shown.
    classes = {"row": bytes, "f:int64": int, "f:float64": float, "f:utf8": str, "f:bool": bool}
    read = pyarrow.table(t.scan(types=classes, columns=["f"]))
    assert read["row"].to_pylist() == [b"r0", b"r2", b"r3", b"r9", b"s"]
    assert [str(field.type) for field in read.schema][1:] == ["int64", "double", "string", "bool"]


def test_what_does_not_fit_is_named(db):
    t = db["t"]
    t.put("good", {"f:n": struct.pack(">q", 1)})
    t.put("short", {"f:n": b"\x01"})
    with pytest.raises(Exception, match="row short, column f:n: the value is not of type int64"):
        pyarrow.table(t.scan(types={"f:n": int}))
    t.put("latin", {"f:text": b"\xe9"})
    with pytest.raises(Exception, match="row latin, column f:text: the value is not of type utf8"):
        pyarrow.table(t.scan(types={"f:text": "utf8"}))
    for types, error in (
        ({"f:n": "int65"}, ValueError),
        ({"f:n": dict}, ValueError),
        ({"f:n": 8}, TypeError),
        ({"f": int}, ValueError),
    ):
        with pytest.raises(error):
            t.scan(types=types)


def test_many_batches_have_all_rows(db):
    t = db["t"]
    with t.batch(size=1000) as batch:
        for number in range(100_000):
            batch.put(f"{number:06}", {"f:n": struct.pack(">q", number), "f:m": b"x"})
    cells = pyarrow.RecordBatchReader.from_stream(t.scan())
    sizes = [batch.num_rows for batch in cells]
    assert sum(sizes) == 200_000 and len(sizes) > 2
    numbers = pyarrow.table(t.scan(types={"f:n": int}))
    assert numbers["f:n"].to_pylist() == list(range(100_000))
    # A row with more cells than a batch.
    t.put("wide", {f"f:{n}": b"" for n in range(150_000)})
    wide = pyarrow.table(t.scan(start="wide"))
    assert wide.num_rows == 150_000 and set(wide["row"].to_pylist()) == {b"wide"}


def test_a_closed_store_is_an_error():
    db = hblite.memory()
    db.create_table("t", ["f"])
    scan = db["t"].scan()
    db.close()
    with pytest.raises(Exception, match="closed"):
        pyarrow.table(scan)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_stream_in_a_forked_process_is_an_error():
    program = """if True:
        import os, sys, hblite, pyarrow
        db = hblite.memory()
        db.create_table("t", ["f"])
        db["t"].put("r", {"f:q": "v"})
        reader = pyarrow.RecordBatchReader.from_stream(db["t"].scan())
        if os.fork() == 0:
            try:
                reader.read_all()
            except Exception as error:
                os._exit(0 if "forked" in str(error) else 1)
            os._exit(2)
        sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("module", ["polars", "duckdb", "pandas"])
def test_others_read_it(db, module):
    library = pytest.importorskip(module)
    t = db["t"]
    t.put("u1", {"f:city": "Rome", "f:n": struct.pack(">q", 3)})
    t.put("u2", {"f:city": "Rome", "f:n": struct.pack(">q", 4)})
    users = t.scan(types={"f:city": str, "f:n": int})
    if module == "polars":
        assert library.DataFrame(users)["f:n"].sum() == 7
    elif module == "pandas":
        assert library.DataFrame.from_arrow(users)["f:n"].sum() == 7
    else:
        query = 'SELECT "f:city", sum("f:n") FROM users GROUP BY ALL'
        assert library.sql(query).fetchall() == [("Rome", 7)]
