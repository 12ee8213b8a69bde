package io.borealis.jpush;

import android.app.Application;
import android.content.Context;
import android.util.Log;
import io.borealis.push.Disconnect;
import io.borealis.push.Push;
import io.borealis.push.PushListener;
import io.borealis.push.android.Borealis;
import io.borealis.push.facade.PushHost;
import java.util.List;

/** Connects the client with the app's receivers. */
final class Hub implements PushListener {
  private static final String TAG = "JPush";
  private static final PushHost.Look LOOK =
      new PushHost.Look("borealis_jpush", "Notification", "jpush_notification_icon");

  private static Hub hub;
  private static boolean hasConsent = true;
  private static boolean isDebugging;
  /** Whether the app has named its store channel, which then counts more than the manifest's. */
  private static boolean hasNamedChannel;

  private final Application app;
  private final List<JPushMessageReceiver> receivers;
  private final PushHost host;
  private boolean wantsStart;
  private volatile boolean isConnected;
  /** What the user has just tapped. */
  private Push tapped;

  private Hub(Context context) {
    host = new PushHost(context, "JPUSH_APPKEY", this, LOOK, TapActivity.class, DismissalReceiver.class);
    app = host.application();
    String channel = Borealis.metaData(app, "JPUSH_CHANNEL");
    if (!hasNamedChannel) PushHost.setStoreChannel(channel.isEmpty() ? null : channel);
    receivers = PushHost.receivers(app, JPushMessageReceiver.class);
  }

  /** The app's only one, which does nothing until {@link #start}. */
  static synchronized Hub of(Context context) {
    if (hub == null) hub = new Hub(context);
    return hub;
  }

  static void setDebugging(boolean debugging) {
    isDebugging = debugging;
  }

  static synchronized void setConsent(boolean consent) {
    hasConsent = consent;
    if (hub != null && hub.wantsStart) hub.start();
  }

  static synchronized void setChannel(String channel) {
    hasNamedChannel = true;
    PushHost.setStoreChannel(channel);
    if (hub != null) hub.host.client().factsChanged();
  }

  /** Forgets the app, as the end of its process does: for tests. */
  static synchronized void reset() {
    if (hub != null) hub.host.close();
    hub = null;
    hasConsent = true;
    hasNamedChannel = false;
  }

  PushHost host() {
    return host;
  }

  boolean isConnected() {
    return isConnected;
  }

  void start() {
    wantsStart = true;
    if (!hasConsent || host.isStarted()) return;
    host.start();
    boolean isOn = host.notifications().areAllowed();
    each(receiver -> receiver.onNotificationSettingsCheck(app, isOn, 0));
  }

  void resume() {
    if (hasConsent) host.resume();
  }

  /** A call of each of the app's receivers. */
  interface Call {
    void on(JPushMessageReceiver receiver);
  }

  void each(Call call) {
    for (JPushMessageReceiver receiver : receivers) call.on(receiver);
  }

  void debug(String text) {
    if (isDebugging) Log.d(TAG, text);
  }

  // Taps

  void tapped(Context context, Push push) {
    debug("tapped " + push);
    host.reportTapped(push.messageId());
    tapped = push;
    if (push.notification() != null) {
      NotificationMessage message = new NotificationMessage(push, host.appKey());
      each(receiver -> receiver.onNotifyMessageOpened(context, message));
    }
    if (receivers.isEmpty()) PushHost.open(context, push);
    tapped = null;
  }

  Push tapped() {
    return tapped;
  }

  void dismissed(Push push) {
    if (push.notification() == null) return;
    NotificationMessage message = new NotificationMessage(push, host.appKey());
    each(receiver -> receiver.onNotifyMessageDismiss(app, message));
  }

  // From the client

  @Override
  public boolean onPush(Push push) {
    debug("received " + push);
    if (push.message() != null) {
      CustomMessage message = new CustomMessage(push, host.appKey(), app.getPackageName());
      each(receiver -> receiver.onMessage(app, message));
    }
    if (push.notification() == null) return true;
    NotificationMessage message = new NotificationMessage(push, host.appKey());
    // JPush's library shows in-app messages itself and then says so; here the app shows them.
    if (push.isInApp()) each(receiver -> receiver.onInAppMessageShow(app, message));
    boolean[] isWanted = {true};
    each(receiver -> isWanted[0] &= receiver.isNeedShowNotification(app, message, ""));
    boolean isShown = isWanted[0] && host.show(push);
    each(receiver -> {
      if (isShown) receiver.onNotifyMessageArrived(app, message);
      else receiver.onNotifyMessageUnShow(app, message);
    });
    return true;
  }

  @Override
  public void onRecalled(long messageId) {
    host.notifications().cancel(messageId);
  }

  @Override
  public void onRegistered(String registrationId) {
    debug("registered " + registrationId);
    each(receiver -> receiver.onRegister(app, registrationId));
  }

  @Override
  public void onConnected(long pending) {
    debug("connected");
    isConnected = true;
    each(receiver -> receiver.onConnected(app, true));
  }

  @Override
  public void onDisconnected(Disconnect reason, long retryMillis) {
    debug("disconnected: " + reason);
    if (reason.kind() == Disconnect.Kind.REFUSED) {
      CmdMessage refusal = new CmdMessage(0, reason.code(), reason.toString());
      each(receiver -> receiver.onCommandResult(app, refusal));
    }
    if (!isConnected) return;
    isConnected = false;
    each(receiver -> receiver.onConnected(app, false));
  }
}
