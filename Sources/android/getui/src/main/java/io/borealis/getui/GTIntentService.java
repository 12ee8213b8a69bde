package io.borealis.getui;

import android.app.Service;
import android.content.Context;
import android.content.Intent;
import android.os.IBinder;

/**
 * What happens. Extend it and declare your class as a {@code <service>} in the manifest; the library makes
 * one object of it and calls that on the main thread, with itself as a context of the app. The system does
 * not start it.
 */
public abstract class GTIntentService extends Service {
  void attach(Context context) {
    attachBaseContext(context);
  }

  @Override
  public IBinder onBind(Intent intent) {
    return null;
  }

  /**
   * The library has started.
   *
   * @param context the app
   * @param pid the process
   */
  public void onReceiveServicePid(Context context, int pid) {}

  /**
   * The CID, at each start and when there is a new one.
   *
   * @param context the app
   * @param clientid the CID
   */
  public void onReceiveClientId(Context context, String clientid) {}

  /**
   * A message has arrived.
   *
   * @param context the app
   * @param msg the message
   */
  public void onReceiveMessageData(Context context, GTTransmitMessage msg) {}

  /**
   * The connection has begun or ended.
   *
   * @param context the app
   * @param online which of them
   */
  public void onReceiveOnlineState(Context context, boolean online) {}

  /**
   * A call has ended.
   *
   * @param context the app
   * @param cmdMessage how
   */
  public void onReceiveCommandResult(Context context, GTCmdMessage cmdMessage) {}

  /**
   * A notification was shown.
   *
   * @param context the app
   * @param msg the notification
   */
  public void onNotificationMessageArrived(Context context, GTNotificationMessage msg) {}

  /**
   * The user has tapped a notification. What it names was opened, or the app.
   *
   * @param context an activity
   * @param msg the notification
   */
  public void onNotificationMessageClicked(Context context, GTNotificationMessage msg) {}
}
