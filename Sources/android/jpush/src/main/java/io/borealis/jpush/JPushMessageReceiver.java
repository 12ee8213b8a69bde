package io.borealis.jpush;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import io.borealis.push.facade.PushHost;

/**
 * What happens. Extend it and declare your class as a {@code <receiver>} in the manifest; the library makes
 * one object of it and calls that on the main thread. All methods but
 * {@link #onNotifyMessageOpened} do nothing.
 */
public abstract class JPushMessageReceiver extends BroadcastReceiver {
  /** Nothing is broadcast to it: the library calls the methods below. */
  @Override
  public void onReceive(Context context, Intent intent) {}

  /**
   * A message has arrived.
   *
   * @param context the app
   * @param customMessage the message
   */
  public void onMessage(Context context, CustomMessage customMessage) {}

  /**
   * A notification was shown.
   *
   * @param context the app
   * @param message the notification
   */
  public void onNotifyMessageArrived(Context context, NotificationMessage message) {}

  /**
   * A notification has arrived and was not shown: the user does not allow notifications,
   * {@link #isNeedShowNotification} was false, or the push is not for an app on the screen.
   *
   * @param context the app
   * @param message the notification
   */
  public void onNotifyMessageUnShow(Context context, NotificationMessage message) {}

  /**
   * The user has tapped a notification. Opens what it names, or the app.
   *
   * @param context an activity
   * @param message the notification
   */
  public void onNotifyMessageOpened(Context context, NotificationMessage message) {
    PushHost.open(context, Hub.of(context).tapped());
  }

  /**
   * The user has swiped a notification away.
   *
   * @param context the app
   * @param message the notification
   */
  public void onNotifyMessageDismiss(Context context, NotificationMessage message) {}

  /**
   * An in-app message has arrived: show it in a page of the app, also if the user allows no notifications,
   * and report that with {@link JPushInterface#reportInAppMessageShown}. Comes before what becomes of the
   * notification of the same push, and again if the process was killed in between.
   *
   * @param context the app
   * @param message what it says
   */
  public void onInAppMessageShow(Context context, NotificationMessage message) {}

  /**
   * The app has reported that the user tapped an in-app message.
   *
   * @param context what the app named
   * @param message what it says
   */
  public void onInAppMessageClick(Context context, NotificationMessage message) {}

  /**
   * Whether to show a notification.
   *
   * @param context the app
   * @param message the notification
   * @param command empty
   * @return true
   */
  public boolean isNeedShowNotification(Context context, NotificationMessage message, String command) {
    return true;
  }

  /**
   * The server has issued a registration.
   *
   * @param context the app
   * @param registrationId its ID
   */
  public void onRegister(Context context, String registrationId) {}

  /**
   * The connection has begun or ended.
   *
   * @param context the app
   * @param isConnected which of them
   */
  public void onConnected(Context context, boolean isConnected) {}

  /**
   * The server refuses the registration.
   *
   * @param context the app
   * @param cmdMessage why
   */
  public void onCommandResult(Context context, CmdMessage cmdMessage) {}

  /**
   * An operation on tags has ended.
   *
   * @param context the app
   * @param jPushMessage how
   */
  public void onTagOperatorResult(Context context, JPushMessage jPushMessage) {}

  /**
   * A check of a tag has ended.
   *
   * @param context the app
   * @param jPushMessage how
   */
  public void onCheckTagOperatorResult(Context context, JPushMessage jPushMessage) {}

  /**
   * An operation on the alias has ended.
   *
   * @param context the app
   * @param jPushMessage how
   */
  public void onAliasOperatorResult(Context context, JPushMessage jPushMessage) {}

  /**
   * An operation on the mobile number has ended.
   *
   * @param context the app
   * @param jPushMessage how
   */
  public void onMobileNumberOperatorResult(Context context, JPushMessage jPushMessage) {}

  /**
   * Whether the user allows notifications, at each start.
   *
   * @param context the app
   * @param isOn whether they are allowed
   * @param source 0
   */
  public void onNotificationSettingsCheck(Context context, boolean isOn, int source) {}
}
