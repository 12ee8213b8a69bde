package android.os;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class Handler {
  private static final ExecutorService MAIN = Executors.newSingleThreadExecutor(task -> {
    Thread thread = new Thread(task, "main of the test");
    thread.setDaemon(true);
    return thread;
  });

  public Handler(Looper looper) {}

  public final boolean post(Runnable task) {
    MAIN.execute(task);
    return true;
  }
}
