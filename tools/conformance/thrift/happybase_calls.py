"""Typical calls of happybase, on a server that `hblite serve` started.

The argument is the port file.
"""

import json
import struct
import sys

import happybase
import Hbase_thrift  # happybase makes this module when it is imported.


def message(error):
    text = error.message
    return text if isinstance(text, bytes) else text.encode()


def tables(connection, name):
    families = {"f": {"max_versions": 3}, "g": {"time_to_live": 2_000_000_000, "in_memory": True}}
    connection.create_table(name, families)
    assert name in connection.tables()
    found = connection.table(name).families()
    assert sorted(found) == [b"f", b"g"], found
    assert found[b"f"]["max_versions"] == 3, found
    assert found[b"g"]["time_to_live"] == 2_000_000_000 and found[b"g"]["in_memory"], found
    try:
        connection.create_table(name, families)
        raise AssertionError("the table was created twice")
    except Hbase_thrift.AlreadyExists as error:
        assert message(error) == b"table name already in use", error


def rows(table):
    table.put(b"r1", {b"f:a": b"1", b"g:b": b"\x00\xff"}, timestamp=100)
    table.put(b"r1", {b"f:a": b"2"}, timestamp=200)
    assert table.row(b"r1") == {b"f:a": b"2", b"g:b": b"\x00\xff"}
    assert table.row(b"r1", timestamp=200)[b"f:a"] == b"1"
    assert table.row(b"r1", columns=[b"g"], include_timestamp=True) == {
        b"g:b": (b"\x00\xff", 100)
    }
    assert table.cells(b"r1", b"f:a", versions=5) == [b"2", b"1"]
    assert table.rows([b"none", b"r1"]) == [(b"r1", {b"f:a": b"2", b"g:b": b"\x00\xff"})]
    table.delete(b"r1", columns=[b"f:a"])
    assert table.row(b"r1") == {b"g:b": b"\x00\xff"}
    table.delete(b"r1")
    assert table.row(b"r1") == {}


def counters(table):
    assert table.counter_inc(b"c", b"f:n", 5) == 5
    assert table.counter_dec(b"c", b"f:n", 7) == -2
    assert table.counter_get(b"c", b"f:n") == -2
    assert table.row(b"c")[b"f:n"] == struct.pack(">q", -2)


def scans(table):
    with table.batch(batch_size=30) as batch:
        for number in range(100):
            batch.put(b"row%03d" % number, {b"f:n": b"%d" % number, b"g:": b"x"})
    keys = lambda **arguments: [key for key, _ in table.scan(**arguments)]
    everything = [b"row%03d" % number for number in range(100)]
    assert keys() == everything
    assert keys(batch_size=7) == everything
    assert keys(reverse=True) == everything[::-1]
    assert keys(row_start=b"row010", row_stop=b"row020") == everything[10:20]
    assert keys(row_prefix=b"row09") == everything[90:]
    assert keys(limit=3) == everything[:3]
    assert keys(filter=b"SingleColumnValueFilter('f', 'n', =, 'binary:42')") == [b"row042"]
    columns = next(table.scan(sorted_columns=True))[1]
    assert list(columns) == [b"f:n", b"g:"], columns
    assert next(table.scan(columns=[b"g"]))[1] == {b"g:": b"x"}


def regions(connection, table):
    found = table.regions()
    assert [region["start_key"] for region in found] == [b""], found
    assert found[0]["server_name"] == b"127.0.0.1" and found[0]["port"] > 0, found
    connection.compact_table(table.name)


def errors(connection):
    try:
        connection.table("missing").row(b"r")
        raise AssertionError("a table that does not exist was read")
    except Hbase_thrift.IOError as error:
        assert message(error).startswith(b"org.apache.hadoop.hbase.TableNotFoundException"), error


def main():
    with open(sys.argv[1]) as file:
        port = json.load(file)["thrift_port"]
    for protocol in ("binary", "compact"):
        for transport in ("buffered", "framed"):
            connection = happybase.Connection(
                "127.0.0.1", port, protocol=protocol, transport=transport, timeout=20000
            )
            name = f"{protocol}_{transport}".encode()
            tables(connection, name)
            table = connection.table(name)
            rows(table)
            scans(table)
            counters(table)
            regions(connection, table)
            errors(connection)
            connection.disable_table(name)
            assert not connection.is_table_enabled(name)
            connection.delete_table(name)
            connection.close()
            print(f"happybase {happybase.__version__}, {protocol}, {transport}: passed")


main()
