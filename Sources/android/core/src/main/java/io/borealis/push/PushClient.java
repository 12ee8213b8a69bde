package io.borealis.push;

import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;

/**
 * One install of an app, kept connected to Borealis: registers at its first start, logs in, reconnects, and
 * passes each push to the app once.
 *
 * <pre>{@code
 * PushClient client = new PushClient(config, new PushListener() {
 *   public boolean onPush(Push push) {
 *     show(push);
 *     return true;
 *   }
 * });
 * client.start();
 * }</pre>
 *
 * <p>All methods may be called from any thread, and none but {@link #start()} and {@link #close} waits for
 * the network or a thread. Operations wait for the login if there is no session, and are sent again if the
 * connection ends before their result. They end with {@link ResultCode#TIMEOUT} after ten seconds without a
 * result, and with {@link ResultCode#STOPPED} while the client is stopped. Their callbacks may be null.
 */
public final class PushClient implements Closeable {
  private final PushConfig config;
  private final PushListener listener;
  private final Dispatcher dispatcher;
  /** Null before the start and after the end. */
  private Runner runner;
  private boolean isClosed;
  /** What the first login reports. */
  private boolean isForeground;

  /** Makes a client that does nothing until {@link #start()}. */
  public PushClient(PushConfig config, PushListener listener) {
    if (config == null) throw new NullPointerException("config");
    if (listener == null) throw new NullPointerException("listener");
    this.config = config;
    this.listener = listener;
    isForeground = config.foreground;
    dispatcher = new Dispatcher(config.executor);
  }

  /**
   * Connects and stays connected. Call it when the user has agreed to your privacy policy: nothing before it
   * opens a connection, reads or writes a file, or starts a thread. Does nothing if already started; starts
   * again after {@link #stop}.
   *
   * @throws IOException if the state file cannot be opened or is used by another client, or if the file with
   *     certificates cannot be read
   * @throws IllegalStateException after {@link #close}
   */
  public void start() throws IOException {
    start(true);
  }

  /**
   * Like {@link #start()} if the user has agreed; otherwise does nothing, so that an app can call it in one
   * place with what it knows.
   *
   * @param consent whether the user has agreed to your privacy policy
   */
  public synchronized void start(boolean consent) throws IOException {
    if (isClosed) throw new IllegalStateException("the client is closed");
    if (!consent) return;
    if (runner == null) {
      StateStore store = new StateStore(config.stateFile);
      try {
        runner = new Runner(config, isForeground, listener, dispatcher, store, new Clock());
      } finally {
        if (runner == null) store.close();
      }
    }
    runner.start();
  }

  /** Disconnects until {@link #start()}. The server keeps pushes in the meantime. */
  public void stop() {
    Runner running = running();
    if (running != null) running.stop();
  }

  /**
   * Disconnects for good and closes the state file. Returns when that is done, at the latest after five
   * seconds; handled pushes are acknowledged before if the network allows it.
   */
  @Override
  public void close() {
    Runner running;
    synchronized (this) {
      isClosed = true;
      running = runner;
      runner = null;
    }
    if (running != null) running.close();
  }

  private synchronized Runner running() {
    return runner;
  }

  /**
   * The registration ID, 19 hexadecimal digits, by which the app server addresses the device; null before the
   * start, and until the first {@link PushListener#onRegistered}.
   */
  @Nullable
  public String registrationId() {
    Runner running = running();
    return running == null ? null : running.registrationId();
  }

  /**
   * The network has changed: a client that waits for its next attempt connects immediately, and one that is
   * connected asks the server at once whether the connection still works.
   */
  public void networkChanged() {
    Runner running = running();
    if (running != null) running.networkChanged();
  }

  /** Facts about the device may have changed: reports those that the server asks for. */
  public void factsChanged() {
    Runner running = running();
    if (running != null) running.factsChanged();
  }

  /**
   * The app has handled a push for which {@link PushListener#onPush} returned false. When this returns, the
   * push is recorded in the state file and is not passed to the app again, however the process ends.
   */
  public void handled(long messageId) {
    Runner running = running();
    if (running != null) running.handled(messageId);
  }

  /**
   * Reports that the notification of a push was shown, for statistics. Kept for the next session if there is
   * none.
   */
  public void reportShown(long messageId) {
    report(new Receipt(Wire.RECEIPT_SHOWN, messageId));
  }

  /**
   * Reports that the user tapped the notification of a push, for statistics. Kept for the next session if
   * there is none.
   */
  public void reportTapped(long messageId) {
    report(new Receipt(Wire.RECEIPT_TAPPED, messageId));
  }

  /**
   * Reports that the app has shown a push in its own pages ({@link Push#isInApp}), for statistics: it counts
   * apart from the notification. Kept for the next session if there is none. A server from before version 7
   * of the protocol does not get it.
   */
  public void reportInAppShown(long messageId) {
    report(new Receipt(Wire.RECEIPT_IN_APP_SHOWN, messageId));
  }

  /** Reports that the user tapped a push in the app's own pages, like {@link #reportInAppShown}. */
  public void reportInAppTapped(long messageId) {
    report(new Receipt(Wire.RECEIPT_IN_APP_TAPPED, messageId));
  }

  private void report(Receipt receipt) {
    Runner running = running();
    if (running != null) running.report(receipt);
  }

  // Operations

  /**
   * Sets the alias, 1 to 40 characters, replacing a previous one. At most ten devices may have the same.
   */
  public void setAlias(String alias, @Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.SET_ALIAS, alias), callback);
  }

  /** Releases the alias. */
  public void deleteAlias(@Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.DELETE_ALIAS), callback);
  }

  /** Gets the alias: {@link OperationResult#alias}. */
  public void getAlias(@Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.GET_ALIAS), callback);
  }

  /** Replaces all tags: at most 1000, each of 1 to 32 characters, or 40 bytes of UTF-8. */
  public void setTags(Collection<String> tags, @Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.SET_TAGS, tags), callback);
  }

  /** Adds tags. */
  public void addTags(Collection<String> tags, @Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.ADD_TAGS, tags), callback);
  }

  /** Removes tags. Tags that the device does not have are ignored. */
  public void deleteTags(Collection<String> tags, @Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.DELETE_TAGS, tags), callback);
  }

  /** Removes all tags. */
  public void cleanTags(@Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.CLEAN_TAGS), callback);
  }

  /** Gets all tags: {@link OperationResult#tags}. */
  public void getTags(@Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.GET_TAGS), callback);
  }

  /** Checks whether the device has a tag: {@link OperationResult#isTagSet}. */
  public void checkTag(String tag, @Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.CHECK_TAG, tag), callback);
  }

  /** Reports the badge number that the app shows, 0 to 99999. */
  public void setBadge(int badge, @Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.SET_BADGE, badge & 0xFFFF_FFFFL), callback);
  }

  /**
   * Reports whether the app is in the foreground. While the client is stopped it ends with
   * {@link ResultCode#STOPPED}, and the next login reports it.
   */
  public void setForeground(boolean foreground, @Nullable ResultCallback callback) {
    synchronized (this) {
      isForeground = foreground;
    }
    submit(Operation.of(OperationType.APP_STATE, foreground ? 1 : 0), callback);
  }

  /**
   * Reports the device's token of a channel's ordinary kind, such as the one that FCM issues; an empty token
   * removes it. Call it at each start and whenever the channel's service issues a new token.
   *
   * @param channel the channel's name at the server, such as {@code fcm}, {@code huawei} or {@code xiaomi}
   * @param token at most 4096 bytes of UTF-8
   */
  public void setChannelToken(String channel, String token, @Nullable ResultCallback callback) {
    setChannelToken(channel, "", "", "", token, callback);
  }

  /**
   * Reports a token of a channel, as {@code POST /v1/tokens} does. It ends with
   * {@link ResultCode#REQUEST_INVALID} if the server does not have such a channel for the device's platform,
   * if the token has another form, or if the server is too old.
   *
   * @param channel the channel's name at the server
   * @param kind the kind of token; empty for the channel's ordinary kind
   * @param name what distinguishes several tokens of the kind; empty for kinds of which a device has one
   * @param service the channel's service that issued it; empty for the first or only one
   * @param token at most 4096 bytes of UTF-8; empty to remove the stored token
   */
  public void setChannelToken(String channel, String kind, String name, String service, String token,
      @Nullable ResultCallback callback) {
    submit(Operation.setChannelToken(new ReportedToken(channel, kind, name, service, token)), callback);
  }

  /**
   * Ends the session until {@link #start()}, after the operations before it; also without a server. The
   * registration, its alias and its tags stay, and the server keeps pushes.
   */
  public void logout(@Nullable ResultCallback callback) {
    submit(Operation.of(OperationType.LOGOUT), callback);
  }

  /**
   * Makes a new key for contents that only this device reads and sends it to the server. The old one decrypts
   * for eleven days more, since no push is kept for longer. Ends with {@link ResultCode#REQUEST_INVALID} for
   * a client without encryption or a platform without the curve, with {@link ResultCode#TOO_FREQUENT} if 16
   * old keys are still needed, and with {@link ResultCode#FAILED} if the key cannot be stored. If the server
   * refuses the new key, the old one stays. Without a response the new one stays, and is sent again.
   */
  public void rotateKey(@Nullable ResultCallback callback) {
    Runner running = running();
    if (running != null) running.rotateKey(callback);
    else stopped(OperationType.SET_KEY, callback);
  }

  private void submit(Operation operation, ResultCallback callback) {
    Runner running = running();
    if (running != null) running.submit(operation, callback);
    else stopped(operation.type, callback);
  }

  /** Ends an operation that nothing can carry out. */
  private void stopped(OperationType type, ResultCallback callback) {
    OperationResult result = OperationResult.of(0, type, ResultCode.STOPPED);
    dispatcher.post(() -> listener.onResult(result));
    if (callback != null) dispatcher.post(() -> callback.onResult(result));
  }
}
