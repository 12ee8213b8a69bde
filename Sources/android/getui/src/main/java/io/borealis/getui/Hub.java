package io.borealis.getui;

import android.app.Application;
import android.content.Context;
import android.os.Process;
import android.util.Log;
import io.borealis.push.Disconnect;
import io.borealis.push.Notification;
import io.borealis.push.Push;
import io.borealis.push.PushListener;
import io.borealis.push.facade.PushHost;
import java.util.List;
import java.util.Map;

/** Connects the client with the app's services. */
final class Hub implements PushListener {
  private static final PushHost.Look LOOK =
      new PushHost.Look("borealis_getui", "Notification", "push_small");

  private static Hub hub;

  private final Application app;
  private final List<GTIntentService> services;
  private final PushHost host;
  private volatile boolean isOnline;

  private Hub(Context context) {
    host = new PushHost(context, "GETUI_APPID", this, LOOK, TapActivity.class, null);
    app = host.application();
    services = PushHost.services(app, GTIntentService.class);
    for (GTIntentService service : services) service.attach(app);
  }

  /** The app's only one, which does nothing until {@link #start}. */
  static synchronized Hub of(Context context) {
    if (hub == null) hub = new Hub(context);
    return hub;
  }

  /** Forgets the app, as the end of its process does: for tests. */
  static synchronized void reset() {
    if (hub != null) hub.host.close();
    hub = null;
  }

  PushHost host() {
    return host;
  }

  void start() {
    if (host.isStarted()) return;
    host.start();
    if (!host.isStarted()) return;
    each(service -> service.onReceiveServicePid(app, Process.myPid()));
    String known = host.registrationId();
    if (!known.isEmpty()) onRegistered(known);
  }

  /** Adds a service that the app names, unless the manifest has led to it already. */
  void add(Class<? extends GTIntentService> type) {
    for (GTIntentService service : services) if (service.getClass() == type) return;
    try {
      GTIntentService service = type.getConstructor().newInstance();
      service.attach(app);
      services.add(service);
    } catch (ReflectiveOperationException error) {
      Log.w("Borealis", type + " gets no events", error);
    }
  }

  /** A call of each of the app's services. */
  interface Call {
    void on(GTIntentService service);
  }

  void each(Call call) {
    for (GTIntentService service : services) call.on(service);
  }

  void ended(GTCmdMessage result) {
    each(service -> service.onReceiveCommandResult(app, result));
  }

  // Taps

  void tapped(Context context, Push push) {
    host.reportTapped(push.messageId());
    Notification notification = push.notification();
    if (notification == null) return;
    open(context, push, notification.extras());
    GTNotificationMessage message = new GTNotificationMessage(this, push);
    each(service -> service.onNotificationMessageClicked(context, message));
  }

  /** As {@code click_type} says: an intent, an address, the app, or nothing. */
  private static void open(Context context, Push push, Map<String, Object> extras) {
    Object click = extras.get("click_type");
    if ("none".equals(click) || "payload_custom".equals(click)) return;
    Object url = extras.get("url");
    if ("url".equals(click) && url instanceof String && PushHost.openUrl(context, (String) url)) return;
    PushHost.open(context, push);
  }

  // From the client

  @Override
  public boolean onPush(Push push) {
    if (push.message() != null) {
      GTTransmitMessage message = new GTTransmitMessage(this, push);
      each(service -> service.onReceiveMessageData(app, message));
    }
    if (push.notification() == null || !host.show(push)) return true;
    GTNotificationMessage message = new GTNotificationMessage(this, push);
    each(service -> service.onNotificationMessageArrived(app, message));
    return true;
  }

  @Override
  public void onRecalled(long messageId) {
    host.notifications().cancel(messageId);
  }

  @Override
  public void onRegistered(String registrationId) {
    each(service -> service.onReceiveClientId(app, registrationId));
  }

  @Override
  public void onConnected(long pending) {
    isOnline = true;
    each(service -> service.onReceiveOnlineState(app, true));
  }

  @Override
  public void onDisconnected(Disconnect reason, long retryMillis) {
    if (!isOnline) return;
    isOnline = false;
    each(service -> service.onReceiveOnlineState(app, false));
  }
}
