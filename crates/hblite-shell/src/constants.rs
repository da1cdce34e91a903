//! The constants of the shell's language (`HBaseConstants`).

/// Constants that stand for their own name, in alphabetical order.
pub const CONSTANTS: &[&str] = &[
    "ALLOW_PARTIAL_RESULTS",
    "ALL_METRICS",
    "ATTRIBUTES",
    "AUTHORIZATIONS",
    "BATCH",
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "CACHE",
    "CACHE_BLOCKS",
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "CLUSTER",
    "CLUSTER_KEY",
    "COLUMN",
    "COLUMNS",
    "COMPACTION_ENABLED",
    "COMPRESSION",
    "COMPRESSION_COMPACT",
    "COMPRESSION_COMPACT_MAJOR",
    "COMPRESSION_COMPACT_MINOR",
    "COMPRESS_TAGS",
    "CONFIG",
    "CONFIGURATION",
    "CONSISTENCY",
    "DATA",
    "DATA_BLOCK_ENCODING",
    "DFS_REPLICATION",
    "DISABLE",
    "DURABILITY",
    "ENCRYPTION",
    "ENCRYPTION_KEY",
    "ENDPOINT_CLASSNAME",
    "EVICT_BLOCKS_ON_CLOSE",
    "FILTER",
    "FLUSH_POLICY",
    "FOREVER",
    "FORMATTER",
    "FORMATTER_CLASS",
    "GLOBAL_BYPASS",
    "INDEX_BLOCK_ENCODING",
    "INTERVAL",
    "IN_MEMORY",
    "IN_MEMORY_COMPACTION",
    "ISOLATION_LEVEL",
    "IS_META",
    "IS_MOB",
    "KEEP_DELETED_CELLS",
    "LIMIT",
    "LOCALITY_THRESHOLD",
    "MACHINE",
    "MAXLENGTH",
    "MAX_FILESIZE",
    "MAX_RESULT_SIZE",
    "MEMSTORE_FLUSHSIZE",
    "MERGE_ENABLED",
    "METADATA",
    "METHOD",
    "METRICS",
    "MIN_VERSIONS",
    "MOB_COMPACT_PARTITION_POLICY",
    "MOB_THRESHOLD",
    "NAME",
    "NAMESPACE",
    "NAMESPACES",
    "NEW_VERSION_BEHAVIOR",
    "NONE",
    "NORMALIZATION_ENABLED",
    "NORMALIZER_TARGET_REGION_COUNT",
    "NORMALIZER_TARGET_REGION_SIZE",
    "NO_INSERTS",
    "NO_WRITES",
    "NO_WRITES_COMPACTIONS",
    "NUMREGIONS",
    "OWNER",
    "POLICY",
    "PREFETCH_BLOCKS_ON_OPEN",
    "PRIORITY",
    "RAW",
    "READ",
    "READONLY",
    "READ_CAPACITY_UNIT",
    "READ_NUMBER",
    "READ_SIZE",
    "READ_TYPE",
    "REGEX",
    "REGIONSERVER",
    "REGION_MEMSTORE_REPLICATION",
    "REGION_REPLICATION",
    "REGION_REPLICA_ID",
    "REPLICATION_SCOPE",
    "REQUEST",
    "REQUEST_CAPACITY_UNIT",
    "REQUEST_NUMBER",
    "REQUEST_SIZE",
    "RESTORE_ACL",
    "REVERSED",
    "ROWPREFIXFILTER",
    "SCOPE",
    "SERIAL",
    "SERVER_NAME",
    "SKIP_FLUSH",
    "SPACE",
    "SPLITALGO",
    "SPLITS",
    "SPLITS_FILE",
    "SPLIT_ENABLED",
    "SPLIT_POLICY",
    "STARTROW",
    "STATE",
    "STOPROW",
    "STORAGE_POLICY",
    "TABLE",
    "TABLE_CFS",
    "TABLE_NAME",
    "TABLE_NAMES",
    "THROTTLE",
    "THROTTLE_TYPE",
    "TIMERANGE",
    "TIMESTAMP",
    "TTL",
    "TYPE",
    "USER",
    "VALUE",
    "VERSIONS",
    "VISIBILITY",
    "WRITE",
    "WRITE_CAPACITY_UNIT",
    "WRITE_NUMBER",
    "WRITE_SIZE",
];

/// Constants whose value is the name of another one.
const ALIASES: [(&str, &str); 3] =
    [("ENDKEY", "STOPROW"), ("ENDROW", "STOPROW"), ("STARTKEY", "STARTROW")];

/// The text of a constant; `None` if `name` is not a constant.
pub(crate) fn resolve(name: &str) -> Option<&'static str> {
    if let Some((_, text)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Some(text);
    }
    CONSTANTS.binary_search(&name).ok().map(|at| CONSTANTS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_found() {
        assert!(CONSTANTS.is_sorted());
        for name in CONSTANTS {
            assert_eq!(resolve(name), Some(*name));
        }
        assert_eq!(resolve("ENDROW"), Some("STOPROW"));
        assert_eq!(resolve("NOSUCH"), None);
    }
}
