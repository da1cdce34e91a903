package hblite.conformance;

import static hblite.conformance.Store.F;
import static hblite.conformance.Store.Q;
import static hblite.conformance.Text.bytes;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.ScanResultConsumer;

/** The asynchronous client: the same store through another implementation. */
final class AsyncScenario implements Scenario {
  @Override
  public void run(Store store, Answers answers) throws Exception {
    TableName name = store.name("async");
    store.admin.createTable(Store.descriptor(name, 2, "f"), new byte[][] {bytes("m")});
    AsyncTable<ScanResultConsumer> table =
        store.async.getTable(name, ForkJoinPool.commonPool());
    byte[] row = bytes("a");
    answers.ask("put", () -> table.put(Store.put("a", "q", 1, "v")).get());
    answers.ask("get", () -> table.get(new Get(row)).get());
    answers.ask("exists", () -> table.exists(new Get(bytes("b"))).get());
    answers.ask("count", () -> table.increment(new Increment(row).addColumn(F, bytes("c"), 2)).get());
    answers.ask("append", () -> table.append(new Append(row).addColumn(F, Q, bytes("!"))).get());
    answers.ask("check",
        () -> table.checkAndMutate(
            CheckAndMutate.newBuilder(row).ifEquals(F, Q, bytes("v!"))
                .build(new Put(row).addColumn(F, Q, bytes("w")))).get());
    answers.ask("a row together",
        () -> {
          RowMutations mutations = new RowMutations(bytes("z"));
          mutations.add((Mutation) Store.put("z", "q", 1, "z"));
          return table.mutateRow(mutations).get();
        });
    answers.ask("many at once",
        () -> {
          List<CompletableFuture<Void>> puts = new ArrayList<>();
          for (int each = 0; each < 200; each++) {
            puts.add(table.put(Store.put("n%03d".formatted(each), "q", 1, "v")));
          }
          CompletableFuture.allOf(puts.toArray(CompletableFuture[]::new)).get();
          return table.scanAll(new Scan()).get().size();
        });
    answers.ask("scan", () -> rows(table.scanAll(new Scan().setLimit(3)).get()));
    answers.ask("scan backwards",
        () -> rows(table.scanAll(new Scan().setReversed(true).setLimit(3)).get()));
    answers.ask("scan in batches",
        () -> table.scanAll(new Scan().withStopRow(bytes("b")).setBatch(1)).get());
    answers.ask("scanner",
        () -> {
          try (var scanner = table.getScanner(new Scan().setCaching(10))) {
            int count = 0;
            while (scanner.next() != null) {
              count++;
            }
            return count;
          }
        });
    answers.ask("batch",
        () -> table.batchAll(List.of(new Get(row).addColumn(F, bytes("c")), new Delete(bytes("n000")))).get());
    answers.ask("delete", () -> table.delete(new Delete(row)).get());
    answers.ask("get it no more", () -> table.get(new Get(row)).get());
    answers.ask("put into no family",
        () -> table.put(new Put(row).addColumn(bytes("none"), Q, Q)).get());
    answers.ask("from no table",
        () -> store.async.getTable(TableName.valueOf("nowhere")).get(new Get(row)).get());
    answers.ask("buffered",
        () -> {
          List<CompletableFuture<Void>> puts = new ArrayList<>();
          try (var mutator = store.async.getBufferedMutator(name)) {
            for (int each = 0; each < 100; each++) {
              puts.add(mutator.mutate(Store.put("o%03d".formatted(each), "q", 1, "v")));
            }
          }
          CompletableFuture.allOf(puts.toArray(CompletableFuture[]::new)).get();
          return table.scanAll(new Scan().setStartStopRowForPrefixScan(bytes("o"))).get().size();
        });
    answers.ask("where it is",
        () -> store.async.getRegionLocator(name).getAllRegionLocations().get().size());
  }

  private static List<String> rows(List<Result> results) {
    return results.stream().map(result -> Text.of(result.getRow())).toList();
  }
}
