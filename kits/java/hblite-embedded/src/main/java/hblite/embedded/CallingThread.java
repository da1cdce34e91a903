package hblite.embedded;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs each task in the thread that submits it. HBase's client waits for what it passes to a pool,
 * and a store in its process is done before another thread would have begun.
 *
 * <p>HBase 2 casts the pool of a connection to ThreadPoolExecutor. No thread is ever started.
 */
final class CallingThread extends ThreadPoolExecutor {
  CallingThread() {
    super(0, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>());
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }
}
