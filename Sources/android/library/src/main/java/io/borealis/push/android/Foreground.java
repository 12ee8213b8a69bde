package io.borealis.push.android;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import io.borealis.push.PushClient;

/** Counts the activities on the screen and reports to the client when the first starts and the last stops. */
final class Foreground implements Application.ActivityLifecycleCallbacks {
  private final PushClient client;
  private int started;
  /** What the client knows; it begins in the background. */
  private boolean reported;

  Foreground(PushClient client) {
    this.client = client;
  }

  boolean isForeground() {
    return started > 0;
  }

  private void report() {
    boolean isForeground = isForeground();
    if (isForeground == reported) return;
    reported = isForeground;
    client.setForeground(isForeground, null);
    // The user may have been in the settings.
    if (isForeground) client.factsChanged();
  }

  @Override
  public void onActivityStarted(Activity activity) {
    started++;
    report();
  }

  @Override
  public void onActivityStopped(Activity activity) {
    started = Math.max(0, started - 1);
    // An activity that is made anew, as when the screen turns, leaves the app in the foreground.
    if (!activity.isChangingConfigurations()) report();
  }

  @Override
  public void onActivityCreated(Activity activity, Bundle state) {}

  @Override
  public void onActivityResumed(Activity activity) {}

  @Override
  public void onActivityPaused(Activity activity) {}

  @Override
  public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

  @Override
  public void onActivityDestroyed(Activity activity) {}
}
