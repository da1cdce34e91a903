"""Goal: what HBase answered when `tests/golden/ops` was recorded, Python gets.
Method: plays each scenario on a store in memory that compacts on request only, as when it was
recorded, with a clock that moves between operations. A read
that has no counterpart in Python is skipped. A scenario ends at such a write, since the state is
another one from there on. The numbers at the end say how much was compared.
"""

import json
import re
from pathlib import Path

import pytest

import hblite

pytest.importorskip("hblite._native", reason="there is no native module")

OPS = Path(__file__).parents[3] / "tests" / "golden" / "ops"
SCENARIOS = sorted(OPS.glob("*.jsonl"))
VERSIONS_ALL = 2**31 - 1
COMPARED = {"scenarios": 0, "reads": 0, "errors": 0}


class Unsupported(Exception):
    """Python's API does not have this."""


def binary(text):
    """Bytes in the form of HBase's `toStringBinary`."""
    if isinstance(text, dict):
        return text["repeat"].encode() * text["times"]
    if text is None:
        raise Unsupported("null")
    parts = re.split(r"\\x([0-9A-Fa-f]{2})", text)
    hexes = [bytes.fromhex(part) if at % 2 else part.encode() for at, part in enumerate(parts)]
    return b"".join(hexes)


def only(op, *known):
    """Refuses an operation with other arguments than these."""
    unknown = set(op) - {"op", "t", "row", "expect", *known}
    if unknown:
        raise Unsupported(unknown)


def column(family, qualifier):
    return binary(family) + b":" + binary(qualifier)


def reading(op, *more):
    only(op, "cols", "versions", "range", "ts", "filter", *more)
    arguments = {"versions": op.get("versions", 1)}
    if arguments["versions"] == "all":
        arguments["versions"] = VERSIONS_ALL
    if "cols" in op:
        arguments["columns"] = [b":".join(map(binary, names)) for names in op["cols"]]
    if "range" in op:
        arguments["time_range"] = tuple(op["range"])
    if "ts" in op:
        if op["ts"] == 2**63 - 1:
            raise Unsupported("a range to the end")
        arguments["time_range"] = (op["ts"], op["ts"] + 1)
    if "filter" in op:
        if op["filter"]["type"] != "parse":
            raise Unsupported("a filter without text")
        arguments["filter"] = binary(op["filter"]["text"])
    return arguments


def put_arguments(op):
    """The arguments of a put, or of several if the cells have several timestamps."""
    only(op, "cells", "ts", "ttl", "durability")
    if "ts" in op and any(cell[2] is not None for cell in op["cells"]):
        raise Unsupported("timestamps of both kinds")
    shared = {}
    if "ttl" in op:
        shared["ttl"] = op["ttl"] / 1_000
    if "durability" in op:
        shared["durability"] = op["durability"]
    puts = []
    for family, qualifier, stamp, value in op["cells"]:
        stamp = op.get("ts") if stamp is None else stamp
        name = column(family, qualifier)
        if not puts or puts[-1][1]["timestamp"] != stamp or name in puts[-1][0][1]:
            puts.append(((binary(op["row"]), {}), {"timestamp": stamp, **shared}))
        puts[-1][0][1][name] = binary(value)
    return puts


def delete_arguments(op):
    only(op, "ts", "del")
    row = binary(op["row"])
    if "del" not in op:
        return (row,), {"timestamp": op.get("ts")}
    ways = {(part["kind"], part.get("ts")) for part in op["del"]}
    names = [column(part["f"], part["q"]) if "q" in part else binary(part["f"]) for part in op["del"]]
    exact = {"column": True, "family_version": True, "columns": False, "family": False}
    ways = {(exact[kind], stamp) for kind, stamp in ways}
    if len(ways) != 1 or (ways != {(False, None)} and "ts" in op):
        raise Unsupported("several kinds of deletes")
    is_exact, stamp = ways.pop()
    stamp = op.get("ts", stamp)
    if is_exact and stamp is None:
        raise Unsupported("the newest version")
    return (row, names), {"timestamp": stamp, "exact": is_exact}


def single(op):
    only(op, "cells")
    if len(op["cells"]) != 1:
        raise Unsupported("several columns")
    family, qualifier, value = op["cells"][0]
    return binary(op["row"]), column(family, qualifier), value


def options(family):
    if "CONFIGURATION" in family:
        raise Unsupported("a configuration")
    return {name: value for name, value in family.items() if name != "name"}


class Player:
    """Plays operations. What one returns has the form of its recorded answer."""

    def __init__(self, db):
        self.db = db

    def play(self, op):
        play = getattr(self, op["op"], None)
        if play is None:
            raise Unsupported(op["op"])
        return play(op, self.db[op["t"]] if "t" in op else None)

    def put(self, op, table):
        # An empty one too: it is refused.
        for arguments, named in put_arguments(op) or [((binary(op["row"]), {}), {})]:
            table.put(*arguments, **named)

    def delete(self, op, table):
        arguments, named = delete_arguments(op)
        table.delete(*arguments, **named)

    def get(self, op, table):
        return {"cells": flat(table.get(binary(op["row"]), **reading(op)))}

    def exists(self, op, table):
        only(op, "cols")
        columns = reading(op).get("columns")
        return {"value": table.exists(binary(op["row"]), columns)}

    def scan(self, op, table):
        own = ["start", "stop", "prefix", "reversed", "limit", "one_row", "caching"]
        arguments = reading(op, "start_inclusive", "stop_inclusive", *own)
        for name in ["start", "stop", "prefix"]:
            if name in op:
                arguments[name] = binary(op[name])
        if "prefix" in op and op.get("reversed"):
            raise Unsupported("HBase reverses a scan, but not its prefix")
        if op.get("one_row") or op.get("limit", 1) < 1:
            raise Unsupported("another limit")
        arguments["limit"] = op.get("limit")
        arguments["reverse"] = op.get("reversed", False)
        arguments["include_start"] = op.get("start_inclusive", True)
        arguments["include_stop"] = op.get("stop_inclusive", False)
        return {"rows": [(key, flat(row)) for key, row in table.scan(**arguments)]}

    def increment(self, op, table):
        row, name, amount = single(op)
        return {"values": [table.increment(row, name, amount).to_bytes(8, "big", signed=True)]}

    def increment_column(self, op, table):
        return {"value": table.increment(binary(op["row"]), column(op["f"], op["q"]), op["amount"])}

    def append(self, op, table):
        row, name, value = single(op)
        return {"values": [table.append(row, name, binary(value))]}

    def check_and_mutate(self, op, table):
        only(op, "if", "then")
        condition, then = op["if"], op["then"]
        if set(condition) - {"f", "q", "not_exists", "cmp", "value"} or "row" not in then:
            raise Unsupported("another condition")
        if condition.get("cmp", "EQUAL") != "EQUAL" or isinstance(condition.get("value"), dict):
            raise Unsupported("another comparison")
        expected = None if condition.get("not_exists") else binary(condition["value"])
        if then["op"] not in ["put", "delete"] or then["row"] != op["row"]:
            raise Unsupported("another write")
        of, check = (
            (put_arguments, table.check_and_put)
            if then["op"] == "put"
            else (delete_arguments, table.check_and_delete)
        )
        arguments = of(then)
        if then["op"] == "put" and len(arguments) != 1:
            raise Unsupported("several puts")
        (row, *more), named = arguments[0] if then["op"] == "put" else arguments
        name = column(condition["f"], condition["q"])
        return {"success": check(row, name, expected, *more, **named)}

    def batch(self, op, table):
        return self._write(op["actions"], table, [{"cells": []}] * len(op["actions"]))

    def mutate_row(self, op, table):
        return self._write(op["mutations"], table, None)

    def _write(self, writes, table, results):
        with table.batch() as batch:
            for write in writes:
                if write["op"] == "put":
                    puts = put_arguments(write)
                    for arguments, named in puts:
                        batch.put(*arguments, **named)
                elif write["op"] == "delete":
                    arguments, named = delete_arguments(write)
                    batch.delete(*arguments, **named)
                else:
                    raise Unsupported("another write")
        return results and {"results": results}

    def alter(self, op, _):
        only(op, "add", "modify", "remove", "attributes")
        for family in op.get("modify", []):
            self.db.alter_family(op["t"], binary(family["name"]), options(family))
        for family in op.get("add", []):
            self.db.add_family(op["t"], binary(family["name"]), options(family))
        for name in op.get("remove", []):
            self.db.delete_family(op["t"], binary(name))
        if "attributes" in op:
            self.db.alter_table(op["t"], op["attributes"])

    def truncate(self, op, _):
        self.db.truncate_table(op["t"], preserve_splits=op.get("preserve_splits", False))

    def create(self, op, _):
        only(op, "families", "splits", "attributes")
        families = {binary(family["name"]): options(family) for family in op["families"]}
        splits = [binary(key) for key in op.get("splits", [])]
        self.db.create_table(op["t"], families, splits=splits, attributes=op.get("attributes", {}))

    def flush(self, op, table):
        self.db.flush(table.name)

    def major_compact(self, op, table):
        self.db.compact(table.name, major=True)

    def disable(self, op, _):
        self.db.disable_table(op["t"])

    def enable(self, op, _):
        self.db.enable_table(op["t"])

    def drop(self, op, _):
        self.db.delete_table(op["t"])

    def table_exists(self, op, _):
        return {"value": op["t"] in self.db}

    def is_enabled(self, op, _):
        return {"value": self.db.is_enabled(op["t"])}

    def is_disabled(self, op, _):
        return {"value": not self.db.is_enabled(op["t"])}


#: Operations that leave the state as it is.
READS = {"get", "exists", "scan", "table_exists", "is_enabled", "is_disabled", "describe", "regions"}
READS |= {"region_of", "list", "describe_ns", "list_ns", "list_ns_tables"}


def flat(row):
    return [(name, stamp, value) for name, cells in row.items() for value, stamp in cells]


def cells_match(answer, cells):
    if len(answer) != len(cells):
        return False
    for (name, stamp, value), (family, qualifier, wanted, recorded) in zip(answer, cells):
        if (name, value) != (column(family, qualifier), binary(recorded)):
            return False
        # What the server's clock gave is not the same here.
        if stamp != wanted and wanted != "now":
            return False
    return True


def matches(answer, expected):
    if "rows" in expected:
        wanted = expected["rows"]
        return [key for key, _ in answer["rows"]] == [binary(row["row"]) for row in wanted] and all(
            cells_match(cells, row["cells"]) for (_, cells), row in zip(answer["rows"], wanted)
        )
    if "cells" in expected and "values" in answer:
        return answer["values"] == [binary(cell[3]) for cell in expected["cells"]]
    if "cells" in expected:
        return cells_match(answer["cells"], expected["cells"])
    return answer == expected


@pytest.mark.skipif(not SCENARIOS, reason="the recordings are not here")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_a_recorded_scenario(scenario):
    with hblite.memory(compactions=False) as db:
        player = Player(db)
        db.clock.stop()
        with scenario.open(encoding="utf-8") as lines:
            ops = [json.loads(line) for line in lines][1:]
        for number, op in enumerate(ops, 2):
            db.clock.advance(milliseconds=10)
            where = f"{scenario.name}:{number}"
            expected = op["expect"]
            try:
                answer = player.play(op)
            except Unsupported:
                if op["op"] not in READS and "error" not in expected:
                    break
                continue
            except hblite.Error as error:
                assert "error" in expected, f"{where}: {error}"
                # A client that gives up names the server's error as the cause.
                recorded = (expected.get("cause") or expected)["error"]
                found = error.hbase_class.rpartition(".")[2]
                assert found == recorded or expected.get("internal"), where
                COMPARED["errors"] += 1
                continue
            assert "error" not in expected, where
            if answer is not None:
                assert matches(answer, expected), f"{where}: {answer}"
                COMPARED["reads"] += 1
        else:
            COMPARED["scenarios"] += 1


@pytest.mark.skipif(not SCENARIOS, reason="the recordings are not here")
def test_enough_was_compared():
    assert COMPARED["reads"] > 700 and COMPARED["errors"] > 100, COMPARED
