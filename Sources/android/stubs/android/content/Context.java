package android.content;

import android.app.NotificationManager;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import java.io.File;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public abstract class Context {
  public static final String CONNECTIVITY_SERVICE = "connectivity";
  public static final String NOTIFICATION_SERVICE = "notification";

  /** For tests. */
  public File folder;
  /** For tests. */
  public ConnectivityManager connectivity;
  /** For tests. */
  public final NotificationManager notifications = new NotificationManager();
  /** For tests. */
  public final PackageManager packages = new PackageManager();

  public File getNoBackupFilesDir() {
    return folder;
  }

  public Object getSystemService(String name) {
    if (name.equals(NOTIFICATION_SERVICE)) return notifications;
    return name.equals(CONNECTIVITY_SERVICE) ? connectivity : null;
  }

  public Context getApplicationContext() {
    return this;
  }

  public ApplicationInfo getApplicationInfo() {
    return new ApplicationInfo();
  }

  public PackageManager getPackageManager() {
    return packages;
  }

  public String getPackageName() {
    return "com.example.app";
  }
}
