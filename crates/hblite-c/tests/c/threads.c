/*
 * Goal: threads share all handles, also while one of them ends a handle; a process that forks has
 * no use of those from before.
 * Method: threads that write, scan and build on the same objects, and counts that must be right.
 */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200 };

static hblite_db *db;
static hblite_table *table;
static hblite_scanner *shared_scanner;
static hblite_write *shared_write;
static hblite_batch *shared_batch;

static void *work(void *number)
{
    char key[16];
    long scanned = 0;
    for (int round = 0; round < ROUNDS; round++) {
        snprintf(key, sizeof key, "k%d-%d", *(int *)number, round);
        hblite_bytes bytes = T(key);
        OK(hblite_put(table, bytes, T("f"), T("q"), bytes, &error));
        hblite_row *row;
        OK(hblite_get(table, bytes, NULL, &row, &error));
        hblite_bytes value;
        OK(hblite_row_value(row, T("f"), T("q"), &value, &error));
        CHECK(same(value, key));
        OK(hblite_free(row, &error));
        OK(hblite_increment(table, T("n"), T("f"), T("n"), 1, NULL, &error));
        OK(hblite_write_add_amount(shared_write, T("f"), bytes, 1, &error));
        OK(hblite_batch_add_get(shared_batch, bytes, NULL, &error));
        OK(hblite_scanner_next(shared_scanner, &row, &error));
        if (row != NULL) {
            scanned++;
            OK(hblite_free(row, &error));
        }
    }
    return (void *)scanned;
}

/* Uses a table until another thread frees it. */
static void *use_until_freed(void *handle)
{
    for (;;) {
        hblite_error error;
        hblite_code code = hblite_put(handle, T("r"), T("f"), T("q"), T("v"), &error);
        if (code == HBLITE_INVALID_HANDLE)
            return NULL;
        CHECK(code == HBLITE_OK);
    }
}

/* Uses a store until another thread closes it. */
static void *use_until_closed(void *handle)
{
    for (;;) {
        hblite_error error;
        hblite_code code = hblite_put(handle, T("r"), T("f"), T("q"), T("v"), &error);
        if (code == HBLITE_CLOSED)
            return NULL;
        CHECK(code == HBLITE_OK);
    }
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    long scanned = 0;
    hblite_row *row;
    const hblite_cell *cells;
    size_t count;
    int64_t sum;

    for (int i = 0; i < 100; i++) {
        char key[16];
        snprintf(key, sizeof key, "a%d", i);
        OK(hblite_put(table, T(key), T("f"), T("q"), T("v"), &error));
    }
    hblite_read *read;
    OK(hblite_read_new(&read, &error));
    OK(hblite_read_set_prefix(read, T("a"), &error));
    OK(hblite_scan(table, read, &shared_scanner, &error));
    OK(hblite_free(read, &error));
    OK(hblite_write_new(HBLITE_INCREMENT, T("wide"), &shared_write, &error));
    OK(hblite_batch_new(&shared_batch, &error));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        scanned += (long)result;
    }
    CHECK(scanned == 100);
    OK(hblite_increment(table, T("n"), T("f"), T("n"), 0, &sum, &error));
    CHECK(sum == THREADS * ROUNDS);
    OK(hblite_mutate(table, shared_write, &row, &error));
    OK(hblite_row_cells(row, &cells, &count, &error));
    CHECK(count == THREADS * ROUNDS);
    OK(hblite_free(row, &error));
    OK(hblite_batch_run(shared_batch, table, &error));
    OK(hblite_batch_result(shared_batch, THREADS * ROUNDS - 1, &row, &error));
    OK(hblite_free(row, &error));
    OK(hblite_free(shared_write, &error));
    OK(hblite_free(shared_batch, &error));
    OK(hblite_free(shared_scanner, &error));
}

static void ends_well(pid_t process)
{
    int status;
    CHECK(waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fork_and_check(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        hblite_db *own;
        hblite_table *own_table;
        FAILS(HBLITE_FORKED, "forked",
              hblite_put(table, T("r"), T("f"), T("q"), T("child"), &error));
        FAILS(HBLITE_FORKED, "forked", hblite_close(db, &error));
        FAILS(HBLITE_FORKED, "forked", hblite_free(table, &error));
        OK(hblite_open_in_memory(&own, &error));
        create_table(own, "t");
        OK(hblite_table_new(own, T("t"), &own_table, &error));
        OK(hblite_put(own_table, T("r"), T("f"), T("q"), T("v"), &error));
        /* Twice, with handles of three processes. */
        pid_t grandchild = fork();
        CHECK(grandchild >= 0);
        if (grandchild == 0) {
            FAILS(HBLITE_FORKED, "forked",
                  hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
            FAILS(HBLITE_FORKED, "forked",
                  hblite_put(own_table, T("r"), T("f"), T("q"), T("v"), &error));
            OK(hblite_open_in_memory(&own, &error));
            OK(hblite_close(own, &error));
            _exit(0);
        }
        ends_well(grandchild);
        OK(hblite_put(own_table, T("s"), T("f"), T("q"), T("v"), &error));
        OK(hblite_free(own_table, &error));
        OK(hblite_close(own, &error));
        _exit(0);
    }
    ends_well(child);
}

int main(void)
{
    pthread_t threads[2];
    hblite_table *other;
    OK(hblite_open_in_memory(&db, &error));
    create_table(db, "t");
    OK(hblite_table_new(db, T("t"), &table, &error));
    run_threads();
    fork_and_check();

    OK(hblite_table_new(db, T("t"), &other, &error));
    CHECK(pthread_create(&threads[0], NULL, use_until_freed, other) == 0);
    CHECK(pthread_create(&threads[1], NULL, use_until_closed, table) == 0);
    OK(hblite_put(table, T("r"), T("f"), T("q"), T("v"), &error));
    OK(hblite_free(other, &error));
    CHECK(pthread_join(threads[0], NULL) == 0);
    OK(hblite_close(db, &error));
    CHECK(pthread_join(threads[1], NULL) == 0);
    OK(hblite_free(table, &error));
    puts("threads: ok");
    return 0;
}
