package io.borealis.push;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The pushes of a session: which are known, which the app has, and which are to be acknowledged. Times are in
 * milliseconds.
 */
final class Deliveries {
  /** What a content begins with whose notification another channel may bring. */
  private static final String SHOW_BEFORE = "{\"show_before\":";

  private final RecentMessages handled;
  /** Pushes that an earlier run had in hand when it ended, until they are handled. */
  private final Set<Long> inHandEarlier;
  /** Pushes that the app has got and not handled yet, with their arrival time. */
  private final Map<Long, Long> inHand = new HashMap<>();
  /**
   * Of those, the ones whose acknowledgement must not wait, with the server's time from which on another
   * channel brings them.
   */
  private final Map<Long, Long> urgent = new HashMap<>();
  /** Since when the clock has run without a pause. */
  private long clockSince;
  /** Pushes to acknowledge, with their arrival time; -1 if that is unknown. */
  private List<Long> acks = new ArrayList<>();
  private List<Long> arrivals = new ArrayList<>();
  private long ackDue = Long.MAX_VALUE;
  private long ackDelay;
  /** How much the server's time may be ahead of the steady clock; null before HELLO_OK. */
  private Long serverAhead;

  Deliveries(RecentMessages handled, Collection<Long> inHandEarlier) {
    this.handled = handled;
    this.inHandEarlier = new HashSet<>(inHandEarlier);
  }

  int inHandCount() {
    return inHand.size();
  }

  /** When to send acknowledgements; {@link Long#MAX_VALUE} if there are none. */
  long ackDue() {
    return ackDue;
  }

  void sessionBegan(long ackDelay) {
    this.ackDelay = ackDelay;
  }

  /** What is not acknowledged arrives again at the next login. */
  void connectionEnded() {
    forgetAcks();
  }

  void clockResumed(long now) {
    clockSince = now + 1;
  }

  /** HELLO was sent at a time on the steady clock, and the server wrote its own after that. */
  void serverTime(long time, long helloSent) {
    serverAhead = time - helloSent;
  }

  /** A PUSH has arrived. */
  void take(ServerFrame frame, long now, long steady, List<Action> actions) {
    long id = frame.messageId;
    if (handled.contains(id)) {
      // It arrived before, at a time that is no longer known.
      acknowledge(id, -1, now);
      return;
    }
    if (inHand.containsKey(id)) return;
    Long end = showBefore(frame.content);
    if (end != null) {
      // Neither shown nor acknowledged: the server has another channel bring it, and sends again what is
      // left.
      if (timeUntil(end, steady) == 0) {
        actions.add(new Action.LeftToChannel(id));
        return;
      }
      urgent.put(id, end);
    }
    inHand.put(id, now);
    boolean isRedelivered = inHandEarlier.contains(id);
    actions.add(new Action.Deliver(new Push(id, frame.offline, isRedelivered, frame.content, null)));
  }

  /** A push that the app has already stays until it is handled; another copy is a duplicate. */
  void recall(long id, List<Action> actions) {
    inHandEarlier.remove(id);
    if (!inHand.containsKey(id) && handled.insert(id)) actions.add(new Action.NoteHandled(id));
    actions.add(new Action.Recalled(id));
  }

  /** The app has handled a push. */
  void handled(long id, boolean connected, long now) {
    Long arrival = inHand.remove(id);
    inHandEarlier.remove(id);
    handled.insert(id);
    // Without a connection the push arrives again at the next login and is acknowledged then.
    if (connected) acknowledge(id, arrival == null ? -1 : arrival, now);
  }

  /** A push could not be recorded: the server must send it again. */
  void notTaken(long id) {
    inHand.remove(id);
    urgent.remove(id);
  }

  private void acknowledge(long id, long arrival, long now) {
    acks.add(id);
    arrivals.add(arrival);
    if (ackDue == Long.MAX_VALUE) ackDue = now + ackDelay;
    if (urgent.remove(id) != null) ackDue = now;
  }

  /** Whether there are as many acknowledgements as a frame holds. */
  boolean isFull() {
    return acks.size() >= Wire.ACKS_PER_FRAME;
  }

  /** All acknowledgements, as bytes. */
  byte[] takeAcks(int version, long now) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int start = 0; start < acks.size(); start += Wire.ACKS_PER_FRAME) {
      int end = Math.min(acks.size(), start + Wire.ACKS_PER_FRAME);
      List<Long> ids = acks.subList(start, end);
      byte[] frame = version < 3 ? ClientFrame.ack(ids) : ClientFrame.ackAge(ids, ages(start, end, now));
      bytes.write(frame, 0, frame.length);
    }
    forgetAcks();
    return bytes.toByteArray();
  }

  private List<Long> ages(int start, int end, long now) {
    List<Long> ages = new ArrayList<>();
    for (long arrival : arrivals.subList(start, end)) {
      long age = now - arrival;
      boolean known = arrival >= clockSince && age >= 0 && age < Wire.UNKNOWN_AGE;
      ages.add(known ? age : Wire.UNKNOWN_AGE);
    }
    return ages;
  }

  private void forgetAcks() {
    acks = new ArrayList<>();
    arrivals = new ArrayList<>();
    ackDue = Long.MAX_VALUE;
  }

  /** The server's time from which on another channel brings a push's notification; null if none does. */
  private static Long showBefore(byte[] content) {
    int at = SHOW_BEFORE.length();
    if (content.length < at || !new String(content, 0, at, Wire.UTF_8).equals(SHOW_BEFORE)) return null;
    long number = 0;
    int start = at;
    // More digits would be over 2^63.
    while (at < content.length && at - start < 19 && content[at] >= '0' && content[at] <= '9') {
      number = 10 * number + content[at++] - '0';
    }
    boolean tooLong = at < content.length && content[at] >= '0' && content[at] <= '9';
    return at == start || tooLong || number < 0 ? null : number;
  }

  /**
   * The milliseconds until a moment of the server's time may be over; {@link Long#MAX_VALUE} if that time is
   * not known.
   */
  private long timeUntil(long moment, long steady) {
    if (serverAhead == null) return Long.MAX_VALUE;
    return Math.max(0, moment - (steady + serverAhead));
  }

  /** The milliseconds for which the app may still get a push in hand. */
  long timeToShow(long id, long steady) {
    Long end = urgent.get(id);
    return end == null ? Long.MAX_VALUE : timeUntil(end, steady);
  }

  /**
   * Leaves a push in hand, which the app has not got, to the channel that brings its notification: true if it
   * is too late for the app to get it. What is left of it arrives again.
   */
  boolean leaveToChannel(long id, long steady) {
    if (timeToShow(id, steady) > 0) return false;
    urgent.remove(id);
    inHand.remove(id);
    return true;
  }
}
