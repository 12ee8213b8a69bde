package io.borealis.jpush;

import android.content.Context;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The receiver of an app, which keeps what it gets. */
public class Events extends JPushMessageReceiver {
  static final BlockingQueue<String> ALL = new LinkedBlockingQueue<>();
  static volatile boolean shows = true;

  /** Waits for the next event that begins so, and passes over others. */
  static String next(String prefix) throws InterruptedException {
    while (true) {
      String event = ALL.poll(30, TimeUnit.SECONDS);
      if (event == null) throw new AssertionError("no " + prefix);
      if (event.startsWith(prefix)) return event;
    }
  }

  private static String of(JPushMessage result) {
    return result.getSequence() + " " + result.getErrorCode();
  }

  @Override
  public void onMessage(Context context, CustomMessage message) {
    ALL.add("message " + message.message + " " + message.title + " " + message.contentType + " "
        + message.extra);
  }

  @Override
  public void onNotifyMessageArrived(Context context, NotificationMessage message) {
    ALL.add("arrived " + message.notificationTitle + " " + message.notificationContent + " "
        + message.notificationExtras);
  }

  static volatile NotificationMessage inApp;

  @Override
  public void onInAppMessageShow(Context context, NotificationMessage message) {
    inApp = message;
    ALL.add("in-app " + message.notificationTitle + " " + message.notificationContent);
  }

  @Override
  public void onInAppMessageClick(Context context, NotificationMessage message) {
    ALL.add("in-app tapped " + message.msgId);
  }

  @Override
  public void onNotifyMessageUnShow(Context context, NotificationMessage message) {
    ALL.add("not shown " + message.notificationContent);
  }

  @Override
  public void onNotifyMessageOpened(Context context, NotificationMessage message) {
    ALL.add("opened " + message.msgId + " " + message.notificationExtras);
    super.onNotifyMessageOpened(context, message);
  }

  @Override
  public void onNotifyMessageDismiss(Context context, NotificationMessage message) {
    ALL.add("dismissed " + message.msgId);
  }

  @Override
  public boolean isNeedShowNotification(Context context, NotificationMessage message, String command) {
    return shows;
  }

  @Override
  public void onRegister(Context context, String registrationId) {
    ALL.add("registered " + registrationId);
  }

  @Override
  public void onConnected(Context context, boolean isConnected) {
    ALL.add("connected " + isConnected);
  }

  @Override
  public void onCommandResult(Context context, CmdMessage message) {
    ALL.add("command " + message.cmd + " " + message.errorCode);
  }

  @Override
  public void onTagOperatorResult(Context context, JPushMessage result) {
    ALL.add("tags " + of(result) + " " + new java.util.TreeSet<>(result.getTags()));
  }

  @Override
  public void onCheckTagOperatorResult(Context context, JPushMessage result) {
    ALL.add("check " + of(result) + " " + result.getCheckTag() + " " + result.getTagCheckStateResult());
  }

  @Override
  public void onAliasOperatorResult(Context context, JPushMessage result) {
    ALL.add("alias " + of(result) + " " + result.getAlias());
  }

  @Override
  public void onMobileNumberOperatorResult(Context context, JPushMessage result) {
    ALL.add("number " + of(result) + " " + result.getMobileNumber());
  }

  @Override
  public void onNotificationSettingsCheck(Context context, boolean isOn, int source) {
    ALL.add("settings " + isOn);
  }
}
