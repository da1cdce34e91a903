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

/** The last orders of a customer are listed. */
@ExtendWith(HBlite.class)
class ListingTest {
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
  void theNewestOrderIsFirst() throws IOException {
    assertEquals(List.of("ada/000002", "ada/000001"), orders.last("ada", 10));
  }

  @Test
  void theCountIsLimited() throws IOException {
    assertEquals(List.of("ada/000002"), orders.last("ada", 1));
  }

  @Test
  void customersAreListedApart() throws IOException {
    assertEquals(List.of("grace/000001"), orders.last("grace", 10));
  }

  @Test
  void aPrefixIsNoCustomer() throws IOException {
    assertEquals(List.of(), orders.last("gra", 10));
  }

  @Test
  void aRemovedOrderIsNotListed() throws IOException {
    orders.remove("ada", 2);
    assertEquals(List.of("ada/000001"), orders.last("ada", 10));
  }

  @Test
  void numbersAreInOrder() throws IOException {
    orders.place("ada", 100);
    orders.place("ada", 20);
    assertEquals(List.of("ada/000100", "ada/000020"), orders.last("ada", 2));
  }

  @Test
  void aCustomerBetweenOthersIsListedAlone() throws IOException {
    orders.place("bob", 1);
    assertEquals(List.of("bob/000001"), orders.last("bob", 10));
  }

  @Test
  void aLongerNameIsAnotherCustomer() throws IOException {
    orders.place("adam", 1);
    assertEquals(2, orders.last("ada", 10).size());
  }

  @Test
  void allOrdersCanBeRemoved() throws IOException {
    orders.remove("ada", 1);
    orders.remove("ada", 2);
    assertEquals(List.of(), orders.last("ada", 10));
  }

  @Test
  void aChangedOrderStaysInPlace() throws IOException {
    orders.change("ada", 1, "new", "paid");
    assertEquals(List.of("ada/000002", "ada/000001"), orders.last("ada", 10));
  }
}
