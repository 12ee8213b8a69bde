package io.borealis.getui;

import android.app.Activity;
import android.os.Bundle;
import io.borealis.push.Push;
import io.borealis.push.android.PushNotifications;

/** Opened by a tap, also when the process was killed: passes the tap to the app's service and ends. */
public final class TapActivity extends Activity {
  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    Push push = PushNotifications.pushIn(getIntent());
    if (push != null) Hub.of(this).tapped(this, push);
    finish();
  }
}
