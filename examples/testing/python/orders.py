"""Orders of customers, by customer and number."""

FAMILIES = {"info": {"max_versions": 3}}


class Orders:
    """Reads and writes orders through a happybase connection."""

    def __init__(self, connection):
        self._table = connection.table("orders")

    def place(self, customer, number):
        self._table.put(f"{customer}/{number:06}".encode(), {b"info:state": b"new"})

    def state(self, customer, number):
        """The state of an order, or None if there is none."""
        return self._table.row(f"{customer}/{number:06}".encode()).get(b"info:state")

    def of(self, customer):
        """Keys of the orders of a customer, in order."""
        return [key for key, _ in self._table.scan(row_prefix=f"{customer}/".encode())]
