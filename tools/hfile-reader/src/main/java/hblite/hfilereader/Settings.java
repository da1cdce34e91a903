package hblite.hfilereader;

import java.util.ArrayList;
import java.util.List;

/** The settings for writing one file. */
record Settings(
    String encoding,
    String bloom,
    String compression,
    String checksum,
    Tags tags,
    boolean mvcc,
    boolean bulkLoad,
    /** Small blocks, chunks and index nodes, so that a small file has many of each. */
    boolean smallBlocks) {

  enum Tags {
    OFF,
    ON,
    COMPRESSED
  }

  static final List<String> ENCODINGS =
      List.of("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1");
  static final List<String> BLOOMS = List.of("NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH");
  static final List<String> COMPRESSIONS = List.of("NONE", "GZ", "SNAPPY", "LZ4", "ZSTD");
  static final List<String> CHECKSUMS = List.of("NULL", "CRC32", "CRC32C");
  static final int PREFIX_LENGTH = 5;

  /** Every combination of the settings that a family can have. */
  static List<Settings> all() {
    List<Settings> all = new ArrayList<>();
    for (String checksum : CHECKSUMS) {
      for (Tags tags : Tags.values()) {
        for (boolean mvcc : new boolean[] {true, false}) {
          for (Settings settings : some(COMPRESSIONS, tags, false)) {
            all.add(settings.with(checksum, mvcc));
          }
        }
      }
    }
    return all;
  }

  /** All encodings and filters with some codecs, else as HBase has it by default. */
  static List<Settings> some(List<String> compressions, Tags tags, boolean bulkLoad) {
    List<Settings> some = new ArrayList<>();
    for (String encoding : ENCODINGS) {
      for (String bloom : BLOOMS) {
        for (String compression : compressions) {
          some.add(
              new Settings(encoding, bloom, compression, "CRC32C", tags, true, bulkLoad, true));
        }
      }
    }
    return some;
  }

  Settings with(String otherChecksum, boolean otherMvcc) {
    return new Settings(
        encoding, bloom, compression, otherChecksum, tags, otherMvcc, bulkLoad, smallBlocks);
  }

  /** A file with each encoding and codec, its blocks as HBase has them by default. */
  static List<Settings> withDefaultBlocks() {
    List<Settings> some = new ArrayList<>();
    for (String encoding : ENCODINGS) {
      for (String codec : COMPRESSIONS) {
        String bloom = BLOOMS.get(1 + some.size() % 3);
        some.add(new Settings(encoding, bloom, codec, "CRC32C", Tags.OFF, true, false, false));
      }
    }
    return some;
  }

  boolean hasTags() {
    return tags != Tags.OFF;
  }

  boolean compressesTags() {
    return tags == Tags.COMPRESSED && !encoding.equals("NONE");
  }

  /** As options of `hblite hfile write`. */
  List<String> options() {
    List<String> options = new ArrayList<>();
    option(options, "--encoding", encoding);
    option(options, "--bloom", bloom);
    option(options, "--bloom-prefix-length", PREFIX_LENGTH);
    option(options, "--compression", compression);
    option(options, "--checksum", checksum);
    option(options, "--include-tags", hasTags());
    option(options, "--compress-tags", tags == Tags.COMPRESSED);
    option(options, "--include-mvcc", mvcc);
    if (smallBlocks) {
      option(options, "--block-size", 400);
      option(options, "--bytes-per-checksum", 200);
      option(options, "--index-chunk-size", 300);
      option(options, "--bloom-block-size", 128);
    }
    if (bulkLoad) {
      options.add("--bulk-load");
    }
    return options;
  }

  private static void option(List<String> options, String name, Object value) {
    options.add(name);
    options.add(value.toString());
  }
}
