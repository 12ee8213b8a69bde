package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The operations and receipts that wait to be sent or for their results, and what a new registration must be
 * given again: alias, tags and tokens. Times are in milliseconds.
 */
final class Operations {
  /** The time after which an operation without a response ends. */
  static final long TIME_LIMIT = 10_000;
  /** The most operations that may wait for their results. */
  static final int MOST = 1024;
  /** The most receipts kept while there is no session; the oldest are dropped first. */
  static final int MOST_RECEIPTS = 256;

  private static final class Pending {
    final long sequence;
    final Operation operation;
    final byte[] frame;
    final long deadline;
    boolean sent;

    Pending(long sequence, Operation operation, byte[] frame, long deadline) {
      this.sequence = sequence;
      this.operation = operation;
      this.frame = frame;
      this.deadline = deadline;
    }
  }

  private final List<Action> actions;
  private final List<Pending> pending = new ArrayList<>();
  private List<Receipt> receipts = new ArrayList<>();
  private final List<ReportedToken> channelTokens = new ArrayList<>();
  private boolean tokensKnown = true;
  private Wishes wishes;
  private Restoration restoration = new Restoration();
  private final FactSource facts;
  private int wantedFacts;
  /** What the server knows of the registration from this run. */
  private final Map<Integer, String> knownFacts = new HashMap<>();
  private Map<Integer, String> reportedFacts = Collections.emptyMap();
  private Restoration factReport = new Restoration();
  private long sequence;

  /** Results go to a list of actions. */
  Operations(Wishes wishes, FactSource facts, List<Action> actions) {
    this.facts = facts;
    this.wishes = wishes;
    this.actions = actions;
  }

  long nextSequence() {
    sequence = sequence + 1 & 0xFFFF_FFFFL;
    return sequence;
  }

  /** Adds an operation; false if it ended at once. */
  boolean add(long number, Operation operation, long now) {
    byte[] frame = ClientFrame.operation(number, operation);
    if (frame == null) {
      report(number, operation, operation.refusal());
    } else if (pending.size() >= MOST) {
      report(number, operation, ResultCode.TOO_FREQUENT);
    } else {
      pending.add(new Pending(number, operation, frame, now + TIME_LIMIT));
      return true;
    }
    return false;
  }

  /** Notes the tokens that a new registration must be given. */
  void remember(Operation operation) {
    if (operation.type != OperationType.SET_CHANNEL_TOKEN) return;
    ReportedToken token = operation.channelToken();
    Iterator<ReportedToken> known = channelTokens.iterator();
    while (known.hasNext()) if (known.next().hasSamePlace(token)) known.remove();
    if (!token.token.isEmpty()) channelTokens.add(token);
  }

  void add(Receipt receipt) {
    if (receipts.size() >= MOST_RECEIPTS) receipts.remove(0);
    receipts.add(receipt);
  }

  void report(long number, Operation operation, int code) {
    actions.add(new Action.Result(OperationResult.of(number, operation.type, code)));
  }

  /** The bytes of all that is not sent yet. */
  byte[] takeUnsent(int version, long sendLimit, long now) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Iterator<Receipt> known = receipts.iterator();
    while (known.hasNext()) if (known.next().version() > version) known.remove();
    for (int start = 0; start < receipts.size(); start += Wire.RECEIPTS_PER_FRAME) {
      int end = Math.min(receipts.size(), start + Wire.RECEIPTS_PER_FRAME);
      byte[] frame = ClientFrame.receipt(receipts.subList(start, end));
      bytes.write(frame, 0, frame.length);
    }
    receipts = new ArrayList<>();
    for (int index = 0; index < pending.size(); index++) {
      Pending one = pending.get(index);
      // The server ends the connection after LOGOUT: results of others would be lost.
      if (one.operation.type == OperationType.LOGOUT && index > 0) break;
      if (one.sent || one.operation.type.version > version || one.frame.length > sendLimit) continue;
      one.sent = true;
      bytes.write(one.frame, 0, one.frame.length);
    }
    return bytes.toByteArray();
  }

  /** Ends the operations that this connection cannot carry. */
  void refuseUnsendable(int version, long sendLimit, long now) {
    List<Long> tooLarge = new ArrayList<>();
    List<Long> tooNew = new ArrayList<>();
    for (int index = 0; index < pending.size(); index++) {
      Pending one = pending.get(index);
      if (one.operation.type == OperationType.LOGOUT && index > 0) break;
      if (one.sent) continue;
      if (one.operation.type.version > version) tooNew.add(one.sequence);
      else if (one.frame.length > sendLimit) tooLarge.add(one.sequence);
    }
    for (long number : tooLarge) finish(number, ResultCode.TOO_LARGE, now);
    for (long number : tooNew) finish(number, ResultCode.REQUEST_INVALID, now);
  }

  /** Whether LOGOUT is the next to be sent. */
  boolean isLogoutNext() {
    return !pending.isEmpty() && pending.get(0).operation.type == OperationType.LOGOUT;
  }

  /** Whether LOGOUT waits for its result, or to be sent. */
  boolean hasLogout() {
    for (Pending one : pending) if (one.operation.type == OperationType.LOGOUT) return true;
    return false;
  }

  /**
   * A RESULT has arrived; returns the type of the operation that it ends, or null. It fails if the payload
   * does not fit.
   */
  OperationType takeResult(long number, int code, byte[] payload, long now) throws FrameException {
    for (Pending one : pending) {
      // A result may come after its operation has timed out.
      if (one.sequence != number || !one.sent) continue;
      OperationResult result = OperationResult.decode(number, one.operation.type, code, payload);
      if (code == ResultCode.OK) note(one.operation);
      pending.remove(one);
      finished(result, now);
      return one.operation.type;
    }
    return null;
  }

  private void finish(long number, int code, long now) {
    for (Pending one : pending) {
      if (one.sequence != number) continue;
      pending.remove(one);
      finished(OperationResult.of(number, one.operation.type, code), now);
      return;
    }
  }

  private void finished(OperationResult result, long now) {
    actions.add(new Action.Result(result));
    if (restoration.ended(result.sequence(), result.code(), now)) noteRestored();
    if (factReport.ended(result.sequence(), result.code(), now)) {
      knownFacts.putAll(reportedFacts);
      reportFacts(now);
    }
  }

  /** Ends all operations, in the order in which they were submitted. */
  void finishAll(int code) {
    for (Pending one : pending) report(one.sequence, one.operation, code);
    pending.clear();
  }

  void finishLogout() {
    Iterator<Pending> all = pending.iterator();
    while (all.hasNext()) {
      Pending one = all.next();
      if (one.operation.type != OperationType.LOGOUT) continue;
      report(one.sequence, one.operation, ResultCode.OK);
      all.remove();
    }
  }

  /** The connection has ended: the app's operations are sent again on the next one. */
  void connectionEnded() {
    Iterator<Pending> all = pending.iterator();
    while (all.hasNext()) {
      Pending one = all.next();
      if (restoration.isInFlight(one.sequence) || factReport.isInFlight(one.sequence)) all.remove();
      else one.sent = false;
    }
    restoration = new Restoration();
    factReport = new Restoration();
    wantedFacts = 0;
  }

  long nextDeadline() {
    long next = Long.MAX_VALUE;
    for (Pending one : pending) next = Math.min(next, one.deadline);
    return next;
  }

  /** When to send alias, tags and tokens, or facts, again. */
  long restorationDue() {
    return Math.min(restoration.again(), factReport.again());
  }

  /**
   * Ends an operation whose time is over, and says which; null if there is none. LOGOUT is left to the
   * caller.
   */
  OperationType expireNext(long now) {
    for (Pending one : pending) {
      if (one.deadline > now) continue;
      if (one.operation.type != OperationType.LOGOUT) finish(one.sequence, ResultCode.TIMEOUT, now);
      return one.operation.type;
    }
    return null;
  }

  // Wishes

  /** The server issued a new registration, which has nothing of the old one. */
  void registered() {
    tokensKnown = false;
    knownFacts.clear();
    if (wishes.isEmpty()) return;
    wishes = wishes.known(false);
    actions.add(new Action.StoreWishes(wishes));
  }

  /** Whether the restoration is due now; true once. */
  boolean isRestorationDue(long now) {
    return restoration.isDue(now, pending.isEmpty());
  }

  boolean isFactReportDue(long now) {
    return factReport.isDue(now, true);
  }

  /** The server asks for facts: their bits. It erases what it does not ask for. */
  void want(int facts) {
    wantedFacts = facts;
    for (int fact = 1; fact <= FactSource.OPTED_OUT; fact++) if (!isWanted(fact)) knownFacts.remove(fact);
  }

  private boolean isWanted(int fact) {
    return (wantedFacts >> fact - 1 & 1) != 0;
  }

  /** Reports what the server asks for and does not know; one report at a time. */
  void reportFacts(long now) {
    if (!factReport.isIdle()) return;
    Map<Integer, String> changed = new HashMap<>();
    for (int fact = 1; fact <= FactSource.OPTED_OUT; fact++) {
      if (!isWanted(fact)) continue;
      String value = facts.read(fact);
      if (value == null || Wire.utf8(value).length > Wire.MAX_FACT) value = "";
      String known = knownFacts.get(fact);
      if (!value.equals(known == null ? "" : known)) changed.put(fact, value);
    }
    if (changed.isEmpty()) return;
    reportedFacts = changed;
    long number = nextSequence();
    factReport.begun(number);
    add(number, Operation.setFacts(changed), now);
  }

  /** Puts what a new registration lacks before the app's own operations. */
  void restore(int version, long now) {
    List<Operation> lost = new ArrayList<>();
    if (!wishes.knownToServer) lost.addAll(wishes.operations());
    if (!tokensKnown && version >= OperationType.SET_CHANNEL_TOKEN.version) {
      for (ReportedToken token : channelTokens) lost.add(Operation.setChannelToken(token));
    }
    List<Pending> restored = new ArrayList<>();
    for (Operation operation : lost) {
      long number = nextSequence();
      byte[] frame = ClientFrame.operation(number, operation);
      if (frame == null) continue;
      restoration.begun(number);
      restored.add(new Pending(number, operation, frame, now + TIME_LIMIT));
    }
    pending.addAll(0, restored);
  }

  private void noteRestored() {
    tokensKnown = true;
    if (wishes.knownToServer) return;
    wishes = wishes.known(true);
    actions.add(new Action.StoreWishes(wishes));
  }

  private void note(Operation operation) {
    Wishes after = wishes.after(operation);
    if (after.equals(wishes)) return;
    wishes = after;
    actions.add(new Action.StoreWishes(wishes));
  }
}
