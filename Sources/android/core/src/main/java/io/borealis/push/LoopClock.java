package io.borealis.push;

/**
 * The clock of the session: milliseconds in which the loop could have read what the server sent. Time in
 * which the process was stopped or the device slept does not count.
 */
final class LoopClock {
  /** How much longer than asked a turn of the loop may take, in milliseconds. */
  static final long TOLERANCE = 2000;

  private long now;
  private long latestMonotonic;
  private long latestSteady;

  LoopClock(long monotonic, long steady) {
    latestMonotonic = monotonic;
    latestSteady = steady;
  }

  long now() {
    return now;
  }

  /**
   * Takes readings of the monotonic and the steady clock after a turn that was to wait for at most
   * {@code wait}. True if there was a pause: the turn took much longer, or only the steady clock went on.
   */
  boolean advance(long monotonic, long steady, long wait) {
    long step = Math.max(0, monotonic - latestMonotonic);
    long slept = steady - latestSteady - step;
    latestMonotonic = monotonic;
    latestSteady = steady;
    long most = wait > Long.MAX_VALUE - TOLERANCE ? Long.MAX_VALUE : wait + TOLERANCE;
    now += Math.min(step, most);
    return step > most || slept > TOLERANCE;
  }
}
