package android.content;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import java.io.File;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public class ContextWrapper extends Context {
  /** For tests. */
  public Context base;

  protected void attachBaseContext(Context base) {
    this.base = base;
  }

  @Override
  public File getNoBackupFilesDir() {
    return base == null ? super.getNoBackupFilesDir() : base.getNoBackupFilesDir();
  }

  @Override
  public Object getSystemService(String name) {
    return base == null ? super.getSystemService(name) : base.getSystemService(name);
  }

  @Override
  public Context getApplicationContext() {
    return base == null ? super.getApplicationContext() : base.getApplicationContext();
  }

  @Override
  public ApplicationInfo getApplicationInfo() {
    return base == null ? super.getApplicationInfo() : base.getApplicationInfo();
  }

  @Override
  public PackageManager getPackageManager() {
    return base == null ? super.getPackageManager() : base.getPackageManager();
  }

  @Override
  public ContentResolver getContentResolver() {
    return base == null ? super.getContentResolver() : base.getContentResolver();
  }

  @Override
  public Resources getResources() {
    return base == null ? super.getResources() : base.getResources();
  }

  @Override
  public void startActivity(Intent intent) {
    if (base == null) super.startActivity(intent);
    else base.startActivity(intent);
  }

  @Override
  public void sendBroadcast(Intent intent) {
    if (base == null) super.sendBroadcast(intent);
    else base.sendBroadcast(intent);
  }
}
