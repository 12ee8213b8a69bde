package io.borealis.push.android;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import io.borealis.push.PushClient;

/** Counts the activities on the screen and tells the client when the first comes and the last goes. */
final class Foreground implements Application.ActivityLifecycleCallbacks {
  private final PushClient client;
  private int started;
  private boolean isReporting;
  /** What the client was told last; it begins in the background. */
  private boolean reported;

  Foreground(PushClient client) {
    this.client = client;
  }

  /** The client was started or stopped: while it is stopped, it is told nothing. */
  void setReporting(boolean isReporting) {
    this.isReporting = isReporting;
    report();
  }

  boolean isForeground() {
    return started > 0;
  }

  private void report() {
    boolean isForeground = isForeground();
    if (!isReporting || isForeground == reported) return;
    reported = isForeground;
    client.setForeground(isForeground, null);
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
