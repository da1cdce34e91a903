package example;

import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** The same as hblite's extension, on HBase's mini cluster: one for all, tables truncated. */
public final class MiniCluster implements ParameterResolver, BeforeEachCallback, AfterAllCallback {
  private static HBaseTestingUtility utility;
  private static Connection connection;

  private static synchronized Connection connection() {
    try {
      if (utility == null) {
        long start = System.nanoTime();
        utility = new HBaseTestingUtility();
        utility.startMiniCluster(1);
        connection = utility.getConnection();
        System.out.println(
            "mini cluster: ready in " + (System.nanoTime() - start) / 1_000_000 + " ms");
      }
      return connection;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    for (TableName table : connection().getAdmin().listTableNames()) {
      utility.truncateTable(table);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    for (TableName table : connection().getAdmin().listTableNames()) {
      utility.deleteTable(table);
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Connection.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return connection();
  }
}
