package android.content.pm;

import android.content.ComponentName;
import android.content.Intent;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class PackageManager {
  /** For tests: whether the app has a launcher activity. */
  public boolean hasLauncher = true;

  public Intent getLaunchIntentForPackage(String name) {
    return hasLauncher ? new Intent().setComponent(new ComponentName()) : null;
  }
}
