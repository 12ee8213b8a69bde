package io.borealis.jpush;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import io.borealis.push.Push;
import io.borealis.push.android.PushNotifications;

/** Called when the user swipes a notification away, also when the process was killed. */
public final class DismissalReceiver extends BroadcastReceiver {
  @Override
  public void onReceive(Context context, Intent intent) {
    Push push = PushNotifications.pushIn(intent);
    if (push != null) Hub.of(context).dismissed(push);
  }
}
