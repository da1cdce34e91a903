import happybase
import pytest

from orders import FAMILIES, Orders


def connect(server):
    return happybase.Connection("127.0.0.1", server.thrift_port)


@pytest.fixture(scope="session")
def hbase_setup(hbase_server):
    """Every test begins with an empty table."""
    connect(hbase_server).create_table("orders", FAMILIES)


@pytest.fixture
def orders(hbase):
    return Orders(connect(hbase))


def test_a_new_order_is_new(orders):
    orders.place("ada", 1)
    assert orders.state("ada", 1) == b"new"


def test_the_last_test_left_nothing(orders):
    assert orders.of("ada") == []


def test_orders_are_listed_in_order(orders):
    for number in (20, 3, 100):
        orders.place("ada", number)
    orders.place("adam", 1)
    assert orders.of("ada") == [b"ada/000003", b"ada/000020", b"ada/000100"]
