package io.borealis.push;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/**
 * The alias and the tags that the app has set, stored so that they can be set again when the install gets a
 * new registration. Immutable.
 */
final class Wishes {
  static final Wishes NONE = new Wishes(null, Collections.<String>emptyList(), true);

  /** Null for none. */
  final String alias;
  /** In the order of their UTF-16 units. */
  final List<String> tags;
  /** Whether the server has confirmed them for the current registration. */
  final boolean knownToServer;

  Wishes(String alias, Collection<String> tags, boolean knownToServer) {
    this.alias = alias;
    this.tags = Collections.unmodifiableList(new ArrayList<>(new TreeSet<>(tags)));
    this.knownToServer = knownToServer;
  }

  boolean isEmpty() {
    return alias == null && tags.isEmpty();
  }

  Wishes known(boolean known) {
    return new Wishes(alias, tags, known);
  }

  /** What they are after an operation that succeeded. */
  Wishes after(Operation operation) {
    TreeSet<String> changed = new TreeSet<>(tags);
    switch (operation.type.frameType) {
      case Wire.SET_ALIAS:
        return new Wishes(operation.text(), tags, knownToServer);
      case Wire.DELETE_ALIAS:
        return new Wishes(null, tags, knownToServer);
      case Wire.SET_TAGS:
        return new Wishes(alias, operation.tags(), knownToServer);
      case Wire.ADD_TAGS:
        changed.addAll(operation.tags());
        return new Wishes(alias, changed, knownToServer);
      case Wire.DELETE_TAGS:
        changed.removeAll(operation.tags());
        return new Wishes(alias, changed, knownToServer);
      case Wire.CLEAN_TAGS:
        return new Wishes(alias, Collections.<String>emptyList(), knownToServer);
      default:
        return this;
    }
  }

  /** The operations that give a new registration the same. */
  List<Operation> operations() {
    List<Operation> operations = new ArrayList<>();
    if (alias != null) operations.add(Operation.of(OperationType.SET_ALIAS, alias));
    if (!tags.isEmpty()) operations.add(Operation.of(OperationType.SET_TAGS, tags));
    return operations;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof Wishes)) return false;
    Wishes wishes = (Wishes) other;
    return knownToServer == wishes.knownToServer && tags.equals(wishes.tags)
        && (alias == null ? wishes.alias == null : alias.equals(wishes.alias));
  }

  @Override
  public int hashCode() {
    return tags.hashCode() + (alias == null ? 0 : alias.hashCode());
  }
}
