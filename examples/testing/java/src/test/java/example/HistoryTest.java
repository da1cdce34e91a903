package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import hblite.testing.junit5.HBlite;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The last three states of an order are kept. */
@ExtendWith(HBlite.class)
class HistoryTest {
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

  /**
   * A change in a later millisecond than all before: HBase keeps one version for each, and this
   * machine's clock is the server's.
   */
  private void change(String customer, int number, String expected, String state)
      throws IOException {
    long before = System.currentTimeMillis();
    while (System.currentTimeMillis() == before) {
      Thread.onSpinWait();
    }
    orders.change(customer, number, expected, state);
  }

  @Test
  void aNewOrderHasOneState() throws IOException {
    assertEquals(List.of("new"), orders.history("ada", 1));
  }

  @Test
  void anUnknownOrderHasNone() throws IOException {
    assertEquals(List.of(), orders.history("ada", 9));
  }

  @Test
  void theNewestStateIsFirst() throws IOException {
    change("ada", 1, "new", "paid");
    assertEquals(List.of("paid", "new"), orders.history("ada", 1));
  }

  @Test
  void threeStatesAreKept() throws IOException {
    change("ada", 1, "new", "paid");
    change("ada", 1, "paid", "sent");
    assertEquals(List.of("sent", "paid", "new"), orders.history("ada", 1));
  }

  @Test
  void aFourthStateReplacesTheOldest() throws IOException {
    change("ada", 1, "new", "paid");
    change("ada", 1, "paid", "sent");
    change("ada", 1, "sent", "done");
    assertEquals(List.of("done", "sent", "paid"), orders.history("ada", 1));
  }

  @Test
  void aRefusedChangeIsNotKept() throws IOException {
    change("ada", 1, "paid", "sent");
    assertEquals(List.of("new"), orders.history("ada", 1));
  }

  @Test
  void viewsAreNoStates() throws IOException {
    orders.view("ada", 1);
    assertEquals(List.of("new"), orders.history("ada", 1));
  }

  @Test
  void aRemovedOrderHasNoHistory() throws IOException {
    change("ada", 1, "new", "paid");
    orders.remove("ada", 1);
    assertEquals(List.of(), orders.history("ada", 1));
  }

  @Test
  void ordersHaveHistoriesOfTheirOwn() throws IOException {
    change("ada", 1, "new", "paid");
    assertEquals(List.of("new"), orders.history("ada", 2));
  }

  @Test
  void customersHaveHistoriesOfTheirOwn() throws IOException {
    change("grace", 1, "new", "paid");
    assertEquals(List.of("new"), orders.history("ada", 1));
  }
}
