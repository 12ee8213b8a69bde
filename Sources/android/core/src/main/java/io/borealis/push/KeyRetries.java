package io.borealis.push;

/**
 * When to send the device's key again after the server did not accept it. Milliseconds are those of the
 * caller's clock.
 */
final class KeyRetries {
  /** The time until the first time; each time after that twice as long. */
  static final long FIRST_WAIT = 5000;
  /** How often in one session. The next login begins anew. */
  static final int MOST_TRIES = 8;

  private int tries;
  private long again = Long.MAX_VALUE;

  /** When; {@link Long#MAX_VALUE} for not at all. */
  long again() {
    return again;
  }

  /** It is being sent. */
  void begun() {
    again = Long.MAX_VALUE;
  }

  /** It was not accepted. */
  void failed(long now) {
    if (tries >= MOST_TRIES) return;
    again = now + (FIRST_WAIT << tries);
    tries++;
  }

  /** Whether to send it now; true once. */
  boolean isDue(long now) {
    if (again > now) return false;
    again = Long.MAX_VALUE;
    return true;
  }
}
