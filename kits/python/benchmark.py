"""Compares hblite in Python's process with LevelDB, RocksDB and LMDB, in turn in one run.

    python kits/python/benchmark.py [ROWS]

It needs `pip install hblite plyvel rocksdict lmdb polars duckdb pandas pyarrow`; what is missing is
left out. All write to a new directory, without waiting for the disk. A row has a key of 16 bytes
and a value of 100. Printed: thousands of rows per second, the best of three rounds.
"""

import contextlib
import importlib
import random
import sys
import tempfile
import time

ROUNDS = 3
BATCH = 1000
VALUE = bytes(range(100))


class HBlite:
    def __init__(self, directory):
        import hblite

        self.db = hblite.open(directory)
        self.db.create_table("t", ["f"])
        self.table = self.db["t"]

    def put(self, key, value):
        self.table.put(key, {b"f:q": value})

    def put_all(self, keys, value):
        with self.table.batch() as batch:
            for key in keys:
                batch.put(key, {b"f:q": value})

    def settle(self):
        self.db.flush("t")

    def get(self, key):
        return self.table.get(key)[b"f:q"]

    def scan(self):
        return sum(1 for _ in self.table.scan())

    def close(self):
        self.db.close()


class LevelDB:
    def __init__(self, directory):
        import plyvel

        self.db = plyvel.DB(directory, create_if_missing=True)
        self.put = self.db.put
        self.get = self.db.get

    def put_all(self, keys, value):
        with self.db.write_batch() as batch:
            for key in keys:
                batch.put(key, value)

    def settle(self):
        self.db.compact_range()

    def scan(self):
        return sum(1 for _ in self.db.iterator())

    def close(self):
        self.db.close()


class RocksDB:
    def __init__(self, directory):
        import rocksdict

        self.rocksdict = rocksdict
        self.db = rocksdict.Rdict(directory, rocksdict.Options(raw_mode=True))
        self.put = self.db.__setitem__
        self.get = self.db.__getitem__

    def put_all(self, keys, value):
        batch = self.rocksdict.WriteBatch(raw_mode=True)
        for key in keys:
            batch.put(key, value)
        self.db.write(batch)

    def settle(self):
        self.db.flush()

    def scan(self):
        return sum(1 for _ in self.db.items())

    def close(self):
        self.db.close()


class LMDB:
    def __init__(self, directory):
        import lmdb

        self.db = lmdb.open(directory, map_size=1 << 32, sync=False)

    def put(self, key, value):
        with self.db.begin(write=True) as transaction:
            transaction.put(key, value)

    def put_all(self, keys, value):
        with self.db.begin(write=True) as transaction:
            for key in keys:
                transaction.put(key, value)

    def settle(self):
        pass

    def get(self, key):
        with self.db.begin() as transaction:
            return transaction.get(key)

    def scan(self):
        with self.db.begin() as transaction, transaction.cursor() as cursor:
            return sum(1 for _ in cursor)

    def close(self):
        self.db.close()


STORES = {"hblite": HBlite, "plyvel": LevelDB, "rocksdict": RocksDB, "lmdb": LMDB}


def per_second(rows, work):
    start = time.perf_counter()
    work()
    return rows / (time.perf_counter() - start) / 1000


def measure(kind, keys):
    """The rates of one round."""
    shuffled = random.Random(1).sample(keys, len(keys))
    with tempfile.TemporaryDirectory() as directory:
        store = kind(directory)
        rates = {"put": per_second(len(keys), lambda: [store.put(key, VALUE) for key in shuffled])}
        store.close()
    with tempfile.TemporaryDirectory() as directory:
        store = kind(directory)
        batches = [keys[at : at + BATCH] for at in range(0, len(keys), BATCH)]
        load = lambda: [store.put_all(batch, VALUE) for batch in batches]
        rates[f"put, batches of {BATCH}"] = per_second(len(keys), load)
        store.settle()
        assert store.get(keys[0]) == VALUE
        rates["get"] = per_second(len(keys), lambda: [store.get(key) for key in shuffled])
        rates["scan"] = per_second(len(keys), store.scan)
        assert store.scan() == len(keys)
        store.close()
    return rates


def arrow(rows):
    """Seconds of a sum over so many rows, by what reads Arrow."""
    import hblite

    with hblite.memory() as db:
        db.create_table("t", ["f"])
        table = db["t"]
        with table.batch(size=BATCH) as batch:
            for number in range(rows):
                batch.put(b"%016d" % number, {"f:n": number.to_bytes(8, "big")})
        db.flush("t")
        numbers = table.scan(types={"f:n": int})
        query = 'SELECT sum("f:n") FROM numbers'
        queries = {
            "polars": lambda polars: polars.DataFrame(numbers)["f:n"].sum(),
            "duckdb": lambda duckdb, numbers=numbers: duckdb.sql(query).fetchall()[0][0],
            "pandas": lambda pandas: pandas.DataFrame.from_arrow(numbers)["f:n"].sum(),
        }
        for name, ask in queries.items():
            with contextlib.suppress(ImportError):
                library = importlib.import_module(name)
                best = min(timed(lambda: ask(library), rows) for _ in range(ROUNDS))
                print(f"sum over {rows:,} rows with {name:9} {best:8.2f} s")
        loop = lambda: sum(int.from_bytes(row[b"f:n"], "big") for _, row in table.scan())
        print(f"sum over {rows:,} rows in a loop of Python {timed(loop, rows):6.2f} s")


def timed(query, rows):
    start = time.perf_counter()
    assert query() == rows * (rows - 1) // 2
    return time.perf_counter() - start


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    keys = [b"%016d" % number for number in range(rows)]
    best = {}
    for _ in range(ROUNDS):
        for name, kind in STORES.items():
            with contextlib.suppress(ImportError):
                for what, rate in measure(kind, keys).items():
                    rates = best.setdefault(what, {})
                    rates[name] = max(rates.get(name, 0), rate)
    for what, rates in best.items():
        print(f"{what:20}", *(f"{name} {rate:7,.0f}k/s " for name, rate in rates.items()))
    arrow(10 * rows)


if __name__ == "__main__":
    main()
