"""The requests that are played to HBase's RESTServer and to hblite's gateway, on an empty store.

Each is a dictionary: method, path, headers, body (bytes), and `save`, the name under which the
path of the answer's Location is kept. A path may begin with a saved name in braces.
"""

import base64
import json

JSON, XML, TEXT = "application/json", "text/xml", "text/plain"
PB, PB_IETF, BINARY = "application/x-protobuf", "application/protobuf", "application/octet-stream"
DESCRIPTIONS = [None, TEXT, XML, JSON, PB, PB_IETF]
CELLS = [None, XML, JSON, PB, PB_IETF, BINARY]


def b64(text):
    data = text if isinstance(text, bytes) else text.encode()
    return base64.b64encode(data).decode()


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(tag, value):
    """A field of a protobuf message: bytes, text or a number."""
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(data)) + data


def row(key, *cells):
    """A row in JSON; a cell is (column, timestamp, value), each of which may be None."""
    made = []
    for column, timestamp, value in cells:
        cell = {}
        if column is not None:
            cell["column"] = b64(column)
        if timestamp is not None:
            cell["timestamp"] = timestamp
        if value is not None:
            cell["$"] = b64(value)
        made.append(cell)
    return ({"Cell": made} if key is None else {"key": b64(key), "Cell": made})


def cells_json(*rows):
    return json.dumps({"Row": list(rows)}).encode()


def cells_xml(*rows):
    out = "<CellSet>"
    for each in rows:
        out += "<Row key='%s'>" % each["key"] if "key" in each else "<Row>"
        for cell in each["Cell"]:
            attributes = "".join(
                " %s='%s'" % (name, cell[name]) for name in ("column", "timestamp") if name in cell
            )
            out += "<Cell%s>%s</Cell>" % (attributes, cell.get("$", ""))
        out += "</Row>"
    return (out + "</CellSet>").encode()


def cells_pb(*rows):
    out = b""
    for each in rows:
        message = field(1, base64.b64decode(each["key"])) if "key" in each else b""
        for cell in each["Cell"]:
            inner = field(2, base64.b64decode(cell["column"])) if "column" in cell else b""
            if "timestamp" in cell:
                inner += field(3, cell["timestamp"])
            inner += field(4, base64.b64decode(cell.get("$", "")))
            message += field(2, inner)
        out += field(1, message)
    return out


REQUESTS = []


def play(method, path, body=None, kind=None, accept=None, save=None, **headers):
    all_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind is not None:
        all_headers["Content-Type"] = kind
    if accept is not None:
        all_headers["Accept"] = accept
    if isinstance(body, str):
        body = body.encode()
    REQUESTS.append(
        {"method": method, "path": path, "headers": all_headers, "body": body, "save": save}
    )


def get(path, accept=None, **headers):
    play("GET", path, accept=accept, **headers)


def tables():
    for accept in DESCRIPTIONS:
        get("/", accept)
        get("/version/cluster", accept)
        get("/namespaces", accept)
    get("/version/rest/rest/cluster")
    get("/version/nope")
    get("/status")
    get("/status/nope")
    families = [{"name": "a", "VERSIONS": "3"}, {"name": "b"}]
    play("PUT", "/t/schema", json.dumps({"name": "t", "ColumnSchema": families}), JSON)
    for accept in DESCRIPTIONS + ["*/*", BINARY, "application/*", "text/*", "text/html"]:
        get("/t/schema", accept)
        get("/", accept)
        get("/t/exists", accept)
        get("/nope/exists", accept)
        if "protobuf" not in str(accept):
            # It has the time at which the table was created.
            get("/t/regions", accept)
        get("/nope/schema", accept)
    xml = "<TableSchema name='x'><ColumnSchema name='f' BLOCKSIZE='4096' TTL='60'/></TableSchema>"
    play("POST", "/u/schema", xml, XML)
    get("/u/schema", JSON)
    play("POST", "/u/schema", "<TableSchema><ColumnSchema name='f' TTL='90'/>"
         "<ColumnSchema name='g'/></TableSchema>", XML)
    get("/u/schema", JSON)
    play("PUT", "/u/schema", "<TableSchema READONLY='false'><ColumnSchema name='h'/></TableSchema>",
         XML)
    get("/u/schema", XML)
    get("/u/schema", PB)
    attribute = field(1, "BLOCKSIZE") + field(2, "8192")
    family = field(1, "p") + field(2, attribute) + field(3, 100) + field(4, 2) + field(5, "NONE")
    play("PUT", "/v/schema", field(1, "v") + field(3, family) + field(5, 0), PB)
    get("/v/schema", JSON)
    for body in ["", "{", "[]", "{}", '{"ColumnSchema":{}}', '{"ColumnSchema":[{"name":"a:b"}]}',
                 '{"ColumnSchema":[{"name":""}]}', '{"ColumnSchema":[{}]}', "null", "7"]:
        play("PUT", "/w/schema", body, JSON)
        play("POST", "/w/schema", body, JSON)
    for body in ["", "<", "<TableSchema/>", "<Other/>"]:
        play("PUT", "/w/schema", body, XML)
    for body in [b"", b"\xff\xff", b"\x0a\x05a"]:
        play("PUT", "/w/schema", body, PB)
    for kind in [None, TEXT, BINARY, "application/json; charset=utf-8", "APPLICATION/JSON"]:
        play("PUT", "/y/schema", '{"ColumnSchema":[{"name":"f"}]}', kind)
        play("DELETE", "/y/schema")
    play("PUT", "/bad%20name/schema", '{"ColumnSchema":[{"name":"f"}]}', JSON)
    get("/bad%20name/schema")
    get("/bad%20name/exists")
    get("/bad%20name/regions")
    play("DELETE", "/bad%20name/schema")
    play("DELETE", "/nope/schema")
    play("DELETE", "/u/schema")
    play("DELETE", "/u/schema")
    for path in ["/t", "/t/", "/t/schema/x", "/t/exists/", "/t/regions/x", "//t", "/t/schema/"]:
        get(path)
    for method in ["PUT", "POST", "DELETE", "PATCH"]:
        for path in ["/", "/version", "/t", "/t/exists", "/t/regions", "/namespaces"]:
            play(method, path, b"" if method != "DELETE" else None, JSON)


def namespaces():
    play("POST", "/namespaces/n1")
    play("POST", "/namespaces/n1", "{}", JSON)
    play("POST", "/namespaces/n2", '{"properties":{"key1":"v1","k2":"v2","other":"v3"}}', JSON)
    play("POST", "/namespaces/n3", "<NamespaceProperties><properties><entry><key>k</key>"
         "<value>v&amp;</value></entry></properties></NamespaceProperties>", XML)
    play("POST", "/namespaces/n4", field(1, field(1, "k") + field(2, "v")), PB)
    for name in ["n1", "n2", "n3", "n4"]:
        for accept in DESCRIPTIONS:
            get("/namespaces/" + name, accept)
    play("PUT", "/namespaces/n2", '{"properties":{"k2":"changed"}}', JSON)
    get("/namespaces/n2", JSON)
    play("PUT", "/namespaces/nope", "{}", JSON)
    play("PUT", "/namespaces/n1")
    play("PUT", "/n1:t/schema", '{"ColumnSchema":[{"name":"f"}]}', JSON)
    for accept in DESCRIPTIONS:
        get("/namespaces/n1/tables", accept)
    get("/namespaces/nope/tables", JSON)
    get("/namespaces/nope", JSON)
    get("/namespaces/n1/other", JSON)
    get("/n1:t/schema", JSON)
    get("/n1%3At/exists")
    get("/n1:t/regions", JSON)
    play("DELETE", "/namespaces/n1")
    play("DELETE", "/namespaces/n1/tables")
    play("POST", "/namespaces/n1/tables", "{}", JSON)
    play("PUT", "/namespaces/n1/tables", '{"properties":{"k":"by tables"}}', JSON)
    get("/namespaces/n1", JSON)
    play("DELETE", "/n1:t/schema")
    play("DELETE", "/namespaces/n1")
    play("DELETE", "/namespaces/n1")
    play("DELETE", "/namespaces/hbase")
    for body in ["", "{", '{"other":1}', "[]", '{"properties":[]}']:
        play("POST", "/namespaces/n5", body, JSON)
    play("POST", "/namespaces/n-6", "{}", JSON)
    play("POST", "/namespaces/n7", "x", TEXT)


def rows():
    three = [("r1", ("a:1", 100, "v1"), ("a:2", 100, "v2"), ("b:1", 200, "w")),
             ("r2", ("a:1", 100, "x"), ("a:1", 110, "y"), ("a:1", 120, "z")),
             ("r3", ("b:", 100, ""), ("b:\xff", 100, "\x00\xff"))]
    made = [row(*each) for each in three]
    play("PUT", "/t/r1", cells_json(*made), JSON)
    play("PUT", "/t/r1", cells_xml(row("s1", ("a:1", 5, "xml"))), XML)
    play("PUT", "/t/r1", cells_pb(row("s2", ("a:1", 5, "pb"))), PB)
    play("POST", "/t/s3", cells_pb(row("s3", ("a:1", 5, "pb2"))), PB_IETF)
    play("PUT", "/t/s4/a:1", b"plain\x00", BINARY, X_Timestamp="7")
    play("POST", "/t/s5/a:1", b"elsewhere", BINARY, X_Row="s6", X_Column="b:2", X_Timestamp="8")
    play("PUT", "/t/s7/a:1,a:2", cells_json(row(None, (None, 9, "one"), (None, 9, "two"))), JSON)
    for path in ["/t/r1", "/t/r2", "/t/r3", "/t/s1", "/t/s2", "/t/s3", "/t/s4/a:1", "/t/s6", "/t/s7",
                 "/t/r1/a:1", "/t/r1/a", "/t/r1/a:", "/t/r1/a:1,b:1", "/t/r1/a:1,b", "/t/nope",
                 "/nope/r1", "/t/r1/zz", "/t/r1/zz:1", "/t/r2?v=2", "/t/r2?v=9", "/t/r2/a:1/115?v=5",
                 "/t/r2/a:1/100,120?v=5", "/t/r2/a:1/121?v=1", "/t/r1,r3", "/t/r1,r3/a:1",
                 "/t/r1,r1", "/t/r3,r1", "/t/r1,", "/t/s*/a:1", "/t/r%2A", "/t/r*/a:1"]:
        for accept in [None, XML, JSON, PB, BINARY]:
            get(path, accept)
    for accept in CELLS + ["*/*", TEXT, "text/html", "application/*", "image/png",
                           "application/json;q=0.1, text/xml;q=0.9", "*/*;q=0.1, " + JSON]:
        get("/t/r1/a:1", accept)
    for path in ["/t/r1?v=0", "/t/r1?v=-1", "/t/r1?v=x", "/t/r1?v=", "/t/r1/a:1/x", "/t/r1/a:1/",
                 "/t/r1/a:1/5,4", "/t/r1/a:1/-5", "/t/r1/,a", "/t/r1/a,", "/t/r1//100", "/t//r1",
                 "/t/r1/", "/t///", "/t/r1/a:1/100/", "/t/r1/a:1/150/x", "/t/*,r2", "/t/r1*,r2/a",
                 "/t/a*b", "/t/a/b*", "/t/r1?nocache=1", "/t/r%31", "/t/r+1", "/t/%72%31/a%3A1",
                 "/t/r1/a:1/150/%3Fm=2", "/t/r2/a:1/150/%3Fx=2", "/bad%20name/r1"]:
        get(path, JSON)
    get("/t/cjE=/YTox?e=b64", JSON)
    get("/t/cjE=/YTox?e=b64basic", JSON)
    get("/t/cjE/YTox?e=base64url", JSON)
    get("/t/cjE=?e=hex", JSON)
    get("/t/!!!?e=b64", JSON)
    get("/t/cjE=", JSON, Encoding="b64")
    play("PUT", "/t/" + b64(b"\xfe\xff").replace("+", "-").replace("/", "_"),
         cells_json(row(b"\xfe\xff", ("a:1", 5, b"\xff"))), JSON)
    get("/t/_v8=?e=b64", JSON)
    play("HEAD", "/t/r1", accept=JSON)
    play("HEAD", "/t/nope", accept=JSON)


def bad_bodies():
    good = row("q1", ("a:1", 5, "v"))
    for body in ["", "{", "{}", "[]", "null", '{"Row":{}}', '{"Row":[]}', '{"Row":null}',
                 '{"Other":1}', '{"Row":[{"key":"?"}]}', '{"Row":[{"key":"cTE=","Cell":[{}]}]}',
                 '{"Row":[{"key":"","Cell":[{"column":"YTox","$":"dg=="}]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[{"column":"YTox","$":"dg==","other":1}]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[{"column":"YQ==","$":"dg=="}]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[{"column":"YTox","timestamp":-5,"$":"dg=="}]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[{"column":"YTox","timestamp":"9","$":"dg=="}]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[{"column":"eno6MQ==","$":"dg=="}]}]}',
                 '{"Row":[{"key":"cTE=","Cell":[{"column":"YTox","timestamp":4}]}]}']:
        play("PUT", "/t/q1", body, JSON)
    for body in ["", "<", "<CellSet/>", "<Other/>", "<CellSet><Row/></CellSet>",
                 "<CellSet><Row key='cTE='><Cell/></Row></CellSet>",
                 "<!DOCTYPE a [<!ENTITY e 'x'>]><CellSet>&e;</CellSet>"]:
        play("PUT", "/t/q1", body, XML)
    for body in [b"", b"\xff", field(1, b""), field(1, field(1, "q1")), field(9, "x")]:
        play("PUT", "/t/q1", body, PB)
    for kind in [None, TEXT, "text/json", "application/xml", "application/json; charset=utf-8"]:
        play("PUT", "/t/q1", cells_json(good), kind)
        play("POST", "/t/q1", cells_json(good), kind)
    play("PUT", "/nope/q1", cells_json(good), JSON)
    play("PUT", "/t/q1", cells_json(row("q1", ("zz:1", 5, "v"))), JSON)
    play("PUT", "/t/q1", b"x", BINARY)
    play("PUT", "/t/q1", b"x", BINARY, X_Column="a:1")
    play("PUT", "/t/q1/a", b"x", BINARY)
    play("PUT", "/t/q1/zz:1", b"x", BINARY)
    play("PUT", "/t/q1/a:1", b"x", BINARY, X_Timestamp="y")
    play("PUT", "/t/q1/a:", b"", BINARY, X_Timestamp="3")
    play("PUT", "/nope/q1/a:1", b"x", BINARY)
    get("/t/q1", JSON)


def changes():
    values = row("c1", ("a:1", 5, "old"), ("a:2", 5, "kept"))
    play("PUT", "/t/c1", cells_json(values), JSON)
    check = lambda *cells: cells_json(row("c1", *cells))
    put, delete = "/t/c1?check=put", "/t/c1/a:1?check=delete"
    play("PUT", put, check(("a:1", 6, "new"), ("a:1", None, "other")), JSON)
    play("PUT", put, check(("a:1", 6, "new"), ("a:1", None, "old")), JSON)
    play("POST", put, cells_xml(row("c1", ("a:1", 7, "xml"), ("a:1", None, "new"))), XML)
    play("PUT", put, check(("a:1", 8, "x")), JSON)
    play("PUT", put, check(("a:2", 8, "x"), ("a:1", None, "xml")), JSON)
    play("PUT", put, check(("a", 8, "x"), ("a:1", None, "xml")), JSON)
    play("PUT", put, check((None, 8, "x"), ("a:1", None, "xml")), JSON)
    play("PUT", put, check(("a:1", 8, "x"), ("a", None, "xml")), JSON)
    play("PUT", put, check(("a:1", 8, "x"), (None, None, "xml")), JSON)
    play("PUT", put, cells_json(values, values), JSON)
    play("PUT", put, check(("zz:1", 8, "x"), ("zz:1", None, "xml")), JSON)
    play("PUT", "/nope/c1?check=put", check(("a:1", 8, "x"), ("a:1", None, "xml")), JSON)
    play("PUT", "/t/c1?check=other", check(("a:1", 8, "x")), JSON)
    play("PUT", "/t/c1?check=", check(("a:3", 8, "x")), JSON)
    get("/t/c1", JSON)
    play("PUT", delete, check(("a:1", None, "no")), JSON)
    play("PUT", delete, check(("a:1", None, "xml")), JSON)
    get("/t/c1", JSON)
    play("PUT", delete, check(("a:3", 8, None), ("a:2", None, "kept")), JSON)
    play("PUT", delete, check(("a", 8, None), ("a:2", None, "nope")), JSON)
    play("PUT", delete, check(("a", None, None)), JSON)
    play("PUT", delete, check((None, None, "xml")), JSON)
    play("PUT", delete, check(), JSON)
    play("PUT", "/t/c1?check=delete", check((None, None, "xml")), JSON)
    get("/t/c1", JSON)
    for accept in [None, XML, JSON, PB, PB_IETF, "image/png"]:
        play("PUT", "/t/c2?check=increment&rr=true", cells_json(row("c2", ("a:n", None, "5"))), JSON,
             accept)
        play("PUT", "/t/c3?check=append", cells_json(row("c3", ("a:t", None, "x"))), JSON, accept)
    play("PUT", "/t/c2/a:n?check=increment", cells_json(row(None, (None, None, "-2"))), JSON)
    play("PUT", "/t/c2?check=increment", cells_json(row("c2", ("a:n", None, "x"))), JSON)
    play("PUT", "/t/c2?check=increment", cells_json(row("c2", ("a", None, "1"))), JSON)
    play("PUT", "/t/c2?check=increment", cells_json(row("c2")), JSON)
    play("PUT", "/t/c2?check=append", cells_json(row("c2", ("a", None, "1"))), JSON)
    play("PUT", "/t/c2?check=append", cells_json(row("c2")), JSON)
    play("PUT", "/nope/c2?check=append", cells_json(row("c2", ("a:1", None, "1"))), JSON)
    play("PUT", "/t/c2?check=append", cells_json(row("c2", ("zz:1", None, "1"))), JSON)
    get("/t/c2/a:n", BINARY)
    get("/t/c3/a:t", BINARY)
    play("PUT", "/t/d1", cells_json(row("d1", ("a:1", 5, "1"), ("a:1", 6, "2"), ("a:2", 5, "3"),
                                        ("b:1", 5, "4"), ("b:2", 5, "5"))), JSON)
    for path in ["/t/d1/a:1/5", "/t/d1/a:1", "/t/d1/b/4", "/t/d1/b", "/t/d1/a:2,b:9", "/t/d1",
                 "/t/nope", "/nope/d1", "/t/d1/zz:1", "/t/d1/a:1/x", "/t/d1/a:1/-3"]:
        play("DELETE", path)
        get("/t/d1?v=3", JSON)


def many_rows():
    for index in range(25):
        made = row("m%02d" % index, ("a:1", 5, "v%d" % index), ("a:2", 5, "w"), ("b:1", 6, "x"))
        play("PUT", "/t/m", cells_json(made), JSON)
    for path in ["/t/m*", "/t/*?limit=2&startrow=m", "/t/m0*?column=a:1", "/t/m0*?column=a:1&column=b",
                 "/t/m*?limit=11&column=a:1", "/t/m*?startrow=m20&column=a:1",
                 "/t/m*?startrow=m10&endrow=m12", "/t/m*?limit=0", "/t/m*?limit=-1", "/t/zz*",
                 "/t/m00*?batchsize=2", "/t/m00*?batchsize=1", "/t/m*?starttime=6&limit=1",
                 "/t/m*?endtime=6&limit=1", "/t/r2*?maxversions=2", "/t/m00*?column=b:1&maxversions=0",
                 "/t/m*?reversed=true&startrow=m03&column=a:1", "/t/*?filter=PrefixFilter('m1')&limit=3",
                 "/t/m*?filter=ValueFilter(=,'binary:v7')", "/t/m*?filter=PageFilter(2)&column=a:1",
                 "/t/m*?filter_b64=" + b64("ValueFilter(=,'binary:v8')"), "/t/m*?cacheblocks=false&limit=1"]:
        for accept in [None, JSON, PB, PB_IETF]:
            get(path, accept)
    for path in ["/t/m*?limit=x", "/t/m*?starttime=x", "/t/m*?starttime=9&endtime=3",
                 "/t/m*?filter=Nope('x')", "/t/m*?filter=PrefixFilter(", "/t/m*?filter_b64=!",
                 "/nope/*", "/bad%20name/*", "/t/m*?column=zz:1", "/t/m*?batchsize=x"]:
        get(path, JSON)
    get("/t/m*", BINARY)
    get("/t/m*", TEXT)
    play("PUT", "/t/m*", b"{}", JSON)
    for path in ["/t/multiget?row=m00&row=m01", "/t/multiget/a:1?row=m00&row=m01",
                 "/t/multiget/a:1,b:1?row=m00", "/t/multiget/a:1,?row=m00", "/t/multiget?row=m00/a:2",
                 "/t/multiget?row=nope", "/t/multiget", "/t/multiget/?row=m00", "/t/multigetx?row=m00",
                 "/t/multiget?row=r2&v=2", "/t/multiget?row=m00&row=nope&row=m02",
                 "/t/multiget?row=bTAw&e=b64", "/t/multiget?row=m00&filter=QualifierFilter(=,'binary:2')",
                 "/t/multiget?row=m00&filter_b64=" + b64("QualifierFilter(=,'binary:1')")]:
        for accept in [None, JSON, PB]:
            get(path, accept)
    for path in ["/t/multiget?row=", "/t/multiget?row=m00&v=x", "/t/multiget/zz:1?row=m00",
                 "/nope/multiget?row=m00", "/t/multiget?row=m00&filter=Nope(1)",
                 "/t/multiget?row=m00&v=0", "/t/multiget?row=%2Fm00"]:
        get(path, JSON)
    get("/t/multiget?row=m00", BINARY)
    get("/t/m0*", JSON, Accept_Encoding="gzip")
    get("/t/m00", XML, Accept_Encoding="gzip, deflate")
    get("/t/m00/a:1", BINARY, Accept_Encoding="gzip")
    get("/t/nope", JSON, Accept_Encoding="gzip")
    get("/version/cluster", TEXT, Accept_Encoding="gzip")
    play("PUT", "/t/z1", cells_json(row("z1", ("a:1", 5, "v"))), JSON, Accept_Encoding="gzip")


def filter_of(**fields):
    return json.dumps(fields)


EQUAL = {"type": "BinaryComparator", "value": b64("v7")}
FILTERS = [
    filter_of(type="PrefixFilter", value=b64("m1")),
    filter_of(type="PageFilter", value="2"),
    filter_of(type="KeyOnlyFilter"),
    filter_of(type="FirstKeyOnlyFilter"),
    filter_of(type="ValueFilter", op="EQUAL", comparator=EQUAL),
    filter_of(type="ValueFilter", op="EQUAL", comparator={"type": "SubstringComparator", "value": "7"}),
    filter_of(type="RowFilter", op="EQUAL", comparator={"type": "RegexStringComparator", "value": "m.3"}),
    filter_of(type="FamilyFilter", op="EQUAL", comparator={"type": "BinaryComparator", "value": b64("b")}),
    filter_of(type="QualifierFilter", op="LESS_OR_EQUAL",
              comparator={"type": "BinaryPrefixComparator", "value": b64("1")}),
    filter_of(type="ValueFilter", op="NOT_EQUAL", comparator={"type": "NullComparator"}),
    filter_of(type="ValueFilter", op="EQUAL",
              comparator={"type": "BitComparator", "value": b64("w"), "op": "AND"}),
    filter_of(type="SingleColumnValueFilter", family=b64("a"), qualifier=b64("1"), op="EQUAL",
              comparator=EQUAL, ifMissing=True, latestVersion=True),
    filter_of(type="SingleColumnValueExcludeFilter", family=b64("a"), qualifier=b64("1"), op="EQUAL",
              comparator=EQUAL, ifMissing=True),
    filter_of(type="DependentColumnFilter", family=b64("a"), qualifier=b64("1"), op="EQUAL",
              comparator=EQUAL, dropDependentColumn=False),
    filter_of(type="ColumnPrefixFilter", value=b64("1")),
    filter_of(type="MultipleColumnPrefixFilter", prefixes=[b64("1"), b64("2")]),
    filter_of(type="ColumnRangeFilter", minColumn=b64("1"), minColumnInclusive=False,
              maxColumn=b64("3"), maxColumnInclusive=True),
    filter_of(type="ColumnCountGetFilter", limit=2),
    filter_of(type="ColumnPaginationFilter", limit=1, offset=1),
    filter_of(type="InclusiveStopFilter", value=b64("m02")),
    filter_of(type="TimestampsFilter", timestamps=[6]),
    filter_of(type="RandomRowFilter", chance=1.5),
    filter_of(type="MultiRowRangeFilter", ranges=[
        {"startRow": b64("m03"), "startRowInclusive": True, "stopRow": b64("m05"),
         "stopRowInclusive": False}]),
    filter_of(type="FuzzyRowFilter", fuzzyKeys=[{"key": b64("m03"), "mask": b64(b"\x00\x01\x00")}]),
    filter_of(type="FilterList", op="MUST_PASS_ONE", filters=[
        {"type": "PrefixFilter", "value": b64("m01")}, {"type": "PrefixFilter", "value": b64("m02")}]),
    filter_of(type="SkipFilter", filters=[
        {"type": "ValueFilter", "op": "NOT_EQUAL", "comparator": EQUAL}]),
    filter_of(type="WhileMatchFilter", filters=[
        {"type": "RowFilter", "op": "LESS", "comparator": {"type": "BinaryComparator", "value": b64("m02")}}]),
]
BAD_FILTERS = ["{", "{}", "[]", "7", filter_of(type="Nope"), filter_of(type="PageFilter"),
               filter_of(type="PrefixFilter", value="?"), filter_of(type="KeyOnlyFilter", other=1),
               filter_of(type="ValueFilter", op="NOPE", comparator=EQUAL),
               filter_of(type="FilterList", op="MUST_PASS_ALL"), filter_of(type="SkipFilter", filters=[]),
               filter_of(type="RowFilter", op="EQUAL", comparator={"type": "RegexStringComparator", "value": "("})]


def scanners():
    count = 0

    def scanner(body, kind, reads, method="PUT", table="t"):
        nonlocal count
        count += 1
        name = "s%d" % count
        play(method, "/%s/scanner" % table, body, kind, save=name)
        for path, accept in reads:
            get("{%s}%s" % (name, path), accept)
        play("DELETE", "{%s}" % name)
        get("{%s}" % name, JSON)

    for accept in CELLS:
        scanner("<Scanner batch='2' startRow='%s'/>" % b64("m00"), XML, [("", accept)] * 4)
    every = [("", JSON)] * 3
    bounds = {"startRow": b64("m00"), "endRow": b64("m04")}
    scanner(json.dumps({"batch": 5, **bounds}), JSON, every, "POST")
    scanner(json.dumps({"column": [b64("a:1"), b64("b")], **bounds}), JSON, every)
    scanner(json.dumps({"maxVersions": 2, "column": [b64("a:1")], "startRow": b64("r2")}), JSON, every)
    scanner(json.dumps({"startTime": 6, "endTime": 7, **bounds}), JSON, every)
    scanner(json.dumps({"caching": 3, "cacheBlocks": False, **bounds}), JSON, every)
    scanner(json.dumps({"batch": 0, **bounds}), JSON, every)
    scanner(json.dumps({"labels": ["x"], **bounds}), JSON, every)
    scanner(json.dumps({"startRow": b64("m01"), "endRow": b64("m01")}), JSON, every)
    scanner(json.dumps(bounds), JSON, [("?n=1", JSON), ("?n=2", XML), ("?n=9", JSON), ("", JSON)])
    scanner(json.dumps(bounds), JSON, [("?c=2", JSON), ("?c=2&n=1", JSON), ("?n=x", JSON), ("?c=x", JSON)])
    xml = "<Scanner batch='100'><column>%s</column><filter>%s</filter></Scanner>"
    text = FILTERS[0].replace('"', "&quot;")
    scanner(xml % (b64("a:1"), text), XML, every)
    message = field(1, "m00") + field(2, "m03") + field(3, "a:1") + field(4, 4) + field(7, 1)
    scanner(message, PB, every)
    scanner(message + field(8, FILTERS[0]) + field(9, 2) + field(11, 1), PB_IETF, every)
    for text in FILTERS:
        wanted = {"startRow": b64("m00"), "endRow": b64("m20"), "filter": text}
        scanner(json.dumps(wanted), JSON, [("", JSON), ("", JSON)])
    for text in BAD_FILTERS:
        play("PUT", "/t/scanner", json.dumps({"filter": text}), JSON)
    for body in ["", "{", "[]", '{"other":1}', '{"batch":"x"}', '{"startTime":9,"endTime":3}',
                 '{"column":["?"]}', '{"column":["eno6MQ=="]}', '{"maxVersions":0}', "null"]:
        scanner(body, JSON, [("", JSON)])
    for body in ["", "<", "<Other/>", "<Scanner batch='x'/>", "<Scanner other='1'/>"]:
        scanner(body, XML, [("", XML)])
    scanner(b"\xff", PB, [])
    scanner("{}", JSON, [("", JSON)], table="nope")
    scanner("{}", JSON, [], table="bad%20name")
    play("PUT", "/t/scanner", "{}", TEXT)
    play("PUT", "/t/scanner", "{}", None)
    get("/t/scanner")
    get("/t/scanner/nope", JSON)
    get("/t/scanner/nope", TEXT)
    play("DELETE", "/t/scanner/nope")
    play("DELETE", "/t/scanner")
    play("PUT", "/t/scanner/nope", "{}", JSON)


for part in [tables, namespaces, rows, bad_bodies, changes, many_rows, scanners]:
    part()
