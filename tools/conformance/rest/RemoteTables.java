import java.util.Arrays;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HColumnDescriptor;
import org.apache.hadoop.hbase.HTableDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.filter.PrefixFilter;
import org.apache.hadoop.hbase.rest.client.Client;
import org.apache.hadoop.hbase.rest.client.Cluster;
import org.apache.hadoop.hbase.rest.client.RemoteAdmin;
import org.apache.hadoop.hbase.rest.client.RemoteHTable;
import org.apache.hadoop.hbase.util.Bytes;

/** HBase's RemoteAdmin and RemoteHTable on the gateway whose port is the argument. */
public class RemoteTables {
  static byte[] b(String text) {
    return Bytes.toBytes(text);
  }

  static void is(Object answered, Object expected) {
    if (!Objects.equals(answered, expected)) {
      throw new AssertionError(answered + " is not " + expected);
    }
  }

  static int count(RemoteHTable t, Scan scan) throws Exception {
    int count = 0;
    try (ResultScanner scanner = t.getScanner(scan)) {
      for (Result result : scanner) {
        count += result.size();
      }
    }
    return count;
  }

  @SuppressWarnings("deprecation")
  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    Client client = new Client(new Cluster().add("127.0.0.1", Integer.parseInt(args[0])));
    RemoteAdmin admin = new RemoteAdmin(client, conf);
    HTableDescriptor d = new HTableDescriptor(TableName.valueOf("rt"));
    d.addFamily(new HColumnDescriptor("a").setMaxVersions(3));
    d.addFamily(new HColumnDescriptor("b"));
    admin.createTable(d);
    is(admin.isTableAvailable("rt"), true);
    is(admin.getClusterVersion().getVersion(), "2.6.1");
    is(admin.getRestVersion().getRESTVersion(), "0.0.3");
    is(admin.getClusterStatus().getLiveNodes().size(), 1);
    RemoteHTable t = new RemoteHTable(client, conf, "rt");
    is(t.getDescriptor().getColumnFamilyCount(), 2);
    Put r1 = new Put(b("r1")).addColumn(b("a"), b("1"), 5L, b("v1"));
    t.put(r1.addColumn(b("b"), b("1"), 5L, b("w")));
    Put r2 = new Put(b("r2")).addColumn(b("a"), b("1"), b("x"));
    Put r3 = new Put(b("r3")).addColumn(b("a"), b("1"), b("y"));
    t.put(Arrays.asList(r2, r3));
    is(Bytes.toString(t.get(new Get(b("r1")).addColumn(b("a"), b("1"))).value()), "v1");
    is(t.get(Arrays.asList(new Get(b("r1")), new Get(b("r2")))).length, 2);
    is(t.exists(new Get(b("nope"))), false);
    is(count(t, new Scan().withStartRow(b("r2"))), 2);
    Scan f = new Scan();
    f.setFilter(new PrefixFilter(b("r1")));
    is(count(t, f), 2);
    Put changed = new Put(b("r1")).addColumn(b("a"), b("1"), b("v2"));
    is(t.checkAndMutate(b("r1"), b("a")).qualifier(b("1")).ifEquals(b("v1")).thenPut(changed), true);
    is(t.checkAndMutate(b("r1"), b("a")).qualifier(b("1")).ifEquals(b("v1")).thenPut(changed), false);
    t.delete(new Delete(b("r1")).addColumns(b("b"), b("1")));
    is(t.get(new Get(b("r1"))).size(), 1);
    t.delete(Arrays.asList(new Delete(b("r2")), new Delete(b("r3"))));
    is(t.exists(new Get(b("r2"))), false);
    is(admin.getTableList().getTables().size() > 0, true);
    admin.deleteTable("rt");
    is(admin.isTableAvailable("rt"), false);
    System.out.println("HBase's RemoteAdmin and RemoteHTable: everything passed");
  }
}
