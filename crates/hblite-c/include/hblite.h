/*
 * hblite: HBase's data model in one process, for C. Version 0 of the interface.
 *
 * Every function that can fail returns HBLITE_OK or why it failed, and describes that in `error`.
 * A result of a function that failed is NULL or 0. Handles are NULL after that, too.
 *
 * Handles are opaque: hblite_db, hblite_table and so on. They are not addresses. One that is NULL,
 * was freed or is of another kind is an error, HBLITE_INVALID_HANDLE, also while another thread
 * frees it. Each must be freed once. They may be freed in any order: what depends on another
 * handle keeps what it needs of it.
 *
 * Memory: a function does not keep pointers to what it was given, and no callback exists. What a
 * result points to belongs to the handle that its function names, and ends with it. All other
 * pointers must be valid until the function returns, which no function can check.
 *
 * Threads: all functions and handles may be used by all threads at once. Every call may wait, for a
 * disk or for memory. A process that forks has no use of the handles made before it: they are
 * refused with HBLITE_FORKED, and may be left as they are.
 */
#ifndef HBLITE_H
#define HBLITE_H


#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * Open the store as it is now, also while another process has it open. Writes are refused.
 */
#define HBLITE_OPEN_READ_ONLY 1

/**
 * Refuse a directory without a store, instead of creating one.
 */
#define HBLITE_OPEN_EXISTING 2

/**
 * Map files into memory, which is faster if the data does not fit into the cache. A mapped file
 * that something else truncates ends the process.
 */
#define HBLITE_OPEN_MAPPED 4

/**
 * Open a damaged store without what is damaged.
 */
#define HBLITE_OPEN_SALVAGE 8

/**
 * Convert a root directory of Apache HBase, which must not run.
 */
#define HBLITE_OPEN_ADOPT_HBASE 16

/**
 * The range of a scan begins after its start, instead of with it.
 */
#define HBLITE_EXCLUDE_START 1

/**
 * The range of a scan ends with its stop, instead of before it.
 */
#define HBLITE_INCLUDE_STOP 2

/**
 * In place of a timestamp: the time of the write, or for deletes any time before it.
 */
#define HBLITE_NOW 9223372036854775807

/**
 * What a function returns. The numbers stay the same in all versions.
 */
enum hblite_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It did what it says.
     */
    HBLITE_OK = 0,
    /**
     * The request is wrong: it can never succeed unchanged.
     */
    HBLITE_INVALID_ARGUMENT = 1,
    /**
     * The table, family, snapshot or namespace does not exist.
     */
    HBLITE_NOT_FOUND = 2,
    /**
     * The table or snapshot already exists.
     */
    HBLITE_ALREADY_EXISTS = 3,
    /**
     * The table is in a state that forbids this.
     */
    HBLITE_WRONG_STATE = 4,
    /**
     * The region moved, split or closed: try again.
     */
    HBLITE_NOT_SERVING = 5,
    /**
     * Too much at once: try again later.
     */
    HBLITE_BUSY = 6,
    /**
     * Stored bytes are damaged; the message names file and offset.
     */
    HBLITE_CORRUPT = 7,
    /**
     * The operating system or the network failed.
     */
    HBLITE_IO = 8,
    /**
     * The store is open elsewhere: close it there, or open it read-only.
     */
    HBLITE_LOCKED = 9,
    /**
     * The store is closed, or refuses writes after a failed sync: open it again.
     */
    HBLITE_CLOSED = 10,
    /**
     * hblite does not support this.
     */
    HBLITE_UNSUPPORTED = 11,
    /**
     * The handle is NULL, was freed, or is of another kind.
     */
    HBLITE_INVALID_HANDLE = 12,
    /**
     * The process forked after the handle was made: open a store after the fork.
     */
    HBLITE_FORKED = 13,
    /**
     * A defect of hblite.
     */
    HBLITE_INTERNAL = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_code hblite_code;
#else
typedef int32_t hblite_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Whether a table is in service.
 */
enum hblite_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * There is no such table.
     */
    HBLITE_STATE_MISSING = 0,
    /**
     * In service.
     */
    HBLITE_STATE_ENABLED = 1,
    /**
     * Out of service.
     */
    HBLITE_STATE_DISABLED = 2,
    /**
     * Changing from one to the other.
     */
    HBLITE_STATE_CHANGING = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_state hblite_state;
#else
typedef int32_t hblite_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kinds of writes.
 */
enum hblite_write_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Sets columns.
     */
    HBLITE_PUT = 0,
    /**
     * Deletes the row, or the parts of it that are added.
     */
    HBLITE_DELETE = 1,
    /**
     * Adds to counters: 8-byte big-endian numbers.
     */
    HBLITE_INCREMENT = 2,
    /**
     * Extends values.
     */
    HBLITE_APPEND = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_write_kind hblite_write_kind;
#else
typedef int32_t hblite_write_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The parts of a row that a delete deletes.
 */
enum hblite_delete_scope
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The row, up to the timestamp.
     */
    HBLITE_DELETE_ROW = 0,
    /**
     * A family, up to the timestamp.
     */
    HBLITE_DELETE_FAMILY = 1,
    /**
     * What has exactly this timestamp in a family.
     */
    HBLITE_DELETE_FAMILY_VERSION = 2,
    /**
     * A column, up to the timestamp.
     */
    HBLITE_DELETE_COLUMN = 3,
    /**
     * The version of a column with exactly this timestamp; with HBLITE_NOW the newest.
     */
    HBLITE_DELETE_VERSION = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_delete_scope hblite_delete_scope;
#else
typedef int32_t hblite_delete_scope;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * When a write is acknowledged.
 */
enum hblite_write_durability
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * As the table says; it survives a kill of the process, unless the table says otherwise.
     */
    HBLITE_DURABILITY_DEFAULT = 0,
    /**
     * It is lost with the process until the next flush.
     */
    HBLITE_DURABILITY_SKIP_WAL = 1,
    /**
     * The log is written shortly afterwards.
     */
    HBLITE_DURABILITY_ASYNC_WAL = 2,
    /**
     * It survives a kill of the process.
     */
    HBLITE_DURABILITY_SYNC_WAL = 3,
    /**
     * It survives a power cut.
     */
    HBLITE_DURABILITY_FSYNC_WAL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_write_durability hblite_write_durability;
#else
typedef int32_t hblite_write_durability;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How a value is compared with the stored one.
 */
enum hblite_comparison
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The value is less than the stored one.
     */
    HBLITE_LESS = 0,
    /**
     * It is less or equal.
     */
    HBLITE_LESS_OR_EQUAL = 1,
    /**
     * It is the stored one; an empty value also equals that of a missing column.
     */
    HBLITE_EQUAL = 2,
    /**
     * It is another one.
     */
    HBLITE_NOT_EQUAL = 3,
    /**
     * It is greater or equal.
     */
    HBLITE_GREATER_OR_EQUAL = 4,
    /**
     * It is greater.
     */
    HBLITE_GREATER = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_comparison hblite_comparison;
#else
typedef int32_t hblite_comparison;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a cell is: a value, or a marker that deletes others. Only raw scans read markers.
 */
enum hblite_cell_type
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * A value.
     */
    HBLITE_CELL_PUT = 4,
    /**
     * Deletes the version of its column that has its timestamp.
     */
    HBLITE_CELL_DELETE = 8,
    /**
     * Deletes the cells of its family that have its timestamp.
     */
    HBLITE_CELL_DELETE_FAMILY_VERSION = 10,
    /**
     * Deletes the versions of its column that are not newer.
     */
    HBLITE_CELL_DELETE_COLUMN = 12,
    /**
     * Deletes the cells of its family that are not newer.
     */
    HBLITE_CELL_DELETE_FAMILY = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hblite_cell_type hblite_cell_type;
#else
typedef int32_t hblite_cell_type;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Reads and writes of one table that are sent together, which is the fast way to write many rows.
 * Each succeeds or fails on its own. `hblite_free` ends it.
 */
typedef struct hblite_batch hblite_batch;

/**
 * An open store, or a connection to a cluster. `hblite_close` ends it.
 */
typedef struct hblite_db hblite_db;

/**
 * A list of names. `hblite_free` ends it.
 */
typedef struct hblite_list hblite_list;

/**
 * What a get or a scan reads. NULL in its place, and a new one, stand for everything: all columns,
 * the newest version of each, all rows. `hblite_free` ends it; until then, it may be used for many
 * calls.
 */
typedef struct hblite_read hblite_read;

/**
 * A row that was read: its cells in the order of families, qualifiers and descending timestamps.
 * `hblite_free` ends it.
 */
typedef struct hblite_row hblite_row;

/**
 * The rows of a scan. Two threads that ask it for rows at once get different ones. `hblite_free`
 * ends it.
 */
typedef struct hblite_scanner hblite_scanner;

/**
 * The description of a table that is to be created. `hblite_free` ends it.
 */
typedef struct hblite_schema hblite_schema;

/**
 * A table. All threads may share it. `hblite_free` ends it.
 */
typedef struct hblite_table hblite_table;

/**
 * A write to one row, which is applied as a whole or not at all. `hblite_free` ends it; until
 * then, it may be used for many calls.
 */
typedef struct hblite_write hblite_write;

/**
 * Bytes in memory that is not the library's or, in a result, belongs to the named handle.
 *
 * `data` may be NULL if `size` is 0. A function reads the bytes that it is given until it returns,
 * and keeps copies.
 *
 * Names and filters are UTF-8, paths what the system has; keys, qualifiers and values are any
 * bytes. `hblite_text` makes one of a string.
 */
typedef struct {
    /**
     * The first byte.
     */
    const void *data;
    /**
     * The number of bytes.
     */
    size_t size;
} hblite_bytes;

/**
 * Why a function failed. It is the caller's, usually a local variable; a function that fails sets
 * it, and one that succeeds does not touch it. Every function accepts NULL in its place.
 */
typedef struct {
    /**
     * What the function returned.
     */
    hblite_code code;
    /**
     * The class that HBase throws in this case, such as
     * "org.apache.hadoop.hbase.TableNotFoundException"; empty if HBase has no such case.
     */
    char class_name[128];
    /**
     * What went wrong, for people, in UTF-8. The end of a long message is cut off.
     */
    char message[1024];
} hblite_error;

/**
 * A cell. Its memory belongs to the row that it was read from.
 */
typedef struct {
    /**
     * The row.
     */
    hblite_bytes row;
    /**
     * The family.
     */
    hblite_bytes family;
    /**
     * The qualifier.
     */
    hblite_bytes qualifier;
    /**
     * The value.
     */
    hblite_bytes value;
    /**
     * In milliseconds since 1970-01-01 UTC, unless the writer gave it another meaning.
     */
    int64_t timestamp;
    /**
     * A `hblite_cell_type`.
     */
    int32_t cell_type;
} hblite_cell;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, such as "0.1.0". The text is part of the library and stays.
 */
const char *hblite_version(void);

/**
 * Opens the store in the directory `path`, or creates one there. `flags` is 0 or some of the
 * HBLITE_OPEN_... together.
 *
 * `*db` is the caller's, who ends it with `hblite_close`.
 */
hblite_code hblite_open(hblite_bytes path, uint32_t flags, hblite_db **db, hblite_error *error);

/**
 * Opens an empty store in memory. `*db` is as of `hblite_open`.
 */
hblite_code hblite_open_in_memory(hblite_db **db, hblite_error *error);

/**
 * Connects to a cluster of Apache HBase or to `hblite serve`, such as
 * "hbase://zookeeper-host:2181/hbase" or "hbase+rpc://host:16000". `*db` is as of `hblite_open`.
 */
hblite_code hblite_connect(hblite_bytes address, hblite_db **db, hblite_error *error);

/**
 * Ends all work, writes memory to files, releases the directory, and ends the handle, also if it
 * fails; nothing acknowledged is lost then. Tables and scanners of the store fail with
 * HBLITE_CLOSED from then on, and are freed as usual.
 */
hblite_code hblite_close(hblite_db *db, hblite_error *error);

/**
 * Ends a handle of any kind but `hblite_db`, and frees its memory. NULL is allowed.
 */
hblite_code hblite_free(void *handle, hblite_error *error);

/**
 * Describes a table with this name, "table" or "namespace:table", still without families.
 * `*schema` is the caller's, who ends it with `hblite_free`.
 */
hblite_code hblite_schema_new(hblite_bytes name, hblite_schema **schema, hblite_error *error);

/**
 * Adds a family that keeps so many versions of a column, each for so many seconds. 0 stands for
 * the default: one version, without end.
 */
hblite_code hblite_schema_add_family(hblite_schema *schema,
                                     hblite_bytes family,
                                     uint32_t versions,
                                     uint32_t ttl_seconds,
                                     hblite_error *error);

/**
 * Sets one of HBase's attributes, such as "COMPRESSION" to "ZSTD", of a family that was added, or
 * with an empty `family` of the table.
 */
hblite_code hblite_schema_set(hblite_schema *schema,
                              hblite_bytes family,
                              hblite_bytes attribute,
                              hblite_bytes value,
                              hblite_error *error);

/**
 * Splits the table at this key: a region ends before it, and another begins with it.
 */
hblite_code hblite_schema_add_split(hblite_schema *schema, hblite_bytes key, hblite_error *error);

/**
 * Creates the table that `schema` describes, which may be used again.
 */
hblite_code hblite_create_table(hblite_db *db, hblite_schema *schema, hblite_error *error);

/**
 * Deletes a disabled table with everything in it.
 */
hblite_code hblite_delete_table(hblite_db *db, hblite_bytes name, hblite_error *error);

/**
 * Takes a table out of service.
 */
hblite_code hblite_disable_table(hblite_db *db, hblite_bytes name, hblite_error *error);

/**
 * Puts a disabled table back in service.
 */
hblite_code hblite_enable_table(hblite_db *db, hblite_bytes name, hblite_error *error);

/**
 * Empties a disabled table and enables it. Its regions remain if `preserve_splits`.
 */
hblite_code hblite_truncate_table(hblite_db *db,
                                  hblite_bytes name,
                                  int32_t preserve_splits,
                                  hblite_error *error);

/**
 * Sets `*state` to that of a table, which need not exist.
 */
hblite_code hblite_table_state(hblite_db *db,
                               hblite_bytes name,
                               hblite_state *state,
                               hblite_error *error);

/**
 * Lists the names of the tables, sorted. `*list` is the caller's, who ends it with `hblite_free`.
 */
hblite_code hblite_list_tables(hblite_db *db, hblite_list **list, hblite_error *error);

/**
 * Writes the memory of a table to files.
 */
hblite_code hblite_flush(hblite_db *db, hblite_bytes table, hblite_error *error);

/**
 * Merges files of a table: some, or if `major` all, without what was deleted or has expired.
 */
hblite_code hblite_compact(hblite_db *db, hblite_bytes table, int32_t major, hblite_error *error);

/**
 * The name at `index`, from 0; NULL after the last one. A NUL, which `size` does not count,
 * follows each. The bytes stay until the list is freed.
 */
hblite_code hblite_list_item(hblite_list *list,
                             size_t index,
                             hblite_bytes *item,
                             hblite_error *error);

/**
 * Takes a snapshot of a table, while reads and writes continue.
 */
hblite_code hblite_snapshot(hblite_db *db,
                            hblite_bytes snapshot,
                            hblite_bytes table,
                            hblite_error *error);

/**
 * Lists the names of the snapshots, sorted. `*list` is the caller's, who ends it with
 * `hblite_free`.
 */
hblite_code hblite_list_snapshots(hblite_db *db, hblite_list **list, hblite_error *error);

/**
 * Creates a table from a snapshot.
 */
hblite_code hblite_clone_snapshot(hblite_db *db,
                                  hblite_bytes snapshot,
                                  hblite_bytes table,
                                  hblite_error *error);

/**
 * Restores a disabled table to a snapshot of it. A failure leaves it as it was.
 */
hblite_code hblite_restore_snapshot(hblite_db *db, hblite_bytes snapshot, hblite_error *error);

/**
 * Deletes a snapshot. Tables created from it remain.
 */
hblite_code hblite_delete_snapshot(hblite_db *db, hblite_bytes snapshot, hblite_error *error);

/**
 * The table with this name, which is looked up when it is used. `*table` is the caller's, who ends
 * it with `hblite_free`.
 */
hblite_code hblite_table_new(hblite_db *db,
                             hblite_bytes name,
                             hblite_table **table,
                             hblite_error *error);

/**
 * Reads a row. `read` may be NULL. `*row` is the caller's, who ends it with `hblite_free`; for a
 * row that does not exist, it has no cells.
 */
hblite_code hblite_get(hblite_table *table,
                       hblite_bytes row_key,
                       hblite_read *read,
                       hblite_row **row,
                       hblite_error *error);

/**
 * Begins a scan. `read` may be NULL. `*scanner` is the caller's, who ends it with `hblite_free`.
 */
hblite_code hblite_scan(hblite_table *table,
                        hblite_read *read,
                        hblite_scanner **scanner,
                        hblite_error *error);

/**
 * Reads the next row of a scan, which is NULL after the last one. `*row` is the caller's, who ends
 * it with `hblite_free`; it may outlive the scanner. A scan that failed has no more rows.
 */
hblite_code hblite_scanner_next(hblite_scanner *scanner, hblite_row **row, hblite_error *error);

/**
 * Sets one column of a row, as a write that `hblite_mutate` applies.
 */
hblite_code hblite_put(hblite_table *table,
                       hblite_bytes row,
                       hblite_bytes family,
                       hblite_bytes qualifier,
                       hblite_bytes value,
                       hblite_error *error);

/**
 * Adds to one counter, and sets `*value`, unless `value` is NULL, to what it has then.
 */
hblite_code hblite_increment(hblite_table *table,
                             hblite_bytes row,
                             hblite_bytes family,
                             hblite_bytes qualifier,
                             int64_t amount,
                             int64_t *value,
                             hblite_error *error);

/**
 * Applies a write. `*row`, unless `row` is NULL, has the new values of an increment or append, and
 * is then the caller's, who ends it with `hblite_free`; after other writes it is NULL.
 */
hblite_code hblite_mutate(hblite_table *table,
                          hblite_write *write,
                          hblite_row **row,
                          hblite_error *error);

/**
 * Applies a write if a column of its row compares with `value` in this way, in one atomic step,
 * and sets `*applied` to 1 or 0. `comparison` is a `hblite_comparison`.
 */
hblite_code hblite_check_and_mutate(hblite_table *table,
                                    hblite_bytes family,
                                    hblite_bytes qualifier,
                                    int32_t comparison,
                                    hblite_bytes value,
                                    hblite_write *write,
                                    int32_t *applied,
                                    hblite_error *error);

/**
 * Makes one that reads everything. `*read` is the caller's, who ends it with `hblite_free`.
 */
hblite_code hblite_read_new(hblite_read **read, hblite_error *error);

/**
 * Reads this family, and no others that are not added too.
 */
hblite_code hblite_read_add_family(hblite_read *read, hblite_bytes family, hblite_error *error);

/**
 * Reads this column, and no others that are not added too.
 */
hblite_code hblite_read_add_column(hblite_read *read,
                                   hblite_bytes family,
                                   hblite_bytes qualifier,
                                   hblite_error *error);

/**
 * Reads up to so many versions of each column, the newest first.
 */
hblite_code hblite_read_set_versions(hblite_read *read, uint32_t versions, hblite_error *error);

/**
 * Reads cells whose timestamp is at least `min` and less than `max`.
 */
hblite_code hblite_read_set_time_range(hblite_read *read,
                                       int64_t min,
                                       int64_t max,
                                       hblite_error *error);

/**
 * Reads what a filter in HBase's filter language passes, such as "PrefixFilter('u')".
 */
hblite_code hblite_read_set_filter(hblite_read *read, hblite_bytes filter, hblite_error *error);

/**
 * Scans from `start` to before `stop`, each without a limit if it is empty. `flags` is 0 or some
 * of HBLITE_EXCLUDE_START and HBLITE_INCLUDE_STOP. In a reversed scan, `start` is the greater one.
 */
hblite_code hblite_read_set_range(hblite_read *read,
                                  hblite_bytes start,
                                  hblite_bytes stop,
                                  uint32_t flags,
                                  hblite_error *error);

/**
 * Scans the rows that begin with these bytes. A range applies in addition.
 */
hblite_code hblite_read_set_prefix(hblite_read *read, hblite_bytes prefix, hblite_error *error);

/**
 * Scans in descending order if `reversed` is not 0.
 */
hblite_code hblite_read_set_reversed(hblite_read *read, int32_t reversed, hblite_error *error);

/**
 * Scans at most so many rows.
 */
hblite_code hblite_read_set_limit(hblite_read *read, uint32_t rows, hblite_error *error);

/**
 * Scans delete markers too, and the cells that they delete while files still have them, if `raw`
 * is not 0: `cell_type` tells which. It reads one version of a column unless
 * `hblite_read_set_versions` asks for more. HBase lets a raw scan choose families, but no columns.
 */
hblite_code hblite_read_set_raw(hblite_read *read, int32_t raw, hblite_error *error);

/**
 * Sets `*cells` to the first of the cells of a row and `*count` to their number, which is 0 for a
 * row that does not exist. The cells and all their bytes stay until the row is freed.
 */
hblite_code hblite_row_cells(hblite_row *row,
                             const hblite_cell **cells,
                             size_t *count,
                             hblite_error *error);

/**
 * Sets `*value` to the newest value of a column, whose `data` is NULL if the row has none. The
 * bytes stay until the row is freed.
 */
hblite_code hblite_row_value(hblite_row *row,
                             hblite_bytes family,
                             hblite_bytes qualifier,
                             hblite_bytes *value,
                             hblite_error *error);

/**
 * Begins a write to this row; `kind` is a `hblite_write_kind`. `*write` is the caller's, who ends
 * it with `hblite_free`.
 */
hblite_code hblite_write_new(int32_t kind,
                             hblite_bytes row,
                             hblite_write **write,
                             hblite_error *error);

/**
 * Adds a value to a put, with this timestamp in milliseconds or HBLITE_NOW, or to an append, which
 * has no timestamp but HBLITE_NOW.
 */
hblite_code hblite_write_add(hblite_write *write,
                             hblite_bytes family,
                             hblite_bytes qualifier,
                             hblite_bytes value,
                             int64_t timestamp,
                             hblite_error *error);

/**
 * Adds a column to an increment, and how much to add to its counter. A missing one counts as 0.
 */
hblite_code hblite_write_add_amount(hblite_write *write,
                                    hblite_bytes family,
                                    hblite_bytes qualifier,
                                    int64_t amount,
                                    hblite_error *error);

/**
 * Adds a part to a delete; `scope` is a `hblite_delete_scope`. `qualifier` is empty where the
 * scope is a family, and `family` too where it is the row.
 */
hblite_code hblite_write_add_delete(hblite_write *write,
                                    int32_t scope,
                                    hblite_bytes family,
                                    hblite_bytes qualifier,
                                    int64_t timestamp,
                                    hblite_error *error);

/**
 * Sets when a write is acknowledged; `durability` is a `hblite_write_durability`.
 */
hblite_code hblite_write_set_durability(hblite_write *write,
                                        int32_t durability,
                                        hblite_error *error);

/**
 * Lets the cells of a put disappear after so many milliseconds.
 */
hblite_code hblite_write_set_ttl(hblite_write *write, uint64_t milliseconds, hblite_error *error);

/**
 * Makes an empty batch. `*batch` is the caller's, who ends it with `hblite_free`.
 */
hblite_code hblite_batch_new(hblite_batch **batch, hblite_error *error);

/**
 * Adds a copy of a write.
 */
hblite_code hblite_batch_add_write(hblite_batch *batch, hblite_write *write, hblite_error *error);

/**
 * Adds a read of a row. `read` may be NULL.
 */
hblite_code hblite_batch_add_get(hblite_batch *batch,
                                 hblite_bytes row_key,
                                 hblite_read *read,
                                 hblite_error *error);

/**
 * Sends what was added since the last call, and forgets the results of that. If some fail, it
 * returns the first failure; `hblite_batch_result` has that of each. If one is wrong in itself,
 * none is sent.
 */
hblite_code hblite_batch_run(hblite_batch *batch, hblite_table *table, hblite_error *error);

/**
 * The result of one action, by the order in which they were added, from 0: returns whether it
 * failed. `*row`, unless `row` is NULL, is that of a read, or has the new values of an increment
 * or append, and is the caller's, who ends it with `hblite_free`.
 */
hblite_code hblite_batch_result(hblite_batch *batch,
                                size_t index,
                                hblite_row **row,
                                hblite_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/*
 * The bytes of a string without its NUL, which must stay as long as they are used.
 */
static inline hblite_bytes hblite_text(const char *text)
{
    hblite_bytes bytes = { text, text == NULL ? 0 : strlen(text) };
    return bytes;
}

#endif  /* HBLITE_H */
