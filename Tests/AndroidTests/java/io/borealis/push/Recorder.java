package io.borealis.push;

import java.util.ArrayDeque;
import java.util.function.Predicate;

/** A listener that keeps what happens, for tests to wait for. */
class Recorder implements PushListener {
  private static final long LIMIT_SECONDS = 30;

  private final ArrayDeque<Object> events = new ArrayDeque<>();

  private void add(Object event) {
    synchronized (events) {
      events.add(event);
      events.notifyAll();
    }
  }

  /** Waits for the first event of a type that a test wants, and takes it; the others stay. */
  <T> T next(Class<T> type, Predicate<T> wanted) throws InterruptedException {
    long end = System.nanoTime() + LIMIT_SECONDS * 1_000_000_000;
    synchronized (events) {
      while (true) {
        for (Object event : events) {
          if (!type.isInstance(event) || !wanted.test(type.cast(event))) continue;
          events.remove(event);
          return type.cast(event);
        }
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          throw new AssertionError("no " + type.getSimpleName() + " within " + LIMIT_SECONDS + " s");
        }
        events.wait(left);
      }
    }
  }

  String next(String prefix) throws InterruptedException {
    return next(String.class, text -> text.startsWith(prefix));
  }

  Push nextPush() throws InterruptedException {
    return next(Push.class, push -> true);
  }

  OperationResult result(OperationType type) throws InterruptedException {
    return next(OperationResult.class, result -> result.type() == type);
  }

  /** Whether anything of a type is there now. */
  boolean has(Class<?> type) {
    synchronized (events) {
      return events.stream().anyMatch(type::isInstance);
    }
  }

  @Override
  public boolean onPush(Push push) {
    add(push);
    return true;
  }

  @Override
  public void onRecalled(long messageId) {
    add("recalled " + messageId);
  }

  @Override
  public void onRegistered(String registrationId) {
    add("registered " + registrationId);
  }

  @Override
  public void onConnected(long pending) {
    add("connected " + pending);
  }

  @Override
  public void onDisconnected(Disconnect reason, long retryMillis) {
    add(reason);
  }

  @Override
  public void onResult(OperationResult result) {
    add(result);
  }

  @Override
  public void onUnreadable(long messageId, String keyId, int code) {
    add("unreadable " + messageId + " " + keyId + " " + code);
  }

  @Override
  public void onKeyMissing(String keyId, int code) {
    add("key missing " + keyId + " " + code);
  }
}
