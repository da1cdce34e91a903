package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import hblite.testing.junit5.HBlite;
import java.io.IOException;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** States change from the expected one only. */
@ExtendWith(HBlite.class)
class ChangingTest {
  private Orders orders;

  @BeforeAll
  static void createTable(Connection connection) throws IOException {
    Orders.createTable(connection);
  }

  @BeforeEach
  void placeOrders(Connection connection) throws IOException {
    orders = new Orders(connection);
    orders.place("ada", 1);
    orders.place("ada", 2);
    orders.place("grace", 1);
  }

  @Test
  void aNewOrderIsPaid() throws IOException {
    assertTrue(orders.change("ada", 1, "new", "paid"));
    assertEquals("paid", orders.state("ada", 1));
  }

  @Test
  void anOrderIsPaidOnce() throws IOException {
    assertTrue(orders.change("ada", 1, "new", "paid"));
    assertFalse(orders.change("ada", 1, "new", "paid"));
  }

  @Test
  void aRefusedChangeChangesNothing() throws IOException {
    assertFalse(orders.change("ada", 1, "paid", "sent"));
    assertEquals("new", orders.state("ada", 1));
  }

  @Test
  void anUnknownOrderDoesNotChange() throws IOException {
    assertFalse(orders.change("ada", 9, "new", "paid"));
    assertNull(orders.state("ada", 9));
  }

  @Test
  void anOrderGoesAllTheWay() throws IOException {
    assertTrue(orders.change("ada", 1, "new", "paid"));
    assertTrue(orders.change("ada", 1, "paid", "sent"));
    assertEquals("sent", orders.state("ada", 1));
  }

  @Test
  void otherOrdersStay() throws IOException {
    assertTrue(orders.change("ada", 1, "new", "paid"));
    assertEquals("new", orders.state("ada", 2));
  }

  @Test
  void otherCustomersStay() throws IOException {
    assertTrue(orders.change("ada", 1, "new", "paid"));
    assertEquals("new", orders.state("grace", 1));
  }

  @Test
  void anOrderIsCancelled() throws IOException {
    assertTrue(orders.change("ada", 2, "new", "cancelled"));
    assertFalse(orders.change("ada", 2, "new", "paid"));
  }

  @Test
  void anOrderIsPlacedAgain() throws IOException {
    assertTrue(orders.change("ada", 2, "new", "cancelled"));
    orders.place("ada", 2);
    assertEquals("new", orders.state("ada", 2));
  }

  @Test
  void aStateMayBeEmpty() throws IOException {
    assertTrue(orders.change("ada", 1, "new", ""));
    assertEquals("", orders.state("ada", 1));
  }
}
