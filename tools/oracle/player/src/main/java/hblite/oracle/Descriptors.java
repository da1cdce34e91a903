package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.exceptions.HBaseException;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;

/**
 * Descriptors of namespaces, tables and families from their settings in the files.
 *
 * <p>Settings are made in the order of the file, because the builders check one against another.
 */
final class Descriptors {
  private Descriptors() {}

  /** A namespace with its properties. */
  static NamespaceDescriptor namespace(JsonNode arguments) {
    NamespaceDescriptor.Builder builder =
        NamespaceDescriptor.create(Arguments.text(arguments, "ns"));
    for (Map.Entry<String, JsonNode> property : Arguments.fields(arguments, "properties")) {
      builder.addConfiguration(property.getKey(), property.getValue().asText());
    }
    return builder.build();
  }

  /** A new table. */
  static TableDescriptor table(JsonNode arguments) throws HBaseException {
    TableDescriptorBuilder builder =
        TableDescriptorBuilder.newBuilder(Arguments.table(arguments));
    attributes(builder, arguments);
    for (JsonNode family : Arguments.list(arguments, "families")) {
      builder.setColumnFamily(family(family));
    }
    return builder.build();
  }

  /** The present table with the changes of an {@code alter}. */
  static TableDescriptor altered(TableDescriptor present, JsonNode arguments)
      throws HBaseException {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(present);
    attributes(builder, arguments);
    for (JsonNode name : Arguments.list(arguments, "unset")) {
      builder.removeValue(name.asText());
    }
    for (JsonNode family : Arguments.list(arguments, "add")) {
      builder.setColumnFamily(family(family));
    }
    for (JsonNode family : Arguments.list(arguments, "modify")) {
      ColumnFamilyDescriptor before = present.getColumnFamily(Arguments.bytes(family, "name"));
      builder.modifyColumnFamily(
          before == null
              ? family(family)
              : settings(ColumnFamilyDescriptorBuilder.newBuilder(before), family));
    }
    for (JsonNode family : Arguments.list(arguments, "remove")) {
      builder.removeColumnFamily(ByteStrings.read(family));
    }
    return builder.build();
  }

  /** A family that starts from the defaults. */
  static ColumnFamilyDescriptor family(JsonNode family) throws HBaseException {
    byte[] name = Arguments.bytes(family, "name");
    return settings(ColumnFamilyDescriptorBuilder.newBuilder(name), family);
  }

  private static void attributes(TableDescriptorBuilder builder, JsonNode arguments) {
    for (Map.Entry<String, JsonNode> one : Arguments.fields(arguments, "attributes")) {
      builder.setValue(one.getKey(), one.getValue().asText());
    }
  }

  private static ColumnFamilyDescriptor settings(
      ColumnFamilyDescriptorBuilder builder, JsonNode family) throws HBaseException {
    for (Map.Entry<String, JsonNode> setting : family.properties()) {
      JsonNode value = setting.getValue();
      switch (setting.getKey()) {
        case "name" -> {}
        case "BLOCKSIZE" -> builder.setBlocksize(value.asInt());
        case "BLOOMFILTER" -> builder.setBloomFilterType(BloomType.valueOf(value.asText()));
        case "CONFIGURATION" -> {
          for (Map.Entry<String, JsonNode> one : value.properties()) {
            builder.setConfiguration(one.getKey(), one.getValue().asText());
          }
        }
        case "DATA_BLOCK_ENCODING" ->
            builder.setDataBlockEncoding(DataBlockEncoding.valueOf(value.asText()));
        case "IN_MEMORY" -> builder.setInMemory(value.asBoolean());
        case "KEEP_DELETED_CELLS" ->
            builder.setKeepDeletedCells(KeepDeletedCells.valueOf(value.asText()));
        case "MIN_VERSIONS" -> builder.setMinVersions(value.asInt());
        case "NEW_VERSION_BEHAVIOR" -> builder.setNewVersionBehavior(value.asBoolean());
        case "SCOPE" -> builder.setScope(value.asInt());
        case "TTL" -> timeToLive(builder, value);
        case "VERSIONS" -> builder.setMaxVersions(value.asInt());
        default -> builder.setValue(setting.getKey(), value.asText());
      }
    }
    return builder.build();
  }

  private static void timeToLive(ColumnFamilyDescriptorBuilder builder, JsonNode value)
      throws HBaseException {
    if (value.isTextual()) {
      builder.setTimeToLive(value.asText());
    } else {
      builder.setTimeToLive(value.asInt());
    }
  }
}
