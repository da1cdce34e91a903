package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import hblite.testing.junit5.HBlite;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Orders are placed and found. */
@ExtendWith(HBlite.class)
class PlacingTest {
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
  void aNewOrderIsNew() throws IOException {
    assertEquals("new", orders.state("ada", 1));
  }

  @Test
  void anUnknownOrderHasNoState() throws IOException {
    assertNull(orders.state("ada", 9));
  }

  @Test
  void anUnknownCustomerHasNoOrders() throws IOException {
    assertEquals(List.of(), orders.last("alan", 10));
  }

  @Test
  void anOrderBelongsToItsCustomer() throws IOException {
    assertEquals("new", orders.state("grace", 1));
    assertNull(orders.state("grace", 2));
  }

  @Test
  void anotherOrderIsAdded() throws IOException {
    orders.place("grace", 2);
    assertEquals("new", orders.state("grace", 2));
  }

  @Test
  void placingTwiceKeepsOneOrder() throws IOException {
    orders.place("ada", 2);
    assertEquals(List.of("ada/000002", "ada/000001"), orders.last("ada", 10));
  }

  @Test
  void manyOrdersAreKept() throws IOException {
    for (int number = 10; number < 60; number++) {
      orders.place("ada", number);
    }
    assertEquals(52, orders.last("ada", 100).size());
  }

  @Test
  void aNameMayHaveSpaces() throws IOException {
    orders.place("ada lovelace", 1);
    assertEquals("new", orders.state("ada lovelace", 1));
  }

  @Test
  void aNameMayHaveOtherLetters() throws IOException {
    orders.place("aña", 1);
    assertEquals("new", orders.state("aña", 1));
  }

  @Test
  void theLastTestLeftNothing() throws IOException {
    assertEquals(2, orders.last("ada", 100).size());
  }
}
