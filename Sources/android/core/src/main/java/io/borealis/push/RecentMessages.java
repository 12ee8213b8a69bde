package io.borealis.push;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;

/** The pushes that were handled last, to detect duplicates: a bounded set that drops the oldest. */
final class RecentMessages {
  static final int CAPACITY = 2048;

  private final LinkedHashSet<Long> known = new LinkedHashSet<>();

  boolean contains(long id) {
    return known.contains(id);
  }

  /** Remembers a push; false if it was known already. */
  boolean insert(long id) {
    if (!known.add(id)) return false;
    if (known.size() > CAPACITY) {
      Iterator<Long> oldest = known.iterator();
      oldest.next();
      oldest.remove();
    }
    return true;
  }

  List<Long> oldestFirst() {
    return new ArrayList<>(known);
  }
}
