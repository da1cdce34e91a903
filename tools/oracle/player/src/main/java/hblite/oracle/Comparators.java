package hblite.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.filter.BigDecimalComparator;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.BinaryComponentComparator;
import org.apache.hadoop.hbase.filter.BinaryPrefixComparator;
import org.apache.hadoop.hbase.filter.BitComparator;
import org.apache.hadoop.hbase.filter.ByteArrayComparable;
import org.apache.hadoop.hbase.filter.LongComparator;
import org.apache.hadoop.hbase.filter.NullComparator;
import org.apache.hadoop.hbase.filter.RegexStringComparator;
import org.apache.hadoop.hbase.filter.SubstringComparator;

/** Comparators of filters from their description in the files. */
final class Comparators {
  private Comparators() {}

  /** The comparator under {@code comparator} of a filter. */
  static ByteArrayComparable of(JsonNode filter) {
    JsonNode comparator = Arguments.required(filter, "comparator");
    String type = Arguments.text(comparator, "type");
    byte[] value = Arguments.bytes(comparator, "value");
    return switch (type) {
      case "BigDecimalComparator" ->
          new BigDecimalComparator(new BigDecimal(Arguments.text(comparator, "value")));
      case "BinaryComparator" -> new BinaryComparator(value);
      case "BinaryComponentComparator" ->
          new BinaryComponentComparator(value, Arguments.integer(comparator, "offset"));
      case "BinaryPrefixComparator" -> new BinaryPrefixComparator(value);
      case "BitComparator" ->
          new BitComparator(
              value, BitComparator.BitwiseOp.valueOf(Arguments.text(comparator, "bitop")));
      case "LongComparator" -> new LongComparator(Arguments.number(comparator, "value"));
      case "NullComparator" -> new NullComparator();
      case "RegexStringComparator" -> regex(comparator);
      case "SubstringComparator" -> new SubstringComparator(Arguments.text(comparator, "value"));
      default -> throw new BadOperation("unknown comparator " + type);
    };
  }

  private static ByteArrayComparable regex(JsonNode comparator) {
    String engine = comparator.path("engine").asText(RegexStringComparator.EngineType.JAVA.name());
    return new RegexStringComparator(
        Arguments.text(comparator, "value"),
        comparator.path("flags").asInt(Pattern.DOTALL),
        RegexStringComparator.EngineType.valueOf(engine));
  }
}
