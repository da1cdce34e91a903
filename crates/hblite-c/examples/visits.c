/*
 * Counts visits of pages in a store on disk, and lists those of a site.
 *
 *   cc visits.c $(pkg-config --cflags --libs hblite) -o visits && ./visits DIR PAGE...
 *
 * A page is "site/path". Each run adds one visit to each page that is named.
 */
#include <hblite.h>
#include <stdio.h>
#include <stdlib.h>

/* A program of its own may do more about an error: its code says what. */
static void check(hblite_code code, const hblite_error *error)
{
    if (code == HBLITE_OK)
        return;
    fprintf(stderr, "visits: %s\n", error->message);
    exit(1);
}

static void create_table(hblite_db *db)
{
    hblite_error error;
    hblite_state state;
    hblite_schema *schema;

    check(hblite_table_state(db, hblite_text("pages"), &state, &error), &error);
    if (state != HBLITE_STATE_MISSING)
        return;
    check(hblite_schema_new(hblite_text("pages"), &schema, &error), &error);
    check(hblite_schema_add_family(schema, hblite_text("n"), 1, 0, &error), &error);
    check(hblite_create_table(db, schema, &error), &error);
    hblite_free(schema, NULL);
}

static int64_t number(hblite_bytes bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size; i++)
        value = value << 8 | ((const uint8_t *)bytes.data)[i];
    return (int64_t)value;
}

static void list_all(hblite_table *pages)
{
    hblite_error error;
    hblite_scanner *scanner;
    hblite_row *row;

    check(hblite_scan(pages, NULL, &scanner, &error), &error);
    for (;;) {
        const hblite_cell *cells;
        size_t count;
        check(hblite_scanner_next(scanner, &row, &error), &error);
        if (row == NULL)
            break;
        check(hblite_row_cells(row, &cells, &count, &error), &error);
        printf("%.*s %lld\n", (int)cells[0].row.size, (const char *)cells[0].row.data,
               (long long)number(cells[0].value));
        hblite_free(row, NULL);
    }
    hblite_free(scanner, NULL);
}

int main(int count, char **arguments)
{
    hblite_error error;
    hblite_db *db;
    hblite_table *pages;

    if (count < 2) {
        fprintf(stderr, "usage: visits DIR PAGE...\n");
        return 2;
    }
    check(hblite_open(hblite_text(arguments[1]), 0, &db, &error), &error);
    create_table(db);
    check(hblite_table_new(db, hblite_text("pages"), &pages, &error), &error);
    for (int i = 2; i < count; i++)
        check(hblite_increment(pages, hblite_text(arguments[i]), hblite_text("n"),
                               hblite_text("visits"), 1, NULL, &error),
              &error);
    list_all(pages);
    hblite_free(pages, NULL);
    check(hblite_close(db, &error), &error);
    return 0;
}
