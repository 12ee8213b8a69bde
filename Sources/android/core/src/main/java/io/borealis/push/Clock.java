package io.borealis.push;

import java.lang.reflect.Method;

/** The clocks of the library. */
class Clock {
  private final Method elapsedRealtime = elapsedRealtime();
  private final long nanosAtStart = System.nanoTime();
  private final long wallAtStart = System.currentTimeMillis();
  private long latest;

  /**
   * Milliseconds that never go back and also count time in which the process was stopped or the device slept.
   * Android has such a clock. Elsewhere the monotonic clock may stop while the machine is suspended: there
   * the wall clock says how long that was.
   */
  synchronized long steady() {
    Long android = android();
    long now = android != null ? android
        : Math.max(monotonic(), System.currentTimeMillis() - wallAtStart);
    latest = Math.max(latest, now);
    return latest;
  }

  /** Milliseconds that never go back. They may stop while the device sleeps. */
  long monotonic() {
    return (System.nanoTime() - nanosAtStart) / 1_000_000;
  }

  /** Unix seconds. */
  long wallSeconds() {
    return System.currentTimeMillis() / 1000;
  }

  private Long android() {
    if (elapsedRealtime == null) return null;
    try {
      return (Long) elapsedRealtime.invoke(null);
    } catch (ReflectiveOperationException | RuntimeException error) {
      return null;
    }
  }

  private static Method elapsedRealtime() {
    try {
      return Class.forName("android.os.SystemClock").getMethod("elapsedRealtime");
    } catch (ReflectiveOperationException error) {
      return null;
    }
  }
}
