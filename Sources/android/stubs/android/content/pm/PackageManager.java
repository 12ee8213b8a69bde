package android.content.pm;

import android.content.ComponentName;
import android.content.Intent;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class PackageManager {
  public static final int GET_RECEIVERS = 2;
  public static final int GET_SERVICES = 4;
  public static final int GET_META_DATA = 128;

  public static class NameNotFoundException extends Exception {
    private static final long serialVersionUID = 1;
  }

  /** For tests: whether the app has a launcher activity. */
  public boolean hasLauncher = true;
  /** For tests: what the app's manifest has. */
  public final ApplicationInfo application = new ApplicationInfo();
  /** For tests: what the app's manifest has. */
  public final PackageInfo manifest = new PackageInfo();

  public Intent getLaunchIntentForPackage(String name) {
    return hasLauncher ? new Intent().setComponent(new ComponentName(name, "Launcher")) : null;
  }

  public ApplicationInfo getApplicationInfo(String name, int flags) throws NameNotFoundException {
    return application;
  }

  public PackageInfo getPackageInfo(String name, int flags) throws NameNotFoundException {
    return manifest;
  }
}
