/*
 * Goal: what a program does wrong with handles, pointers, sizes and numbers is an error.
 * Method: each mistake, in a process whose memory is watched.
 */
#include "check.h"

static void null_and_freed_handles(void)
{
    hblite_db *db;
    hblite_table *table, *other_kind;
    hblite_row *row;
    hblite_scanner *scanner;
    hblite_write *write;
    int32_t applied;
    int64_t sum;

    FAILS(HBLITE_INVALID_HANDLE, "hblite_db is NULL", hblite_close(NULL, &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_db is NULL",
          hblite_table_new(NULL, T("t"), &table, &error));
    CHECK(table == NULL);
    OK(hblite_free(NULL, &error));
    FAILS(HBLITE_INVALID_HANDLE, "not a handle", hblite_free((void *)&db, &error));
    FAILS(HBLITE_INVALID_HANDLE, "not a handle", hblite_close((hblite_db *)(uintptr_t)42, &error));

    OK(hblite_open_in_memory(&db, &error));
    create_table(db, "t");
    OK(hblite_table_new(db, T("t"), &table, &error));
    FAILS(HBLITE_INVALID_HANDLE, "own function", hblite_free(db, &error));
    other_kind = (hblite_table *)(void *)db;
    FAILS(HBLITE_INVALID_HANDLE, "the hblite_table is a hblite_db",
          hblite_put(other_kind, T("r"), T("f"), T("q"), T("v"), &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_table is NULL",
          hblite_put(NULL, T("r"), T("f"), T("q"), T("v"), &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_write is NULL", hblite_mutate(table, NULL, NULL, &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_scanner is NULL", hblite_scanner_next(NULL, &row, &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_read is a hblite_table",
          hblite_get(table, T("r"), (hblite_read *)(void *)table, &row, &error));

    OK(hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
    OK(hblite_get(table, T("r"), NULL, &row, &error));
    OK(hblite_scan(table, NULL, &scanner, &error));
    OK(hblite_free(row, &error));
    FAILS(HBLITE_INVALID_HANDLE, "was freed", hblite_free(row, &error));
    const hblite_cell *cells;
    size_t count;
    FAILS(HBLITE_INVALID_HANDLE, "hblite_row was freed",
          hblite_row_cells(row, &cells, &count, &error));
    CHECK(cells == NULL && count == 0);

    /* A store that is closed: what depends on it is an error, and is freed as usual. */
    OK(hblite_close(db, &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_db was freed", hblite_close(db, &error));
    FAILS(HBLITE_CLOSED, "", hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
    FAILS(HBLITE_CLOSED, "", hblite_get(table, T("r"), NULL, &row, &error));
    FAILS(HBLITE_CLOSED, "", hblite_increment(table, T("r"), T("f"), T("n"), 1, &sum, &error));
    OK(hblite_write_new(HBLITE_PUT, T("r"), &write, &error));
    OK(hblite_write_add(write, T("f"), T("q"), T("v"), HBLITE_NOW, &error));
    FAILS(HBLITE_CLOSED, "", hblite_check_and_mutate(table, T("f"), T("q"), HBLITE_EQUAL, T("v"),
                                                     write, &applied, &error));
    OK(hblite_free(write, &error));
    OK(hblite_free(scanner, &error));
    OK(hblite_free(table, &error));
    FAILS(HBLITE_INVALID_HANDLE, "hblite_table was freed",
          hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
}

static void wrong_pointers_and_sizes(void)
{
    hblite_db *db;
    hblite_table *table;
    hblite_row *row;
    hblite_bytes null_with_size = {NULL, 5}, negative = {"x", (size_t)-1};
    hblite_bytes not_text = {"\xff\xfe", 2}, empty = {NULL, 0};

    FAILS(HBLITE_INVALID_ARGUMENT, "result is NULL", hblite_open_in_memory(NULL, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "path is empty", hblite_open(empty, 0, &db, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "flags", hblite_open(T("x"), 1u << 31, &db, &error));
    OK(hblite_open_in_memory(&db, &error));
    create_table(db, "t");
    FAILS(HBLITE_INVALID_ARGUMENT, "UTF-8", hblite_table_new(db, not_text, &table, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "", hblite_table_new(db, empty, &table, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "", hblite_table_new(db, T(NULL), &table, &error));
    OK(hblite_table_new(db, T("t"), &table, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "NULL has no 5 bytes",
          hblite_put(table, null_with_size, T("f"), T("q"), T("v"), &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "not the size",
          hblite_put(table, T("r"), T("f"), T("q"), negative, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "Row length is 0",
          hblite_put(table, empty, T("f"), T("q"), T("v"), &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "result is NULL",
          hblite_get(table, T("r"), NULL, NULL, &error));

    /* A row and a value that are too large. */
    size_t size = 11u << 20;
    char *large = malloc(size);
    memset(large, 'x', size);
    hblite_bytes row_key = {large, 40000}, value = {large, size};
    FAILS(HBLITE_INVALID_ARGUMENT, "40000",
          hblite_put(table, row_key, T("f"), T("q"), T("v"), &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "", hblite_get(table, row_key, NULL, &row, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "size",
          hblite_put(table, T("r"), T("f"), T("q"), value, &error));
    /* A message that is longer than its place. */
    hblite_bytes name = {large, 3000};
    hblite_error error;
    memset(&error, 'x', sizeof error);
    CHECK(hblite_delete_table(db, name, &error) != HBLITE_OK);
    CHECK(strlen(error.message) == sizeof error.message - 1);
    free(large);
    OK(hblite_free(table, &error));
    OK(hblite_close(db, &error));
}

static void wrong_numbers(void)
{
    hblite_db *db;
    hblite_table *table;
    hblite_write *write, *append;
    hblite_read *read;
    hblite_schema *schema;
    int32_t applied;

    OK(hblite_open_in_memory(&db, &error));
    create_table(db, "t");
    OK(hblite_table_new(db, T("t"), &table, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "4 is not a hblite_write_kind",
          hblite_write_new(4, T("r"), &write, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "-1 is not a hblite_write_kind",
          hblite_write_new(-1, T("r"), &write, &error));
    OK(hblite_write_new(HBLITE_DELETE, T("r"), &write, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "5 is not a hblite_delete_scope",
          hblite_write_add_delete(write, 5, T("f"), T("q"), 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "no such family or qualifier",
          hblite_write_add_delete(write, HBLITE_DELETE_FAMILY, T("f"), T("q"), 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "HBLITE_NOW",
          hblite_write_add_delete(write, HBLITE_DELETE_FAMILY_VERSION, T("f"), T(""), HBLITE_NOW,
                                  &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "a delete has no values",
          hblite_write_add(write, T("f"), T("q"), T("v"), 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "a delete has no amounts",
          hblite_write_add_amount(write, T("f"), T("q"), 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "a delete has no time to live",
          hblite_write_set_ttl(write, 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "5 is not a hblite_write_durability",
          hblite_write_set_durability(write, 5, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "6 is not a hblite_comparison",
          hblite_check_and_mutate(table, T("f"), T("q"), 6, T("v"), write, &applied, &error));
    OK(hblite_mutate(table, write, NULL, &error));
    OK(hblite_free(write, &error));
    OK(hblite_write_new(HBLITE_APPEND, T("r"), &append, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "an append has no timestamp",
          hblite_write_add(append, T("f"), T("q"), T("v"), 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "an append has no deletes",
          hblite_write_add_delete(append, HBLITE_DELETE_COLUMN, T("f"), T("q"), 1, &error));
    OK(hblite_free(append, &error));

    OK(hblite_read_new(&read, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "at least 1", hblite_read_set_versions(read, 0, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "at least 1", hblite_read_set_limit(read, 0, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "", hblite_read_set_time_range(read, 5, 1, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "", hblite_read_set_filter(read, T("Nonsense("), &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "flags",
          hblite_read_set_range(read, T("a"), T("b"), 4, &error));
    OK(hblite_free(read, &error));

    OK(hblite_schema_new(T("x"), &schema, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "no family f",
          hblite_schema_set(schema, T("f"), T("VERSIONS"), T("3"), &error));
    OK(hblite_schema_add_family(schema, T("f"), 1, 0, &error));
    FAILS(HBLITE_INVALID_ARGUMENT, "",
          hblite_schema_set(schema, T("f"), T("VERSIONS"), T("many"), &error));
    OK(hblite_free(schema, &error));
    OK(hblite_free(table, &error));
    OK(hblite_close(db, &error));
}

int main(void)
{
    null_and_freed_handles();
    wrong_pointers_and_sizes();
    wrong_numbers();
    puts("misuse: ok");
    return 0;
}
