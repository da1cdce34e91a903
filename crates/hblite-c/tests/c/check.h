/* What the test programs have in common. */
#ifndef CHECK_H
#define CHECK_H

#include <hblite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T hblite_text

/* Ends the program unless the condition holds. */
#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

/* Ends the program unless the call succeeds. The call names its error `&error`. */
#define OK(call)                                                                     \
    do {                                                                             \
        hblite_error error = {0};                                                    \
        hblite_code code = (call);                                                   \
        if (code != HBLITE_OK || error.code != HBLITE_OK) {                          \
            fprintf(stderr, "%s:%d: %s: %d %s: %s\n", __FILE__, __LINE__, #call, code,    \
                    error.class_name, error.message);                                \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

/* Ends the program unless the call fails with this code, and a message with this text. */
#define FAILS(expected, text, call)                                                  \
    do {                                                                             \
        hblite_error error = {0};                                                    \
        hblite_code code = (call);                                                   \
        if (code != (expected) || error.code != (expected) ||                        \
            strstr(error.message, (text)) == NULL) {                                 \
            fprintf(stderr, "%s:%d: %s: %d %s: %s\n", __FILE__, __LINE__, #call, code,    \
                    error.class_name, error.message);                                \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static inline int same(hblite_bytes bytes, const char *text)
{
    return bytes.data != NULL && bytes.size == strlen(text) &&
           memcmp(bytes.data, text, bytes.size) == 0;
}

/* Creates a table with the family "f", which keeps three versions. */
static inline void create_table(hblite_db *db, const char *name)
{
    hblite_schema *schema;
    OK(hblite_schema_new(T(name), &schema, &error));
    OK(hblite_schema_add_family(schema, T("f"), 3, 0, &error));
    OK(hblite_create_table(db, schema, &error));
    OK(hblite_free(schema, &error));
}

#endif
