package hblite.oracle;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;

/** Empties the store: the state in which every file starts. */
final class EmptyStore {
  private static final Set<String> RESERVED =
      Set.of(
          NamespaceDescriptor.DEFAULT_NAMESPACE_NAME_STR,
          NamespaceDescriptor.SYSTEM_NAMESPACE_NAME_STR);

  private final Admin admin;

  EmptyStore(Admin admin) {
    this.admin = admin;
  }

  /** Drops every table and namespace of users, with what is in them. */
  void make() throws IOException {
    for (TableName table : admin.listTableNames()) {
      if (admin.isTableEnabled(table)) {
        admin.disableTable(table);
      }
      admin.deleteTable(table);
    }
    for (NamespaceDescriptor namespace : admin.listNamespaceDescriptors()) {
      String name = namespace.getName();
      if (!RESERVED.contains(name)) {
        admin.deleteNamespace(name);
      } else if (!namespace.getConfiguration().isEmpty()) {
        admin.modifyNamespace(NamespaceDescriptor.create(name).build());
      }
    }
  }
}
