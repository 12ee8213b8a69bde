package io.borealis.push;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The device's side of the protocol as a state machine without sockets, clock or randomness of its own:
 * Docs/device-library.md. The caller passes events in with a monotonic time in milliseconds and carries out
 * the returned actions, in their order. It never requests more than one connection at a time. Not
 * thread-safe.
 */
final class Session {
  /** Milliseconds from the start of an attempt to LOGIN_OK. */
  static final long LOGIN_TIME = 10_000;
  /** Milliseconds that a draining server gets to close. */
  static final long DRAIN_TIME = 30_000;

  private static final long NEVER = Long.MAX_VALUE;

  private enum Phase {
    STOPPED, WAITING, CONNECTING, GREETING, SESSION, DRAINING
  }

  private final ServerAddress server;
  private final Profile profile;
  private final byte[] fingerprint;
  private Identity identity;
  private final List<Action> actions = new ArrayList<>();
  private final Deliveries deliveries;
  private final Operations operations;
  private final BackOff backOff;
  private final FrameBuffer input = new FrameBuffer();
  private final Heartbeat heartbeat = new Heartbeat();

  private Phase phase = Phase.STOPPED;
  /** STOPPED: the code with which operations end. */
  private int stoppedCode = ResultCode.STOPPED;
  /** WAITING: when the next attempt starts. */
  private long waitUntil;
  /** GREETING: whether HELLO_OK has come, and whether REGISTER_OK is still missing. */
  private boolean knowsVersion;
  private boolean registering;
  /** DRAINING. */
  private long retryAfter;
  private long drainSince;
  private ServerAddress nextServer;
  private long attemptSince;
  private long helloSent;
  private long sessionSince = NEVER;
  private int version = Wire.MIN_VERSION;
  private long sendLimit = Wire.MAX_FRAME;
  private long steady;

  /**
   * Makes a machine that is not started, with what an earlier run stored. The fingerprint is stored already.
   * The same seed gives the same waits.
   */
  Session(ServerAddress server, Profile profile, StoredState stored, FactSource facts, long seed) {
    this.server = server;
    this.profile = profile;
    fingerprint = stored.fingerprint;
    identity = stored.identity;
    deliveries = new Deliveries(stored.handled, stored.inHand);
    operations = new Operations(stored.wishes, facts, actions);
    backOff = new BackOff(seed);
  }

  /** The number for an operation that is about to be submitted. */
  long nextSequence() {
    return operations.nextSequence();
  }

  /** The registration; null without one. */
  Identity identity() {
    return identity;
  }

  Deliveries deliveries() {
    return deliveries;
  }

  /** Whether operations are sent immediately. */
  boolean isLoggedIn() {
    return phase == Phase.SESSION;
  }

  /**
   * Sets the time on a clock that goes on while the process is stopped and the device sleeps, in
   * milliseconds. Call it before {@link #connected} and {@link #received}.
   */
  void setSteady(long steady) {
    this.steady = steady;
  }

  private List<Action> takeActions() {
    if (actions.isEmpty()) return Collections.emptyList();
    List<Action> taken = new ArrayList<>(actions);
    actions.clear();
    return taken;
  }

  // Connections

  /** Connects, unless that is in progress. */
  List<Action> start(long now) {
    if (phase == Phase.STOPPED) connect(now);
    return takeActions();
  }

  /** Ends the session and every wait; operations end with 6012. {@link #start} starts again. */
  List<Action> stop(long now) {
    if (phase != Phase.STOPPED) {
      flushAcks(now);
      stopped(now);
    }
    return takeActions();
  }

  /**
   * The network has changed: does not wait any longer, and asks with a PING whether a session's connection
   * still works.
   */
  List<Action> networkChanged(long now) {
    if (phase == Phase.WAITING) connect(now);
    else if (phase == Phase.SESSION) ping(now);
    return takeActions();
  }

  /** The requested connection is ready, with its TLS session if any. */
  List<Action> connected(long now) {
    if (phase != Phase.CONNECTING) return takeActions();
    phase = Phase.GREETING;
    knowsVersion = false;
    registering = identity == null;
    helloSent = steady;
    byte[] hello = ClientFrame.hello(Wire.MIN_VERSION, Wire.MAX_VERSION, profile.clientName);
    byte[] next =
        registering ? ClientFrame.register(profile, fingerprint) : ClientFrame.login(profile, identity);
    // In one packet.
    send(DeviceKey.concat(hello, next), now);
    return takeActions();
  }

  /** The connection could not be made, or the peer has ended it; {@code why} is for people. */
  List<Action> connectionEnded(String why, long now) {
    if (phase == Phase.CONNECTING) {
      lost(new Disconnect(Disconnect.Kind.CONNECT_FAILED, 0, why), now);
    } else if (phase == Phase.GREETING || phase == Phase.SESSION) {
      lost(new Disconnect(Disconnect.Kind.CONNECTION_LOST, 0, why), now);
    } else if (phase == Phase.DRAINING) {
      end(goAway(Wire.REASON_DRAIN), ServerFrame.AT_ONCE, retryAfter, false, now);
    }
    return takeActions();
  }

  private void lost(Disconnect reason, long now) {
    end(reason, ServerFrame.AFTER_BACK_OFF, 0, false, now);
  }

  /**
   * A registration could not be stored, or these pushes could not be recorded: the app does not have them,
   * and the server must send them again.
   */
  List<Action> storageFailed(List<Long> notTaken, long now) {
    for (long id : notTaken) deliveries.notTaken(id);
    // The server has issued a registration that cannot be stored; a later REGISTER replaces it.
    if (phase == Phase.GREETING) identity = null;
    if (phase == Phase.GREETING || phase == Phase.SESSION || phase == Phase.DRAINING) {
      end(Disconnect.of(Disconnect.Kind.STORAGE_FAILED), ServerFrame.AFTER_BACK_OFF, 0, now);
    }
    return takeActions();
  }

  private void connect(long now) {
    phase = Phase.CONNECTING;
    attemptSince = now;
    actions.add(new Action.Connect(nextServer == null ? server : nextServer));
    nextServer = null;
  }

  private void send(byte[] bytes, long now) {
    if (bytes.length == 0) return;
    heartbeat.sent(now);
    actions.add(new Action.Send(bytes));
  }

  private void stopped(long now) {
    end(Disconnect.of(Disconnect.Kind.STOPPED), ServerFrame.NEVER, 0, now);
  }

  private static Disconnect goAway(int reason) {
    return new Disconnect(Disconnect.Kind.GO_AWAY, reason, "");
  }

  private void end(Disconnect reason, int rule, long retryAfter, long now) {
    end(reason, rule, retryAfter, phase != Phase.WAITING, now);
  }

  /** Ends the connection, which {@code isOpen} says has to be closed, and decides what follows. */
  private void end(Disconnect reason, int rule, long retryAfter, boolean isOpen, long now) {
    if (operations.hasLogout()) {
      // There is nothing left for the server to end.
      operations.finishLogout();
      if (rule != ServerFrame.NEVER) {
        reason = Disconnect.of(Disconnect.Kind.STOPPED);
        rule = ServerFrame.NEVER;
      }
    }
    if (isOpen) actions.add(new Action.Close());
    if (sessionSince != NEVER && now >= sessionSince + BackOff.SUCCESS_AFTER) backOff.succeeded();
    sessionSince = NEVER;
    input.clear();
    heartbeat.connectionEnded();
    deliveries.connectionEnded();
    operations.connectionEnded();
    if (rule == ServerFrame.NEVER) {
      phase = Phase.STOPPED;
      stoppedCode = reason.kind() == Disconnect.Kind.REFUSED ? reason.code() : ResultCode.STOPPED;
      actions.add(new Action.Disconnected(reason, -1));
      operations.finishAll(stoppedCode);
    } else {
      boolean atOnce = rule == ServerFrame.AT_ONCE;
      long wait = atOnce ? backOff.atOnce(retryAfter) : backOff.afterFailure(retryAfter);
      phase = Phase.WAITING;
      waitUntil = now + wait;
      actions.add(new Action.Disconnected(reason, wait));
    }
  }

  // Frames

  private boolean isReading() {
    return phase == Phase.GREETING || phase == Phase.SESSION || phase == Phase.DRAINING;
  }

  private boolean isConnected() {
    return phase == Phase.SESSION || phase == Phase.DRAINING;
  }

  /** Processes received bytes, which may end anywhere within a frame. */
  List<Action> received(byte[] bytes, int offset, int count, long now) {
    if (!isReading() || count == 0) return takeActions();
    heartbeat.received(now);
    input.append(bytes, offset, count);
    try {
      while (isReading() && input.next()) {
        take(ServerFrame.decode(input.type(), input.body()), now);
        if (deliveries.isFull()) flushAcks(now);
      }
    } catch (FrameException error) {
      protocolError(now);
    }
    if (isReading()) flushDueAcks(now);
    return takeActions();
  }

  private void protocolError(long now) {
    end(Disconnect.of(Disconnect.Kind.PROTOCOL_ERROR), ServerFrame.AFTER_BACK_OFF, 0, now);
  }

  private void take(ServerFrame frame, long now) throws FrameException {
    switch (frame.type) {
      case Wire.GO_AWAY:
        goAway(frame, now);
        return;
      case Wire.ERROR:
        refused(frame, now);
        return;
      case Wire.PONG:
        if (phase != Phase.GREETING || knowsVersion) return;
        break;
      default:
        if (isConnected() ? takeInSession(frame, now) : takeGreeting(frame, now)) return;
        break;
    }
    throw new FrameException("the frame is out of order");
  }

  private boolean takeGreeting(ServerFrame frame, long now) {
    switch (frame.type) {
      case Wire.HELLO_OK:
        if (knowsVersion || !Wire.isVersion(frame.version)) return false;
        version = frame.version;
        // The server wrote it after HELLO was sent: its time is not later than what follows from this.
        deliveries.serverTime(frame.serverTime, helloSent);
        knowsVersion = true;
        sendLimit = Math.min(Wire.MAX_FRAME, frame.maxFrame);
        return true;
      case Wire.REGISTER_OK:
        if (!knowsVersion || !registering) return false;
        identity = frame.identity;
        registering = false;
        actions.add(new Action.StoreIdentity(identity));
        operations.registered();
        actions.add(new Action.Registered(identity.registrationId));
        send(ClientFrame.login(profile, identity), now);
        return true;
      case Wire.LOGIN_OK:
        if (!knowsVersion || registering) return false;
        phase = Phase.SESSION;
        sessionSince = now;
        heartbeat.sessionBegan(frame.heartbeat);
        deliveries.sessionBegan(frame.ackDelay);
        actions.add(new Action.LoggedIn(frame.pending));
        operations.restore(version, now);
        sendWaiting(now);
        return true;
      default:
        return false;
    }
  }

  private boolean takeInSession(ServerFrame frame, long now) throws FrameException {
    switch (frame.type) {
      case Wire.PUSH:
        deliveries.take(frame, now, steady, actions);
        return true;
      case Wire.RECALL:
        deliveries.recall(frame.messageId, actions);
        return true;
      case Wire.FACTS_WANTED:
        operations.want(frame.facts);
        reportFacts(now);
        return true;
      case Wire.RESULT:
        OperationType type = operations.takeResult(frame.sequence, frame.code, frame.content, now);
        if (type == OperationType.LOGOUT && frame.code == ResultCode.OK) {
          flushAcks(now);
          stopped(now);
        } else if (phase == Phase.SESSION
            && (type == OperationType.SET_FACTS || type != null && operations.isLogoutNext())) {
          sendWaiting(now);
        }
        return true;
      default:
        return false;
    }
  }

  private void goAway(ServerFrame frame, long now) {
    int rule = ServerFrame.reconnectAfter(frame.code);
    nextServer = rule == ServerFrame.NEVER ? null : ServerAddress.parse(frame.text);
    if (frame.code == Wire.REASON_DRAIN && phase == Phase.SESSION) {
      phase = Phase.DRAINING;
      retryAfter = frame.retryAfter;
      drainSince = now;
    } else {
      end(goAway(frame.code), rule, frame.retryAfter, now);
    }
  }

  private void refused(ServerFrame frame, long now) {
    Disconnect reason = new Disconnect(Disconnect.Kind.REFUSED, frame.code, frame.text);
    boolean isGone = frame.code == ResultCode.NOT_REGISTERED || frame.code == ResultCode.REGISTRATION_INVALID;
    if (isGone && identity != null) {
      identity = null;
      actions.add(new Action.ForgetIdentity());
      end(reason, ServerFrame.AT_ONCE, 0, now);
    } else {
      end(reason, frame.reconnect, 0, now);
    }
  }

  // Pushes

  /**
   * The app has handled a push: it can be acknowledged. The caller has recorded that before, so that no later
   * run passes the push to the app again if the acknowledgement is lost. If recording failed, the push is
   * acknowledged nevertheless.
   */
  List<Action> pushHandled(long id, long now) {
    deliveries.handled(id, isConnected(), now);
    if (deliveries.isFull()) flushAcks(now);
    flushDueAcks(now);
    return takeActions();
  }

  private void flushDueAcks(long now) {
    if (deliveries.ackDue() <= now) flushAcks(now);
  }

  private void flushAcks(long now) {
    send(deliveries.takeAcks(version, now), now);
  }

  // Operations

  /**
   * Submits an operation under a number from {@link #nextSequence}. It is sent now or after the next login,
   * and again after a lost connection, until its result or its time limit.
   */
  List<Action> submit(long number, Operation operation, long now) {
    if (operation.type == OperationType.APP_STATE) profile.foreground = operation.number() == 1;
    operations.remember(operation);
    if (phase == Phase.STOPPED) {
      operations.report(number, operation, stoppedCode);
    } else if (operations.add(number, operation, now)) {
      if (phase == Phase.SESSION) sendWaiting(now);
      if (phase == Phase.WAITING && operation.type == OperationType.LOGOUT) {
        stopped(now);
      }
    }
    return takeActions();
  }

  /** Sends a receipt of a push; kept for the next login while there is no session. */
  List<Action> report(Receipt receipt, long now) {
    operations.add(receipt);
    if (phase == Phase.SESSION) sendWaiting(now);
    return takeActions();
  }

  /** Facts may have changed: reports those that the server asks for. */
  List<Action> factsChanged(long now) {
    reportFacts(now);
    return takeActions();
  }

  private void reportFacts(long now) {
    if (phase != Phase.SESSION) return;
    operations.reportFacts(now);
    sendWaiting(now);
  }

  private void sendWaiting(long now) {
    send(operations.takeUnsent(version, sendLimit, now), now);
    operations.refuseUnsendable(version, sendLimit, now);
  }

  // Time

  /**
   * When to call {@link #tick} at the latest; {@link Long#MAX_VALUE} when only an outside event can change
   * something.
   */
  long nextDeadline() {
    long next = operations.nextDeadline();
    if (phase == Phase.WAITING) return Math.min(next, waitUntil);
    if (phase == Phase.CONNECTING || phase == Phase.GREETING) {
      return Math.min(next, attemptSince + LOGIN_TIME);
    }
    if (phase == Phase.SESSION) {
      next = Math.min(next, Math.min(heartbeat.pingDue(), heartbeat.deadline()));
      return Math.min(next, Math.min(deliveries.ackDue(), operations.restorationDue()));
    }
    if (phase == Phase.DRAINING) {
      return Math.min(next, Math.min(drainSince + DRAIN_TIME, deliveries.ackDue()));
    }
    return next;
  }

  /** Time has passed. */
  List<Action> tick(long now) {
    OperationType expired = operations.expireNext(now);
    while (expired != null) {
      if (expired == OperationType.LOGOUT) stopped(now);
      expired = operations.expireNext(now);
    }
    flushDueAcks(now);
    if (phase == Phase.SESSION && operations.isRestorationDue(now)) {
      operations.restore(version, now);
      sendWaiting(now);
    }
    if (phase == Phase.SESSION && operations.isFactReportDue(now)) reportFacts(now);
    tickPhase(now);
    return takeActions();
  }

  private void tickPhase(long now) {
    if (phase == Phase.WAITING) {
      if (waitUntil <= now) connect(now);
    } else if (phase == Phase.CONNECTING || phase == Phase.GREETING) {
      if (attemptSince + LOGIN_TIME > now) return;
      Disconnect reason = phase == Phase.GREETING ? Disconnect.of(Disconnect.Kind.LOGIN_TIMEOUT)
          : new Disconnect(Disconnect.Kind.CONNECT_FAILED, 0, "no answer");
      end(reason, ServerFrame.AFTER_BACK_OFF, 0, now);
    } else if (phase == Phase.SESSION) {
      if (heartbeat.deadline() <= now) {
        end(Disconnect.of(Disconnect.Kind.HEARTBEAT_TIMEOUT), ServerFrame.AFTER_BACK_OFF, 0, now);
      } else if (heartbeat.pingDue() <= now) {
        ping(now);
      }
    } else if (phase == Phase.DRAINING && drainSince + DRAIN_TIME <= now) {
      end(goAway(Wire.REASON_DRAIN), ServerFrame.AT_ONCE, retryAfter, now);
    }
  }

  private void ping(long now) {
    send(ClientFrame.ping(), now);
    heartbeat.pinged(now);
  }

  /**
   * The process was stopped or the device slept, for a time that {@code now} does not count: the connection
   * may be dead.
   */
  List<Action> resumed(long now) {
    deliveries.clockResumed(now);
    if (phase == Phase.SESSION) ping(now);
    return takeActions();
  }

  /** The caller has stopped or resumed reading because the app is slow: an unread PONG is not a timeout. */
  void setReadingPaused(boolean paused, long now) {
    heartbeat.setReadingPaused(paused, now);
  }
}
