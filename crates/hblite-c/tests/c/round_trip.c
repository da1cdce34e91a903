/*
 * Goal: every function does what the header says.
 * Method: one store in a directory, which is closed and opened again.
 */
#include "check.h"

static hblite_db *db;
static hblite_table *table;

static void put_at(const char *row, const char *qualifier, const char *value, int64_t timestamp)
{
    hblite_write *put;
    OK(hblite_write_new(HBLITE_PUT, T(row), &put, &error));
    OK(hblite_write_add(put, T("f"), T(qualifier), T(value), timestamp, &error));
    OK(hblite_mutate(table, put, NULL, &error));
    OK(hblite_free(put, &error));
}

/* The cells of a row as "qualifier=value@timestamp", in order. */
static const char *row_text(hblite_row *row)
{
    static char text[1024];
    const hblite_cell *cells;
    size_t count, used = 0;
    text[0] = 0;
    OK(hblite_row_cells(row, &cells, &count, &error));
    for (size_t i = 0; i < count; i++) {
        const hblite_cell *cell = &cells[i];
        CHECK(same(cell->family, "f"));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s=%.*s@%lld", i ? " " : "",
                                 (int)cell->qualifier.size, (const char *)cell->qualifier.data,
                                 (int)cell->value.size, (const char *)cell->value.data,
                                 (long long)cell->timestamp);
    }
    return text;
}

static const char *get(const char *row_key, hblite_read *read)
{
    hblite_row *row;
    OK(hblite_get(table, T(row_key), read, &row, &error));
    const char *text = row_text(row);
    OK(hblite_free(row, &error));
    return text;
}

/* The keys of the rows of a scan, with commas. */
static const char *scan(hblite_read *read)
{
    static char keys[1024];
    hblite_scanner *scanner;
    hblite_row *row;
    keys[0] = 0;
    OK(hblite_scan(table, read, &scanner, &error));
    for (;;) {
        const hblite_cell *cells;
        size_t count;
        OK(hblite_scanner_next(scanner, &row, &error));
        if (row == NULL)
            break;
        OK(hblite_row_cells(row, &cells, &count, &error));
        CHECK(count > 0);
        strncat(keys, cells[0].row.data, cells[0].row.size);
        strcat(keys, ",");
        OK(hblite_free(row, &error));
    }
    OK(hblite_scanner_next(scanner, &row, &error));
    CHECK(row == NULL);
    OK(hblite_free(scanner, &error));
    return keys;
}

static hblite_read *new_read(void)
{
    hblite_read *read;
    OK(hblite_read_new(&read, &error));
    return read;
}

static void tables(void)
{
    hblite_schema *schema;
    hblite_list *list;
    hblite_bytes item;
    hblite_state state;

    OK(hblite_schema_new(T("t"), &schema, &error));
    OK(hblite_schema_add_family(schema, T("f"), 3, 0, &error));
    OK(hblite_schema_add_family(schema, T("short"), 0, 3600, &error));
    OK(hblite_schema_set(schema, T("f"), T("COMPRESSION"), T("ZSTD"), &error));
    OK(hblite_schema_set(schema, T(""), T("DURABILITY"), T("SYNC_WAL"), &error));
    OK(hblite_schema_add_split(schema, T("m"), &error));
    OK(hblite_table_state(db, T("t"), &state, &error));
    CHECK(state == HBLITE_STATE_MISSING);
    OK(hblite_create_table(db, schema, &error));
    FAILS(HBLITE_ALREADY_EXISTS, "t", hblite_create_table(db, schema, &error));
    OK(hblite_free(schema, &error));
    OK(hblite_table_state(db, T("t"), &state, &error));
    CHECK(state == HBLITE_STATE_ENABLED);

    create_table(db, "other");
    OK(hblite_list_tables(db, &list, &error));
    OK(hblite_list_item(list, 0, &item, &error));
    CHECK(same(item, "other") && ((const char *)item.data)[item.size] == 0);
    OK(hblite_list_item(list, 1, &item, &error));
    CHECK(same(item, "t"));
    OK(hblite_list_item(list, 2, &item, &error));
    CHECK(item.data == NULL && item.size == 0);
    OK(hblite_free(list, &error));

    OK(hblite_table_new(db, T("other"), &table, &error));
    put_at("r", "q", "v", 1);
    FAILS(HBLITE_WRONG_STATE, "other", hblite_delete_table(db, T("other"), &error));
    OK(hblite_disable_table(db, T("other"), &error));
    OK(hblite_table_state(db, T("other"), &state, &error));
    CHECK(state == HBLITE_STATE_DISABLED);
    FAILS(HBLITE_WRONG_STATE, "other",
          hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
    OK(hblite_enable_table(db, T("other"), &error));
    CHECK(strcmp(get("r", NULL), "q=v@1") == 0);
    OK(hblite_disable_table(db, T("other"), &error));
    OK(hblite_truncate_table(db, T("other"), 1, &error));
    CHECK(strcmp(get("r", NULL), "") == 0);
    OK(hblite_disable_table(db, T("other"), &error));
    OK(hblite_delete_table(db, T("other"), &error));
    OK(hblite_free(table, &error));
}

static void writes(void)
{
    hblite_write *write;
    hblite_row *row;
    hblite_bytes value;
    int64_t sum;
    int32_t applied;

    OK(hblite_put(table, T("a1"), T("f"), T("q"), T("one"), &error));
    OK(hblite_get(table, T("a1"), NULL, &row, &error));
    OK(hblite_row_value(row, T("f"), T("q"), &value, &error));
    CHECK(same(value, "one"));
    OK(hblite_row_value(row, T("f"), T("none"), &value, &error));
    CHECK(value.data == NULL);
    OK(hblite_free(row, &error));
    OK(hblite_put(table, T("a1"), T("f"), T(""), T(""), &error));
    OK(hblite_get(table, T("a1"), NULL, &row, &error));
    OK(hblite_row_value(row, T("f"), T(""), &value, &error));
    CHECK(value.data != NULL && value.size == 0);
    OK(hblite_free(row, &error));

    OK(hblite_increment(table, T("n"), T("f"), T("n"), 5, &sum, &error));
    CHECK(sum == 5);
    OK(hblite_increment(table, T("n"), T("f"), T("n"), -7, NULL, &error));
    OK(hblite_write_new(HBLITE_INCREMENT, T("n"), &write, &error));
    OK(hblite_write_add_amount(write, T("f"), T("n"), 1, &error));
    OK(hblite_mutate(table, write, &row, &error));
    OK(hblite_row_value(row, T("f"), T("n"), &value, &error));
    CHECK(value.size == 8 && memcmp(value.data, "\xff\xff\xff\xff\xff\xff\xff\xff", 8) == 0);
    OK(hblite_free(row, &error));
    OK(hblite_free(write, &error));

    OK(hblite_write_new(HBLITE_APPEND, T("ap"), &write, &error));
    OK(hblite_write_add(write, T("f"), T("q"), T("xy"), HBLITE_NOW, &error));
    OK(hblite_write_set_durability(write, HBLITE_DURABILITY_ASYNC_WAL, &error));
    OK(hblite_mutate(table, write, NULL, &error));
    OK(hblite_mutate(table, write, &row, &error));
    OK(hblite_row_value(row, T("f"), T("q"), &value, &error));
    CHECK(same(value, "xyxy"));
    OK(hblite_free(row, &error));
    OK(hblite_free(write, &error));

    for (int durability = HBLITE_DURABILITY_DEFAULT; durability <= HBLITE_DURABILITY_FSYNC_WAL;
         durability++) {
        OK(hblite_write_new(HBLITE_PUT, T("ttl"), &write, &error));
        OK(hblite_write_add(write, T("f"), T("q"), T("v"), HBLITE_NOW, &error));
        OK(hblite_write_set_ttl(write, 3600000, &error));
        OK(hblite_write_set_durability(write, durability, &error));
        OK(hblite_mutate(table, write, &row, &error));
        CHECK(row == NULL);
        OK(hblite_free(write, &error));
    }

    OK(hblite_write_new(HBLITE_PUT, T("job"), &write, &error));
    OK(hblite_write_add(write, T("f"), T("owner"), T("b"), 7, &error));
    OK(hblite_check_and_mutate(table, T("f"), T("owner"), HBLITE_EQUAL, T(""), write, &applied,
                               &error));
    CHECK(applied == 1);
    /* The value on the left, as in HBase: b is stored. */
    static const int expected[3][6] = {
        {1, 1, 0, 1, 0, 0}, {0, 1, 1, 0, 1, 0}, {0, 0, 0, 1, 1, 1}};
    for (int value = 0; value < 3; value++) {
        const char text[2] = {(char)('a' + value), 0};
        for (int how = HBLITE_LESS; how <= HBLITE_GREATER; how++) {
            OK(hblite_check_and_mutate(table, T("f"), T("owner"), how, T(text), write, &applied,
                                       &error));
            CHECK(applied == expected[value][how]);
        }
    }
    OK(hblite_free(write, &error));
}

static void add_delete(int scope, const char *family, const char *qualifier, int64_t timestamp)
{
    hblite_write *write;
    OK(hblite_write_new(HBLITE_DELETE, T("d"), &write, &error));
    OK(hblite_write_add_delete(write, scope, T(family), T(qualifier), timestamp, &error));
    OK(hblite_mutate(table, write, NULL, &error));
    OK(hblite_free(write, &error));
}

static void deletes(void)
{
    hblite_read *read = new_read();
    hblite_write *write;
    OK(hblite_read_set_versions(read, 3, &error));
    for (int64_t timestamp = 1; timestamp <= 3; timestamp++) {
        put_at("d", "a", "v", timestamp);
        put_at("d", "b", "w", timestamp);
    }
    CHECK(strcmp(get("d", read), "a=v@3 a=v@2 a=v@1 b=w@3 b=w@2 b=w@1") == 0);
    add_delete(HBLITE_DELETE_VERSION, "f", "a", 2);
    CHECK(strcmp(get("d", read), "a=v@3 a=v@1 b=w@3 b=w@2 b=w@1") == 0);
    add_delete(HBLITE_DELETE_VERSION, "f", "a", HBLITE_NOW);
    CHECK(strcmp(get("d", read), "a=v@1 b=w@3 b=w@2 b=w@1") == 0);
    add_delete(HBLITE_DELETE_COLUMN, "f", "b", 1);
    CHECK(strcmp(get("d", read), "a=v@1 b=w@3 b=w@2") == 0);
    add_delete(HBLITE_DELETE_FAMILY_VERSION, "f", "", 3);
    CHECK(strcmp(get("d", read), "a=v@1 b=w@2") == 0);
    add_delete(HBLITE_DELETE_FAMILY, "f", "", 1);
    CHECK(strcmp(get("d", read), "b=w@2") == 0);
    put_at("d", "c", "x", 9);
    add_delete(HBLITE_DELETE_ROW, "", "", 5);
    CHECK(strcmp(get("d", read), "c=x@9") == 0);
    OK(hblite_write_new(HBLITE_DELETE, T("d"), &write, &error));
    OK(hblite_mutate(table, write, NULL, &error));
    OK(hblite_free(write, &error));
    CHECK(strcmp(get("d", read), "") == 0);
    OK(hblite_free(read, &error));
}

/* The cells of the rows of a scan that is raw, as "type@timestamp" in order. */
static const char *raw_types(hblite_read *read)
{
    static char text[1024];
    hblite_scanner *scanner;
    hblite_row *row;
    const hblite_cell *cells;
    size_t count, used = 0;
    text[0] = 0;
    OK(hblite_scan(table, read, &scanner, &error));
    for (;;) {
        OK(hblite_scanner_next(scanner, &row, &error));
        if (row == NULL)
            break;
        OK(hblite_row_cells(row, &cells, &count, &error));
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%d@%lld ",
                                     (int)cells[i].cell_type, (long long)cells[i].timestamp);
        OK(hblite_free(row, &error));
    }
    OK(hblite_free(scanner, &error));
    return text;
}

static void raw_scans(void)
{
    hblite_read *read = new_read();
    hblite_row *row;
    hblite_write *write;
    put_at("raw", "q", "old", 1);
    put_at("raw", "q", "new", 4);
    OK(hblite_write_new(HBLITE_DELETE, T("raw"), &write, &error));
    OK(hblite_write_add_delete(write, HBLITE_DELETE_FAMILY, T("f"), T(""), 3, &error));
    OK(hblite_write_add_delete(write, HBLITE_DELETE_COLUMN, T("f"), T("q"), 2, &error));
    OK(hblite_write_add_delete(write, HBLITE_DELETE_VERSION, T("f"), T("q"), 4, &error));
    OK(hblite_write_add_delete(write, HBLITE_DELETE_FAMILY_VERSION, T("f"), T(""), 5, &error));
    OK(hblite_mutate(table, write, NULL, &error));
    OK(hblite_free(write, &error));

    OK(hblite_read_set_prefix(read, T("raw"), &error));
    OK(hblite_read_set_versions(read, 9, &error));
    CHECK(strcmp(raw_types(read), "") == 0);
    OK(hblite_read_set_raw(read, 1, &error));
    CHECK(HBLITE_CELL_PUT == 4 && HBLITE_CELL_DELETE == 8 &&
          HBLITE_CELL_DELETE_FAMILY_VERSION == 10 && HBLITE_CELL_DELETE_COLUMN == 12 &&
          HBLITE_CELL_DELETE_FAMILY == 14);
    CHECK(strcmp(raw_types(read), "10@5 14@3 8@4 4@4 12@2 4@1 ") == 0);
    OK(hblite_read_set_raw(read, 0, &error));
    CHECK(strcmp(raw_types(read), "") == 0);
    OK(hblite_free(read, &error));

    read = new_read();
    OK(hblite_read_set_raw(read, 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "is raw", hblite_get(table, T("raw"), read, &row, &error));
    OK(hblite_free(read, &error));
}

static void reads(void)
{
    hblite_read *read = new_read();
    put_at("v", "q", "old", 1);
    put_at("v", "q", "new", 2);
    put_at("v", "other", "x", 2);
    OK(hblite_read_add_column(read, T("f"), T("q"), &error));
    CHECK(strcmp(get("v", read), "q=new@2") == 0);
    OK(hblite_read_set_versions(read, 2, &error));
    CHECK(strcmp(get("v", read), "q=new@2 q=old@1") == 0);
    OK(hblite_read_set_time_range(read, 0, 2, &error));
    CHECK(strcmp(get("v", read), "q=old@1") == 0);
    OK(hblite_free(read, &error));

    read = new_read();
    OK(hblite_read_add_family(read, T("short"), &error));
    CHECK(strcmp(get("v", read), "") == 0);
    OK(hblite_free(read, &error));
    CHECK(strcmp(get("missing", NULL), "") == 0);
}

static void scans(void)
{
    hblite_read *read = new_read();
    for (const char *key = "s1\0s2\0s3\0z1\0"; *key; key += 3)
        OK(hblite_put(table, T(key), T("f"), T("q"), T(key), &error));
    OK(hblite_read_set_prefix(read, T("s"), &error));
    CHECK(strcmp(scan(read), "s1,s2,s3,") == 0);
    OK(hblite_read_set_reversed(read, 1, &error));
    CHECK(strcmp(scan(read), "s3,s2,s1,") == 0);
    OK(hblite_read_set_limit(read, 2, &error));
    CHECK(strcmp(scan(read), "s3,s2,") == 0);
    OK(hblite_free(read, &error));

    read = new_read();
    OK(hblite_read_set_range(read, T("s1"), T("s3"), 0, &error));
    CHECK(strcmp(scan(read), "s1,s2,") == 0);
    OK(hblite_read_set_range(read, T("s1"), T("s3"), HBLITE_EXCLUDE_START | HBLITE_INCLUDE_STOP,
                             &error));
    CHECK(strcmp(scan(read), "s2,s3,") == 0);
    OK(hblite_read_set_range(read, T("s3"), T(""), 0, &error));
    OK(hblite_read_set_filter(read, T("ValueFilter(!=, 'binary:v')"), &error));
    OK(hblite_read_add_column(read, T("f"), T("q"), &error));
    CHECK(strcmp(scan(read), "s3,v,z1,") == 0);
    OK(hblite_free(read, &error));
    CHECK(strncmp(scan(NULL), "a1,ap,", 6) == 0);
}

static void batches(void)
{
    hblite_batch *batch;
    hblite_write *write;
    hblite_read *read = new_read();
    hblite_row *row;

    OK(hblite_batch_new(&batch, &error));
    for (int i = 0; i < 3; i++) {
        char key[8];
        snprintf(key, sizeof key, "b%d", i);
        OK(hblite_write_new(HBLITE_PUT, T(key), &write, &error));
        OK(hblite_write_add(write, T(i == 1 ? "nofamily" : "f"), T("q"), T("v"), 1, &error));
        OK(hblite_batch_add_write(batch, write, &error));
        OK(hblite_free(write, &error));
    }
    OK(hblite_batch_add_get(batch, T("v"), NULL, &error));
    FAILS(HBLITE_NOT_FOUND, "nofamily", hblite_batch_run(batch, table, &error));
    OK(hblite_batch_result(batch, 0, &row, &error));
    CHECK(row != NULL);
    CHECK(strcmp(row_text(row), "") == 0);
    OK(hblite_free(row, &error));
    OK(hblite_batch_result(batch, 0, NULL, &error));
    FAILS(HBLITE_NOT_FOUND, "nofamily", hblite_batch_result(batch, 1, &row, &error));
    CHECK(row == NULL);
    OK(hblite_batch_result(batch, 3, &row, &error));
    CHECK(strcmp(row_text(row), "other=x@2 q=new@2") == 0);
    OK(hblite_free(row, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "4 actions", hblite_batch_result(batch, 4, &row, &error));
    CHECK(strcmp(get("b2", NULL), "q=v@1") == 0);

    /* The actions were sent. */
    OK(hblite_batch_run(batch, table, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "0 actions", hblite_batch_result(batch, 0, &row, &error));
    OK(hblite_read_set_limit(read, 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "chooses rows",
          hblite_batch_add_get(batch, T("v"), read, &error));
    OK(hblite_free(read, &error));
    OK(hblite_free(batch, &error));
}

static void snapshots(void)
{
    hblite_list *list;
    hblite_bytes item;
    hblite_table *first = table;

    OK(hblite_snapshot(db, T("s"), T("t"), &error));
    FAILS(HBLITE_ALREADY_EXISTS, "s", hblite_snapshot(db, T("s"), T("t"), &error));
    put_at("v", "q", "later", 3);
    OK(hblite_list_snapshots(db, &list, &error));
    OK(hblite_list_item(list, 0, &item, &error));
    CHECK(same(item, "s"));
    OK(hblite_list_item(list, 1, &item, &error));
    CHECK(item.data == NULL);
    OK(hblite_free(list, &error));
    OK(hblite_clone_snapshot(db, T("s"), T("copy"), &error));
    OK(hblite_table_new(db, T("copy"), &table, &error));
    CHECK(strcmp(get("v", NULL), "other=x@2 q=new@2") == 0);
    OK(hblite_free(table, &error));
    table = first;
    OK(hblite_disable_table(db, T("t"), &error));
    OK(hblite_restore_snapshot(db, T("s"), &error));
    OK(hblite_enable_table(db, T("t"), &error));
    CHECK(strcmp(get("v", NULL), "other=x@2 q=new@2") == 0);
    OK(hblite_delete_snapshot(db, T("s"), &error));
    FAILS(HBLITE_NOT_FOUND, "s", hblite_delete_snapshot(db, T("s"), &error));
}

static void reopened(const char *dir)
{
    hblite_db *other;
    hblite_error failure;
    CHECK(hblite_open(T(dir), 0, &other, &failure) == HBLITE_LOCKED && other == NULL);
    OK(hblite_open(T(dir), HBLITE_OPEN_READ_ONLY, &other, &error));
    hblite_table *first = table;
    OK(hblite_table_new(other, T("t"), &table, &error));
    CHECK(strcmp(get("b2", NULL), "q=v@1") == 0);
    FAILS(HBLITE_INVALID_ARGUMENT, "read-only",
          hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
    OK(hblite_free(table, &error));
    OK(hblite_close(other, &error));
    table = first;

    OK(hblite_flush(db, T("t"), &error));
    OK(hblite_compact(db, T("t"), 0, &error));
    OK(hblite_compact(db, T("t"), 1, &error));
    OK(hblite_free(table, &error));
    OK(hblite_close(db, &error));
    OK(hblite_open(T(dir), HBLITE_OPEN_EXISTING | HBLITE_OPEN_MAPPED, &db, &error));
    OK(hblite_table_new(db, T("t"), &table, &error));
    CHECK(strcmp(get("b2", NULL), "q=v@1") == 0);
    OK(hblite_free(table, &error));
    OK(hblite_close(db, &error));
}

int main(int count, char **arguments)
{
    hblite_error error = {0};
    CHECK(count == 2);
    CHECK(strcmp(hblite_version(), "0.1.0") == 0);
    FAILS(HBLITE_NOT_FOUND, "no store is there",
          hblite_open(T(arguments[1]), HBLITE_OPEN_EXISTING, &db, &error));
    OK(hblite_open(T(arguments[1]), 0, &db, &error));
    tables();
    OK(hblite_table_new(db, T("t"), &table, &error));
    writes();
    deletes();
    raw_scans();
    reads();
    scans();
    batches();
    snapshots();
    reopened(arguments[1]);

    CHECK(hblite_open_in_memory(&db, NULL) == HBLITE_OK);
    CHECK(hblite_delete_table(db, T("none"), &error) == HBLITE_NOT_FOUND);
    CHECK(error.code == HBLITE_NOT_FOUND);
    CHECK(strcmp(error.class_name, "org.apache.hadoop.hbase.TableNotFoundException") == 0);
    OK(hblite_close(db, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "nowhere", hblite_connect(T("nowhere"), &db, &error));
    CHECK(db == NULL);
    puts("round trip: ok");
    return 0;
}
