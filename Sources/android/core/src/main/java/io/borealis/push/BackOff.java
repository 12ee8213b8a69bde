package io.borealis.push;

/**
 * Decides how long to wait before the next connection: Docs/protocol.md section 6. Times are in milliseconds.
 * The same seed gives the same waits.
 */
final class BackOff {
  /** The longest random wait after a failure; the server's {@code retryAfter} is added. */
  static final long LONGEST_WAIT = 300_000;
  /** A session counts as a success once it has lasted this long. */
  static final long SUCCESS_AFTER = 60_000;
  /**
   * This many connections in a row may end with "at once": a server that always says so must not cause a busy
   * loop.
   */
  static final int MOST_AT_ONCE = 5;

  private int failures;
  private int atOnceInRow;
  private long state;

  BackOff(long seed) {
    state = seed;
  }

  int failures() {
    return failures;
  }

  void succeeded() {
    failures = 0;
    atOnceInRow = 0;
  }

  /** Counts a failure; a random wait between 0 and min(300, 2^n) seconds, plus {@code retryAfter}. */
  long afterFailure(long retryAfter) {
    failures = Math.min(failures + 1, 1000);
    long most = failures >= 9 ? LONGEST_WAIT : 1000L << failures;
    return random(Math.min(most, LONGEST_WAIT)) + retryAfter;
  }

  /**
   * A wait of one to two times {@code retryAfter}, without counting a failure, unless that happened too many
   * times in a row.
   */
  long atOnce(long retryAfter) {
    atOnceInRow = Math.min(atOnceInRow + 1, 1000);
    if (atOnceInRow > MOST_AT_ONCE) return afterFailure(retryAfter);
    return retryAfter + random(retryAfter);
  }

  /** SplitMix64, reduced to 0 to {@code limit}; the bias of the remainder does not matter for waits. */
  private long random(long limit) {
    state += 0x9e3779b97f4a7c15L;
    long value = state;
    value = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
    value = (value ^ value >>> 27) * 0x94d049bb133111ebL;
    value ^= value >>> 31;
    // The remainder of the number without a sign.
    return ((value >>> 1) % (limit + 1) * 2 + (value & 1)) % (limit + 1);
  }
}
