"""Python's clients of HBase speak Thrift or REST; what speaks HBase's own protocol is a program that
the test starts, and it is told the port."""

import json
import socket


def four_letters(port, word):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(word)
        return connection.makefile("rb").read()


def test_it_answers(hbase):
    assert four_letters(hbase["zookeeper_port"], b"ruok") == b"imok"


def test_the_port_file_has_the_same(hbase, tmp_path):
    assert json.loads((tmp_path / "ports").read_text()) == hbase
