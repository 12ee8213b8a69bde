package android.content;

import android.net.ConnectivityManager;
import java.io.File;

/** As much of Android's class as the library and its pages use, with behavior for tests. */
public abstract class Context {
  public static final String CONNECTIVITY_SERVICE = "connectivity";

  /** For tests. */
  public File folder;
  /** For tests. */
  public ConnectivityManager connectivity;

  public File getNoBackupFilesDir() {
    return folder;
  }

  public Object getSystemService(String name) {
    return name.equals(CONNECTIVITY_SERVICE) ? connectivity : null;
  }
}
