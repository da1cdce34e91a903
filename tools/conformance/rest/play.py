#!/usr/bin/env python3
"""Plays requests to REST gateways of an HBase, and compares the answers.

    play.py record URL FILE     writes the requests and the answers of URL, one a line
    play.py compare URL FILE    plays the requests of FILE, and compares the answers with its own
    play.py mark URL FILE       adds hblite's answers that differ for a reason in differences.json

FILE has a line of JSON for each request. An answer that differs on purpose stands beside HBase's,
with the reason; with --hbase at its end, `compare` takes HBase's. The gateways must have empty
stores. `play.py ping URL -` says whether a gateway answers.
"""

import base64
import gzip
import http.client
import json
import os
import re
import sys
import urllib.parse

HEADERS = ["content-type", "content-encoding", "cache-control", "allow", "location", "x-row",
           "x-column", "x-timestamp"]


def normal(body, kind):
    """The parts of a body that are the same in every run."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}
    if kind == "text/plain" and re.match("(Bad request|Not found|Unavailable)\r\n.", text):
        # A stack trace follows the message of an exception.
        text = "".join(text.splitlines(True)[:2])
    # A server's exception comes with its class twice, and Java has its own messages for null.
    text = re.sub(r"(\S+Exception): \1: ", r"\1: ", text)
    text = re.sub(r"(NullPointerException)[^\n]*", r"\1", text)
    text = re.sub(r"\b1[5-9]\d{11}\b", "TIME", text)
    text = re.sub(r"\.[0-9a-f]{32}\.", ".HASH.", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "HOST", text)
    return {"body": text}


def play(host, request, saved):
    path = request["path"]
    for name, value in saved.items():
        path = path.replace("{%s}" % name, value)
    if "{" in path:
        path = "/t/scanner/unsaved"
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.putrequest(request["method"], path, skip_accept_encoding=True)
    body = base64.b64decode(request["body_base64"]) if "body_base64" in request else None
    if body is None and "body" in request:
        body = request["body"].encode()
    for name, value in request["headers"].items():
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders()
    if body:
        connection.send(body)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    headers = {name: response.headers[name] for name in HEADERS if response.headers[name]}
    if len(headers.get("x-timestamp", "")) == 13:
        headers["x-timestamp"] = "TIME"
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if "must-revalidate" in headers.get("cache-control", ""):
        # A page of the web server.
        body = b""
    if request.get("save") and response.status == 201:
        saved[request["save"]] = urllib.parse.urlsplit(headers["location"]).path
    if "location" in headers:
        location = urllib.parse.urlsplit(headers["location"]).path
        headers["location"] = re.sub("(/scanner/).+", r"\1ID", location)
    return {"status": response.status, "headers": headers, **normal(body, headers.get("content-type"))}


def text_of(request):
    made = {name: request[name] for name in ("method", "path", "headers")}
    if request["save"]:
        made["save"] = request["save"]
    if request["body"] is not None:
        try:
            made["body"] = request["body"].decode()
        except UnicodeDecodeError:
            made["body_base64"] = base64.b64encode(request["body"]).decode()
    return made


def record(host, file):
    from requests import REQUESTS

    saved = {}
    with open(file, "w") as out:
        for request in map(text_of, REQUESTS):
            line = {"request": request, "answer": play(host, request, saved)}
            out.write(json.dumps(line, sort_keys=True) + "\n")
    print("%d answers recorded" % len(REQUESTS))


def compare(host, file, is_hbase):
    saved = {}
    count, differences, wrong = 0, 0, 0
    for line in map(json.loads, open(file)):
        count += 1
        request, expected = line["request"], line["answer"]
        if "hblite" in line and not is_hbase:
            differences += 1
            expected = line["hblite"]["answer"]
        answer = play(host, request, saved)
        if answer != expected:
            wrong += 1
            print("%d %s %s\n  headers  %s\n  body     %s\n  expected %s\n  answered %s" % (
                count, request["method"], request["path"], request["headers"],
                str(request.get("body", request.get("body_base64")))[:200],
                json.dumps(expected)[:600], json.dumps(answer)[:600]))
    print("%d answers compared, %d differ on purpose, %d are wrong" % (count, differences, wrong))
    return wrong == 0


def mark(host, file):
    reasons = json.load(open(os.path.join(os.path.dirname(__file__), "differences.json")))
    saved, lines, unused = {}, [], set(reasons)
    for line in map(json.loads, open(file)):
        line.pop("hblite", None)
        request = line["request"]
        answer = play(host, request, saved)
        name = "%s %s" % (request["method"], request["path"])
        if answer != line["answer"] and name in reasons:
            line["hblite"] = {"answer": answer, "reason": reasons[name]}
            unused.discard(name)
        lines.append(json.dumps(line, sort_keys=True) + "\n")
    open(file, "w").writelines(lines)
    if unused:
        sys.exit("these do not differ: %s" % ", ".join(sorted(unused)))


def main():
    is_hbase = sys.argv[-1] == "--hbase"
    if is_hbase:
        sys.argv.pop()
    if len(sys.argv) != 4 or sys.argv[1] not in ("record", "compare", "mark", "ping"):
        sys.exit(__doc__)
    host = urllib.parse.urlsplit(sys.argv[2]).netloc
    if sys.argv[1] == "record":
        record(host, sys.argv[3])
    elif sys.argv[1] == "mark":
        mark(host, sys.argv[3])
    elif sys.argv[1] == "ping":
        http.client.HTTPConnection(host, timeout=20).request("GET", "/version/cluster")
    elif not compare(host, sys.argv[3], is_hbase):
        sys.exit(1)


if __name__ == "__main__":
    main()
