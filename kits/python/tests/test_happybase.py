"""Goal: happybase's classes work on a store in this process as on a server.
Method: the ways to connect, a call of each kind, and an error. `kits/test` runs happybase's own
tests as well.
"""

import pytest

import hblite

pytest.importorskip("hblite._native", reason="there is no native module")
happybase = pytest.importorskip("hblite.happybase", reason="there is no happybase")


def test_a_program_changes_one_line(tmp_path):
    connection = happybase.Connection(str(tmp_path / "data"), table_prefix="app")
    connection.create_table("users", {"info": dict(max_versions=3)})
    assert connection.tables() == [b"users"]
    users = connection.table("users")
    users.put(b"u1", {b"info:name": b"Ada"})
    with users.batch(transaction=True) as batch:
        for number in range(500):
            batch.put(f"v{number:03}".encode(), {b"info:n": b"x"})
    assert users.row(b"u1") == {b"info:name": b"Ada"}
    assert len(list(users.scan(row_prefix=b"v", batch_size=7))) == 500
    assert users.counter_inc(b"u1", b"info:visits") == 1
    users.delete(b"u1", [b"info:name"])
    assert users.row(b"u1", [b"info:name"]) == {}
    from Hbase_thrift import IOError as HBaseError

    with pytest.raises(HBaseError, match="nowhere"):
        users.put(b"u1", {b"nowhere:q": b"v"})
    # Another connection shares the store; the last one closes it.
    other = happybase.Connection(tmp_path / "data")
    connection.close()
    assert other.tables() == [b"app_users"]
    other.close()
    hblite.open(tmp_path / "data").close()


def test_a_database_that_is_open():
    with hblite.memory() as db:
        connection = happybase.Connection(db)
        connection.create_table("t", {"f": {}})
        connection.table("t").put(b"r", {b"f:q": b"v"})
        assert db["t"].get("r") == {b"f:q": b"v"}
        connection.close()
        assert db.tables() == ["t"]


def test_a_pool_shares_the_store(tmp_path):
    pool = happybase.ConnectionPool(3, host=str(tmp_path / "data"))
    with pool.connection() as connection:
        assert isinstance(connection, happybase.Connection)
        connection.create_table("t", {"f": {}})
    with pool.connection() as connection:
        assert connection.tables() == [b"t"]
