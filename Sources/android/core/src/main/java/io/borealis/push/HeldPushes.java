package io.borealis.push;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Pushes whose content waits for a key, and when to request the key again. Milliseconds are those of the
 * caller's clock.
 */
final class HeldPushes {
  /** The time until a key is first requested again; doubles each time. */
  static final long FIRST_WAIT = 5000;
  /** The longest such time. */
  static final long LONGEST_WAIT = 600_000;
  /** The least time for which a push waits: for two responses, also if the server does not keep it at all. */
  static final long LEAST_LIFE = 6000;

  private static final long NEVER = Long.MAX_VALUE;

  /** A push that waits. */
  static final class Held {
    final Push push;
    final long key;
    final long end;

    Held(Push push, long key, long end) {
      this.push = push;
      this.key = key;
      this.end = end;
    }
  }

  static final class Wait {
    final List<Held> pushes = new ArrayList<>();
    /** {@link #NEVER} while a response is awaited. */
    long askAgain = NEVER;
    long pause = FIRST_WAIT;
    boolean reported;
  }

  private final Map<Long, Wait> waits = new TreeMap<>();

  int count() {
    int count = 0;
    for (Wait wait : waits.values()) count += wait.pushes.size();
    return count;
  }

  /** Holds a push for so many milliseconds, or a little longer; true if its key is to be requested now. */
  boolean hold(Push push, long key, long now, long life) {
    Wait wait = waits.get(key);
    boolean isNew = wait == null;
    if (isNew) {
      wait = new Wait();
      waits.put(key, wait);
    }
    wait.pushes.add(new Held(push, key, now + Math.max(life, LEAST_LIFE)));
    return isNew;
  }

  /** When the next push has waited for as long as the server keeps it. */
  long end() {
    long end = NEVER;
    for (Wait wait : waits.values()) for (Held held : wait.pushes) end = Math.min(end, held.end);
    return end;
  }

  /** When a key is to be requested next. */
  long deadline() {
    long deadline = NEVER;
    for (Wait wait : waits.values()) deadline = Math.min(deadline, wait.askAgain);
    return deadline;
  }

  /** The pushes that have waited for as long as the server keeps them, by their IDs: they wait no longer. */
  List<Held> takeEnded(long now) {
    List<Held> ended = new ArrayList<>();
    for (Wait wait : waits.values()) {
      for (Held held : wait.pushes) if (held.end <= now) ended.add(held);
    }
    for (Held held : ended) remove(held.push.messageId());
    Collections.sort(ended, (left, right) -> Long.compare(left.push.messageId(), right.push.messageId()));
    return ended;
  }

  /** A key did not arrive; true if the app is to learn that: once, and not for a passing reason. */
  boolean notFound(long key, long now, boolean isFinal) {
    Wait wait = waits.get(key);
    if (wait == null) return false;
    wait.askAgain = now + wait.pause;
    wait.pause = Math.min(2 * wait.pause, LONGEST_WAIT);
    if (!isFinal || wait.reported) return false;
    wait.reported = true;
    return true;
  }

  /** The keys to request now; all of them when a session begins. */
  List<Long> takeDue(long now, boolean isNewSession) {
    List<Long> due = new ArrayList<>();
    for (Map.Entry<Long, Wait> wait : waits.entrySet()) {
      if (!isNewSession && wait.getValue().askAgain > now) continue;
      wait.getValue().askAgain = NEVER;
      due.add(wait.getKey());
    }
    return due;
  }

  /** The pushes that waited for a key, in the order in which they arrived. */
  List<Held> release(long key) {
    Wait wait = waits.remove(key);
    return wait == null ? Collections.<Held>emptyList() : wait.pushes;
  }

  List<Long> ids() {
    List<Long> ids = new ArrayList<>();
    for (Wait wait : waits.values()) for (Held held : wait.pushes) ids.add(held.push.messageId());
    return ids;
  }

  /** A push waits no longer; true if it did. */
  boolean remove(long id) {
    Iterator<Wait> all = waits.values().iterator();
    while (all.hasNext()) {
      Wait wait = all.next();
      for (Held held : wait.pushes) {
        if (held.push.messageId() != id) continue;
        wait.pushes.remove(held);
        if (wait.pushes.isEmpty()) all.remove();
        return true;
      }
    }
    return false;
  }
}
