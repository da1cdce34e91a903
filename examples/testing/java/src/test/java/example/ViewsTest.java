package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import hblite.testing.junit5.HBlite;
import java.io.IOException;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Views of an order are counted. */
@ExtendWith(HBlite.class)
class ViewsTest {
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
  void theFirstViewCountsOne() throws IOException {
    assertEquals(1, orders.view("ada", 1));
  }

  @Test
  void viewsAddUp() throws IOException {
    orders.view("ada", 1);
    assertEquals(2, orders.view("ada", 1));
  }

  @Test
  void ordersAreCountedApart() throws IOException {
    orders.view("ada", 1);
    assertEquals(1, orders.view("ada", 2));
  }

  @Test
  void customersAreCountedApart() throws IOException {
    orders.view("ada", 1);
    assertEquals(1, orders.view("grace", 1));
  }

  @Test
  void aHundredViewsAreCounted() throws IOException {
    for (int view = 1; view < 100; view++) {
      orders.view("ada", 1);
    }
    assertEquals(100, orders.view("ada", 1));
  }

  @Test
  void aViewKeepsTheState() throws IOException {
    orders.view("ada", 1);
    assertEquals("new", orders.state("ada", 1));
  }

  @Test
  void aChangeKeepsTheViews() throws IOException {
    orders.view("ada", 1);
    orders.change("ada", 1, "new", "paid");
    assertEquals(2, orders.view("ada", 1));
  }

  @Test
  void anUnknownOrderCanBeViewed() throws IOException {
    assertEquals(1, orders.view("ada", 9));
    assertNull(orders.state("ada", 9));
  }

  @Test
  void viewsEndWithTheirOrder() throws IOException {
    orders.view("ada", 1);
    orders.remove("ada", 1);
    orders.place("ada", 1);
    assertEquals(1, orders.view("ada", 1));
  }

  @Test
  void theLastTestCountedNothing() throws IOException {
    assertEquals(1, orders.view("grace", 1));
  }
}
