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
    orders.change("ada", 1, "new", "paid");
    assertEquals(List.of("paid", "new"), orders.history("ada", 1));
  }

  @Test
  void threeStatesAreKept() throws IOException {
    orders.change("ada", 1, "new", "paid");
    orders.change("ada", 1, "paid", "sent");
    assertEquals(List.of("sent", "paid", "new"), orders.history("ada", 1));
  }

  @Test
  void aFourthStateReplacesTheOldest() throws IOException {
    orders.change("ada", 1, "new", "paid");
    orders.change("ada", 1, "paid", "sent");
    orders.change("ada", 1, "sent", "done");
    assertEquals(List.of("done", "sent", "paid"), orders.history("ada", 1));
  }

  @Test
  void aRefusedChangeIsNotKept() throws IOException {
    orders.change("ada", 1, "paid", "sent");
    assertEquals(List.of("new"), orders.history("ada", 1));
  }

  @Test
  void viewsAreNoStates() throws IOException {
    orders.view("ada", 1);
    assertEquals(List.of("new"), orders.history("ada", 1));
  }

  @Test
  void aRemovedOrderHasNoHistory() throws IOException {
    orders.change("ada", 1, "new", "paid");
    orders.remove("ada", 1);
    assertEquals(List.of(), orders.history("ada", 1));
  }

  @Test
  void ordersHaveHistoriesOfTheirOwn() throws IOException {
    orders.change("ada", 1, "new", "paid");
    assertEquals(List.of("new"), orders.history("ada", 2));
  }

  @Test
  void customersHaveHistoriesOfTheirOwn() throws IOException {
    orders.change("grace", 1, "new", "paid");
    assertEquals(List.of("new"), orders.history("ada", 1));
  }
}
