package hblite.testing.junit4;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TestRule;

/** Every test begins in the state that {@code @BeforeClass} left, whichever is the first. */
public class HBliteRuleTest {
  @ClassRule public static final HBliteRule HBASE = new HBliteRule();

  private static final TableName USERS = TableName.valueOf("users");
  private static final byte[] INFO = Bytes.toBytes("info");
  private static final byte[] ROW = Bytes.toBytes("u1");

  @Rule public final TestRule rewound = HBASE.rewound();

  @BeforeClass
  public static void createTable() throws IOException {
    try (Admin admin = HBASE.connection().getAdmin()) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(USERS)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(INFO))
              .build());
    }
  }

  private static void writesWhatNoOtherTestSees() throws IOException {
    try (Table users = HBASE.connection().getTable(USERS)) {
      assertFalse(users.exists(new Get(ROW)));
      users.put(new Put(ROW).addColumn(INFO, INFO, ROW));
      assertTrue(users.exists(new Get(ROW)));
    }
  }

  @Test
  public void oneTest() throws IOException {
    writesWhatNoOtherTestSees();
  }

  @Test
  public void anotherTest() throws IOException {
    writesWhatNoOtherTestSees();
  }
}
