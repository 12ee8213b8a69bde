package android.content;

import android.app.NotificationManager;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import android.net.ConnectivityManager;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

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

  /** For tests. */
  public final ContentResolver resolver = new ContentResolver();
  /** For tests. */
  public final Resources resources = new Resources();
  /** For tests: what was started and sent. */
  public final List<Intent> sent = new ArrayList<>();

  public ContentResolver getContentResolver() {
    return resolver;
  }

  public Resources getResources() {
    return resources;
  }

  public void startActivity(Intent intent) {
    sent.add(intent);
  }

  public void sendBroadcast(Intent intent) {
    sent.add(intent);
  }

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
    return packages.application;
  }

  public PackageManager getPackageManager() {
    return packages;
  }

  public String getPackageName() {
    return "com.example.app";
  }
}
