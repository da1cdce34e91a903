/* The work of overhead.rs through the functions of C. */
#include <hblite.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 20000 };

static hblite_error error;

static void check(hblite_code code)
{
    if (code != HBLITE_OK) {
        fprintf(stderr, "overhead: %s\n", error.message);
        exit(1);
    }
}

int main(int argument_count, char **arguments)
{
    hblite_db *db;
    hblite_schema *schema;
    hblite_table *table;
    hblite_row *row;
    hblite_bytes family = hblite_text("f"), qualifier = hblite_text("q"), value, read_value;
    static char keys[ROWS][16], text[100];
    hblite_bytes key;

    if (argument_count != 3) {
        fprintf(stderr, "usage: overhead put|get|scan COUNT\n");
        return 2;
    }
    long count = atol(arguments[2]);
    memset(text, 'x', sizeof text);
    value.data = text;
    value.size = sizeof text;
    check(hblite_open_in_memory(&db, &error));
    check(hblite_schema_new(hblite_text("t"), &schema, &error));
    check(hblite_schema_add_family(schema, family, 0, 0, &error));
    check(hblite_create_table(db, schema, &error));
    check(hblite_table_new(db, hblite_text("t"), &table, &error));
    for (int i = 0; i < ROWS; i++) {
        snprintf(keys[i], sizeof keys[i], "row%09d", i);
        check(hblite_put(table, hblite_text(keys[i]), family, qualifier, value, &error));
    }
    for (long done = 0; done < count;) {
        key = hblite_text(keys[done % ROWS]);
        switch (arguments[1][0]) {
        case 'p':
            check(hblite_put(table, key, family, qualifier, value, &error));
            done++;
            break;
        case 'g':
            check(hblite_get(table, key, NULL, &row, &error));
            check(hblite_row_value(row, family, qualifier, &read_value, &error));
            if (read_value.size != value.size)
                return 1;
            check(hblite_free(row, &error));
            done++;
            break;
        default: {
            hblite_scanner *scanner;
            check(hblite_scan(table, NULL, &scanner, &error));
            while (check(hblite_scanner_next(scanner, &row, &error)), row != NULL) {
                const hblite_cell *cells;
                size_t cell_count;
                check(hblite_row_cells(row, &cells, &cell_count, &error));
                if (cell_count != 1)
                    return 1;
                check(hblite_free(row, &error));
                done++;
            }
            check(hblite_free(scanner, &error));
        }
        }
    }
    check(hblite_close(db, &error));
    return 0;
}
