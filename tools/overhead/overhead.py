"""The work of overhead.c in Python. Prints the processor time of an operation, in nanoseconds.

    python overhead.py put|get|scan COUNT
"""

import sys
import time

import hblite

ROWS = 20_000
operation, count = sys.argv[1], int(sys.argv[2])
keys = [b"row%09d" % row for row in range(ROWS)]
value = b"x" * 100
with hblite.memory() as db:
    db.create_table("t", ["f"])
    table = db["t"]
    for key in keys:
        table.put(key, {b"f:q": value})
    begun, done = time.process_time_ns(), 0
    while done < count:
        if operation == "put":
            table.put(keys[done % ROWS], {b"f:q": value})
        elif operation == "get":
            assert len(table.get(keys[done % ROWS])[b"f:q"]) == len(value)
        else:
            # The rows of a scan are counted.
            done += sum(len(row) for _, row in table.scan()) - 1
        done += 1
    print((time.process_time_ns() - begun) // done)
