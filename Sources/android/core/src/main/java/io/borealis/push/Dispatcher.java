package io.borealis.push;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Calls the app's code: one call after the other, in order, on the app's executor or on a thread of its own.
 */
final class Dispatcher {
  /** With this many waiting calls nothing more is read from the server. */
  static final int MOST = 1024;

  private final Executor executor;
  private final ArrayDeque<Runnable> calls = new ArrayDeque<>();
  private boolean isRunning;
  /** Called once when there is room again after {@link #isFull} was true. */
  private Runnable whenRoom;

  /** Null stands for a thread of its own, which ends when it has had nothing to do for ten seconds. */
  Dispatcher(Executor executor) {
    this.executor = executor == null ? ownThread() : executor;
  }

  private static Executor ownThread() {
    ThreadFactory threads = task -> {
      Thread thread = new Thread(task, "borealis-callbacks");
      thread.setDaemon(true);
      return thread;
    };
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  void post(Runnable call) {
    synchronized (calls) {
      calls.add(call);
      if (isRunning) return;
      isRunning = true;
    }
    start();
  }

  /**
   * Whether the app is so slow that nothing more should arrive for it. If so, {@code whenRoom} is called once
   * when it has caught up.
   */
  boolean isFull(Runnable whenRoom) {
    synchronized (calls) {
      boolean isFull = calls.size() >= (this.whenRoom == null ? MOST : MOST / 2);
      this.whenRoom = isFull ? whenRoom : null;
      return isFull;
    }
  }

  private void start() {
    try {
      executor.execute(this::drain);
    } catch (RejectedExecutionException error) {
      // The app has ended its executor; the next event tries again.
      synchronized (calls) {
        isRunning = false;
      }
    }
  }

  private void drain() {
    while (true) {
      Runnable call;
      Runnable room = null;
      synchronized (calls) {
        call = calls.poll();
        if (call == null) {
          isRunning = false;
          return;
        }
        if (whenRoom != null && calls.size() < MOST / 2) {
          room = whenRoom;
          whenRoom = null;
        }
      }
      if (room != null) room.run();
      try {
        call.run();
      } catch (Throwable error) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, error);
      }
    }
  }
}
