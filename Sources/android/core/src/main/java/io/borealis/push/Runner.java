package io.borealis.push;

import java.io.IOException;
import java.nio.channels.Selector;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Drives a {@link Session} on a thread of its own: sockets, clock, state file, calls of the app. */
final class Runner implements Link.Owner, EncryptedPushes.Host {
  /** With this many unhandled pushes nothing more is read until half of them are left. */
  static final int MOST_IN_HAND = 1024;

  private final PushListener listener;
  private final Dispatcher dispatcher;
  private final StateStore store;
  private final PushConfig config;
  private final Clock clock;
  private final LoopClock time;
  private final Session session;
  /** Null without end-to-end encryption. */
  private final EncryptedPushes keys;
  private final Selector selector;
  private final Link link;
  private final Thread thread;
  private final ConcurrentLinkedQueue<Runnable> mail = new ConcurrentLinkedQueue<>();
  private final Map<Long, ResultCallback> callbacks = new HashMap<>();
  private final Map<Long, EncryptedPushes.Completion> ownCompletions = new HashMap<>();

  private boolean isPaused;
  private boolean isClosed;
  private volatile boolean isClosing;
  private volatile String registrationId;

  Runner(PushConfig config, boolean isForeground, PushListener listener, Dispatcher dispatcher,
      StateStore store, Clock clock) throws IOException {
    this.config = config;
    this.listener = listener;
    this.dispatcher = dispatcher;
    this.store = store;
    this.clock = clock;
    TlsSettings tls = config.plain ? null : new TlsSettings(config.caFile, config.pins);
    StoredState stored = store.load(config.appKey, config.formerRegistrationId);
    Profile profile = new Profile(config.appKey, config.platform.number, config.appVersion, config.clientName,
        config.heartbeat, isForeground);
    session = new Session(config.server, profile, stored, config.facts, new SecureRandom().nextLong());
    int kind = config.encryption.kind;
    keys = kind == 0 ? null : new EncryptedPushes(this, kind, stored.keys, session.deliveries());
    registrationId = stored.identity == null ? null : stored.identity.registrationId;
    time = new LoopClock(clock.monotonic(), clock.steady());
    selector = Selector.open();
    link = new Link(this, tls, selector);
    thread = new Thread(this::run, "borealis-push");
    thread.setDaemon(true);
    thread.start();
  }

  /** The registration that is stored; null if there is none. */
  @Override
  public String registrationId() {
    return registrationId;
  }

  // From other threads

  @Override
  public void post(Runnable task) {
    mail.add(task);
    selector.wakeup();
  }

  void start() {
    post(() -> perform(session.start(time.now())));
  }

  void stop() {
    post(() -> perform(session.stop(time.now())));
  }

  void networkChanged() {
    post(() -> perform(session.networkChanged(time.now())));
  }

  void factsChanged() {
    post(() -> perform(session.factsChanged(time.now())));
  }

  void submit(Operation operation, ResultCallback callback) {
    post(() -> {
      long number = session.nextSequence();
      if (callback != null) callbacks.put(number, callback);
      perform(session.submit(number, operation, time.now()));
    });
  }

  void report(Receipt receipt) {
    post(() -> perform(session.report(receipt, time.now())));
  }

  /** Records a push as handled before it returns. */
  void handled(long messageId) {
    noteHandled(messageId);
    post(() -> perform(session.pushHandled(messageId, time.now())));
  }

  void rotateKey(ResultCallback callback) {
    post(() -> {
      if (keys != null) keys.rotateKey(result -> dispatch(result, callback));
      else dispatch(OperationResult.of(0, OperationType.SET_KEY, ResultCode.REQUEST_INVALID), callback);
    });
  }

  /** Ends the session and waits until everything is closed, for at most five seconds. */
  void close() {
    isClosing = true;
    post(() -> {
      perform(session.stop(time.now()));
      isClosed = true;
    });
    // The app's executor may call it on this very thread.
    if (Thread.currentThread() == thread) return;
    boolean isInterrupted = false;
    long end = System.nanoTime() + 5_000_000_000L;
    while (thread.isAlive() && System.nanoTime() < end) {
      try {
        thread.join(100);
      } catch (InterruptedException error) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) Thread.currentThread().interrupt();
  }

  // The loop

  private void run() {
    try {
      while (!isClosed) turn();
      // What came late ends with 6012.
      for (Runnable task = mail.poll(); task != null; task = mail.poll()) task.run();
    } catch (IOException error) {
      // The system has taken the selector away.
      throw new IllegalStateException(error);
    } finally {
      link.close();
      store.close();
      try {
        selector.close();
      } catch (IOException error) {
        // Nothing uses it any more.
        isClosed = true;
      }
    }
  }

  private void turn() throws IOException {
    long deadline = Math.min(session.nextDeadline(), keys == null ? Long.MAX_VALUE : keys.nextDeadline());
    long wait = deadline == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(0, deadline - time.now());
    if (link.hasUnread() && !isPaused || !mail.isEmpty()) wait = 0;
    if (wait == 0) selector.selectNow();
    else selector.select(wait == Long.MAX_VALUE ? 0 : wait);
    selector.selectedKeys().clear();
    if (time.advance(clock.monotonic(), clock.steady(), wait)) resumed();
    // An interrupt would make every wait end at once.
    Thread.interrupted();
    for (Runnable task = mail.poll(); task != null; task = mail.poll()) task.run();
    link.ready(!isPaused);
    if (session.nextDeadline() <= time.now()) perform(session.tick(time.now()));
    if (keys != null && keys.nextDeadline() <= time.now()) keys.tick();
    link.flush();
    updatePause();
  }

  private void resumed() {
    if (keys != null) keys.leaveLate();
    perform(session.resumed(time.now()));
  }

  private void updatePause() {
    // Pushes that wait for a key must not stop reading, or the key would not arrive.
    int inHand = session.deliveries().inHandCount() - (keys == null ? 0 : keys.heldCount());
    boolean isFull = dispatcher.isFull(() -> post(() -> {}));
    isPaused = isFull || inHand >= (isPaused ? MOST_IN_HAND / 2 + 1 : MOST_IN_HAND);
    if (link.updateInterest(!isPaused)) session.setReadingPaused(isPaused, time.now());
  }

  // Actions

  private void perform(List<Action> actions) {
    List<Long> pushes = new ArrayList<>();
    for (Action action : actions) {
      if (action instanceof Action.Deliver) pushes.add(((Action.Deliver) action).push.messageId());
    }
    // One write for all of them, before the app gets the first.
    boolean isRecorded = pushes.isEmpty() || append(StateRecord.IN_HAND, pushes);
    for (Action action : actions) {
      if (action instanceof Action.StoreIdentity) {
        if (storeIdentity(((Action.StoreIdentity) action).identity)) continue;
        perform(session.storageFailed(Collections.<Long>emptyList(), time.now()));
        return;
      }
      if (!(action instanceof Action.Deliver)) perform(action);
      else if (isRecorded) deliver(((Action.Deliver) action).push);
    }
    if (!isRecorded) perform(session.storageFailed(pushes, time.now()));
  }

  private void noteHandled(long messageId) {
    append(StateRecord.HANDLED, Collections.singletonList(messageId));
  }

  private boolean append(int kind, List<Long> ids) {
    return store.append(StateRecord.ids(kind, ids), false);
  }

  private void deliver(Push push) {
    if (keys == null) pass(push);
    else keys.read(push);
  }

  private void perform(Action action) {
    if (action instanceof Action.Connect) {
      link.connect(((Action.Connect) action).server);
    } else if (action instanceof Action.Send) {
      link.send(((Action.Send) action).bytes);
    } else if (action instanceof Action.Close) {
      link.close();
    } else if (action instanceof Action.ForgetIdentity) {
      registrationId = null;
      store.append(StateRecord.noIdentity(), true);
    } else if (action instanceof Action.StoreWishes) {
      store.append(StateRecord.wishes(((Action.StoreWishes) action).wishes), false);
    } else if (action instanceof Action.NoteHandled) {
      noteHandled(((Action.NoteHandled) action).messageId);
    } else {
      tell(action);
    }
  }

  private boolean storeIdentity(Identity identity) {
    if (!store.append(StateRecord.identity(config.appKey, identity), true)) return false;
    registrationId = identity.registrationId;
    return true;
  }

  private void tell(Action action) {
    if (action instanceof Action.Result) {
      OperationResult result = ((Action.Result) action).result;
      EncryptedPushes.Completion own = ownCompletions.remove(result.sequence());
      if (own != null) own.ended(result);
      else dispatch(result, callbacks.remove(result.sequence()));
      return;
    }
    dispatcher.post(() -> action.tell(listener));
    if (keys == null) return;
    if (action instanceof Action.LoggedIn) keys.loggedIn();
    if (action instanceof Action.Recalled) keys.recalled(((Action.Recalled) action).messageId);
  }

  private void dispatch(OperationResult result, ResultCallback callback) {
    dispatcher.post(() -> listener.onResult(result));
    if (callback != null) dispatcher.post(() -> callback.onResult(result));
  }

  /** Passes a push to the app. */
  @Override
  public void pass(Push push) {
    dispatcher.post(() -> {
      // The next run passes it to the app.
      if (isClosing) return;
      if (listener.onPush(push)) handled(push.messageId());
    });
  }

  // Connection

  @Override
  public void opened() {
    session.setSteady(clock.steady());
    perform(session.connected(time.now()));
  }

  @Override
  public boolean received(byte[] bytes, int count) {
    session.setSteady(clock.steady());
    if (keys != null) keys.leaveLate();
    perform(session.received(bytes, 0, count, time.now()));
    updatePause();
    return !isPaused;
  }

  @Override
  public void ended(String reason) {
    perform(session.connectionEnded(reason, time.now()));
  }

  // Encryption

  @Override
  public long now() {
    return time.now();
  }

  @Override
  public long steady() {
    return clock.steady();
  }

  @Override
  public long wallSeconds() {
    return clock.wallSeconds();
  }

  @Override
  public boolean isLoggedIn() {
    return session.isLoggedIn();
  }

  @Override
  public void submitOwn(Operation operation, EncryptedPushes.Completion completion) {
    long number = session.nextSequence();
    ownCompletions.put(number, completion);
    perform(session.submit(number, operation, time.now()));
  }

  @Override
  public void drop(long messageId) {
    noteHandled(messageId);
    perform(session.pushHandled(messageId, time.now()));
  }

  @Override
  public void unreadable(long messageId, long key, int code) {
    dispatcher.post(() -> listener.onUnreadable(messageId, Hex.of(key), code));
  }

  @Override
  public void keyMissing(long key, int code) {
    dispatcher.post(() -> listener.onKeyMissing(Hex.of(key), code));
  }

  @Override
  public void leftToChannel(long messageId) {
    dispatcher.post(() -> listener.onLeftToChannel(messageId));
  }

  @Override
  public boolean store(KeyRecord record) {
    return store.append(StateRecord.key(record), true);
  }

  @Override
  public void dropStored(List<Long> keys) {
    store.drop(keys);
  }
}
