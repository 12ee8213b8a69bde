package io.borealis.push;

/** When to send a PING, and when its response is overdue. Times are in milliseconds. */
final class Heartbeat {
  /** The time to wait for anything after a PING. */
  static final long PONG_TIME = 10_000;

  private static final long NEVER = Long.MAX_VALUE;

  private long interval;
  private long lastSent;
  private long lastReceived;
  private long pongDue = NEVER;
  private boolean readingPaused;

  void sessionBegan(int seconds) {
    interval = 1000L * seconds;
  }

  void connectionEnded() {
    pongDue = NEVER;
    // The pause ends with the connection, and nobody else says so.
    readingPaused = false;
  }

  void sent(long now) {
    lastSent = now;
  }

  void received(long now) {
    lastReceived = now;
    pongDue = NEVER;
  }

  /** A PING is on its way. */
  void pinged(long now) {
    if (pongDue == NEVER) pongDue = now + PONG_TIME;
  }

  /** While the caller does not read, an unread PONG is not overdue. */
  void setReadingPaused(boolean paused, long now) {
    if (readingPaused && !paused && pongDue != NEVER) pongDue = now + PONG_TIME;
    readingPaused = paused;
  }

  /** When the connection counts as dead. */
  long deadline() {
    return readingPaused ? NEVER : pongDue;
  }

  /**
   * One interval after the last frame sent; also after the last one received, unless a PING is out already.
   */
  long pingDue() {
    return (pongDue == NEVER ? Math.min(lastSent, lastReceived) : lastSent) + interval;
  }
}
