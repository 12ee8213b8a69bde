package io.borealis.push;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * The operations that give a new registration the alias, the tags and the tokens of the old one, and when
 * they are sent once more. Milliseconds are those of the caller's clock.
 */
final class Restoration {
  static final long FIRST_PAUSE = 5000;
  static final long LONGEST_PAUSE = 600_000;

  /**
   * The server would refuse the same again, until the app asks for something else or releases the alias
   * elsewhere.
   */
  private static final Set<Integer> FINAL_CODES = new HashSet<>(Arrays.asList(ResultCode.OK,
      ResultCode.NOTHING_SET, ResultCode.ALIAS_INVALID, ResultCode.ALIAS_TOO_LONG, ResultCode.TAG_INVALID,
      ResultCode.TAG_TOO_LONG, ResultCode.TOO_MANY_TAGS, ResultCode.TAGS_TOO_LONG, ResultCode.REQUEST_INVALID,
      ResultCode.DEVICE_TAGS_FULL, ResultCode.ALIAS_FULL, ResultCode.TOO_LARGE));
  /** What lasts for hours, or as long as the registration: sent again after the next login. */
  private static final Set<Integer> LASTING_CODES = new HashSet<>(Arrays.asList(ResultCode.STOPPED,
      ResultCode.BLOCKED, ResultCode.REGISTRATION_INVALID, ResultCode.APP_TAGS_FULL,
      ResultCode.NEW_TAGS_USED_UP));

  private final Set<Long> inFlight = new HashSet<>();
  private long again = Long.MAX_VALUE;
  private long pause = FIRST_PAUSE;
  private boolean incomplete;
  private boolean passing;

  boolean isInFlight(long sequence) {
    return inFlight.contains(sequence);
  }

  boolean isIdle() {
    return inFlight.isEmpty();
  }

  /** When to send all of them again; {@link Long#MAX_VALUE} for not before the next login. */
  long again() {
    return again;
  }

  void begun(long sequence) {
    inFlight.add(sequence);
  }

  /**
   * An operation has ended, which may be one of these. True if it was the last one, and none is to be sent
   * again.
   */
  boolean ended(long sequence, int code, long now) {
    if (!inFlight.remove(sequence)) return false;
    if (!FINAL_CODES.contains(code)) {
      incomplete = true;
      if (!LASTING_CODES.contains(code)) passing = true;
    }
    if (!inFlight.isEmpty()) return false;
    if (passing) {
      again = now + pause;
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    boolean complete = !incomplete;
    incomplete = false;
    passing = false;
    return complete;
  }

  /**
   * Whether to send them again now; true once. Behind an operation of the app they would undo it, so they
   * wait then.
   */
  boolean isDue(long now, boolean idle) {
    if (again > now) return false;
    again = idle ? Long.MAX_VALUE : now + FIRST_PAUSE;
    return idle;
  }
}
